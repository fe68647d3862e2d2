//! What a decoder layer is made of.

/// How vectors are brought to one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Norm {
    /// By which rule.
    pub kind: NormKind,
    /// What is added to the mean square before its root is taken.
    pub eps: f32,
    /// What is added to the weights as the file stores them: 1 where it stores w for 1 + w.
    pub offset: f32,
}

/// By which rule vectors are brought to one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// x / root mean square × w. Zhang, Sennrich 2019, "Root Mean Square Layer Normalization".
    Rms,
    /// (x − mean) / standard deviation × w + b. Ba, Kiros, Hinton 2016, "Layer Normalization".
    Layer,
}

/// Where a layer's norms stand, around attention and around the feed-forward network alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormPlaces {
    /// On what goes in.
    Before,
    /// On what comes out, before it joins the residual stream.
    After,
    /// On both.
    Both,
}

impl NormPlaces {
    /// Whether what goes in is normed.
    pub const fn before(self) -> bool {
        matches!(self, Self::Before | Self::Both)
    }

    /// Whether what comes out is normed.
    pub const fn after(self) -> bool {
        matches!(self, Self::After | Self::Both)
    }
}

/// A norm on queries and keys, before they turn to their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadNorm {
    /// Each head by itself, all with the same weights.
    EachHead,
    /// All heads of a token together.
    AllHeads,
}

/// Which projections add a vector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Biases {
    /// Queries, keys and values.
    pub qkv: bool,
    /// What the heads found.
    pub attention_output: bool,
    /// Those of the feed-forward network.
    pub ffn: bool,
}

/// How the file stores the matrices of one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matrices {
    /// Queries, keys and values apart, and the gate apart from what it lets through.
    Apart,
    /// One below the other in one tensor.
    Fused,
    /// In one tensor, and with one row for each input: `[inputs, outputs]`.
    FusedTransposed,
}

/// What the feed-forward network does between its two products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedForward {
    /// activation(gate) × up. Shazeer 2020, "GLU Variants Improve Transformer".
    Gated(Activation),
    /// activation(up).
    Plain(Activation),
}

/// A smooth step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x × sigmoid(x).
    Silu,
    /// x × Φ(x), with Φ the normal distribution. Hendrycks, Gimpel 2016, "Gaussian Error Linear
    /// Units (GELUs)".
    Gelu,
    /// The same with Φ(x) ≈ (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.
    GeluTanh,
}

/// What one layer does differently from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerPlan {
    /// How many tokens it sees, its own included; all where there is none.
    pub window: Option<usize>,
    /// Which of the model's rotations turns its queries and keys, if any does.
    pub rope: Option<usize>,
}

/// Numbers that something is multiplied with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales {
    /// The rows of the embedding table.
    pub embedding: Option<f32>,
    /// The products of queries and keys.
    pub score: f32,
    /// What joins the residual stream.
    pub residual: Option<f32>,
    /// The logits.
    pub logit: Option<f32>,
}

/// Bounds c that something is kept within, smoothly: x becomes c × tanh(x / c).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Caps {
    /// The scaled products of queries and keys.
    pub score: Option<f32>,
    /// The logits.
    pub logit: Option<f32>,
}
