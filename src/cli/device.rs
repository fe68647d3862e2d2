//! `--device`: the device that a model runs on.

use clap::Args;

use crate::generation::ModelInfo;
use crate::worker::DeviceChoice;

/// The argument, for commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct DeviceArgument {
    /// Device to run the model on: best (a GPU if one is available, else the CPU), cpu, cuda or
    /// metal; cuda:1 is the second GPU
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = parse_available)]
    pub device: DeviceChoice,
}

impl DeviceArgument {
    /// Returns an error message if a GPU was requested and the model runs on the CPU. Only the kind
    /// of device is compared, because the numbers in the names of Apple GPUs are registry IDs.
    pub(super) fn refusal(self, info: &ModelInfo) -> Option<String> {
        let is_named = !matches!(self.device, DeviceChoice::Best | DeviceChoice::Cpu);
        let is_on_cpu = info.device.starts_with(&DeviceChoice::Cpu.name());
        (is_named && is_on_cpu).then(|| {
            let (model, wanted) = (&info.name, self.device.name());
            format!("{model} runs on the CPU, not on {wanted}")
        })
    }
}

/// Parses a device name and fails unless the device is available, so that results never come from
/// a device other than the requested one.
fn parse_available(name: &str) -> Result<DeviceChoice, String> {
    let choice = parse(name)
        .ok_or_else(|| "expected best, cpu, cuda, cuda:1, …, metal or metal:1, …".to_owned())?;
    if choice == DeviceChoice::Best {
        return Ok(choice);
    }
    let available = DeviceChoice::available();
    if available.contains(&choice) {
        return Ok(choice);
    }
    let names: Vec<String> = available.into_iter().map(DeviceChoice::name).collect();
    let build = match DeviceChoice::launcher_reason() {
        _ if DeviceChoice::build_supports_gpus() => String::new(),
        Some(reason) => format!(" ({reason})"),
        None => " (this build has no GPU support)".to_owned(),
    };
    let (wanted, names) = (choice.name(), names.join(", "));
    Err(format!("{wanted} is not available, only {names}{build}"))
}

/// Parses a device name, whether or not the device is available.
fn parse(name: &str) -> Option<DeviceChoice> {
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
    use super::{DeviceArgument, DeviceChoice, ModelInfo, parse, parse_available};

    #[test]
    fn a_model_on_the_cpu_is_refused_if_a_gpu_was_requested() {
        let refusal = |device, runs_on: &str| {
            let info = ModelInfo {
                name: "Tiny".to_owned(),
                device: runs_on.to_owned(),
                ..ModelInfo::default()
            };
            DeviceArgument { device }.refusal(&info)
        };
        let message = "Tiny runs on the CPU, not on CUDA 1".to_owned();
        assert_eq!(refusal(DeviceChoice::Cuda(1), "CPU"), Some(message));
        for (device, runs_on) in [
            (DeviceChoice::Best, "CPU"),
            (DeviceChoice::Cpu, "CPU with an f16 cache"),
            (DeviceChoice::Cuda(1), "CUDA 1 in bf16"),
            (DeviceChoice::Metal(0), "Metal 4294968342"),
        ] {
            assert_eq!(refusal(device, runs_on), None);
        }
    }

    #[test]
    fn device_names_may_have_an_index() {
        assert_eq!(parse("best"), Some(DeviceChoice::Best));
        assert_eq!(parse("cpu"), Some(DeviceChoice::Cpu));
        assert_eq!(parse("cuda"), Some(DeviceChoice::Cuda(0)));
        assert_eq!(parse("cuda:1"), Some(DeviceChoice::Cuda(1)));
        assert_eq!(parse("metal"), Some(DeviceChoice::Metal(0)));
        for name in ["", "cpu:0", "cuda:", "cuda:-1", "cuda:one", "tpu"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    #[test]
    fn an_unavailable_device_is_refused_with_a_list_of_available_ones() {
        let refusal = parse_available("cuda:99").unwrap_err();
        assert!(refusal.starts_with("CUDA 99 is not available, only CPU"));
        assert_eq!(parse_available("cpu"), Ok(DeviceChoice::Cpu));
    }
}
