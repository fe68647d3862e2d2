//! The arguments that choose where and how a model computes.

use std::num::NonZeroUsize;

use clap::Args;

use super::cache::CacheArgument;
use super::count::at_least_one;
use super::device::DeviceArgument;
use super::failure::Failure;
use super::inputs::InputsArgument;
use super::precision::PrecisionArgument;
use crate::generation::ModelInfo;
use crate::worker::{ComputeChoice, CpuThreads};

/// The compute arguments, for commands that run a model.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ComputeArguments {
    #[command(flatten)]
    device: DeviceArgument,

    /// Number of CPU threads, limited to what this process may use; by default one per core
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    precision: PrecisionArgument,

    #[command(flatten)]
    cache: CacheArgument,

    #[command(flatten)]
    inputs: InputsArgument,
}

impl ComputeArguments {
    /// Returns the requested device, number formats and threads.
    pub(crate) fn choice(&self) -> ComputeChoice {
        ComputeChoice {
            device: self.device.device,
            cache: self.cache.cache,
            inputs: self.inputs.inputs,
            n_threads: self.threads,
            precision: self.precision.precision,
        }
    }

    /// Returns the number of CPU threads that will be used.
    pub(crate) fn n_threads(&self) -> usize {
        CpuThreads::of_machine().granted(self.threads).get()
    }

    /// Fails if a specific GPU was requested but the model runs on the CPU, so that results never
    /// come from a device other than the requested one.
    pub(crate) fn check(&self, info: &ModelInfo) -> Result<(), Failure> {
        let refusal = self.device.refusal(info);
        refusal.map_or(Ok(()), |message| Err(Failure::run(message)))
    }

    /// Returns a warning for each request that the model does not honor.
    pub(crate) fn warnings(&self, info: &ModelInfo) -> impl Iterator<Item = String> {
        let warnings = [
            self.precision.warning(info),
            self.cache.warning(info),
            self.inputs.warning(info),
        ];
        warnings.into_iter().flatten()
    }
}

/// Returns the note shown when the CPU replaces an unavailable GPU.
pub(crate) fn cpu_fallback_note(reason: &str) -> String {
    format!("Using the CPU because no GPU is available: {reason}")
}
