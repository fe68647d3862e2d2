//! How a command lets its model compute.

use std::num::NonZeroUsize;

use clap::Args;

use crate::worker::ComputeChoice;

/// What every command is given that runs a model.
#[derive(Debug, Args)]
pub(super) struct ComputeArguments {
    /// How many threads compute on the processor, at most as many as this process may use; one for
    /// each core where none is given
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl ComputeArguments {
    /// What they ask for.
    pub(super) fn choice(&self) -> ComputeChoice {
        ComputeChoice {
            n_threads: self.threads,
            ..ComputeChoice::default()
        }
    }
}
