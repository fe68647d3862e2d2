//! Starts the window of the Windows package with GPU support, without a console.

#![cfg_attr(windows, windows_subsystem = "windows")]

use std::process::ExitCode;

mod launcher;

fn main() -> ExitCode {
    launcher::run("quartet-window")
}
