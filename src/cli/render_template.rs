//! `quartet --render-template`: renders a model's chat template in a separate process, for the
//! process that started it. Not meant to be called by people.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::engine::{RENDER_ARGUMENT, answer_render_request, render_templates_with};

/// Returns whether this process was started to render a template.
pub(super) fn is_requested() -> bool {
    env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == RENDER_ARGUMENT)
}

/// Runs `quartet --render-template`.
pub(super) fn run() -> ExitCode {
    match answer_render_request() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_unanswered) => ExitCode::FAILURE,
    }
}

/// Uses this program to render templates in separate processes.
pub(super) fn use_this_program() {
    // This path leads to the running program even after a newer version has replaced its file.
    let itself = PathBuf::from("/proc/self/exe");
    if itself.exists() {
        render_templates_with(itself);
    } else if let Ok(program) = env::current_exe() {
        render_templates_with(program);
    }
}
