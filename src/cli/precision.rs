//! `--precision`: in which numbers a graphics processor computes.

use clap::Args;

use super::named::named;
use crate::generation::ModelInfo;
use crate::worker::Precision;

/// The argument, for the commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct PrecisionArgument {
    /// In which numbers a graphics processor computes what is not quantised. It has no effect on the
    /// processor, which computes in f32 from weights as they are stored
    #[arg(long, value_name = "NUMBERS", default_value = "f32")]
    #[arg(value_parser = named(Precision::ALL, Precision::name))]
    pub precision: Precision,
}

impl PrecisionArgument {
    /// What is to be said where the model does not compute as was asked for.
    pub fn remark(self, info: &ModelInfo) -> Option<String> {
        let wanted = self.precision;
        let is_default = wanted == Precision::default();
        if is_default || info.device.ends_with(wanted.name()) {
            return None;
        }
        let (device, wanted) = (&info.device, wanted.name());
        Some(format!(
            "On {device} this model computes in f32, not in {wanted}"
        ))
    }
}
