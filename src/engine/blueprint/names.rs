//! How files name the tensors of a decoder.

/// How a file names its tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `blk.0.attn_q.weight`.
    Gguf,
    /// `model.layers.0.self_attn.q_proj.weight`, as most families in transformers.
    Transformers,
    /// Likewise, for families with a norm after attention: there it is that one which is called
    /// `post_attention_layernorm`, and not the norm before the feed-forward network.
    TransformersWithNormsAfter,
    /// `transformer.h.0.attn.c_attn.weight`, as GPT-2.
    Gpt2,
}

/// What a tensor does in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// Token ids to vectors.
    Embedding,
    /// Positions to vectors, where they are learned.
    PositionEmbedding,
    /// By how much each plane of a rotation is slowed.
    RopeFactors,
    /// Likewise, in texts up to the first context.
    RopeShortFactors,
    /// Likewise, in longer texts.
    RopeLongFactors,
    /// The norm before the head.
    FinalNorm,
    /// Vectors to logits.
    Head,
    /// The norm before attention.
    AttentionNorm,
    /// Queries.
    Query,
    /// Keys.
    Key,
    /// Values.
    Value,
    /// Queries, keys and values, one below the other.
    QueryKeyValue,
    /// The norm on queries.
    QueryNorm,
    /// The norm on keys.
    KeyNorm,
    /// What the heads found, back into the residual stream.
    AttentionOutput,
    /// The norm after attention.
    AttentionNormAfter,
    /// The norm before the feed-forward network.
    FfnNorm,
    /// The gate of the feed-forward network.
    FfnGate,
    /// What the gate lets through.
    FfnUp,
    /// The gate and what it lets through, one below the other.
    FfnGateUp,
    /// Back into the residual stream.
    FfnDown,
    /// The norm after the feed-forward network.
    FfnNormAfter,
}

impl TensorRole {
    /// Whether there is one for the whole model, and not one for each layer.
    const fn of_model(self) -> bool {
        matches!(
            self,
            Self::Embedding
                | Self::PositionEmbedding
                | Self::RopeFactors
                | Self::RopeShortFactors
                | Self::RopeLongFactors
                | Self::FinalNorm
                | Self::Head
        )
    }
}

impl Naming {
    /// The name of a tensor of the whole model, or of layer `layer`.
    pub fn name(self, role: TensorRole, layer: usize) -> String {
        format!("{}.weight", self.stem(role, layer))
    }

    /// The name of the vector that is added to what a tensor gives.
    pub fn bias_name(self, role: TensorRole, layer: usize) -> String {
        format!("{}.bias", self.stem(role, layer))
    }

    /// What some files leave out in front of all names.
    pub const fn optional_prefix(self) -> &'static str {
        match self {
            Self::Gguf => "",
            Self::Transformers | Self::TransformersWithNormsAfter => "model.",
            Self::Gpt2 => "transformer.",
        }
    }

    fn stem(self, role: TensorRole, layer: usize) -> String {
        let name = match self {
            Self::Gguf => gguf(role),
            Self::Transformers => transformers(role),
            Self::TransformersWithNormsAfter => transformers_with_norms_after(role),
            Self::Gpt2 => gpt2(role),
        };
        if role.of_model() {
            return name.to_owned();
        }
        match self {
            Self::Gguf => format!("blk.{layer}.{name}"),
            Self::Transformers | Self::TransformersWithNormsAfter => {
                format!("model.layers.{layer}.{name}")
            }
            Self::Gpt2 => format!("transformer.h.{layer}.{name}"),
        }
    }
}

const fn gguf(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Embedding => "token_embd",
        TensorRole::PositionEmbedding => "position_embd",
        TensorRole::RopeFactors => "rope_freqs",
        TensorRole::RopeShortFactors => "rope_factors_short",
        TensorRole::RopeLongFactors => "rope_factors_long",
        TensorRole::FinalNorm => "output_norm",
        TensorRole::Head => "output",
        TensorRole::AttentionNorm => "attn_norm",
        TensorRole::Query => "attn_q",
        TensorRole::Key => "attn_k",
        TensorRole::Value => "attn_v",
        TensorRole::QueryKeyValue => "attn_qkv",
        TensorRole::QueryNorm => "attn_q_norm",
        TensorRole::KeyNorm => "attn_k_norm",
        TensorRole::AttentionOutput => "attn_output",
        TensorRole::AttentionNormAfter => "post_attention_norm",
        TensorRole::FfnNorm => "ffn_norm",
        TensorRole::FfnGate => "ffn_gate",
        TensorRole::FfnUp | TensorRole::FfnGateUp => "ffn_up",
        TensorRole::FfnDown => "ffn_down",
        TensorRole::FfnNormAfter => "post_ffw_norm",
    }
}

const fn transformers(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Embedding => "model.embed_tokens",
        TensorRole::PositionEmbedding => "model.embed_positions",
        TensorRole::RopeFactors => "rope_factors",
        TensorRole::RopeShortFactors => "rope_short_factors",
        TensorRole::RopeLongFactors => "rope_long_factors",
        TensorRole::FinalNorm => "model.norm",
        TensorRole::Head => "lm_head",
        TensorRole::AttentionNorm => "input_layernorm",
        TensorRole::Query => "self_attn.q_proj",
        TensorRole::Key => "self_attn.k_proj",
        TensorRole::Value => "self_attn.v_proj",
        TensorRole::QueryKeyValue => "self_attn.qkv_proj",
        TensorRole::QueryNorm => "self_attn.q_norm",
        TensorRole::KeyNorm => "self_attn.k_norm",
        TensorRole::AttentionOutput => "self_attn.o_proj",
        TensorRole::AttentionNormAfter => "post_self_attn_layernorm",
        TensorRole::FfnNorm => "post_attention_layernorm",
        TensorRole::FfnGate => "mlp.gate_proj",
        TensorRole::FfnUp => "mlp.up_proj",
        TensorRole::FfnGateUp => "mlp.gate_up_proj",
        TensorRole::FfnDown => "mlp.down_proj",
        TensorRole::FfnNormAfter => "post_feedforward_layernorm",
    }
}

const fn transformers_with_norms_after(role: TensorRole) -> &'static str {
    match role {
        TensorRole::AttentionNormAfter => "post_attention_layernorm",
        TensorRole::FfnNorm => "pre_feedforward_layernorm",
        other => transformers(other),
    }
}

const fn gpt2(role: TensorRole) -> &'static str {
    match role {
        TensorRole::Embedding => "transformer.wte",
        TensorRole::PositionEmbedding => "transformer.wpe",
        TensorRole::FinalNorm => "transformer.ln_f",
        TensorRole::AttentionNorm => "ln_1",
        TensorRole::QueryKeyValue => "attn.c_attn",
        TensorRole::AttentionOutput => "attn.c_proj",
        TensorRole::FfnNorm => "ln_2",
        TensorRole::FfnUp => "mlp.c_fc",
        TensorRole::FfnDown => "mlp.c_proj",
        other => transformers(other),
    }
}
