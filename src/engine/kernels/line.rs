//! Memory in cache lines.

/// As many bytes as a cache line has, at its place.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [u8; Self::N_BYTES]);

impl Line {
    /// The size of a line.
    pub const N_BYTES: usize = 64;

    /// A line of zeros.
    pub const ZERO: Self = Self([0; Self::N_BYTES]);
}
