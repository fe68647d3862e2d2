//! `--device`: where a model computes.

use clap::Args;

use crate::generation::ModelInfo;
use crate::worker::DeviceChoice;

/// The argument, for the commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct DeviceArgument {
    /// Where the model computes: best (a graphics processor that this build knows, else the processor),
    /// cpu, cuda or metal; cuda:1 is the second of several
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = present)]
    pub device: DeviceChoice,
}

impl DeviceArgument {
    /// Why a model is of no use that computes elsewhere than it was told to. Only the kind of device
    /// is compared, since Apple's graphics processors have other numbers in their names.
    pub fn refusal(self, info: &ModelInfo) -> Option<String> {
        let is_named = !matches!(self.device, DeviceChoice::Best | DeviceChoice::Cpu);
        let is_on_cpu = info.device.starts_with(&DeviceChoice::Cpu.name());
        (is_named && is_on_cpu).then(|| {
            let (model, wanted) = (&info.name, self.device.name());
            format!("{model} computes on the processor, not on {wanted}")
        })
    }
}

/// The device of this name, if it can be used: figures must not come from another than was asked for.
fn present(name: &str) -> Result<DeviceChoice, String> {
    let choice = named(name)
        .ok_or_else(|| "a device is best, cpu, cuda, cuda:1, …, metal, metal:1, …".to_owned())?;
    if choice == DeviceChoice::Best {
        return Ok(choice);
    }
    let available = DeviceChoice::available();
    if available.contains(&choice) {
        return Ok(choice);
    }
    let names: Vec<String> = available.into_iter().map(DeviceChoice::name).collect();
    let build = if DeviceChoice::build_knows_accelerators() {
        ""
    } else {
        "; this build knows no graphics processors"
    };
    let (wanted, names) = (choice.name(), names.join(", "));
    Err(format!("{wanted} is not there, but {names}{build}"))
}

/// The device of this name, whether it is there or not.
fn named(name: &str) -> Option<DeviceChoice> {
    let (kind, number) = match name.split_once(':') {
        Some((kind, number)) => (kind, Some(number.parse().ok()?)),
        None => (name, None),
    };
    match (kind, number) {
        ("best", None) => Some(DeviceChoice::Best),
        ("cpu", None) => Some(DeviceChoice::Cpu),
        ("cuda", number) => Some(DeviceChoice::Cuda(number.unwrap_or(0))),
        ("metal", number) => Some(DeviceChoice::Metal(number.unwrap_or(0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceArgument, DeviceChoice, ModelInfo, named, present};

    #[test]
    fn a_model_that_computes_elsewhere_than_it_was_told_to_is_refused() {
        let refusal = |device, computes_on: &str| {
            let info = ModelInfo {
                name: "Tiny".to_owned(),
                device: computes_on.to_owned(),
                ..ModelInfo::default()
            };
            DeviceArgument { device }.refusal(&info)
        };
        let sentence = "Tiny computes on the processor, not on CUDA 1".to_owned();
        assert_eq!(refusal(DeviceChoice::Cuda(1), "CPU"), Some(sentence));
        for (device, computes_on) in [
            (DeviceChoice::Best, "CPU"),
            (DeviceChoice::Cpu, "CPU with an f16 cache"),
            (DeviceChoice::Cuda(1), "CUDA 1 in bf16"),
            (DeviceChoice::Metal(0), "Metal 4294968342"),
        ] {
            assert_eq!(refusal(device, computes_on), None);
        }
    }

    #[test]
    fn devices_have_names_and_numbers() {
        assert_eq!(named("best"), Some(DeviceChoice::Best));
        assert_eq!(named("cpu"), Some(DeviceChoice::Cpu));
        assert_eq!(named("cuda"), Some(DeviceChoice::Cuda(0)));
        assert_eq!(named("cuda:1"), Some(DeviceChoice::Cuda(1)));
        assert_eq!(named("metal"), Some(DeviceChoice::Metal(0)));
        for name in ["", "cpu:0", "cuda:", "cuda:-1", "cuda:one", "tpu"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_refused_with_those_that_are() {
        let refusal = present("cuda:99").unwrap_err();
        assert!(refusal.starts_with("CUDA 99 is not there, but CPU"));
        assert_eq!(present("cpu"), Ok(DeviceChoice::Cpu));
    }
}
