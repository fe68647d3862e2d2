//! The settings with which a model runs: the device, its precision, the cache type, the rounding of
//! inputs, and the threads.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use rayon::ThreadPoolBuilder;
use serde::{Deserialize, Serialize};
use sysinfo::System;

use super::{Device, DeviceChoice, Precision};
use crate::generation::{Implementation, listed};
use crate::kernels::attention::CacheType;
use crate::kernels::{InputBits, InstructionSet};

/// The compute settings that the user chose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComputeChoice {
    pub device: DeviceChoice,
    /// The precision on a GPU.
    pub precision: Precision,
    /// The type of the KV cache on the CPU.
    #[serde(with = "StoredCacheType")]
    pub cache: CacheType,
    /// How finely the inputs of products with quantized weights are rounded on the CPU.
    #[serde(with = "StoredInputBits")]
    pub inputs: InputBits,
    /// The number of threads on the CPU. `None` means the default.
    pub n_threads: Option<NonZeroUsize>,
}

/// How [`CacheType`] is stored; the kernels know nothing about serialization.
#[derive(Serialize, Deserialize)]
#[serde(remote = "CacheType", rename_all = "snake_case")]
enum StoredCacheType {
    F32,
    F16,
    Q8,
}

/// How [`InputBits`] is stored.
#[derive(Serialize, Deserialize)]
#[serde(remote = "InputBits")]
enum StoredInputBits {
    #[serde(rename = "24")]
    TwentyFour,
    #[serde(rename = "16")]
    Sixteen,
    #[serde(rename = "8")]
    Eight,
}

/// The settings with which a model runs, as far as this machine supports the user's choice.
#[derive(Debug, Clone)]
pub struct Compute {
    pub device: Device,
    /// The type of the KV cache on the CPU.
    pub cache: CacheType,
    /// How finely the inputs of products with quantized weights are rounded on the CPU.
    pub inputs: InputBits,
    /// Whether weights are widened to f32 when they are loaded: slow and large, but without any
    /// rounding of inputs. Comparisons use it as their reference.
    pub widens_weights: bool,
    /// The instruction set to use on the CPU. `None` means the default.
    pub instructions: Option<InstructionSet>,
    /// The number of threads on the CPU.
    pub n_threads: NonZeroUsize,
}

/// How many threads can compute on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuThreads {
    /// The default: one for each physical core, since two threads on a core share its arithmetic
    /// units.
    pub n_default: NonZeroUsize,
    /// The most threads that can run in parallel in this process.
    pub n_max: NonZeroUsize,
}

impl Compute {
    /// Applies the user's choice, as far as this machine supports it.
    ///
    /// Our own kernels use a new number of threads from the next model load on. candle's tensors
    /// keep the first number, because rayon's global pool can't be resized: for them, a new one
    /// takes effect when the program restarts.
    pub fn choose(choice: ComputeChoice) -> Self {
        let n_threads = CpuThreads::of_machine().granted(choice.n_threads);
        let pool = ThreadPoolBuilder::new().num_threads(n_threads.get());
        // This fails if the pool already exists, which is fine.
        pool.build_global().ok();
        Self {
            device: Device::choose(choice.device, choice.precision),
            cache: choice.cache,
            inputs: choice.inputs,
            widens_weights: false,
            instructions: None,
            n_threads,
        }
    }

    /// Returns the same settings, but entirely in f32: dequantized weights, exact inputs and an f32
    /// cache.
    #[must_use]
    pub fn in_f32(self) -> Self {
        Self {
            widens_weights: true,
            cache: CacheType::F32,
            ..self
        }
    }

    /// Returns the display name, such as "CPU", "CPU with an f16 cache and 8-bit inputs" or "CUDA 0
    /// in bf16".
    pub fn name(&self) -> String {
        let device = self.device.name();
        let cache = (self.cache != CacheType::default()).then(|| self.cache.phrase());
        let is_rounded = self.inputs != InputBits::default() && !self.widens_weights;
        let inputs = is_rounded.then(|| self.inputs.phrase());
        let weights = self.widens_weights.then_some("f32 weights");
        let parts: Vec<&str> = [cache, inputs, weights].into_iter().flatten().collect();
        if parts.is_empty() || !self.device.candle().is_cpu() {
            device
        } else {
            format!("{device} with {}", listed(&parts))
        }
    }

