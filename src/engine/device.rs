//! Where a model computes: the choice of device behind one type.

use candle_core::{DType, Device as CandleDevice};
use serde::{Deserialize, Serialize};

/// Where a model computes.
#[derive(Debug, Clone)]
pub struct Device {
    inner: CandleDevice,
    fallback_reason: Option<String>,
    precision: Precision,
}

/// In which numbers a graphics processor computes what is not quantised, and keeps keys and values. The
/// processor computes in `f32` from weights as they are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 32 bits, as on the processor.
    #[default]
    F32,
    /// 16 bits with the range of 32: what most models were trained in.
    Bf16,
    /// 16 bits, finer than `bf16`; the largest number is 65504, which some models go beyond.
    F16,
}

impl Precision {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::F32, Self::Bf16, Self::F16];

    /// How people call it: "bf16".
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    /// What there is to know of it, in a few words.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::F32 => "as on the processor",
            Self::Bf16 => "half the memory",
            Self::F16 => "finer, smaller range",
        }
    }

    pub(super) const fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::Bf16 => DType::BF16,
            Self::F16 => DType::F16,
        }
    }
}

/// What the user may ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceChoice {
    /// The first graphics processor that this build knows and that answers, else the processor.
    #[default]
    Best,
    /// The processor.
    Cpu,
    /// The NVIDIA graphics processor of this number.
    Cuda(usize),
    /// The Apple graphics processor of this number.
    Metal(usize),
}

/// No machine has more graphics processors of one kind.
const N_MAX_DEVICES: usize = 16;

impl DeviceChoice {
    /// The devices that this build knows and that answer now, the processor first.
    pub fn available() -> Vec<Self> {
        let answers = |choice: &Self| choice.open().is_ok();
        let cuda = (0..N_MAX_DEVICES).map(Self::Cuda).take_while(answers);
        let metal = (0..N_MAX_DEVICES).map(Self::Metal).take_while(answers);
        std::iter::once(Self::Cpu)
            .chain(cuda)
            .chain(metal)
            .collect()
    }

    /// Whether this build knows graphics processors.
    pub const fn build_knows_accelerators() -> bool {
        cfg!(any(feature = "cuda", feature = "metal"))
    }

    /// How people call it: "CPU", "CUDA 0".
    pub fn name(self) -> String {
        match self {
            Self::Best => "The best there is".to_owned(),
            Self::Cpu => "CPU".to_owned(),
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
    /// The processor; always there.
    pub const fn cpu() -> Self {
        Self {
            inner: CandleDevice::Cpu,
            fallback_reason: None,
            precision: Precision::F32,
        }
    }

    /// The device that was asked for, or the processor with the reason why it is not another. A
    /// precision matters to graphics processors only.
    pub fn choose(choice: DeviceChoice, precision: Precision) -> Self {
        match choice.open() {
            Ok(inner) if inner.is_cpu() => Self::cpu(),
            Ok(inner) => Self {
                inner,
                fallback_reason: None,
                precision,
            },
            Err(error) => Self {
                fallback_reason: Some(error.to_string()),
                ..Self::cpu()
            },
        }
    }

    /// Why this is the processor although a graphics processor was wanted; `None` where it is what
    /// was asked for, or where this build knows no other.
    pub fn fallback_reason(&self) -> Option<&str> {
        self.fallback_reason.as_deref()
    }

    /// How people call it: "CPU", "CUDA 0", "CUDA 0 in bf16".
    pub fn name(&self) -> String {
        let name = match self.inner.location() {
            candle_core::DeviceLocation::Cpu => "CPU".to_owned(),
            candle_core::DeviceLocation::Cuda { gpu_id } => format!("CUDA {gpu_id}"),
            candle_core::DeviceLocation::Metal { gpu_id } => format!("Metal {gpu_id}"),
        };
        match self.precision {
            Precision::F32 => name,
            precision => format!("{name} in {}", precision.name()),
        }
    }

    /// The same, computing in full precision.
    #[must_use]
    pub(super) fn in_full_precision(&self) -> Self {
        Self {
            precision: Precision::F32,
            ..self.clone()
        }
    }

    /// In which numbers it computes.
    pub const fn precision(&self) -> Precision {
        self.precision
    }

    pub(super) const fn candle(&self) -> &CandleDevice {
        &self.inner
    }
}

/// The graphics processor that this build was made for; `None` where it was made for none.
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
    use super::{Device, DeviceChoice, Precision};

    #[test]
    fn the_processor_is_there_when_asked_for() {
        let device = Device::choose(DeviceChoice::Cpu, Precision::Bf16);
        assert_eq!(device.name(), "CPU");
        assert_eq!(device.precision(), Precision::F32);
        assert_eq!(device.fallback_reason(), None);
    }

    #[test]
    fn what_does_not_answer_is_replaced_by_the_processor_with_the_reason() {
        let device = Device::choose(DeviceChoice::Cuda(99), Precision::F16);
        assert_eq!(device.name(), "CPU");
        assert!(device.fallback_reason().is_some());
    }

    #[test]
    fn the_processor_comes_first_among_those_that_answer() {
        assert_eq!(DeviceChoice::available().first(), Some(&DeviceChoice::Cpu));
    }
}
