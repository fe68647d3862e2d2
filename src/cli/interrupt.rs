//! Ctrl+C and termination signals: the first asks the command to finish its files, the second ends
//! it.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::console;
use super::failure::INTERRUPTED;

/// Whether a signal has asked the command to end.
#[derive(Debug, Clone, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches Ctrl+C, and on Unix also SIGTERM and SIGHUP. If they can't be caught, they end the
    /// program as usual.
    pub(super) fn catch() -> Self {
        let interrupt = Self::default();
        let raised = Arc::clone(&interrupt.0);
        let handler = move || {
            if raised.swap(true, Ordering::Relaxed) {
                process::exit(INTERRUPTED.into());
            }
        };
        if let Err(error) = ctrlc::set_handler(handler) {
            console::note(&format!("Ctrl+C will end this command at once: {error}"));
        }
        interrupt
    }

    pub(super) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
