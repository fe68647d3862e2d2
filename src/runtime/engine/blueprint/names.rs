//! The names of a decoder's tensors in each file format.

/// The naming scheme of a file's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `blk.0.attn_q.weight`.
    Gguf,
    /// As in `Gguf`, but the last norm is called `token_embd_norm`.
    GgufLfm2,
    /// As in `Gguf`, but `post_attention_norm` is the norm before the feed-forward network.
    GgufQwen35,
    /// `model.layers.0.self_attn.q_proj.weight`, as in most families of transformers.
    Transformers,
    /// As in `Transformers`, but `post_attention_layernorm` is the norm after attention, not the
    /// one before the feed-forward network.
    TransformersWithNormsAfter,
    /// `transformer.h.0.attn.c_attn.weight`, as in GPT-2.
    Gpt2,
    /// As in `Transformers`, with Granite 4's names for the feed-forward network.
    GraniteHybrid,
    /// `model.layers.0.operator_norm.weight`, as in LFM2.
    Lfm2,
}

/// The role of a tensor in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorRole {
    /// The token embedding table.
    Embedding,
    /// The table of learned positions.
    PositionEmbedding,
    /// The factor by which each plane of a rotary embedding is slowed.
    RopeFactors,
    /// The factors for texts up to the original context.
    RopeShortFactors,
    /// The factors for longer texts.
    RopeLongFactors,
    /// The norm before the output head.
    FinalNorm,
    /// The output head.
    Head,
    /// The norm before attention.
    AttentionNorm,
    Query,
    Key,
    Value,
    /// Queries, keys and values, stacked.
    QueryKeyValue,
    QueryNorm,
    KeyNorm,
    AttentionOutput,
    /// The norm after attention.
    AttentionNormAfter,
    /// The projections that a short convolution reads, stacked.
    ConvInput,
    /// The weights of a short convolution.
    ConvTaps,
    ConvOutput,
    /// Queries, keys and values of a linear attention, stacked.
    LinearQueryKeyValue,
    /// The gate of a linear attention's output.
    LinearGate,
    /// How strongly a token corrects the state of a linear attention.
    LinearBeta,
    /// How much of the state of a linear attention a token forgets.
    LinearDecay,
    /// Added to the decay, one for each head.
    LinearDecayBias,
    /// The rate of the decay, one for each head.
    LinearRate,
    LinearTaps,
    LinearNorm,
    LinearOutput,
    /// The projections that Mamba reads, stacked.
    MambaInput,
    MambaTaps,
    /// Added to the time step, one for each head.
    MambaStepBias,
    /// The rate of the decay, one for each head.
    MambaRate,
    /// By how much a head's input is added to its output.
    MambaSkip,
    MambaNorm,
    MambaOutput,
    /// The norm before the feed-forward network.
    FfnNorm,
    FfnGate,
    FfnUp,
    /// Gate and up projections, stacked.
    FfnGateUp,
    FfnDown,
    /// The norm after the feed-forward network.
    FfnNormAfter,
}

impl TensorRole {
    /// Returns whether the model has one such tensor, not one in each layer.
    const fn is_global(self) -> bool {
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
    /// Returns the name of a weight. `layer` is ignored for tensors outside the layers.
    pub(crate) fn name(self, role: TensorRole, layer: usize) -> String {
        format!("{}.weight", self.stem(role, layer))
    }

    /// Returns the name of the bias that belongs to a weight.
    pub(crate) fn bias_name(self, role: TensorRole, layer: usize) -> String {
        format!("{}.bias", self.stem(role, layer))
    }

    /// Returns whether the names are those of a GGUF file.
    pub(crate) const fn is_gguf(self) -> bool {
        matches!(self, Self::Gguf | Self::GgufLfm2 | Self::GgufQwen35)
    }

    /// Returns the name of a tensor that is neither a weight nor a bias, or of a weight.
    pub(crate) fn parameter_name(self, role: TensorRole, layer: usize) -> String {
        let stem = self.stem(role, layer);
        match role {
            TensorRole::LinearDecayBias | TensorRole::MambaStepBias if self.is_gguf() => {
                format!("{stem}.bias")
            }
            TensorRole::LinearDecayBias
            | TensorRole::LinearRate
            | TensorRole::MambaStepBias
            | TensorRole::MambaRate
            | TensorRole::MambaSkip => stem,
            _ => format!("{stem}.weight"),
        }
    }

    /// Returns the prefix that some files leave out of all names.
    pub(crate) const fn optional_prefix(self) -> &'static str {
        match self {
            Self::Gguf | Self::GgufLfm2 | Self::GgufQwen35 => "",
            Self::Transformers
            | Self::TransformersWithNormsAfter
            | Self::GraniteHybrid
            | Self::Lfm2 => "model.",
            Self::Gpt2 => "transformer.",
        }
    }

