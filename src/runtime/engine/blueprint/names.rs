//! The names of a decoder's tensors in each file format.

/// The naming scheme of a file's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `blk.0.attn_q.weight`.
    Gguf,
    /// As in `Gguf`, but `post_attention_norm` is the norm before the feed-forward network, as in
    /// Seed-OSS.
    GgufSeedOss,
    /// `model.layers.0.self_attn.q_proj.weight`, as in most families of transformers.
    Transformers,
    /// As in `Transformers`, but `post_attention_layernorm` is the norm after attention, not the
    /// one before the feed-forward network.
    TransformersWithNormsAfter,
    /// As in `Transformers`, with Apertus's names for norms.
    Apertus,
    /// As in `Transformers`, with GLM-4's name for the norm after the feed-forward network.
    Glm4,
    /// `transformer.h.0.attn.c_attn.weight`, as in GPT-2.
    Gpt2,
    /// As in `Transformers`, with Hunyuan's names for the norms of queries and keys.
    Hunyuan,
}

/// How a file spells the names of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As the scheme does.
    Usual,
    /// Without this prefix.
    Without(&'static str),
    /// As the text part of a model that also reads images: `model.language_model.` stands for
    /// `model.`, and the output head has its usual name.
    Nested,
    /// As the text part of a model that also reads images, in the form that transformers wrote until
    /// version 4.51: all names follow `language_model.`.
    OlderNested,
}

const NESTED: &str = "model.language_model.";
const OLDER_NESTED: &str = "language_model.";

impl Spelling {
    /// Returns a tensor's name as the file spells it.
    pub(crate) fn of(self, name: &str) -> String {
        match self {
            Self::Usual => name.to_owned(),
            Self::Without(prefix) => name.strip_prefix(prefix).unwrap_or(name).to_owned(),
            Self::Nested => match name.strip_prefix("model.") {
                Some(rest) => format!("{NESTED}{rest}"),
                None => name.to_owned(),
            },
            Self::OlderNested => format!("{OLDER_NESTED}{name}"),
        }
    }

    /// Returns whether a tensor of the file belongs to the text model, not to an encoder of images
    /// or sound beside it.
    pub(crate) fn is_text(self, file_name: &str) -> bool {
        match self {
            Self::Usual | Self::Without(_) => true,
            Self::Nested => file_name.starts_with(NESTED) || file_name.starts_with("lm_head."),
            Self::OlderNested => file_name.starts_with(OLDER_NESTED),
        }
    }
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
    /// The table of per-layer embeddings.
    LayerInputTable,
    /// Computes per-layer embeddings from a token's embedding.
    LayerInputProjection,
    /// The norm of what that projection computes, for each layer alike.
    LayerInputNorm,
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
    /// The norm before the feed-forward network.
    FfnNorm,
    FfnGate,
    FfnUp,
    /// Gate and up projections, stacked.
    FfnGateUp,
    FfnDown,
    /// The norm after the feed-forward network.
    FfnNormAfter,
    /// The gate of a layer's per-layer embedding.
    InputGate,
    /// Maps the gated per-layer embedding to the residual stream.
    InputOutput,
    /// The norm of the result.
    InputNormAfter,
    /// The number that multiplies a layer's output.
    LayerScale,
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
                | Self::LayerInputTable
                | Self::LayerInputProjection
                | Self::LayerInputNorm
        )
    }
}

impl Naming {
    /// Returns the name of a weight. `layer` is ignored for tensors outside the layers.
    pub(crate) fn name(self, role: TensorRole, layer: usize) -> String {
        let stem = self.stem(role, layer);
        match (self, role) {
            (Self::Gguf | Self::GgufSeedOss, _) => format!("{stem}.weight"),
            (_, TensorRole::LayerScale) => stem,
            _ => format!("{stem}.weight"),
        }
    }

    /// Returns the name of the bias that belongs to a weight.
    pub(crate) fn bias_name(self, role: TensorRole, layer: usize) -> String {
        format!("{}.bias", self.stem(role, layer))
    }

    /// Returns the name of a parameter of a learned activation function. GGUF stores these
    /// parameters in its metadata instead.
    pub(crate) fn activation_parameter(self, parameter: &str, layer: usize) -> String {
        format!("model.layers.{layer}.mlp.act_fn.{parameter}")
    }

