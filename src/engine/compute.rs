//! How a model computes: on which device, and with how many threads where that is the processor.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use rayon::ThreadPoolBuilder;
use serde::{Deserialize, Serialize};
use sysinfo::System;

use super::{Device, DeviceChoice, Precision};
use crate::generation::Implementation;
use crate::kernels::attention::CacheType;

/// What the user may ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComputeChoice {
    /// Where.
    pub device: DeviceChoice,
    /// In which numbers on a graphics processor.
    pub precision: Precision,
    /// As what keys and values are kept on the processor.
    pub cache: CacheType,
    /// With how many threads on the processor; the usual number where none is given.
    pub n_threads: Option<NonZeroUsize>,
}

/// How a model computes.
#[derive(Debug, Clone)]
pub struct Compute {
    /// Where.
    pub device: Device,
    /// As what keys and values are kept on the processor.
    pub cache: CacheType,
    /// With how many threads on the processor.
    pub n_threads: NonZeroUsize,
}

/// How many threads can compute on the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuThreads {
    /// So many do where none were asked for: one for each core, since two on one core share its
    /// arithmetic.
    pub n_usual: NonZeroUsize,
    /// So many may run at once in this process.
    pub n_max: NonZeroUsize,
}

impl Compute {
    /// As it was asked for, as far as this machine can.
    ///
    /// Our own kernels take the number of threads with each model that is loaded. candle's tensors take
    /// the first one, since rayon's pool keeps its size: there another number counts from the next start.
    pub fn choose(choice: ComputeChoice) -> Self {
        let n_threads = CpuThreads::of_machine().granted(choice.n_threads);
        let pool = ThreadPoolBuilder::new().num_threads(n_threads.get());
        // Once the pool is there, it stays as it is.
        pool.build_global().ok();
        Self {
            device: Device::choose(choice.device, choice.precision),
            cache: choice.cache,
            n_threads,
        }
    }

    /// How people call it: "CPU", "CPU with an f16 cache", "CUDA 0 in bf16".
    pub fn name(&self) -> String {
        let device = self.device.name();
        if self.device.candle().is_cpu() && self.cache != CacheType::default() {
            format!("{device} with {}", self.cache.phrase())
        } else {
            device
        }
    }

    /// With how many threads a model computes on the processor; nothing elsewhere.
    pub fn threads_of(&self, implementation: Implementation) -> Option<NonZeroUsize> {
        if !self.device.candle().is_cpu() {
            None
        } else if implementation.is_quartet() {
            Some(self.n_threads)
        } else {
            NonZeroUsize::new(rayon::current_num_threads())
        }
    }

    /// On the processor, with the usual number of threads.
    pub fn on_cpu() -> Self {
        Self::choose(ComputeChoice {
            device: DeviceChoice::Cpu,
            ..ComputeChoice::default()
        })
    }
}

impl CpuThreads {
    /// Those of this machine, as far as this process may use them.
    pub fn of_machine() -> Self {
        let n_max = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let n_cores = System::physical_core_count().and_then(NonZeroUsize::new);
        Self {
            n_usual: n_cores.map_or(n_max, |n_cores| n_cores.min(n_max)),
            n_max,
        }
    }

    /// How many compute where so many are asked for.
    pub fn granted(self, n_wanted: Option<NonZeroUsize>) -> NonZeroUsize {
        n_wanted.unwrap_or(self.n_usual).min(self.n_max)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::{Compute, CpuThreads};

    #[test]
    fn no_more_threads_compute_than_may_run_at_once() {
        let threads = |n| NonZeroUsize::new(n).unwrap();
        let cpu = CpuThreads {
            n_usual: threads(4),
            n_max: threads(8),
        };
        assert_eq!(cpu.granted(None), threads(4));
        assert_eq!(cpu.granted(NonZeroUsize::new(1)), threads(1));
        assert_eq!(cpu.granted(NonZeroUsize::new(8)), threads(8));
        assert_eq!(cpu.granted(NonZeroUsize::new(99)), threads(8));
    }

    #[test]
    fn the_usual_number_of_threads_is_one_that_this_process_may_use() {
        let cpu = CpuThreads::of_machine();
        assert!(cpu.n_usual <= cpu.n_max);
        assert_eq!(Compute::on_cpu().n_threads, cpu.n_usual);
    }
}
