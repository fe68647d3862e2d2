//! The building blocks of a decoder layer.

use super::{Recurrence, Sublayers};

/// How vectors are normalized.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Norm {
    pub kind: NormKind,
    /// Added to the mean square or the variance before taking the root.
    pub eps: f32,
    /// Added to the stored weights: 1 if the file stores w for the weight 1 + w, otherwise 0.
    pub offset: f32,
}

/// The formula of a norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormKind {
    /// x / root mean square × w. Zhang, Sennrich 2019, "Root Mean Square Layer Normalization".
    Rms,
    /// (x − mean) / standard deviation × w + b. Ba, Kiros, Hinton 2016, "Layer Normalization".
    Layer,
    /// As `Layer`, without b.
    LayerWithoutBias,
    /// As `Layer`, with neither w nor b.
    LayerWithoutWeights,
}

/// Where a layer applies norms, around attention and the feed-forward network alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormPlaces {
    /// To the sublayer's input (pre-norm).
    Before,
    /// To the sublayer's output, before it is added to the residual stream.
    After,
    Both,
    /// Once, to the layer's input. Attention and the feed-forward network both read the result, and
    /// both outputs are added to the residual stream (parallel). Wang, Komatsuzaki 2021, "GPT-J-6B".
    Parallel,
}

impl NormPlaces {
    /// Returns whether the input of attention is normalized.
    pub(crate) const fn before_attention(self) -> bool {
        matches!(self, Self::Before | Self::Both | Self::Parallel)
    }

    /// Returns whether the input of the feed-forward network has its own norm.
    pub(crate) const fn before_feed_forward(self) -> bool {
        matches!(self, Self::Before | Self::Both)
    }

    /// Returns whether the sublayer's output is normalized.
    pub(crate) const fn after(self) -> bool {
        matches!(self, Self::After | Self::Both)
    }
}

/// QK-norm: a norm of queries and keys. Unless stated otherwise, applied before rotary embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadNorm {
    /// Each head is normalized separately, all with the same weights.
    EachHead,
    /// As `EachHead`, but applied after rotary embedding.
    EachRotatedHead,
    /// All heads of a token are normalized together.
    AllHeads,
}

/// Which projections have a bias.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Biases {
    /// The query, key and value projections.
    pub qkv: bool,
    pub attention_output: bool,
    /// All projections of the feed-forward network.
    pub ffn: bool,
}

/// How the file stores matrices that share an input: queries, keys and values, or gate and up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matrices {
    /// One tensor for each matrix.
    Separate,
    /// Stacked in one tensor: `[outputs, inputs]`.
    Fused,
    /// Gate and up stacked in one tensor, but queries, keys and values in one each.
    FusedGateUp,
    /// In one transposed tensor: `[inputs, outputs]`.
    FusedTransposed,
}

/// The nonlinearity before the down projection of the feed-forward network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FeedForward {
    /// activation(gate) × up. Shazeer 2020, "GLU Variants Improve Transformer".
    Gated(Activation),
    /// activation(up).
    Plain(Activation),
    /// gate × sigmoid(1.702 gate) × (up + 1), with gates up to a limit and ups within ± the limit.
    /// OpenAI 2025, "gpt-oss-120b & gpt-oss-20b Model Card".
    Clamped(ClampedGate),
}

/// The clamped `SwiGLU` of gpt-oss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClampedGate {
    pub limit: f32,
    /// Whether gates and ups alternate, instead of following one another.
    pub alternates: bool,
}

impl ClampedGate {
    /// Multiplies the gate inside the sigmoid.
    pub(crate) const SLOPE: f32 = 1.702;
}

/// The activation function of the feed-forward network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Activation {
    /// x × sigmoid(x).
    Silu,
    /// x × Φ(x), where Φ is the standard normal distribution function. Hendrycks, Gimpel 2016,
    /// "Gaussian Error Linear Units (GELUs)".
    Gelu,
    /// GELU with the approximation Φ(x) ≈ (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.
    GeluTanh,
    /// max(x, 0)². So et al. 2021, "Primer: Searching for Efficient Transformers for Language
    /// Modeling".
    Relu2,
    /// xIELU, with parameters that each layer learns.
    Xielu(Xielu),
}

/// The parameters of xIELU: α₊ x² + β x for positive x, and α₋ (exp(x) − 1 − x) + β x for others.
/// Huang, Schlag 2024, "Deriving Activation Functions Using Integration".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Xielu {
    /// α₊.
    pub positive: f32,
    /// α₋.
    pub negative: f32,
    /// The slope at 0.
    pub beta: f32,
}

impl Xielu {
    /// The parameters before training.
    pub(crate) const INITIAL: Self = Self {
        positive: 0.8,
        negative: 0.8,
        beta: 0.5,
    };

