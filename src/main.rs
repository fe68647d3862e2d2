//! Starts Quartet: the window, or the command that was given.

use std::process::ExitCode;

fn main() -> ExitCode {
    quartet::cli::run()
}
