//! The names of the matrices of experts.

use super::Naming;

/// A matrix of an expert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpertMatrix {
    Gate,
    Up,
    /// Gate and up projections, stacked.
    GateUp,
    Down,
}

/// What the names of matrices of experts contain, and no other names.
const PARTS: [&str; 4] = [
    "_exps.",
    ".experts.",
    ".block_sparse_moe.input_linear",
    ".block_sparse_moe.output_linear",
];

impl Naming {
    /// Returns the names that the tensor with a matrix of all experts may have.
    pub(crate) fn stacked_experts(self, matrix: ExpertMatrix, layer: usize) -> Vec<String> {
        if self.is_gguf() {
            let part = match matrix {
                ExpertMatrix::Gate => "gate",
                ExpertMatrix::Up => "up",
                ExpertMatrix::GateUp => "gate_up",
                ExpertMatrix::Down => "down",
            };
            return vec![format!("blk.{layer}.ffn_{part}_exps.weight")];
        }
        let part = match matrix {
            ExpertMatrix::Gate => "gate_proj",
            ExpertMatrix::Up => "up_proj",
            ExpertMatrix::GateUp => "gate_up_proj",
            ExpertMatrix::Down => "down_proj",
        };
        let stacked = format!("{}.{part}", self.experts(layer));
        let linear = match matrix {
            ExpertMatrix::GateUp => Some("input_linear"),
            ExpertMatrix::Down => Some("output_linear"),
            ExpertMatrix::Gate | ExpertMatrix::Up => None,
        };
        let linear = linear.filter(|_| self == Self::GraniteHybrid);
        let linear =
            linear.map(|part| format!("model.layers.{layer}.block_sparse_moe.{part}.weight"));
        [stacked].into_iter().chain(linear).collect()
    }

    /// Returns the name of the tensor with the biases of all experts.
    pub(crate) fn expert_biases(self, matrix: ExpertMatrix, layer: usize) -> Vec<String> {
        let stacked = self.stacked_experts(matrix, layer).into_iter();
        let bias = |name: String| match name.strip_suffix(".weight") {
            Some(stem) => format!("{stem}.bias"),
            None => format!("{name}_bias"),
        };
        stacked.map(bias).collect()
    }

    /// Returns the name of the tensor with a matrix of one expert.
    pub(crate) fn single_expert(self, matrix: ExpertMatrix, layer: usize, expert: usize) -> String {
        let has_numbers = matches!(self, Self::Lfm2 | Self::Mixtral);
        let part = match matrix {
            ExpertMatrix::Gate if has_numbers => "w1",
            ExpertMatrix::Down if has_numbers => "w2",
            ExpertMatrix::Up if has_numbers => "w3",
            ExpertMatrix::Gate => "gate_proj",
            ExpertMatrix::Up => "up_proj",
            ExpertMatrix::GateUp => "gate_up_proj",
            ExpertMatrix::Down => "down_proj",
        };
        format!("{}.{expert}.{part}.weight", self.experts(layer))
    }

    /// Returns the path of a layer's experts in a folder.
    fn experts(self, layer: usize) -> String {
        let path = match self {
            Self::Backbone => return format!("backbone.layers.{layer}.mixer.experts"),
            Self::Lfm2 => "feed_forward.experts",
            Self::Mixtral | Self::GraniteHybrid => "block_sparse_moe.experts",
            Self::TransformersWithNormsAfter => "experts",
            _ => "mlp.experts",
        };
        format!("model.layers.{layer}.{path}")
    }

    /// Returns whether a tensor of a file holds matrices of experts, which a token uses only if it
    /// chooses them.
    pub(crate) fn is_of_experts(file_name: &str) -> bool {
        PARTS.iter().any(|part| file_name.contains(part))
    }
}