    /// Returns the parameters for the raw values that files store.
    pub(crate) fn from_raw(raw_positive: f32, raw_negative: f32, beta: f32) -> Self {
        let softplus = |x: f32| x.max(0.0) + (-x.abs()).exp().ln_1p();
        Self {
            positive: softplus(raw_positive),
            negative: beta + softplus(raw_negative),
            beta,
        }
    }
}

/// The sizes of a layer's keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeadSizes {
    /// Number of key-value heads.
    pub n_kv_heads: usize,
    pub head_dim: usize,
}

/// Where a layer's keys and values come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum KvSource {
    /// Each from its own projection.
    #[default]
    Projected,
    /// Both from the projection of keys. Values are not rotated.
    SameProjection,
    /// From an earlier layer. The layer has none of its own.
    OfLayer(usize),
}

/// What differs from layer to layer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LayerPlan {
    /// Width of the sliding window in tokens, including the current one. `None` means no limit.
    pub window: Option<usize>,
    /// Index of the rotary embedding for queries and keys, if any.
    pub rope: Option<usize>,
    /// The sizes of keys and values, if they differ from the model's usual ones.
    pub heads: Option<HeadSizes>,
    /// The inner width of the feed-forward network, if it differs from the model's usual one.
    pub ffn_size: Option<usize>,
    pub kv_source: KvSource,
    /// Whether the layer has a mixture of experts.
    pub has_experts: bool,
    /// What the layer computes instead of attention, or besides.
    pub recurrence: Option<Recurrence>,
    pub sublayers: Sublayers,
}

/// Constant factors in the forward pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scales {
    /// Multiplies the token embeddings.
    pub embedding: Option<f32>,
    /// Multiplies the query-key products.
    pub score: f32,
    /// Multiplies each sublayer's output before it is added to the residual stream.
    pub residual: Option<f32>,
    /// Multiplies the logits.
    pub logit: Option<f32>,
}

/// Soft caps: with a cap c, x becomes c × tanh(x / c).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Caps {
    /// Cap on the scaled query-key products.
    pub score: Option<f32>,
    /// Cap on the logits.
    pub logit: Option<f32>,
}

/// Attention temperature: queries grow with their position, so that attention stays sharp in long
/// texts. Meta 2025, "The Llama 4 herd".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Temperature {
    /// How fast queries grow.
    pub beta: f32,
    /// The original context, in tokens. Queries within it are unchanged.
    pub n_original: usize,
}

impl Temperature {
    /// Returns the factor of queries at a position: 1 + β ln(1 + ⌊position / n⌋).
    pub(crate) fn query_scale(self, position: usize) -> f32 {
        1.0 + self.beta * ((position / self.n_original.max(1)) as f32).ln_1p()
    }
}

/// Per-layer embeddings: besides the residual stream, each layer reads a small vector of its own for
/// each token, from a table and from the token's embedding. Google 2025, "Gemma 3n".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LayerInputs {
    /// The width of a layer's vector.
    pub width: usize,
    /// Number of rows in the table. `None` if the file does not say.
    pub n_vocab: Option<usize>,
}

/// Constant factors of projections, for a family that multiplies more than other models. In GGUF
/// files, the weights contain them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Multipliers {
    pub query: f32,
    pub key: f32,
    pub value: f32,
    pub attention_output: f32,
    /// For the parts that Mamba reads: gates, inputs, directions to write and to read, time steps.
    pub mamba_input: [f32; 5],
    pub mamba_output: f32,
    pub ffn_gate: f32,
    pub ffn_down: f32,
}

/// Multi-head latent attention, in which queries, keys and values are computed from small latent
/// vectors. `DeepSeek`-AI 2024, "`DeepSeek-V2`: A Strong, Economical, and Efficient
/// Mixture-of-Experts Language Model".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LatentAttention {
    /// The width of the latent vector of queries. `None` if these are projected at once.
    pub query_rank: Option<usize>,
    /// The width of the latent vector of keys and values.
    pub key_value_rank: usize,
    /// How many dimensions of a head rotate. All heads share those of keys.
    pub rotated_dim: usize,
    pub unrotated_dim: usize,
    pub value_dim: usize,
    /// Added to the mean square of latent vectors.
    pub eps: f32,
}

/// Several copies of the residual stream, of which a layer computes the first and predicts the others.
/// Baykal et al. 2023, "Alternating Updates for Efficient Transformers".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AltUp {
    pub n_streams: usize,
    /// The inner width of the low-rank path beside attention. `None` if the file doesn't say.
    pub laurel_rank: Option<usize>,
    /// Whether the source of per-layer embeddings is scaled first.
    pub has_output_scale: bool,
}