    /// Returns the number of CPU threads that an implementation uses, or `None` on a GPU.
    pub fn threads_of(&self, implementation: Implementation) -> Option<NonZeroUsize> {
        if !self.device.candle().is_cpu() {
            None
        } else if implementation.is_quartet() {
            Some(self.n_threads)
        } else {
            NonZeroUsize::new(rayon::current_num_threads())
        }
    }

    /// Returns the default settings on the CPU.
    pub fn on_cpu() -> Self {
        Self::choose(ComputeChoice {
            device: DeviceChoice::Cpu,
            ..ComputeChoice::default()
        })
    }
}

impl CpuThreads {
    /// Counts the cores of this machine that this process may use.
    pub fn of_machine() -> Self {
        let n_max = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let n_cores = System::physical_core_count().and_then(NonZeroUsize::new);
        Self {
            n_default: n_cores.map_or(n_max, |n_cores| n_cores.min(n_max)),
            n_max,
        }
    }

    /// Returns how many threads to use: the requested number up to the maximum, or the default.
    pub fn granted(self, n_wanted: Option<NonZeroUsize>) -> NonZeroUsize {
        n_wanted.unwrap_or(self.n_default).min(self.n_max)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::{CacheType, Compute, ComputeChoice, CpuThreads, InputBits};

    #[test]
    fn the_name_says_what_differs_from_the_default() {
        let name = |cache, inputs| {
            let default = Compute::on_cpu();
            let compute = Compute {
                cache,
                inputs,
                ..default
            };
            compute.name()
        };
        let (f32, q8) = (CacheType::F32, CacheType::Q8);
        assert_eq!(name(f32, InputBits::Sixteen), "CPU");
        assert_eq!(name(q8, InputBits::Sixteen), "CPU with a q8 cache");
        assert_eq!(name(f32, InputBits::Eight), "CPU with 8-bit inputs");
        let finest = name(f32, InputBits::TwentyFour);
        assert_eq!(finest, "CPU with 24-bit inputs");
        let both = "CPU with a q8 cache and 8-bit inputs";
        assert_eq!(name(q8, InputBits::Eight), both);
    }

    #[test]
    fn settings_saved_before_inputs_were_configurable_use_the_default() {
        let stored = r#"{"cache": "q8"}"#;
        let choice: ComputeChoice = serde_json::from_str(stored).unwrap();
        assert_eq!(choice.inputs, InputBits::Sixteen);
        let eight = ComputeChoice {
            inputs: InputBits::Eight,
            ..choice
        };
        let stored = serde_json::to_string(&eight).unwrap();
        assert!(stored.contains(r#""inputs":"8""#), "{stored}");
        assert_eq!(
            serde_json::from_str::<ComputeChoice>(&stored).unwrap(),
            eight
        );
    }

    #[test]
    fn threads_are_limited_to_what_can_run_in_parallel() {
        let threads = |n| NonZeroUsize::new(n).unwrap();
        let cpu = CpuThreads {
            n_default: threads(4),
            n_max: threads(8),
        };
        assert_eq!(cpu.granted(None), threads(4));
        assert_eq!(cpu.granted(NonZeroUsize::new(1)), threads(1));
        assert_eq!(cpu.granted(NonZeroUsize::new(8)), threads(8));
        assert_eq!(cpu.granted(NonZeroUsize::new(99)), threads(8));
    }

    #[test]
    fn the_default_number_of_threads_is_within_the_limit() {
        let cpu = CpuThreads::of_machine();
        assert!(cpu.n_default <= cpu.n_max);
        assert_eq!(Compute::on_cpu().n_threads, cpu.n_default);
    }
}
