//! Which instructions multiply: found out when the program runs.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use super::avx512::{self, Avx512};
use super::product::Part;
use super::scalar;

/// A processor's instructions, as far as our products use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// 512 bits with 8-bit dot products.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// Whatever the compiler makes of plain loops; always there.
    Scalar,
}

impl InstructionSet {
    /// Those that this processor has, the quickest first.
    pub fn available() -> Vec<Self> {
        let mut available = Vec::new();
        #[cfg(target_arch = "x86_64")]
        available.extend(Avx512::detect().map(Self::Avx512));
        available.push(Self::Scalar);
        available
    }

    /// The quickest that this processor has.
    pub fn best() -> Self {
        Self::available().first().copied().unwrap_or(Self::Scalar)
    }

    /// How people call it.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "AVX-512 VNNI",
            Self::Scalar => "scalar",
        }
    }

    /// How rows of inputs are grouped: each group has its sums in registers while it goes through a tile.
    /// A row's result does not depend on its group.
    pub(super) fn groups(self, n_rows: usize) -> impl Iterator<Item = Range<usize>> {
        let n_groups = n_rows.div_ceil(self.n_most_rows());
        let start = move |group: usize| group * n_rows / n_groups;
        (0..n_groups).map(move |group| start(group)..start(group + 1))
    }

    const fn n_most_rows(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => avx512::N_MOST_ROWS,
            Self::Scalar => 4,
        }
    }

    /// Multiplies some tiles with all inputs.
    pub(super) fn multiply(self, part: Part<'_>) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => avx512.multiply(part),
            Self::Scalar => scalar::multiply(part),
        }
    }
}