    fn stem(self, role: TensorRole, layer: usize) -> String {
        let name = match self {
            Self::Gguf => gguf(role),
            Self::GgufLfm2 => gguf_lfm2(role),
            Self::GgufQwen35 => gguf_qwen35(role),
            Self::Transformers => transformers(role),
            Self::TransformersWithNormsAfter => transformers_with_norms_after(role),
            Self::Gpt2 => gpt2(role),
            Self::GraniteHybrid => granite_hybrid(role),
            Self::Lfm2 => lfm2(role),
        };
        if role.is_global() {
            return name.to_owned();
        }
        match self {
            Self::Gguf | Self::GgufLfm2 | Self::GgufQwen35 => format!("blk.{layer}.{name}"),
            Self::Transformers
            | Self::TransformersWithNormsAfter
            | Self::GraniteHybrid
            | Self::Lfm2 => {
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
        TensorRole::ConvInput => "shortconv.in_proj",
        TensorRole::ConvTaps => "shortconv.conv",
        TensorRole::ConvOutput => "shortconv.out_proj",
        TensorRole::LinearQueryKeyValue => "attn_qkv",
        TensorRole::LinearGate => "attn_gate",
        TensorRole::LinearBeta => "ssm_beta",
        TensorRole::LinearDecay => "ssm_alpha",
        TensorRole::LinearDecayBias | TensorRole::MambaStepBias => "ssm_dt",
        TensorRole::LinearRate | TensorRole::MambaRate => "ssm_a",
        TensorRole::LinearTaps | TensorRole::MambaTaps => "ssm_conv1d",
        TensorRole::LinearNorm | TensorRole::MambaNorm => "ssm_norm",
        TensorRole::LinearOutput | TensorRole::MambaOutput => "ssm_out",
        TensorRole::MambaInput => "ssm_in",
        TensorRole::MambaSkip => "ssm_d",
        TensorRole::FfnNorm => "ffn_norm",
        TensorRole::FfnGate => "ffn_gate",
        TensorRole::FfnUp | TensorRole::FfnGateUp => "ffn_up",
        TensorRole::FfnDown => "ffn_down",
        TensorRole::FfnNormAfter => "post_ffw_norm",
    }
}

const fn gguf_lfm2(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FinalNorm => "token_embd_norm",
        other => gguf(other),
    }
}

const fn gguf_qwen35(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FfnNorm => "post_attention_norm",
        other => gguf(other),
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
        TensorRole::ConvInput => "conv.in_proj",
        TensorRole::ConvTaps => "conv.conv",
        TensorRole::ConvOutput => "conv.out_proj",
        TensorRole::LinearQueryKeyValue => "linear_attn.in_proj_qkv",
        TensorRole::LinearGate => "linear_attn.in_proj_z",
        TensorRole::LinearBeta => "linear_attn.in_proj_b",
        TensorRole::LinearDecay => "linear_attn.in_proj_a",
        TensorRole::LinearDecayBias => "linear_attn.dt_bias",
        TensorRole::LinearRate => "linear_attn.A_log",
        TensorRole::LinearTaps => "linear_attn.conv1d",
        TensorRole::LinearNorm => "linear_attn.norm",
        TensorRole::LinearOutput => "linear_attn.out_proj",
        TensorRole::MambaInput => "mamba.in_proj",
        TensorRole::MambaTaps => "mamba.conv1d",
        TensorRole::MambaStepBias => "mamba.dt_bias",
        TensorRole::MambaRate => "mamba.A_log",
        TensorRole::MambaSkip => "mamba.D",
        TensorRole::MambaNorm => "mamba.norm",
        TensorRole::MambaOutput => "mamba.out_proj",
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

const fn granite_hybrid(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FfnGateUp => "shared_mlp.input_linear",
        TensorRole::FfnDown => "shared_mlp.output_linear",
        other => transformers(other),
    }
}

const fn lfm2(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FinalNorm => "model.embedding_norm",
        TensorRole::AttentionNorm => "operator_norm",
        TensorRole::QueryNorm => "self_attn.q_layernorm",
        TensorRole::KeyNorm => "self_attn.k_layernorm",
        TensorRole::AttentionOutput => "self_attn.out_proj",
        TensorRole::FfnNorm => "ffn_norm",
        TensorRole::FfnGate => "feed_forward.w1",
        TensorRole::FfnUp => "feed_forward.w3",
        TensorRole::FfnDown => "feed_forward.w2",
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
