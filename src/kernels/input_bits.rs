//! How finely the inputs of quantized weights are rounded.

/// The number of bits that inputs of quantized weights are rounded to, with one scale for every 32
/// of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InputBits {
    /// Three bytes: the error is at most a 16-millionth of the largest input of the block, as in
    /// `f32`.
    TwentyFour,
    /// Two bytes, multiplied one by one or, where the CPU does that faster, together. The error is at
    /// most a 65,000th of the largest input of the block, so inputs a thousand times smaller still
    /// count.
    #[default]
    Sixteen,
    /// One byte: faster when many rows are multiplied, but inputs much smaller than the largest of
    /// their block are lost.
    Eight,
}

impl InputBits {
    /// All, in menu order.
    pub const ALL: [Self; 3] = [Self::TwentyFour, Self::Sixteen, Self::Eight];

    /// The number alone: "16".
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwentyFour => "24",
            Self::Sixteen => "16",
            Self::Eight => "8",
        }
    }

    /// The name in sentences and menus: "16-bit inputs".
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::TwentyFour => "24-bit inputs",
            Self::Sixteen => "16-bit inputs",
            Self::Eight => "8-bit inputs",
        }
    }

    /// A few words that describe the choice in a menu.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::TwentyFour => "slower, as exact as f32",
            Self::Sixteen => "true to the weights",
            Self::Eight => "faster, rounds like llama.cpp",
        }
    }

    /// The number of bytes that represent an input.
    pub(super) const fn n_planes(self) -> usize {
        match self {
            Self::TwentyFour => 3,
            Self::Sixteen => 2,
            Self::Eight => 1,
        }
    }
}
