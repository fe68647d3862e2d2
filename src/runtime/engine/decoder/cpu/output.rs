//! The end of a pass: the logits after the last layer, and those of early exits.

use super::{Buffers, Model};
use crate::engine::{EarlyExit, Row};
use crate::kernels::soft_cap;

impl Model {
    /// Copies the residual stream of the rows that exit after `n_layers`.
    pub(super) fn exit(&self, n_layers: usize, exits: &[EarlyExit], buffers: &mut Buffers) {
        let width = self.blueprint.hidden_size;
        for (exit, kept) in exits.iter().zip(buffers.exits.chunks_exact_mut(width)) {
            let row = buffers.hidden.chunks_exact(width).nth(exit.row);
            if let Some(row) = row.filter(|_| exit.n_layers == n_layers) {
                kept.copy_from_slice(row);
            }
        }
    }

    /// Returns the logits of the rows that want them, then those of the early exits.
    pub(super) fn head(&self, rows: &[Row], buffers: &mut Buffers) -> Vec<f32> {
        let width = self.blueprint.hidden_size;
        let hidden = rows.iter().zip(buffers.hidden.chunks_exact(width));
        let wanted = hidden.filter(|(row, _)| row.logits_wanted);
        buffers.found.clear();
        for (_, hidden) in wanted {
            buffers.found.extend_from_slice(hidden);
        }
        let mut logits = Vec::new();
        if buffers.found.is_empty() {
            return logits;
        }
        let norm = Some(&self.weights.final_norm);
        self.normed(norm, &buffers.found, &mut buffers.normed);
        let n_normed_rows = buffers.found.len() / width;
        buffers.normed.extend_from_slice(&buffers.exits);
        let (threads, inputs) = (&self.context.threads, &mut buffers.inputs);
        self.weights
            .head()
            .forward(threads, &buffers.normed, inputs, &mut logits);
        let n_last = n_normed_rows * self.weights.facts.n_vocab;
        let last = logits.get_mut(..n_last).unwrap_or_default();
        self.finish_logits(last);
        logits
    }

    /// Scales and caps logits as the family does.
    pub(super) fn finish_logits(&self, logits: &mut [f32]) {
        if let Some(scale) = self.blueprint.scales.logit {
            for logit in &mut *logits {
                *logit *= scale;
            }
        }
        if let Some(cap) = self.blueprint.caps.logit {
            soft_cap(cap, logits);
        }
    }
}
