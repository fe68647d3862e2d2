//! Runs the command line, which opens the window if no command is given.

use std::process::ExitCode;

fn main() -> ExitCode {
    quartet::cli::run()
}
