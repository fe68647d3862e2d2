//! Rejects configurations that no model could have.

use super::{Blueprint, HeadSizes, LayerPlan, Recurrence, Rope, RopeScaling, StepLimits};
use crate::engine::EngineError;

/// A larger size means a broken file. Products of two sizes up to this limit can't overflow.
pub(crate) const MAX_SIZE: usize = 1 << 28;

/// More layers than this mean a broken file.
pub(crate) const MAX_LAYERS: usize = 1 << 12;

impl Blueprint {
    /// Returns the blueprint, or an error that says which value is impossible.
    pub(super) fn checked(self, what: &'static str, path: &str) -> Result<Self, EngineError> {
        let error = self
            .size_error()
            .or_else(|| self.head_error())
            .or_else(|| self.recurrence_error())
            .or_else(|| self.expert_error())
            .or_else(|| self.window_error())
            .or_else(|| self.number_error())
            .or_else(|| self.rope_error());
        match error {
            None => Ok(self),
            Some(reason) => Err(EngineError::malformed(what, reason, path)),
        }
    }

    fn size_error(&self) -> Option<String> {
        let inputs = self.layer_inputs;
        let n_input_rows = inputs.and_then(|inputs| inputs.n_vocab);
        let mut sizes = vec![
            ("the hidden size", self.hidden_size),
            ("the number of layers", self.n_layers()),
            ("the context length", self.n_context),
            ("the vocabulary size", self.n_vocab.unwrap_or(1)),
            (
                "the width of per-layer embeddings",
                inputs.map_or(1, |inputs| inputs.width),
            ),
            (
                "the vocabulary size of per-layer embeddings",
                n_input_rows.unwrap_or(1),
            ),
        ];
        if let Some(latent) = self.latent {
            sizes.extend([
                ("the rank of queries", latent.query_rank.unwrap_or(1)),
                ("the rank of keys and values", latent.key_value_rank),
                ("the rotated part of a head", latent.rotated_dim),
                ("the size of a value head", latent.value_dim),
            ]);
        }
        if let Some(alt_up) = self.alt_up {
            sizes.push(("the number of streams", alt_up.n_streams));
            sizes.push(("the rank of LAuReL", alt_up.laurel_rank.unwrap_or(1)));
        }
        if self.n_attention_layers() > 0 {
            sizes.extend([
                ("the number of heads", self.n_heads),
                ("the number of key-value heads", self.n_kv_heads),
                ("the head size", self.head_dim),
            ]);
        }
        if self.layers.iter().any(LayerPlan::has_feed_forward) {
            sizes.push(("the feed-forward size", self.ffn_size));
        }
        sizes.extend(
            self.experts
                .map(|experts| ("the inner width of experts", experts.ffn_size)),
        );
        let recurrences = self.layers.iter().filter_map(|layer| layer.recurrence);
        sizes.extend(recurrences.flat_map(Recurrence::sizes));
        size_error(&sizes)
    }

    fn head_error(&self) -> Option<String> {
        let n_heads = self.n_heads;
        self.layers.iter().enumerate().find_map(|(layer, plan)| {
            let ffn_size = ("the feed-forward size", self.ffn_size_of(layer));
            if plan.has_feed_forward()
                && let Some(error) = size_error(&[ffn_size])
            {
                return Some(error);
            }
            if !plan.has_attention() {
                return None;
            }
            let HeadSizes {
                n_kv_heads,
                head_dim,
            } = self.heads(layer);
            let sizes = [
                ("the number of key-value heads", n_kv_heads),
                ("the head size", head_dim),
            ];
            size_error(&sizes).or_else(|| {
                (!n_heads.is_multiple_of(n_kv_heads))
                    .then(|| format!("{n_heads} heads can’t share {n_kv_heads} key-value heads"))
            })
        })
    }

