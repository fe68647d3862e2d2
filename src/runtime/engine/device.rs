//! The device that a model runs on: the CPU, or a GPU if the build supports one.

use candle_core::{DType, Device as CandleDevice};
use serde::{Deserialize, Serialize};

/// The device that a model runs on.
#[derive(Debug, Clone)]
pub struct Device {
    inner: CandleDevice,
    /// Set only if this is the CPU in place of a GPU.
    fallback_reason: Option<String>,
    /// Always `F32` on the CPU.
    precision: Precision,
    /// Whether the user left the choice to us.
    is_best: bool,
}

/// What determines on which device a model runs fastest, and in which precision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Workload {
    pub n_layers: usize,
    /// How many bytes of weights a step reads.
    pub n_step_bytes: u64,
    /// The type in which most weights are stored, if it is a 16-bit one.
    pub stored: Precision,
}

/// The precision of unquantized weights, activations, and the KV cache on a GPU. The CPU always
/// computes in `f32`, and converts the stored weights as it reads them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// That of the file, if its weights have 16 bits; otherwise 32 bits.
    #[default]
    File,
    /// 32 bits, as on the CPU.
    F32,
    /// 16 bits with the range of 32-bit floats. Most models were trained in this precision.
    Bf16,
    /// 16 bits, more precise than `bf16`. The largest number is 65504, which some models exceed.
    F16,
}

impl Precision {
    /// All precisions, in menu order.
    pub const ALL: [Self; 4] = [Self::File, Self::F32, Self::Bf16, Self::F16];

    /// Returns the display name, such as "bf16".
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// Returns a short note on the trade-off, to show beside the name.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::File => "16-bit files stay 16-bit",
            Self::F32 => "as on the CPU",
            Self::Bf16 => "half the memory",
            Self::F16 => "more precise, smaller range",
        }
    }

    pub(super) const fn dtype(self) -> DType {
        match self {
            Self::File | Self::F32 => DType::F32,
            Self::Bf16 => DType::BF16,
            Self::F16 => DType::F16,
        }
    }
}

/// The device that the user chose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceChoice {
    /// The first GPU that this build supports, or the CPU if none is found.
    #[default]
    Best,
    Cpu,
    /// The NVIDIA GPU with this index.
    Cuda(usize),
    /// The Apple GPU with this index.
    Metal(usize),
}

/// The environment variable in which a launcher says why it started the CPU build.
const LAUNCHER_VARIABLE: &str = "QUARTET_GPU_UNAVAILABLE";

/// The most GPUs of one kind to look for.
const N_MAX_DEVICES: usize = 16;

impl DeviceChoice {
    /// The display name of the CPU, with which the names of its settings begin.
    pub const CPU_NAME: &str = "CPU";

    /// Returns the devices that this build can use on this machine, the CPU first.
    pub fn available() -> Vec<Self> {
        let opens = |choice: &Self| choice.open().is_ok();
        let cuda = (0..N_MAX_DEVICES).map(Self::Cuda).take_while(opens);
        let metal = (0..N_MAX_DEVICES).map(Self::Metal).take_while(opens);
        std::iter::once(Self::Cpu)
            .chain(cuda)
            .chain(metal)
            .collect()
    }

    /// Returns whether this build supports GPUs.
    pub const fn build_supports_gpus() -> bool {
        cfg!(any(feature = "cuda", feature = "metal"))
    }

    /// Returns why the launcher of a package started this build without GPU support, if the build
    /// with GPU support can't start.
    pub fn launcher_reason() -> Option<String> {
        std::env::var(LAUNCHER_VARIABLE).ok()
    }

    /// Returns the display name, such as "CPU" or "CUDA 0".
    pub fn name(self) -> String {
        match self {
            Self::Best => "Best available".to_owned(),
            Self::Cpu => Self::CPU_NAME.to_owned(),
            Self::Cuda(number) => format!("CUDA {number}"),
            Self::Metal(number) => format!("Metal {number}"),
        }
    }

    fn open(self) -> candle_core::Result<CandleDevice> {
        match self {
            Self::Best => best_accelerator().unwrap_or(Ok(CandleDevice::Cpu)),
            Self::Cpu => Ok(CandleDevice::Cpu),
            Self::Cuda(number) => CandleDevice::new_cuda(number),
            Self::Metal(number) => CandleDevice::new_metal(number),
        }
    }
}

impl Device {
    /// Returns the CPU, which is always available.
    pub const fn cpu() -> Self {
        Self {
            inner: CandleDevice::Cpu,
            fallback_reason: None,
            precision: Precision::F32,
            is_best: false,
        }
    }

    /// Opens the chosen device. Falls back to the CPU, with a reason, if that fails. The precision
    /// only applies to GPUs.
    pub fn choose(choice: DeviceChoice, precision: Precision) -> Self {
        match choice.open() {
            Ok(inner) if inner.is_cpu() => Self::cpu(),
            Ok(inner) => Self {
                inner,
                fallback_reason: None,
                precision,
                is_best: choice == DeviceChoice::Best,
            },
            Err(error) => Self {
                fallback_reason: Some(error.to_string()),
                ..Self::cpu()
            },
        }
    }