    /// Returns how a file spells the names, given whether it has a tensor of some name. The usual
    /// spelling if its embedding table is missing.
    pub(crate) fn spelling(self, has_tensor: impl Fn(&str) -> bool) -> Spelling {
        let spellings: &[Spelling] = match self {
            Self::Gguf | Self::GgufSeedOss => &[],
            Self::Gpt2 => &[Spelling::Usual, Spelling::Without("transformer.")],
            Self::Transformers
            | Self::TransformersWithNormsAfter
            | Self::Apertus
            | Self::Glm4
            | Self::Hunyuan => &[
                Spelling::Usual,
                Spelling::Without("model."),
                Spelling::Nested,
                Spelling::OlderNested,
            ],
        };
        let table = self.name(TensorRole::Embedding, 0);
        let mut spellings = spellings.iter().copied();
        let found = spellings.find(|spelling| has_tensor(&spelling.of(&table)));
        found.unwrap_or(Spelling::Usual)
    }

    fn stem(self, role: TensorRole, layer: usize) -> String {
        let name = match self {
            Self::Gguf => gguf(role),
            Self::GgufSeedOss => gguf_seed_oss(role),
            Self::Transformers => transformers(role),
            Self::TransformersWithNormsAfter => transformers_with_norms_after(role),
            Self::Apertus => apertus(role),
            Self::Glm4 => glm4(role),
            Self::Gpt2 => gpt2(role),
            Self::Hunyuan => hunyuan(role),
        };
        if role.is_global() {
            return name.to_owned();
        }
        match self {
            Self::Gguf | Self::GgufSeedOss => format!("blk.{layer}.{name}"),
            Self::Transformers
            | Self::TransformersWithNormsAfter
            | Self::Apertus
            | Self::Glm4
            | Self::Hunyuan => format!("model.layers.{layer}.{name}"),
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
        TensorRole::LayerInputTable => "per_layer_token_embd",
        TensorRole::LayerInputProjection => "per_layer_model_proj",
        TensorRole::LayerInputNorm => "per_layer_proj_norm",
        TensorRole::InputGate => "inp_gate",
        TensorRole::InputOutput => "proj",
        TensorRole::InputNormAfter => "post_norm",
        TensorRole::LayerScale => "layer_output_scale",
    }
}

const fn gguf_seed_oss(role: TensorRole) -> &'static str {
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
        TensorRole::FfnNorm => "post_attention_layernorm",
        TensorRole::FfnGate => "mlp.gate_proj",
        TensorRole::FfnUp => "mlp.up_proj",
        TensorRole::FfnGateUp => "mlp.gate_up_proj",
        TensorRole::FfnDown => "mlp.down_proj",
        TensorRole::FfnNormAfter => "post_feedforward_layernorm",
        TensorRole::LayerInputTable => "model.embed_tokens_per_layer",
        TensorRole::LayerInputProjection => "model.per_layer_model_projection",
        TensorRole::LayerInputNorm => "model.per_layer_projection_norm",
        TensorRole::InputGate => "per_layer_input_gate",
        TensorRole::InputOutput => "per_layer_projection",
        TensorRole::InputNormAfter => "post_per_layer_input_norm",
        TensorRole::LayerScale => "layer_scalar",
    }
}

const fn transformers_with_norms_after(role: TensorRole) -> &'static str {
    match role {
        TensorRole::AttentionNormAfter => "post_attention_layernorm",
        TensorRole::FfnNorm => "pre_feedforward_layernorm",
        other => transformers(other),
    }
}

const fn apertus(role: TensorRole) -> &'static str {
    match role {
        TensorRole::AttentionNorm => "attention_layernorm",
        TensorRole::FfnNorm => "feedforward_layernorm",
        other => transformers(other),
    }
}

const fn glm4(role: TensorRole) -> &'static str {
    match role {
        TensorRole::FfnNormAfter => "post_mlp_layernorm",
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

const fn hunyuan(role: TensorRole) -> &'static str {
    match role {
        TensorRole::QueryNorm => "self_attn.query_layernorm",
        TensorRole::KeyNorm => "self_attn.key_layernorm",
        other => transformers(other),
    }
}