    fn recurrence_error(&self) -> Option<String> {
        let mut recurrences = self.layers.iter().filter_map(|layer| layer.recurrence);
        recurrences.find_map(|recurrence| match recurrence {
            Recurrence::DeltaNet(net) if !net.n_value_heads.is_multiple_of(net.n_key_heads) => {
                let (n_values, n_keys) = (net.n_value_heads, net.n_key_heads);
                Some(format!(
                    "{n_values} linear value heads can’t share {n_keys} linear key heads"
                ))
            }
            Recurrence::Mamba2(mamba) if !mamba.n_heads.is_multiple_of(mamba.n_groups) => {
                let (n_heads, n_groups) = (mamba.n_heads, mamba.n_groups);
                Some(format!("{n_heads} heads can’t share {n_groups} groups"))
            }
            Recurrence::Mamba2(mamba) => mamba.step_limits.error(),
            Recurrence::DeltaNet(_) | Recurrence::Mamba(_) | Recurrence::ShortConv(_) => None,
        })
    }

    /// Checks each rotary embedding with the heads of the layers that use it.
    fn rope_error(&self) -> Option<String> {
        self.ropes.iter().enumerate().find_map(|(index, rope)| {
            let layers = self.layers.iter().enumerate();
            let mut using = layers.filter(|(_, plan)| plan.rope == Some(index));
            let first = using.next().map(|(layer, _)| self.heads(layer).head_dim);
            rope.error(first.unwrap_or(self.head_dim)).or_else(|| {
                let mut others = using.map(|(layer, _)| self.heads(layer).head_dim);
                others.find_map(|head_dim| rope.error(head_dim))
            })
        })
    }

    fn window_error(&self) -> Option<String> {
        let mut windows = self.layers.iter().filter_map(|layer| layer.window);
        windows
            .any(|window| window == 0)
            .then(|| "the sliding window is 0".to_owned())
    }

    fn number_error(&self) -> Option<String> {
        if !(self.norm.eps.is_finite() && self.norm.eps >= 0.0) {
            return Some(format!("the norm’s epsilon is {}", self.norm.eps));
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
            ("the limit of queries, keys and values", self.qkv_limit),
        ];
        let mut numbers = caps.into_iter().chain(scales);
        let (name, number) = numbers.find_map(|(name, number)| {
            let number = number.filter(|number| !(number.is_finite() && *number > 0.0))?;
            Some((name, number))
        })?;
        Some(format!("{name} is {number}"))
    }
}

/// Returns what is wrong with the first impossible size.
fn size_error(sizes: &[(&str, usize)]) -> Option<String> {
    let mut sizes = sizes.iter();
    let (name, size) = sizes.find(|(_, size)| !(1..=MAX_SIZE).contains(size))?;
    Some(format!("{name} is {size}"))
}

impl StepLimits {
    fn error(self) -> Option<String> {
        let Self { shortest, longest } = self;
        let is_range = shortest >= 0.0 && longest >= shortest;
        (!is_range).then(|| format!("time steps can’t be between {shortest} and {longest}"))
    }
}

impl Rope {
    fn error(&self, head_dim: usize) -> Option<String> {
        if !(self.theta.is_finite() && self.theta > 0.0) {
            return Some(format!("the rotary base is {}", self.theta));
        }
        if !self.n_dims.is_multiple_of(2) && self.n_dims == head_dim {
            return Some(format!("the head size {head_dim} is odd"));
        }
        if self.n_dims == 0 || self.n_dims > head_dim || !self.n_dims.is_multiple_of(2) {
            let n_dims = self.n_dims;
            return Some(format!(
                "rotary embedding can’t cover {n_dims} of a head’s {head_dim} dimensions"
            ));
        }
        let (factor, amplitude) = match &self.scaling {
            RopeScaling::None | RopeScaling::EachPlane(_) => (1.0, 1.0),
            RopeScaling::Linear { factor }
            | RopeScaling::Llama3 { factor, .. }
            | RopeScaling::Proportional { factor, .. } => (*factor, 1.0),
            RopeScaling::NtkAlpha { alpha } => (*alpha, 1.0),
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
