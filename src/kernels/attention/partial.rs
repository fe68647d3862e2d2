//! The partial softmax of some positions, and how to merge two of them.

use super::Lanes;
use crate::N_LANES;
use crate::exp::exp;

/// The partial attention output of some queries over some positions, relative to the largest score
/// among them.
///
/// Milakov, Gimelshein 2018, "Online normalizer calculation for softmax".
#[derive(Debug, Clone, Default)]
pub(super) struct Partial {
    /// For each query the largest score, or −∞ if it attends to none of the positions.
    pub maxima: Vec<f32>,
    /// For each query the sum of e^(score − largest).
    pub sums: Vec<f32>,
    /// For each query the sum of the values, each weighted by e^(score − largest): `[query][dim]`.
    pub weighted_sums: Vec<Lanes>,
}

impl Partial {
    /// Resets to no positions.
    pub(super) fn clear(&mut self, n_queries: usize, n_registers: usize) {
        self.maxima.clear();
        self.maxima.resize(n_queries, f32::NEG_INFINITY);
        self.sums.clear();
        self.sums.resize(n_queries, 0.0);
        self.weighted_sums.clear();
        self.weighted_sums
            .resize(n_queries * n_registers, Lanes::all(0.0));
    }

    /// Merges the contribution of later positions.
    #[inline(always)]
    pub(super) fn merge(&mut self, later: &Self) {
        let n_registers = self.weighted_sums.len() / self.sums.len().max(1);
        let outputs = self.weighted_sums.chunks_exact_mut(n_registers.max(1));
        let outputs = outputs.zip(later.weighted_sums.chunks_exact(n_registers.max(1)));
        let sums = self.sums.iter_mut().zip(&later.sums);
        let maxima = self.maxima.iter_mut().zip(&later.maxima);
        for (((max, later_max), (sum, later_sum)), (output, later_output)) in
            maxima.zip(sums).zip(outputs)
        {
            if *later_sum == 0.0 {
                continue;
            }
            let new_max = max.max(*later_max);
            let factors = [exp(*max - new_max), exp(*later_max - new_max)];
            let combine = |earlier: f32, later: f32| earlier * factors[0] + later * factors[1];
            *max = new_max;
            *sum = combine(*sum, *later_sum);
            for (earlier, later) in output.iter_mut().zip(later_output) {
                for (earlier, later) in earlier.0.iter_mut().zip(later.0) {
                    *earlier = combine(*earlier, later);
                }
            }
        }
    }

    /// Adds scores without a value, one for each query.
    #[inline(always)]
    pub(super) fn add_sinks(&mut self, sinks: impl Iterator<Item = f32>) {
        for ((sum, max), sink) in self.sums.iter_mut().zip(&self.maxima).zip(sinks) {
            *sum += exp(sink - max);
        }
    }

    /// Normalizes the weighted sums and writes them to the output: `[query][dim]`.
    #[inline(always)]
    pub(super) fn write_output<'a>(&self, outputs: impl Iterator<Item = &'a mut [f32]>) {
        let n_registers = self.weighted_sums.len() / self.sums.len().max(1);
        let queries = self.weighted_sums.chunks_exact(n_registers.max(1));
        for ((weighted_sums, sum), output) in queries.zip(&self.sums).zip(outputs) {
            let scale = 1.0 / sum;
            for (targets, values) in output.chunks_mut(N_LANES).zip(weighted_sums) {
                for (target, value) in targets.iter_mut().zip(values.0) {
                    *target = value * scale;
                }
            }
        }
    }
}
