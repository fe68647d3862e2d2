//! What must hold for an action to be possible, and why it is not possible otherwise.

use crate::state::{AppState, Pin};

/// No text is being generated.
pub(super) fn is_idle(state: &AppState) -> Result<(), String> {
    only_if(!state.is_running(), "Texts are being generated")
}

/// Nothing about the prompt, the model and the settings prevents a run.
pub(super) fn is_unblocked(state: &AppState) -> Result<(), String> {
    state.blocking_reason().map_or(Ok(()), Err)
}

/// The panes can begin to generate.
pub(super) fn can_run(state: &AppState) -> Result<(), String> {
    is_idle(state)?;
    is_unblocked(state)
}

pub(super) fn needs_step_mode(state: &AppState) -> Result<(), String> {
    only_if(state.is_step_mode(), "Only in step mode")
}

/// At least one pane has a text.
pub(super) fn needs_text(state: &AppState) -> Result<(), String> {
    let has_text = state.generations().iter().any(Option::is_some);
    only_if(has_text, "Generate a text first")
}

pub(super) fn needs_model(state: &AppState) -> Result<(), String> {
    only_if(state.models.main.ready().is_some(), "No model is loaded")
}

pub(super) fn needs_opened_run(state: &AppState) -> Result<(), String> {
    only_if(state.runs.opened.is_some(), "No run is open")
}

/// Returns the pin.
pub(super) fn needs_pin(state: &AppState) -> Result<Pin, String> {
    state.pin.ok_or_else(|| "Pin a token first".to_owned())
}

/// Returns the reason unless something is possible.
pub(super) fn only_if(possible: bool, reason: &str) -> Result<(), String> {
    if possible {
        Ok(())
    } else {
        Err(reason.to_owned())
    }
}
