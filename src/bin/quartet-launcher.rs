//! Starts the command line of the Windows package with GPU support.

use std::process::ExitCode;

mod launcher;

fn main() -> ExitCode {
    launcher::run("quartet")
}