    /// Returns why this is the CPU although a GPU was requested. `None` if it is the chosen device,
    /// or if this build does not support GPUs.
    pub fn fallback_reason(&self) -> Option<&str> {
        self.fallback_reason.as_deref()
    }

    /// Returns the display name, such as "CPU", "CUDA 0" or "CUDA 0 in bf16".
    pub fn name(&self) -> String {
        let name = match self.inner.location() {
            candle_core::DeviceLocation::Cpu => DeviceChoice::CPU_NAME.to_owned(),
            candle_core::DeviceLocation::Cuda { gpu_id } => format!("CUDA {gpu_id}"),
            candle_core::DeviceLocation::Metal { gpu_id } => format!("Metal {gpu_id}"),
        };
        match self.precision {
            Precision::File | Precision::F32 => name,
            precision => format!("{name} in {}", precision.name()),
        }
    }

    /// Returns the device and precision for a model: the CPU instead of the best GPU if it is
    /// likely to be faster, and the precision of the model's file if it was asked for.
    pub(super) fn for_model(&self, workload: Workload) -> Self {
        if self.is_best && workload.is_faster_on_cpu() {
            return Self::cpu();
        }
        match self.precision {
            Precision::File => Self {
                precision: workload.stored,
                ..self.clone()
            },
            _ => self.clone(),
        }
    }

    /// Returns the same device with 32-bit precision.
    #[must_use]
    pub(super) fn in_full_precision(&self) -> Self {
        Self {
            precision: Precision::F32,
            ..self.clone()
        }
    }

    /// Returns the precision of computations on this device.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    pub(super) const fn candle(&self) -> &CandleDevice {
        &self.inner
    }
}

impl Workload {
    /// Returns whether a step is likely to take longer on a GPU than on the CPU.
    ///
    /// On a GPU, a step of a small model takes as long as launching its kernels does, whatever they
    /// compute: 0.25 ms per layer, measured with 16 to 30 layers on an H200. On the CPU, it takes
    /// as long as reading the weights does, at about 15 GB/s on a laptop.
    const fn is_faster_on_cpu(self) -> bool {
        const LAUNCH_NANOSECS: u64 = 250_000;
        const CPU_BYTES_PER_NANOSEC: u64 = 15;
        self.n_step_bytes < LAUNCH_NANOSECS * CPU_BYTES_PER_NANOSEC * self.n_layers as u64
    }
}

/// Opens the GPU that this build supports. Returns `None` if it supports none.
fn best_accelerator() -> Option<candle_core::Result<CandleDevice>> {
    if cfg!(feature = "cuda") {
        Some(CandleDevice::new_cuda(0))
    } else if cfg!(feature = "metal") {
        Some(CandleDevice::new_metal(0))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{CandleDevice, Device, DeviceChoice, Precision, Workload};

    /// The embedded model, and a model with a billion parameters in 16 bits.
    const SMALL: Workload = Workload {
        n_layers: 8,
        n_step_bytes: 13_000_000,
        stored: Precision::F32,
    };
    const LARGE: Workload = Workload {
        n_layers: 16,
        n_step_bytes: 2_500_000_000,
        stored: Precision::Bf16,
    };

    /// Stands in for a GPU.
    fn gpu(is_best: bool, precision: Precision) -> Device {
        Device {
            inner: CandleDevice::Cpu,
            fallback_reason: None,
            precision,
            is_best,
        }
    }

    #[test]
    fn the_precision_follows_the_file_unless_one_was_chosen() {
        let precision = |chosen, workload| gpu(false, chosen).for_model(workload).precision();
        assert_eq!(precision(Precision::File, LARGE), Precision::Bf16);
        assert_eq!(precision(Precision::File, SMALL), Precision::F32);
        assert_eq!(precision(Precision::F16, LARGE), Precision::F16);
        assert_eq!(precision(Precision::F32, LARGE), Precision::F32);
    }

    #[test]
    fn small_models_run_on_the_cpu_only_if_no_device_was_chosen() {
        assert!(SMALL.is_faster_on_cpu());
        assert!(!LARGE.is_faster_on_cpu());
        let device = |is_best, workload| gpu(is_best, Precision::F16).for_model(workload);
        assert_eq!(device(true, SMALL).precision(), Precision::F32);
        assert_eq!(device(true, LARGE).precision(), Precision::F16);
        assert_eq!(device(false, SMALL).precision(), Precision::F16);
    }

    #[test]
    fn the_cpu_is_always_available() {
        let device = Device::choose(DeviceChoice::Cpu, Precision::Bf16);
        assert_eq!(device.name(), "CPU");
        assert_eq!(device.precision(), Precision::F32);
        assert_eq!(device.fallback_reason(), None);
    }

    #[test]
    fn a_missing_gpu_falls_back_to_the_cpu_with_a_reason() {
        let device = Device::choose(DeviceChoice::Cuda(99), Precision::F16);
        assert_eq!(device.name(), "CPU");
        assert!(device.fallback_reason().is_some());
    }

    #[test]
    fn the_cpu_comes_first_in_the_list_of_devices() {
        assert_eq!(DeviceChoice::available().first(), Some(&DeviceChoice::Cpu));
    }
}
