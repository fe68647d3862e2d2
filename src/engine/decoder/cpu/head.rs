//! What is done to a row's queries and keys before they meet.

use pulp::{Simd, WithSimd};

use super::rows::sum;
use crate::engine::blueprint::RopeForm;
use crate::engine::decoder::attention::{HeadNorms, HeadShape};

/// Norms and turns the queries and keys of one row.
pub struct Turned<'a> {
    /// The sizes.
    pub shape: HeadShape,
    /// The norms, if there are any.
    pub norms: Option<&'a HeadNorms<Vec<f32>>>,
    /// Where the row turns to, if it does.
    pub angles: Option<Angles<'a>>,
    /// Its queries, keys and values.
    pub qkv: &'a mut [f32],
}

/// How far a row turns.
#[derive(Debug, Clone, Copy)]
pub struct Angles<'a> {
    /// Which dimensions of a head turn together.
    pub form: RopeForm,
    /// For each plane of a head the cosine of its angle.
    pub cos: &'a [f32],
    /// The sines.
    pub sin: &'a [f32],
}

impl WithSimd for Turned<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let (queries, keys_values) = self.qkv.split_at_mut(self.shape.q_width());
        let (keys, _) = keys_values.split_at_mut(self.shape.kv_width());
        if let Some(norms) = self.norms {
            norm(norms.eps, &norms.queries, queries);
            norm(norms.eps, &norms.keys, keys);
        }
        if let Some(angles) = self.angles {
            for heads in [queries, keys] {
                for head in heads.chunks_exact_mut(self.shape.head_dim) {
                    angles.turn(head);
                }
            }
        }
    }
}

/// Brings values to one length, as many together as there are weights.
///
/// Zhang, Sennrich 2019, "Root Mean Square Layer Normalization".
#[inline(always)]
fn norm(eps: f32, weights: &[f32], values: &mut [f32]) {
    for values in values.chunks_exact_mut(weights.len().max(1)) {
        let scale = 1.0 / (sum(values, |x| x * x) / values.len() as f32 + eps).sqrt();
        for (value, weight) in values.iter_mut().zip(weights) {
            *value *= scale * weight;
        }
    }
}

impl Angles<'_> {
    /// Turns the first dimensions of a head, as many as there are angles for.
    #[inline(always)]
    fn turn(self, head: &mut [f32]) {
        let n_planes = self.cos.len();
        let Some(head) = head.get_mut(..2 * n_planes) else {
            return;
        };
        let turn = |first: &mut f32, second: &mut f32, cos: f32, sin: f32| {
            let (x, y) = (*first, *second);
            *first = x * cos - y * sin;
            *second = x * sin + y * cos;
        };
        let angles = self.cos.iter().zip(self.sin);
        match self.form {
            RopeForm::Interleaved => {
                for (pair, (cos, sin)) in head.as_chunks_mut().0.iter_mut().zip(angles) {
                    let [first, second] = pair;
                    turn(first, second, *cos, *sin);
                }
            }
            RopeForm::HalfSplit => {
                let (first, second) = head.split_at_mut(n_planes);
                for ((first, second), (cos, sin)) in first.iter_mut().zip(second).zip(angles) {
                    turn(first, second, *cos, *sin);
                }
            }
        }
    }
}
