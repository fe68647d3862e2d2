//! The names of a decoder's tensors in each file format.

mod experts;
mod spelling;
mod tables;

pub(crate) use self::experts::ExpertMatrix;
pub(crate) use self::spelling::Spelling;

/// The naming scheme of a file's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `blk.0.attn_q.weight`.
    Gguf,
    /// As in `Gguf`, but the name of the norm before the feed-forward network has no ending.
    GgufFalconH1,
    /// As in `Gguf`, but the last norm is called `token_embd_norm`.
    GgufLfm2,
    /// As in `Gguf`, but the norm before a feed-forward network is called `attn_norm`, too.
    GgufNemotronH,
    /// As in `Gguf`, but `post_attention_norm` is the norm before the feed-forward network, as in
    /// Seed-OSS and Qwen 3.5.
    GgufSeedOss,
    /// `model.layers.0.self_attn.q_proj.weight`, as in most families of transformers.
    Transformers,
    /// As in `Transformers`, but `post_attention_layernorm` is the norm after attention, not the
    /// one before the feed-forward network.
    TransformersWithNormsAfter,
    /// As in `Transformers`, with Apertus's names for norms.
    Apertus,
    /// `backbone.layers.0.mixer.in_proj.weight`, as in Mamba and Nemotron-H.
    Backbone,
    /// As in `Transformers`, with Falcon-H1's names for norms and the feed-forward network.
    FalconH1,
    /// As in `Transformers`, with GLM-4's name for the norm after the feed-forward network.
    Glm4,
    /// As in `Transformers`, with the names of GLM-4.5 for what is beside experts.
    Glm4Moe,
    /// As in `Transformers`, with gpt-oss's name for the router.
    GptOss,
    /// `transformer.h.0.attn.c_attn.weight`, as in GPT-2.
    Gpt2,
    /// As in `Transformers`, with the names of Granite 3 and 4 for the router and for the
    /// expert that all tokens use.
    GraniteHybrid,
    /// As in `Transformers`, with Hunyuan's names for the norms of queries and keys.
    Hunyuan,
    /// `model.layers.0.operator_norm.weight`, as in LFM2.
    Lfm2,
    /// As in `Transformers`, with Mixtral's names for the router and the experts.
    Mixtral,
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
    /// Divides the residual stream into several: one matrix for each stream but the first.
    AltUpProjections,
    /// Merges the streams: one matrix for each stream but the first.
    AltUpMerging,
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
    /// The attention sinks, one for each head.
    Sinks,
    /// Computes the latent vector of queries.
    LatentQuery,
    LatentQueryNorm,
    /// Computes queries from their latent vector.
    LatentQueryHeads,
    /// Computes the latent vector of keys and values, and the rotated part of keys.
    LatentKeyValue,
    LatentKeyValueNorm,
    /// Computes keys and values from their latent vector.
    LatentKeyValueHeads,
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
    /// What a token selects in Mamba 1: the source of its time steps, and the directions in which
    /// states are written and read, stacked.
    MambaSelection,
    /// Computes the time step of each channel in Mamba 1.
    MambaStep,
    /// Added to the time step, one for each head.
    MambaStepBias,
    /// The rates of the decay: one for each head, or in Mamba 1 for each number of the state.
    MambaRate,
    /// By how much the input of a head or channel is added to its output.
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
    /// Scores the experts of a layer.
    Router,
    /// Multiplies the inputs of the router.
    RouterScale,
    /// Added to the scores of experts for the choice only.
    ExpertChoiceBias,
    /// By how much the output of each expert is multiplied.
    ExpertScale,
    /// The norm before the experts, where the network beside them has its own.
    ExpertNorm,
    /// The norm after the experts.
    ExpertNormAfter,
    /// The norm after the network beside the experts.
    DenseNormAfter,
    /// The gate projection of the expert that all tokens use.
    SharedGate,
    SharedUp,
    SharedDown,
    /// By how much the output of that expert is multiplied.
    SharedScore,
    /// The gate of a layer's per-layer embedding.
    InputGate,
    /// Maps the gated per-layer embedding to the residual stream.
    InputOutput,
    /// The norm of the result.
    InputNormAfter,
    /// The number that multiplies a layer's output.
    LayerScale,
    /// Routes the streams.
    AltUpRouter,
    AltUpRouterNorm,
    /// Computes the coefficients by which a layer predicts the streams.
    AltUpPrediction,
    /// Computes the coefficients by which a layer corrects the streams.
    AltUpCorrection,
    /// Scales the source of per-layer embeddings.
    AltUpOutputScale,
    /// The first of two projections beside attention.
    LaurelLeft,
    LaurelRight,
    LaurelNorm,
    /// Computes the input of a multi-token-prediction block from a token's embedding and the hidden
    /// state before it.
    MtpInput,
    /// The norm of that embedding.
    MtpTokenNorm,
    /// The norm of that hidden state.
    MtpHiddenNorm,
    /// The norm after the block.
    MtpFinalNorm,
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
                | Self::AltUpProjections
                | Self::AltUpMerging
        )
    }
}

