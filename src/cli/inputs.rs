//! `--inputs`: how finely the inputs of quantized weights are rounded.

use clap::Args;

use super::named_value::parse_by_name;
use crate::generation::ModelInfo;
use crate::worker::InputBits;

/// The argument, for commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct InputsArgument {
    /// Bits that the inputs of quantized weights are rounded to on the CPU: 16 computes the
    /// probabilities that the weights define, 24 is as exact as f32 but slower, and 8 is faster for
    /// long prompts and many panes and rounds as llama.cpp does
    #[arg(long, value_name = "BITS", default_value = InputBits::default().name())]
    #[arg(value_parser = parse_by_name(InputBits::ALL, InputBits::name))]
    pub inputs: InputBits,
}

impl InputsArgument {
    /// Returns a warning if the model does not round its inputs as requested.
    pub(super) fn warning(self, info: &ModelInfo) -> Option<String> {
        let is_used = info.device.contains(self.inputs.phrase());
        (self.inputs != InputBits::default() && !is_used)
            .then(|| format!("This model does not support {}", self.inputs.phrase()))
    }
}
