//! `--precision`: the number format of GPU computation.

use clap::Args;

use super::named_value::parse_by_name;
use crate::generation::ModelInfo;
use crate::worker::Precision;

/// The argument, for commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct PrecisionArgument {
    /// Number format of GPU computation, apart from quantized weights. Has no effect on the CPU,
    /// which computes in f32 from the weights as stored
    #[arg(long, value_name = "FORMAT", default_value = "file")]
    #[arg(value_parser = parse_by_name(Precision::ALL, Precision::name))]
    pub precision: Precision,
}

impl PrecisionArgument {
    /// Returns a warning if the model does not compute in the requested format.
    pub(super) fn warning(self, info: &ModelInfo) -> Option<String> {
        let wanted = self.precision;
        let is_default = wanted == Precision::default();
        if is_default || info.device.ends_with(wanted.name()) {
            return None;
        }
        let (device, wanted) = (&info.device, wanted.name());
        Some(format!(
            "This model computes in f32 on {device}, not in {wanted}"
        ))
    }
}
