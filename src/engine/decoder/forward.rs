//! The forward pass: rows in, logits out.

use candle_core::Tensor;
use rayon::prelude::*;

use super::Decoder;
use super::activation::activated;
use super::attention::{Attention, Batch, Place};
use super::cache::Cache;
use super::cap::soft_cap;
use super::weights::Layer;
use crate::engine::{Logits, Row};

impl<A: Attention> Decoder<A> {
    /// Runs the rows, each core some of the sequences where that pays: where each has one row, and
    /// the weights are so few that a core reads them in less time than all cores take to meet for
    /// each product.
    pub(super) fn run_on_cores(
        &self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<A::Run>],
    ) -> candle_core::Result<Logits> {
        let n_part = caches.len().div_ceil(rayon::current_num_threads());
        let pays = self.weights.head.is_packed() && rows.len() == caches.len();
        if !pays || n_part == caches.len() {
            return self.run(rows, places.to_vec(), caches);
        }
        let parts: candle_core::Result<Vec<Logits>> = rows
            .par_chunks(n_part)
            .zip(caches.par_chunks_mut(n_part))
            .zip(places.par_chunks(n_part))
            .map(|((rows, caches), places)| {
                // A row's cache is at its own place, because each sequence has one row.
                let places = places.iter().enumerate();
                let places = places.map(|(cache, place)| Place { cache, ..*place });
                self.run(rows, places.collect(), caches)
            })
            .collect();
        Ok(Logits::joined(parts?, self.weights.n_vocab))
    }

    pub(super) fn run(
        &self,
        rows: &[Row],
        places: Vec<Place>,
        caches: &mut [Cache<A::Run>],
    ) -> candle_core::Result<Logits> {
        let tokens: Vec<u32> = rows.iter().map(|row| row.token.0).collect();
        let wanted: Vec<u32> = (0..)
            .zip(rows)
            .filter(|(_, row)| row.logits_wanted)
            .map(|(index, _)| index)
            .collect();
        let mut hidden = self.weights.embedding.rows(&tokens, &self.device)?;
        if let Some(scale) = self.blueprint.scales.embedding {
            hidden = (hidden * f64::from(scale))?;
        }
        if let Some(table) = &self.weights.positions {
            let positions: Vec<u32> = places.iter().map(|place| place.position as u32).collect();
            hidden = (hidden + table.rows(&positions, &self.device)?)?;
        }
        let batch = Batch::new(places, &self.weights.rotations, &self.device)?;
        for layer in &self.weights.layers {
            hidden = self.layer(layer, &hidden, &batch, caches)?;
        }
        if wanted.is_empty() {
            return Ok(Logits::new(Vec::new(), self.weights.n_vocab));
        }
        if wanted.len() < rows.len() {
            hidden = hidden.index_select(&Tensor::new(wanted, &self.device)?, 0)?;
        }
        let hidden = self.weights.final_norm.forward(&hidden)?;
        let logits = self.weights.head.forward(&hidden)?;
        let mut logits: Vec<f32> = logits.flatten_all()?.to_vec1()?;
        if let Some(scale) = self.blueprint.scales.logit {
            for logit in &mut logits {
                *logit *= scale;
            }
        }
        if let Some(cap) = self.blueprint.caps.logit {
            soft_cap(cap, &mut logits);
        }
        Ok(Logits::new(logits, self.weights.n_vocab))
    }

    fn layer(
        &self,
        layer: &Layer,
        hidden: &Tensor,
        batch: &Batch,
        caches: &mut [Cache<A::Run>],
    ) -> candle_core::Result<Tensor> {
        let qkv = layer.qkv.forward(&layer.attention_norms.before(hidden)?)?;
        let mixed = self
            .attention
            .forward(&layer.attention, &qkv, batch, caches)?;
        let found = layer.attention_output.forward(&mixed)?;
        let hidden = self.joined(hidden, &layer.attention_norms.after(&found)?)?;
        let inner = layer.ffn_in.forward(&layer.ffn_norms.before(&hidden)?)?;
        let inner = activated(self.blueprint.feed_forward, &inner)?;
        let found = layer.ffn_down.forward(&inner)?;
        self.joined(&hidden, &layer.ffn_norms.after(&found)?)
    }

    /// The residual stream with what a part of a layer found.
    fn joined(&self, hidden: &Tensor, found: &Tensor) -> candle_core::Result<Tensor> {
        match self.blueprint.scales.residual {
            Some(scale) => hidden + (found * f64::from(scale))?,
            None => hidden + found,
        }
    }
}
