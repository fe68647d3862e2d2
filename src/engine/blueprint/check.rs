//! Refuses numbers with which no model can be built.

use super::{Blueprint, Rope, RopeScaling};
use crate::engine::EngineError;

/// Beyond this a size is a broken file, and products of two sizes would no longer be safe.
pub const MAX_SIZE: usize = 1 << 28;

/// Beyond this a number of layers is a broken file.
pub const MAX_LAYERS: usize = 1 << 12;

impl Blueprint {
    /// Itself, if a model can be built with it.
    pub(super) fn checked(self, what: &'static str, path: &str) -> Result<Self, EngineError> {
        let fault = self
            .fault_of_sizes()
            .or_else(|| self.fault_of_heads())
            .or_else(|| self.fault_of_windows())
            .or_else(|| self.fault_of_numbers())
            .or_else(|| self.ropes.iter().find_map(|rope| rope.fault(self.head_dim)));
        match fault {
            None => Ok(self),
            Some(reason) => Err(EngineError::malformed(what, reason, path)),
        }
    }

    fn fault_of_sizes(&self) -> Option<String> {
        let sizes = [
            ("the hidden size", self.hidden_size),
            ("the number of layers", self.n_layers()),
            ("the number of heads", self.n_heads),
            ("the number of key-value heads", self.n_kv_heads),
            ("the head size", self.head_dim),
            ("the feed-forward size", self.ffn_size),
            ("the context length", self.n_context),
            ("the vocabulary size", self.n_vocab.unwrap_or(1)),
        ];
        let mut sizes = sizes.into_iter();
        let (name, size) = sizes.find(|(_, size)| !(1..=MAX_SIZE).contains(size))?;
        Some(format!("{name} is {size}"))
    }

    fn fault_of_heads(&self) -> Option<String> {
        let (n_heads, n_kv_heads) = (self.n_heads, self.n_kv_heads);
        (!n_heads.is_multiple_of(n_kv_heads))
            .then(|| format!("{n_heads} heads can't share {n_kv_heads} key-value heads"))
    }

    fn fault_of_windows(&self) -> Option<String> {
        let mut windows = self.layers.iter().filter_map(|layer| layer.window);
        windows
            .any(|window| window == 0)
            .then(|| "the sliding window is 0".to_owned())
    }

    fn fault_of_numbers(&self) -> Option<String> {
        if !(self.norm.eps.is_finite() && self.norm.eps >= 0.0) {
            return Some(format!("the norm's epsilon is {}", self.norm.eps));
        }
        let caps = [
            ("the cap on attention scores", self.caps.score),
            ("the cap on logits", self.caps.logit),
        ];
        let scales = [
            ("the scale of embeddings", self.scales.embedding),
            ("the scale of attention scores", Some(self.scales.score)),
            ("the scale of the residual stream", self.scales.residual),
            ("the scale of logits", self.scales.logit),
        ];
        let mut numbers = caps.into_iter().chain(scales);
        let (name, number) = numbers.find_map(|(name, number)| {
            let number = number.filter(|number| !(number.is_finite() && *number > 0.0))?;
            Some((name, number))
        })?;
        Some(format!("{name} is {number}"))
    }
}

impl Rope {
    fn fault(&self, head_dim: usize) -> Option<String> {
        if !(self.theta.is_finite() && self.theta > 0.0) {
            return Some(format!("the rotary base is {}", self.theta));
        }
        if !self.n_dims.is_multiple_of(2) && self.n_dims == head_dim {
            return Some(format!("the head size {head_dim} is odd"));
        }
        if self.n_dims == 0 || self.n_dims > head_dim || !self.n_dims.is_multiple_of(2) {
            let n_dims = self.n_dims;
            return Some(format!(
                "{n_dims} of a head's {head_dim} dimensions can't turn"
            ));
        }
        let (factor, amplitude) = match &self.scaling {
            RopeScaling::None | RopeScaling::EachPlane(_) => (1.0, 1.0),
            RopeScaling::Linear { factor } | RopeScaling::Llama3 { factor, .. } => (*factor, 1.0),
            RopeScaling::Yarn(yarn) => (yarn.factor, yarn.amplitude),
            RopeScaling::LongRope { amplitude, .. } => (1.0, *amplitude),
        };
        [
            ("the factor of rotary scaling", factor),
            ("the attention factor of rotary scaling", amplitude),
        ]
        .into_iter()
        .find(|(_, number)| !(number.is_finite() && *number > 0.0))
        .map(|(name, number)| format!("{name} is {number}"))
    }
}
