//! Layers that keep a state of fixed size instead of keys and values.

use super::Blueprint;

/// What a layer computes instead of attention, and the size of the state that it keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Recurrence {
    ShortConv(ShortConv),
    DeltaNet(DeltaNet),
    Mamba(Mamba),
    Mamba2(Mamba2),
}

/// A gated short convolution: three projections B, C and x of the input, then C × conv(B × x).
///
/// Liquid AI 2025, "LFM2 Technical Report".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortConv {
    /// Number of channels, each convolved separately.
    pub n_channels: usize,
    /// How many tokens the convolution covers, including the current one.
    pub n_taps: usize,
}

/// A linear attention whose state, a matrix for each head, forgets and is corrected at each token.
///
/// Yang, Kautz, Hatamizadeh 2025, "Gated Delta Networks: Improving Mamba2 with Delta Rule".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeltaNet {
    /// How many tokens the convolution of queries, keys and values covers.
    pub n_taps: usize,
    /// Number of query heads, and of key heads.
    pub n_key_heads: usize,
    pub n_value_heads: usize,
    pub key_dim: usize,
    pub value_dim: usize,
    pub head_order: HeadOrder,
}

/// A state space, a vector for each channel, which forgets at rates that depend on the token.
///
/// Gu, Dao 2023, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mamba {
    /// How many tokens the convolution covers.
    pub n_taps: usize,
    pub n_channels: usize,
    pub state_dim: usize,
    /// The width from which the time steps of all channels are projected.
    pub step_rank: usize,
    /// Whether the outputs of the convolution have a bias.
    pub has_conv_bias: bool,
    /// Added to the mean square of what the token selects: time steps, and the directions in which
    /// states are written and read. `None` if these are not normalized.
    pub selection_eps: Option<f32>,
}

/// A state space, a matrix for each head, which forgets at a rate that depends on the token.
///
/// Dao, Gu 2024, "Transformers are SSMs: Generalized Models and Efficient Algorithms Through
/// Structured State Space Duality".
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mamba2 {
    /// How many tokens the convolution covers.
    pub n_taps: usize,
    pub n_heads: usize,
    pub head_dim: usize,
    /// Number of directions in which states are written and read. Neighboring heads share one.
    pub n_groups: usize,
    pub state_dim: usize,
    /// Whether the outputs of the convolution have a bias.
    pub has_conv_bias: bool,
    pub gated_norm: GatedNorm,
    pub step_limits: StepLimits,
}

/// The norm of a gated output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GatedNorm {
    /// The output is gated, then normalized.
    AfterGate,
    /// The output is normalized, then gated.
    BeforeGate,
    /// The output is only gated.
    None,
}

/// The range to which the time steps of a state space are clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepLimits {
    pub shortest: f32,
    pub longest: f32,
}

impl StepLimits {
    /// Lets all time steps pass.
    pub(crate) const NONE: Self = Self {
        shortest: 0.0,
        longest: f32::INFINITY,
    };
}

/// Which value heads share a key head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadOrder {
    /// Neighbors do, as in transformers.
    Grouped,
    /// Those with the same remainder do: llama.cpp's converter reorders the value heads.
    Tiled,
}

impl Recurrence {
    /// Returns the width of what the layer's first projection computes for a token.
    pub(crate) const fn input_width(self) -> usize {
        match self {
            Self::ShortConv(conv) => 3 * conv.n_channels,
            Self::Mamba(mamba) => 2 * mamba.n_channels,
            Self::Mamba2(mamba) => mamba.inner_width() + mamba.conv_width() + mamba.n_heads,
            Self::DeltaNet(net) => net.conv_width() + net.value_width() + 2 * net.n_value_heads,
        }
    }

    /// Returns the widths of the parts of Mamba 2's input: gates, inputs, directions to write and to
    /// read, and time steps. Empty for others.
    pub(crate) fn input_parts(self) -> Vec<usize> {
        let Self::Mamba2(mamba) = self else {
            return Vec::new();
        };
        let directions = mamba.n_groups.saturating_mul(mamba.state_dim);
        let inner_width = mamba.inner_width();
        vec![
            inner_width,
            inner_width,
            directions,
            directions,
            mamba.n_heads,
        ]
    }

    /// Returns the width of what the layer passes to its output projection.
    pub(crate) const fn output_width(self) -> usize {
        match self {
            Self::ShortConv(conv) => conv.n_channels,
            Self::DeltaNet(net) => net.value_width(),
            Self::Mamba(mamba) => mamba.n_channels,
            Self::Mamba2(mamba) => mamba.inner_width(),
        }
    }

    /// Returns how many numbers a sequence keeps for the layer.
    pub(crate) const fn n_state_values(self) -> usize {
        match self {
            Self::ShortConv(conv) => conv.n_window_values(),
            Self::DeltaNet(net) => net
                .n_window_values()
                .saturating_add(net.n_value_heads.saturating_mul(net.n_head_values())),
            Self::Mamba(mamba) => mamba
                .n_window_values()
                .saturating_add(mamba.n_scan_values()),
            Self::Mamba2(mamba) => mamba
                .n_window_values()
                .saturating_add(mamba.n_heads.saturating_mul(mamba.n_head_values())),
        }
    }

