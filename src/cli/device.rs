//! `--device`: where a model computes.

use clap::Args;

use crate::worker::DeviceChoice;

/// The argument, for the commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct DeviceArgument {
    /// Where the model computes: best (a graphics processor that this build knows, else the processor),
    /// cpu, cuda or metal; cuda:1 is the second of several
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = present)]
    pub device: DeviceChoice,
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
    use super::{DeviceChoice, named, present};

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
