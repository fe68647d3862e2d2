//! The same program as `quartet`, without a console on Windows: for shortcuts and file types.

#![cfg_attr(windows, windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    quartet::cli::run()
}
