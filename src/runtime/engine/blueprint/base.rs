//! The common base of all families: a Llama, which each family then modifies.

use super::block::{
    Activation, Biases, Caps, FeedForward, LayerPlan, Matrices, Norm, NormKind, NormPlaces, Scales,
};
use super::check::MAX_LAYERS;
use super::facts::{Facts, Key};
use super::rope_facts::{self, RopeSetting};
use super::{Blueprint, Naming, RopeForm, RopeScaling, TensorRole, end_tokens};
use crate::engine::EngineError;

const HIDDEN_SIZE: Key = Key::new("hidden_size", "embedding_length");
const N_LAYERS: Key = Key::new("num_hidden_layers", "block_count");
const N_HEADS: Key = Key::new("num_attention_heads", "attention.head_count");
pub(super) const N_KV_HEADS: Key = Key::new("num_key_value_heads", "attention.head_count_kv");
const HEAD_DIM: Key = Key::new("head_dim", "attention.key_length");
const VALUE_DIM: Key = Key::gguf("attention.value_length");
pub(super) const FFN_SIZE: Key = Key::new("intermediate_size", "feed_forward_length");
const N_CONTEXT: Key = Key::new("max_position_embeddings", "context_length");
pub(super) const N_MTP_BLOCKS: Key = Key::gguf("nextn_predict_layers");
const EPS: Key = Key::new("rms_norm_eps", "attention.layer_norm_rms_epsilon");
const N_EXPERTS: Key = Key::gguf("expert_count");
const TIED: Key = Key::config("tie_word_embeddings");
const WINDOW: Key = Key::new("sliding_window", "attention.sliding_window");
const PERIOD: Key = Key::new("sliding_window_pattern", "attention.sliding_window_pattern");
const LAYER_TYPES: Key = Key::config("layer_types");

/// What transformers assumes for a family if the file does not say otherwise.
#[derive(Clone, Copy)]
pub(super) struct Defaults {
    /// Whether the embedding table is also the output head.
    pub tied_head: bool,
    /// The inner width of the feed-forward network as a multiple of the hidden size. `None` if the
    /// file must specify the width.
    pub ffn_ratio: Option<usize>,
    /// The base of rotary embedding.
    pub theta: f32,
    /// The share of a head's dimensions that rotate.
    pub rotary_share: f32,
    pub activation: Activation,
    /// The number of key-value heads, for a family whose files may list it for each layer.
    pub n_kv_heads: Option<usize>,
    /// The inner width of the feed-forward network, for a family whose files may list it for each
    /// layer.
    pub ffn_size: Option<usize>,
    /// Whether the family reads mixtures of experts.
    pub has_experts: bool,
    /// The number of layers, for a family whose files may only list what each of them is.
    pub n_layers: Option<usize>,
}

impl Defaults {
    /// The defaults of Llama.
    pub(super) const LLAMA: Self = Self {
        tied_head: false,
        ffn_ratio: None,
        theta: 10_000.0,
        rotary_share: 1.0,
        activation: Activation::Silu,
        n_kv_heads: None,
        ffn_size: None,
        n_layers: None,
        has_experts: false,
    };

    /// The defaults of a Llama with experts.
    pub(super) const WITH_EXPERTS: Self = Self {
        has_experts: true,
        ..Self::LLAMA
    };
}

