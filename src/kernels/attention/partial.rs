//! The partial softmax of some positions, and how to merge two of them.

use super::Lanes;
use crate::kernels::N_LANES;
use crate::kernels::exp::exp;

/// The partial attention output of some queries over some positions, relative to the largest score
/// among them.
///
/// Milakov, Gimelshein 2018, "Online normalizer calculation for softmax".
#[derive(Debug, Clone, Default)]
pub struct Partial {
    /// For each query the largest score, or −∞ if it attends to none of the positions.
    pub maxima: Vec<f32>,
    /// For each query the sum of e^(score − largest).
    pub sums: Vec<f32>,
    /// For each query the sum of the values, each weighted by e^(score − largest): `[query][dim]`.
    pub mixed: Vec<Lanes>,
}

impl Partial {
    /// Resets to no positions.
    pub fn clear(&mut self, n_queries: usize, n_registers: usize) {
        self.maxima.clear();
        self.maxima.resize(n_queries, f32::NEG_INFINITY);
        self.sums.clear();
        self.sums.resize(n_queries, 0.0);
        self.mixed.clear();
        self.mixed.resize(n_queries * n_registers, Lanes::all(0.0));
    }

    /// Merges the contribution of later positions.
    #[inline(always)]
    pub fn join(&mut self, later: &Self) {
        let n_registers = self.mixed.len() / self.sums.len().max(1);
        let mixes = self.mixed.chunks_exact_mut(n_registers.max(1));
        let mixes = mixes.zip(later.mixed.chunks_exact(n_registers.max(1)));
        let sums = self.sums.iter_mut().zip(&later.sums);
        let maxima = self.maxima.iter_mut().zip(&later.maxima);
        for (((max, later_max), (sum, later_sum)), (mix, later_mix)) in maxima.zip(sums).zip(mixes)
        {
            if *later_sum == 0.0 {
                continue;
            }
            let joint = max.max(*later_max);
            let factors = [exp(*max - joint), exp(*later_max - joint)];
            let weigh = |own: f32, later: f32| own * factors[0] + later * factors[1];
            *max = joint;
            *sum = weigh(*sum, *later_sum);
            for (own, later) in mix.iter_mut().zip(later_mix) {
                for (own, later) in own.0.iter_mut().zip(later.0) {
                    *own = weigh(*own, later);
                }
            }
        }
    }

    /// Normalizes the weighted sums and writes them to the output: `[query][dim]`.
    #[inline(always)]
    pub fn finish<'a>(&self, outputs: impl Iterator<Item = &'a mut [f32]>) {
        let n_registers = self.mixed.len() / self.sums.len().max(1);
        let mixes = self.mixed.chunks_exact(n_registers.max(1));
        for ((mix, sum), output) in mixes.zip(&self.sums).zip(outputs) {
            let scale = 1.0 / sum;
            for (places, values) in output.chunks_mut(N_LANES).zip(mix) {
                for (place, value) in places.iter_mut().zip(values.0) {
                    *place = value * scale;
                }
            }
        }
    }
}