impl Naming {
    /// Returns whether the names are those of a GGUF file.
    pub(crate) const fn is_gguf(self) -> bool {
        matches!(
            self,
            Self::Gguf
                | Self::GgufFalconH1
                | Self::GgufLfm2
                | Self::GgufNemotronH
                | Self::GgufSeedOss
        )
    }

    /// Returns the name of a tensor. `layer` is ignored for tensors outside the layers.
    pub(crate) fn name(self, role: TensorRole, layer: usize) -> String {
        let stem = self.stem(role, layer);
        match role {
            TensorRole::LinearDecayBias | TensorRole::MambaStepBias if self.is_gguf() => {
                format!("{stem}.bias")
            }
            TensorRole::ExpertChoiceBias if self.is_gguf() => format!("{stem}.bias"),
            TensorRole::LayerScale | TensorRole::Sinks if self.is_gguf() => {
                format!("{stem}.weight")
            }
            TensorRole::FfnNorm if self == Self::GgufFalconH1 => stem,
            TensorRole::LinearDecayBias
            | TensorRole::LinearRate
            | TensorRole::MambaStepBias
            | TensorRole::MambaRate
            | TensorRole::MambaSkip
            | TensorRole::RouterScale
            | TensorRole::ExpertChoiceBias
            | TensorRole::ExpertScale
            | TensorRole::Sinks
            | TensorRole::LayerScale => stem,
            TensorRole::AltUpOutputScale if !self.is_gguf() => stem,
            _ => format!("{stem}.weight"),
        }
    }

    /// Returns what a file calls the multi-token-prediction block after the last layer, if it does
    /// not count it among the layers: the prefix of a layer's tensors, and what stands for it.
    pub(crate) fn mtp_prefix(self, layer: usize) -> Option<(String, &'static str)> {
        (self == Self::Transformers).then(|| (format!("model.layers.{layer}."), "mtp.layers.0."))
    }

    /// Returns the name of one of several tensors that belong together.
    pub(crate) fn listed_name(self, role: TensorRole, index: usize) -> String {
        format!("{}.{index}.weight", self.stem(role, 0))
    }

    /// Returns the name of the bias that belongs to a weight.
    pub(crate) fn bias_name(self, role: TensorRole, layer: usize) -> String {
        format!("{}.bias", self.stem(role, layer))
    }

    /// Returns the name of a parameter of a learned activation function. GGUF stores these
    /// parameters in its metadata instead.
    pub(crate) fn activation_parameter(parameter: &str, layer: usize) -> String {
        format!("model.layers.{layer}.mlp.act_fn.{parameter}")
    }

    fn stem(self, role: TensorRole, layer: usize) -> String {
        let name = match self {
            Self::Gguf | Self::GgufFalconH1 => tables::gguf(role),
            Self::GgufLfm2 => tables::gguf_lfm2(role),
            Self::GgufNemotronH => tables::gguf_nemotron_h(role),
            Self::GgufSeedOss => tables::gguf_seed_oss(role),
            Self::Transformers => tables::transformers(role),
            Self::TransformersWithNormsAfter => tables::transformers_with_norms_after(role),
            Self::Apertus => tables::apertus(role),
            Self::Backbone => tables::backbone(role),
            Self::FalconH1 => tables::falcon_h1(role),
            Self::Glm4 => tables::glm4(role),
            Self::Glm4Moe => tables::glm4_moe(role),
            Self::Gpt2 => tables::gpt2(role),
            Self::GptOss => tables::gpt_oss(role),
            Self::GraniteHybrid => tables::granite_hybrid(role),
            Self::Hunyuan => tables::hunyuan(role),
            Self::Lfm2 => tables::lfm2(role),
            Self::Mixtral => tables::mixtral(role),
        };
        if role.is_global() || name.starts_with("mtp.") {
            return name.to_owned();
        }
        match self {
            Self::Gguf
            | Self::GgufFalconH1
            | Self::GgufLfm2
            | Self::GgufNemotronH
            | Self::GgufSeedOss => format!("blk.{layer}.{name}"),
            Self::Backbone => format!("backbone.layers.{layer}.{name}"),
            Self::Transformers
            | Self::TransformersWithNormsAfter
            | Self::Apertus
            | Self::FalconH1
            | Self::Glm4
            | Self::Glm4Moe
            | Self::GptOss
            | Self::GraniteHybrid
            | Self::Hunyuan
            | Self::Lfm2
            | Self::Mixtral => format!("model.layers.{layer}.{name}"),
            Self::Gpt2 => format!("transformer.h.{layer}.{name}"),
        }
    }
}