impl Blueprint {
    /// Builds a Llama with the sizes that the file specifies.
    pub(super) fn base(facts: &Facts<'_>, defaults: Defaults) -> Result<Self, EngineError> {
        if !defaults.has_experts && facts.size(N_EXPERTS)?.unwrap_or(0) > 0 {
            return Err(facts.unsupported("a mixture of experts".to_owned()));
        }
        let hidden_size = facts.required_size(HIDDEN_SIZE)?;
        let n_layers = n_layers(facts, defaults)?;
        let n_heads = facts.required_size(N_HEADS)?;
        let head_dim = head_dim(facts, hidden_size, n_heads)?;
        let n_context = facts.required_size(N_CONTEXT)?;
        let setting = RopeSetting {
            head_dim,
            n_context,
            theta: defaults.theta,
            share: defaults.rotary_share,
        };
        let ropes = vec![rope_facts::read(facts, setting)?];
        Ok(Self {
            architecture: String::new(),
            naming: Naming::Transformers.or_gguf(facts),
            hidden_size,
            n_heads,
            n_kv_heads: match defaults.n_kv_heads {
                Some(n_kv_heads) => n_kv_heads,
                None => facts.size(N_KV_HEADS)?.unwrap_or(n_heads),
            },
            head_dim,
            ffn_size: ffn_size(facts, hidden_size, defaults)?,
            layers: vec![
                LayerPlan {
                    rope: Some(0),
                    ..LayerPlan::default()
                };
                n_layers
            ],
            mtp_block: None,
            n_context: ropes
                .iter()
                .fold(n_context, |n, rope| n.max(rope.scaling.n_context())),
            ropes,
            learned_positions: false,
            norm: Norm {
                kind: NormKind::Rms,
                eps: facts.number(EPS)?.unwrap_or(1e-6),
                offset: 0.0,
            },
            norm_places: NormPlaces::Before,
            head_norm: None,
            value_norm: false,
            gated_heads: false,
            sinks: false,
            biases: biases(facts)?,
            matrices: Matrices::Separate,
            feed_forward: FeedForward::Gated(facts.activation(defaults.activation)?),
            experts: None,
            scales: Scales {
                embedding: None,
                score: 1.0 / (head_dim.max(1) as f32).sqrt(),
                residual: None,
                logit: None,
            },
            xielus: Vec::new(),
            caps: Caps::default(),
            multipliers: None,
            layer_inputs: None,
            latent: None,
            alt_up: None,
            gate_cutoffs: Vec::new(),
            layer_scales: false,
            qkv_limit: None,
            temperature: None,
            n_vocab: facts.size(Key::config("vocab_size"))?,
            tied_head: if facts.is_gguf() {
                None
            } else {
                Some(facts.flag(TIED)?.unwrap_or(defaults.tied_head))
            },
            end_tokens: end_tokens::of_facts(facts)?,
        })
    }

    /// Sets the blocks that predict tokens after the next one apart from the layers, after which
    /// GGUF files count them. Only the first is used.
    pub(super) fn split_off_mtp_blocks(&mut self, facts: &Facts<'_>) -> Result<(), EngineError> {
        let n_blocks = facts.size(N_MTP_BLOCKS)?.unwrap_or(0);
        self.mtp_block = if facts.is_gguf() {
            let n_layers = self.n_layers().saturating_sub(n_blocks);
            let blocks = self.layers.split_off(n_layers);
            blocks.first().copied()
        } else {
            // A folder has the block if it has its tensors.
            self.layers.last().copied()
        };
        Ok(())
    }

    /// Switches to interleaved rotary embedding for GGUF files of families for which llama.cpp's
    /// converter reorders the rows of queries and keys.
    pub(super) fn interleaved_in_gguf(self, facts: &Facts<'_>) -> Self {
        if facts.is_gguf() {
            self.interleaved()
        } else {
            self
        }
    }

    /// Switches to interleaved rotary embedding, for families that use it in every format.
    pub(super) fn interleaved(mut self) -> Self {
        for rope in &mut self.ropes {
            rope.form = RopeForm::Interleaved;
        }
        self
    }

    /// Sets the sliding window of the layers that have one: those marked in `listed`, and beyond
    /// its end those that `is_windowed` selects.
    pub(super) fn windowed(
        mut self,
        window: Option<usize>,
        listed: Option<&[bool]>,
        is_windowed: impl Fn(usize) -> bool,
    ) -> Self {
        for (index, layer) in self.layers.iter_mut().enumerate() {
            let listed = listed.and_then(|listed| listed.get(index)).copied();
            let is_windowed = listed.unwrap_or_else(|| is_windowed(index));
            layer.window = window.filter(|_| is_windowed);
        }
        self
    }

    /// Sets the sliding window of the layers that the file lists, or of all but the last of each
    /// period of layers.
    pub(super) fn windowed_by_period(
        self,
        facts: &Facts<'_>,
        window: Option<usize>,
        usual_period: usize,
    ) -> Result<Self, EngineError> {
        let listed = facts.windowed_layers()?;
        let period = match &listed {
            Some(_) => usual_period,
            None => facts.size(PERIOD)?.unwrap_or(usual_period).max(1),
        };
        Ok(self.windowed(window, listed.as_deref(), |index| {
            !(index + 1).is_multiple_of(period)
        }))
    }

    /// Gives the second rotary embedding to the layers that have a sliding window.
    pub(super) fn rotating_by_layer_type(mut self) -> Self {
        for layer in &mut self.layers {
            layer.rope = Some(usize::from(layer.window.is_some()));
        }
        self
    }

    /// Gives rotary embedding only to the layers that have a sliding window.
    pub(super) fn rotating_within_windows(mut self) -> Self {
        for layer in &mut self.layers {
            layer.rope = layer.rope.filter(|_| layer.window.is_some());
        }
        self
    }
}

impl Naming {
    /// Returns this naming, or GGUF's if the facts come from a GGUF file.
    pub(super) const fn or_gguf(self, facts: &Facts<'_>) -> Self {
        if facts.is_gguf() { Self::Gguf } else { self }
    }
}

