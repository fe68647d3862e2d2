//! How a command lets its model compute.

use std::num::NonZeroUsize;

use clap::Args;

use super::cache::CacheArgument;
use super::count::at_least_1;
use super::device::DeviceArgument;
use super::failure::Failure;
use super::precision::PrecisionArgument;
use crate::generation::ModelInfo;
use crate::worker::{ComputeChoice, CpuThreads};

/// What every command is given that runs a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct ComputeArguments {
    #[command(flatten)]
    device: DeviceArgument,

    /// How many threads compute on the processor, at most as many as this process may use; one for
    /// each core where none is given
    #[arg(long, value_name = "N", value_parser = at_least_1)]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    precision: PrecisionArgument,

    #[command(flatten)]
    cache: CacheArgument,
}

impl ComputeArguments {
    /// What they ask for.
    pub(super) fn choice(&self) -> ComputeChoice {
        ComputeChoice {
            device: self.device.device,
            cache: self.cache.cache,
            n_threads: self.threads,
            precision: self.precision.precision,
        }
    }

    /// How many threads compute on the processor.
    pub(super) fn n_threads(&self) -> usize {
        CpuThreads::of_machine().granted(self.threads).get()
    }

    /// Fails where a graphics processor was asked for by its name and the processor computes: figures
    /// and texts must not come from another device than was asked for.
    pub(super) fn check(&self, info: &ModelInfo) -> Result<(), Failure> {
        let refusal = self.device.refusal(info);
        refusal.map_or(Ok(()), |sentence| Err(Failure::run(sentence)))
    }

    /// What is to be said where the model does not compute as was asked for.
    pub(super) fn remarks(&self, info: &ModelInfo) -> impl Iterator<Item = String> {
        let remarks = [self.precision.remark(info), self.cache.remark(info)];
        remarks.into_iter().flatten()
    }
}

/// What is to be said where a graphics processor was wanted and is not to be had.
pub(super) fn on_the_processor(reason: &str) -> String {
    format!("No graphics processor is to be had, so the processor computes: {reason}")
}
