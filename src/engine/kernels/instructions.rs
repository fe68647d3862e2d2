//! Which instructions multiply: found out when the program runs.

use std::ops::Range;

use super::product::Part;
use super::scalar;

/// A processor's instructions, as far as our products use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// Whatever the compiler makes of plain loops; always there.
    Scalar,
}

impl InstructionSet {
    /// Those that this processor has, the quickest first.
    pub fn available() -> Vec<Self> {
        vec![Self::Scalar]
    }

    /// The quickest that this processor has.
    pub fn best() -> Self {
        Self::available().first().copied().unwrap_or(Self::Scalar)
    }

    /// How people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
        }
    }

    /// How rows of inputs are grouped: each group has its sums in registers while it goes through a tile.
    /// A row's result does not depend on its group.
    pub(super) fn groups(self, n_rows: usize) -> Vec<Range<usize>> {
        let n_most = self.n_most_rows();
        let starts = (0..n_rows).step_by(n_most);
        starts
            .map(|start| start..(start + n_most).min(n_rows))
            .collect()
    }

    const fn n_most_rows(self) -> usize {
        match self {
            Self::Scalar => 4,
        }
    }

    /// Multiplies some tiles with all inputs.
    pub(super) fn multiply(self, part: Part<'_>) {
        match self {
            Self::Scalar => scalar::multiply(part),
        }
    }
}