impl RopeScaling {
    /// Returns the context length that the scaling extends to, since some files only specify the
    /// original one. 0 if unknown.
    #[expect(
        clippy::cast_sign_loss,
        reason = "a negative factor becomes 0 here and is rejected later"
    )]
    fn n_context(&self) -> usize {
        match self {
            Self::Yarn(yarn) => (yarn.n_original as f32 * yarn.factor) as usize,
            _ => 0,
        }
    }
}

impl Facts<'_> {
    /// Returns the width of the sliding window. In a GGUF file, 0 means no window.
    pub(super) fn window(&self) -> Result<Option<usize>, EngineError> {
        let window = self.size(WINDOW)?;
        Ok(window.filter(|window| *window > 0 || !self.is_gguf()))
    }

    /// Returns which layers have a sliding window, or `None` if the file does not list them: by type
    /// in a `config.json`, as booleans in GGUF.
    pub(super) fn windowed_layers(&self) -> Result<Option<Vec<bool>>, EngineError> {
        if self.is_gguf() && self.is_list(PERIOD) {
            return self.flags(PERIOD);
        }
        let Some(types) = self.texts(LAYER_TYPES)? else {
            return Ok(None);
        };
        let windowed = types.iter().map(|kind| match kind.as_str() {
            "full_attention" => Ok(false),
            "sliding_attention" => Ok(true),
            other => Err(self.unsupported(format!("layers of type {other:?}"))),
        });
        windowed.collect::<Result<_, _>>().map(Some)
    }

    /// Returns the activation that a `config.json` specifies, or the default.
    pub(super) fn activation(&self, default: Activation) -> Result<Activation, EngineError> {
        for name in ["hidden_activation", "hidden_act"] {
            let key = Key::config(name);
            let Some(activation) = self.text(key)? else {
                continue;
            };
            return match activation.as_str() {
                "silu" | "swish" => Ok(Activation::Silu),
                "gelu" => Ok(Activation::Gelu),
                "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Ok(Activation::GeluTanh),
                "relu2" => Ok(Activation::Relu2),
                // Other families have no place for the parameters that it learns.
                "xielu" if matches!(default, Activation::Xielu(_)) => Ok(default),
                other => Err(self.unsupported(format!(
                    "the activation {other:?} ({}; silu, gelu, gelu_pytorch_tanh and relu2 are \
                     supported)",
                    self.name(key)
                ))),
            };
        }
        Ok(default)
    }
}

fn n_layers(facts: &Facts<'_>, defaults: Defaults) -> Result<usize, EngineError> {
    let n_layers = match defaults.n_layers {
        Some(n_layers) => n_layers,
        None => facts.required_size(N_LAYERS)?,
    };
    if n_layers > MAX_LAYERS {
        return Err(facts.malformed(format!("the number of layers is {n_layers}")));
    }
    Ok(n_layers)
}

fn head_dim(facts: &Facts<'_>, hidden_size: usize, n_heads: usize) -> Result<usize, EngineError> {
    let head_dim = match facts.size(HEAD_DIM)? {
        Some(head_dim) => head_dim,
        None => hidden_size / n_heads.max(1),
    };
    if facts.size(VALUE_DIM)?.unwrap_or(head_dim) != head_dim {
        return Err(facts.unsupported("keys and values of different widths".to_owned()));
    }
    Ok(head_dim)
}

fn ffn_size(
    facts: &Facts<'_>,
    hidden_size: usize,
    defaults: Defaults,
) -> Result<usize, EngineError> {
    if let Some(ffn_size) = defaults.ffn_size {
        return Ok(ffn_size);
    }
    let usual = defaults
        .ffn_ratio
        .map(|ratio| hidden_size.saturating_mul(ratio));
    match facts.size(FFN_SIZE)?.or(usual) {
        Some(ffn_size) => Ok(ffn_size),
        None => Err(facts.missing(FFN_SIZE)),
    }
}

/// Returns which projections have a bias. GGUF has no key for this, so we check which bias tensors
/// exist.
fn biases(facts: &Facts<'_>) -> Result<Biases, EngineError> {
    if facts.is_gguf() {
        let has = |role| facts.has_tensor(&Naming::Gguf.bias_name(role, 0));
        return Ok(Biases {
            qkv: has(TensorRole::Query) || has(TensorRole::QueryKeyValue),
            attention_output: has(TensorRole::AttentionOutput),
            ffn: has(TensorRole::FfnDown),
        });
    }
    let attention = facts.flag(Key::config("attention_bias"))?.unwrap_or(false);
    Ok(Biases {
        qkv: attention,
        attention_output: attention,
        ffn: facts.flag(Key::config("mlp_bias"))?.unwrap_or(false),
    })
}
