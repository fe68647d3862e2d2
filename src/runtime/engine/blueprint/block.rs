//! The building blocks of a decoder layer.

use super::Recurrence;

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
}

/// Where a layer applies norms, around attention and the feed-forward network alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormPlaces {
    /// To the sublayer's input (pre-norm).
    Before,
    /// To the sublayer's output, before it is added to the residual stream.
    After,
    Both,
}

impl NormPlaces {
    /// Returns whether the sublayer's input is normalized.
    pub(crate) const fn before(self) -> bool {
        matches!(self, Self::Before | Self::Both)
    }

    /// Returns whether the sublayer's output is normalized.
    pub(crate) const fn after(self) -> bool {
        matches!(self, Self::After | Self::Both)
    }
}

/// QK-norm: a norm of queries and keys, applied before rotary embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadNorm {
    /// Each head is normalized separately, all with the same weights.
    EachHead,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeedForward {
    /// activation(gate) × up. Shazeer 2020, "GLU Variants Improve Transformer".
    Gated(Activation),
    /// activation(up).
    Plain(Activation),
}

/// The activation function of the feed-forward network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    /// x × sigmoid(x).
    Silu,
    /// x × Φ(x), where Φ is the standard normal distribution function. Hendrycks, Gimpel 2016,
    /// "Gaussian Error Linear Units (GELUs)".
    Gelu,
    /// GELU with the approximation Φ(x) ≈ (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.
    GeluTanh,
}

/// What differs from layer to layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LayerPlan {
    /// Width of the sliding window in tokens, including the current one. `None` means no limit.
    pub window: Option<usize>,
    /// Index of the rotary embedding for queries and keys, if any.
    pub rope: Option<usize>,
    /// What the layer computes instead of attention. `None` for a layer with attention.
    pub recurrence: Option<Recurrence>,
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
