//! The functions by which recurrent layers gate, and the parts of a row.

use crate::kernels::exp;

#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub(super) fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// ln(1 + e^x).
pub(super) fn softplus(x: f32) -> f32 {
    x.max(0.0) + exp(-x.abs()).ln_1p()
}

/// Returns the part of a row that belongs to one head or group.
pub(super) fn part(values: &[f32], index: usize, width: usize) -> &[f32] {
    values
        .get(index * width..(index + 1) * width)
        .unwrap_or_default()
}
