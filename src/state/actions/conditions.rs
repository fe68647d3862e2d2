//! What must hold for an action to be possible, and why it is not possible otherwise.

use crate::state::{AppState, Pin};

impl AppState {
    /// No text is being generated.
    pub(super) fn is_idle(&self) -> Result<(), String> {
        only_if(!self.is_running(), "Texts are being generated")
    }

    /// Nothing about the prompt, the model and the settings prevents a run.
    pub(super) fn is_unblocked(&self) -> Result<(), String> {
        self.blocking_reason().map_or(Ok(()), Err)
    }

    /// The panes can begin to generate.
    pub(super) fn can_run(&self) -> Result<(), String> {
        self.is_idle()?;
        self.is_unblocked()
    }

    pub(super) fn needs_step_mode(&self) -> Result<(), String> {
        only_if(self.is_step_mode(), "Only in step mode")
    }

    /// At least one pane has a text.
    pub(super) fn needs_text(&self) -> Result<(), String> {
        let has_text = self.generations().iter().any(Option::is_some);
        only_if(has_text, "Generate a text first")
    }

    pub(super) fn needs_model(&self) -> Result<(), String> {
        only_if(self.model.ready().is_some(), "No model is loaded")
    }

    pub(super) fn needs_opened_run(&self) -> Result<(), String> {
        only_if(self.opened.is_some(), "No run is open")
    }

    /// Returns the pin.
    pub(super) fn needs_pin(&self) -> Result<Pin, String> {
        self.pin.ok_or_else(|| "Pin a token first".to_owned())
    }
}

/// Returns the reason unless something is possible.
pub(super) fn only_if(possible: bool, reason: &str) -> Result<(), String> {
    if possible {
        Ok(())
    } else {
        Err(reason.to_owned())
    }
}