    /// Returns the sizes with their names, for checks.
    pub(super) fn sizes(self) -> Vec<(&'static str, usize)> {
        match self {
            Self::ShortConv(conv) => vec![("the width of the convolution", conv.n_taps)],
            Self::DeltaNet(net) => vec![
                ("the width of the convolution", net.n_taps),
                ("the number of linear key heads", net.n_key_heads),
                ("the number of linear value heads", net.n_value_heads),
                ("the linear key head size", net.key_dim),
                ("the linear value head size", net.value_dim),
            ],
            Self::Mamba(mamba) => vec![
                ("the width of the convolution", mamba.n_taps),
                ("the number of Mamba channels", mamba.n_channels),
                ("the Mamba state size", mamba.state_dim),
                ("the rank of time steps", mamba.step_rank),
            ],
            Self::Mamba2(mamba) => vec![
                ("the width of the convolution", mamba.n_taps),
                ("the number of Mamba heads", mamba.n_heads),
                ("the Mamba head size", mamba.head_dim),
                ("the number of Mamba groups", mamba.n_groups),
                ("the Mamba state size", mamba.state_dim),
            ],
        }
    }
}

impl ShortConv {
    /// Returns how many numbers the tokens before the current one take.
    pub(crate) const fn n_window_values(self) -> usize {
        self.n_taps
            .saturating_sub(1)
            .saturating_mul(self.n_channels)
    }
}

impl DeltaNet {
    /// Returns the width of all query heads together, and of all key heads.
    pub(crate) const fn key_width(self) -> usize {
        self.n_key_heads.saturating_mul(self.key_dim)
    }

    /// Returns the width of all value heads together.
    pub(crate) const fn value_width(self) -> usize {
        self.n_value_heads.saturating_mul(self.value_dim)
    }

    /// Returns how many channels are convolved: queries, keys and values.
    pub(crate) const fn conv_width(self) -> usize {
        self.key_width()
            .saturating_mul(2)
            .saturating_add(self.value_width())
    }

    /// Returns how many numbers the tokens in the convolution's window take.
    pub(crate) const fn n_window_values(self) -> usize {
        self.n_taps
            .saturating_sub(1)
            .saturating_mul(self.conv_width())
    }

    /// Returns the size of one head's state, a matrix of keys by values.
    pub(crate) const fn n_head_values(self) -> usize {
        self.key_dim.saturating_mul(self.value_dim)
    }

    /// Returns the key head that a value head reads.
    pub(crate) const fn key_head_of(self, value_head: usize) -> usize {
        match self.head_order {
            HeadOrder::Grouped => value_head * self.n_key_heads / self.n_value_heads,
            HeadOrder::Tiled => value_head % self.n_key_heads,
        }
    }
}

impl Mamba {
    /// Returns how many numbers the tokens in the convolution's window take.
    pub(crate) const fn n_window_values(self) -> usize {
        self.n_taps
            .saturating_sub(1)
            .saturating_mul(self.n_channels)
    }

    /// Returns the size of the states of all channels.
    pub(crate) const fn n_scan_values(self) -> usize {
        self.n_channels.saturating_mul(self.state_dim)
    }

    /// Returns the width of what a token selects: the source of its time steps, and the directions
    /// in which states are written and read.
    pub(crate) const fn selection_width(self) -> usize {
        self.state_dim
            .saturating_mul(2)
            .saturating_add(self.step_rank)
    }
}

impl Mamba2 {
    /// Returns the width of all heads together.
    pub(crate) const fn inner_width(self) -> usize {
        self.n_heads.saturating_mul(self.head_dim)
    }

    /// Returns how many channels are convolved: inputs, and directions to write and to read.
    pub(crate) const fn conv_width(self) -> usize {
        self.n_groups
            .saturating_mul(self.state_dim)
            .saturating_mul(2)
            .saturating_add(self.inner_width())
    }

    /// Returns how many numbers the tokens in the convolution's window take.
    pub(crate) const fn n_window_values(self) -> usize {
        self.n_taps
            .saturating_sub(1)
            .saturating_mul(self.conv_width())
    }

    /// Returns the size of one head's state.
    pub(crate) const fn n_head_values(self) -> usize {
        self.state_dim.saturating_mul(self.head_dim)
    }
}

impl Blueprint {
    /// Returns how many bytes a sequence keeps in recurrent layers, whatever its length.
    pub(crate) fn n_state_bytes(&self) -> u64 {
        let layers = self.layers.iter().filter_map(|layer| layer.recurrence);
        layers
            .map(|recurrence| recurrence.n_state_values() as u64)
            .fold(0, u64::saturating_add)
            .saturating_mul(size_of::<f32>() as u64)
    }

    /// Returns the number of the layer among those with a recurrence.
    pub(crate) fn recurrent_index(&self, layer: usize) -> usize {
        let before = self.layers.iter().take(layer);
        before.filter(|plan| plan.recurrence.is_some()).count()
    }
}
