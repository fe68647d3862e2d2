//! How long the requests of one step took, and what a record says about it.

use crate::generation::StepTime;

/// How long the requests of one step took, except those that only name tokens.
#[derive(Default)]
pub(super) struct Waited {
    secs: f64,
    /// The time that the server itself reported.
    server_secs: f64,
    is_unreported: bool,
}

impl Waited {
    pub(super) fn add(&mut self, secs: f64, server_secs: Option<f64>) {
        self.secs += secs;
        self.server_secs += server_secs.unwrap_or_default();
        self.is_unreported |= server_secs.is_none();
    }

    pub(super) fn step_time(&self, at_secs: f64) -> StepTime {
        let server_secs = Some(self.server_secs.min(self.secs));
        let server_secs = server_secs.filter(|_| !self.is_unreported);
        StepTime {
            at_secs,
            forward_secs: server_secs.unwrap_or(self.secs),
            n_batch: 1,
            mask_secs: None,
            network_secs: server_secs.map(|server_secs| self.secs - server_secs),
        }
    }
}
