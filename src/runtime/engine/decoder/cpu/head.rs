//! What happens to a row's queries, keys and values before attention.

use pulp::{Simd, WithSimd};

use super::rows::sum;
use crate::engine::blueprint::RopeForm;
use crate::engine::decoder::attention::{HeadNorms, HeadShape};

/// Clamps, norms and rotates the queries and keys of one row, in place.
pub(super) struct RotateRow<'a> {
    pub shape: HeadShape,
    pub norms: Option<&'a HeadNorms<Vec<f32>>>,
    /// `None` if the layer does not rotate.
    pub angles: Option<Angles<'a>>,
    /// Multiplies the rotated queries.
    pub query_scale: Option<f32>,
    /// The row's queries, keys and values.
    pub qkv: &'a mut [f32],
}

/// The rotary angles of a row, one for each plane of a head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Angles<'a> {
    pub form: RopeForm,
    pub cos: &'a [f32],
    pub sin: &'a [f32],
}

impl WithSimd for RotateRow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        if let Some(limit) = self.shape.qkv_limit {
            for value in self.qkv.iter_mut() {
                *value = value.clamp(-limit, limit);
            }
        }
        let (queries, keys_values) = self.qkv.split_at_mut(self.shape.q_width());
        let (keys, values) = keys_values.split_at_mut(self.shape.kv_width());
        if let Some(norms) = self.norms {
            norm(
                norms.eps,
                norms.values.as_deref().unwrap_or_default(),
                values,
            );
        }
        let follow_rotation = |norms: &&HeadNorms<_>| norms.follow_rotation;
        if let Some(norms) = self.norms.filter(|norms| !follow_rotation(norms)) {
            norm(norms.eps, &norms.queries, queries);
            norm(norms.eps, norms.keys.as_deref().unwrap_or_default(), keys);
        }
        if let Some(angles) = self.angles {
            for heads in [&mut *queries, &mut *keys] {
                for head in heads.chunks_exact_mut(self.shape.head_dim) {
                    angles.rotate(head);
                }
            }
        }
        if let Some(norms) = self.norms.filter(follow_rotation) {
            norm(norms.eps, &norms.queries, queries);
            norm(norms.eps, norms.keys.as_deref().unwrap_or_default(), keys);
        }
        if let Some(scale) = self.query_scale {
            for query in queries {
                *query *= scale;
            }
        }
    }
}

/// Applies RMS norm to each group of as many values as there are weights. Without weights, all values
/// stay as they are.
///
/// Zhang, Sennrich 2019, "Root Mean Square Layer Normalization".
#[inline(always)]
fn norm(eps: f32, weights: &[f32], values: &mut [f32]) {
    if weights.is_empty() {
        return;
    }
    for group in values.chunks_exact_mut(weights.len()) {
        let scale = 1.0 / (sum(group, |x| x * x) / group.len() as f32 + eps).sqrt();
        for (value, weight) in group.iter_mut().zip(weights) {
            *value *= scale * weight;
        }
    }
}

impl Angles<'_> {
    /// Rotates the first dimensions of a head, two for each angle.
    #[inline(always)]
    fn rotate(self, head: &mut [f32]) {
        let n_planes = self.cos.len();
        let Some(head) = head.get_mut(..2 * n_planes) else {
            return;
        };
        let rotate_plane = |first: &mut f32, second: &mut f32, cos: f32, sin: f32| {
            let (x, y) = (*first, *second);
            *first = x * cos - y * sin;
            *second = x * sin + y * cos;
        };
        let angles = self.cos.iter().zip(self.sin);
        match self.form {
            RopeForm::Interleaved => {
                for (pair, (cos, sin)) in head.as_chunks_mut().0.iter_mut().zip(angles) {
                    let [first, second] = pair;
                    rotate_plane(first, second, *cos, *sin);
                }
            }
            RopeForm::HalfSplit => {
                let (first, second) = head.split_at_mut(n_planes);
                for ((first, second), (cos, sin)) in first.iter_mut().zip(second).zip(angles) {
                    rotate_plane(first, second, *cos, *sin);
                }
            }
        }
    }
}
