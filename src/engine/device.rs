//! Where a model computes: the choice of device behind one type.

use candle_core::Device as CandleDevice;

/// Where a model computes.
#[derive(Debug, Clone)]
pub struct Device {
    inner: CandleDevice,
    fallback_reason: Option<String>,
}

/// What the user may ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first graphics processor that this build knows and that answers, else the processor.
    #[default]
    Best,
    /// The processor.
    Cpu,
}

impl Device {
    /// The processor; always there.
    pub const fn cpu() -> Self {
        Self {
            inner: CandleDevice::Cpu,
            fallback_reason: None,
        }
    }

    /// The device that was asked for, or the processor with the reason why it is not another.
    pub fn choose(choice: DeviceChoice) -> Self {
        match choice {
            DeviceChoice::Best => match best_accelerator() {
                Some(Ok(inner)) => Self {
                    inner,
                    fallback_reason: None,
                },
                Some(Err(error)) => Self {
                    inner: CandleDevice::Cpu,
                    fallback_reason: Some(error.to_string()),
                },
                None => Self::cpu(),
            },
            DeviceChoice::Cpu => Self::cpu(),
        }
    }

    /// Why this is the processor although a graphics processor was wanted; `None` where it is what
    /// was asked for, or where this build knows no other.
    pub fn fallback_reason(&self) -> Option<&str> {
        self.fallback_reason.as_deref()
    }

    /// How people call it: "CPU", "CUDA 0".
    pub fn name(&self) -> String {
        match self.inner.location() {
            candle_core::DeviceLocation::Cpu => "CPU".to_owned(),
            candle_core::DeviceLocation::Cuda { gpu_id } => format!("CUDA {gpu_id}"),
            candle_core::DeviceLocation::Metal { gpu_id } => format!("Metal {gpu_id}"),
        }
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
    use super::{Device, DeviceChoice};

    #[test]
    fn the_processor_is_there_when_asked_for() {
        let device = Device::choose(DeviceChoice::Cpu);
        assert_eq!(device.name(), "CPU");
        assert_eq!(device.fallback_reason(), None);
    }
}
