//! Attention, in tensor operations.

use candle_core::{D, DType, Tensor};

use super::batch::{Batch, TextRows};
use super::run::{KeysValues, TensorRun};
use super::tail_pool::Memory;
use super::tail_rows::TailRows;
use crate::engine::blueprint::{KvSource, RopeForm};
use crate::engine::decoder::attention::{AttentionLayer, HeadNorms, HeadShape};
use crate::engine::decoder::batch::RotaryAngles;
use crate::engine::decoder::cache::Cache;

/// Attention of a layer, in tensor operations.
pub(super) struct TensorAttention<'a> {
    layer: &'a AttentionLayer<Tensor>,
    shape: HeadShape,
}

/// Queries, keys and values of all rows: `[heads, rows, head_dim]`.
struct Heads {
    queries: Tensor,
    /// `None` for a layer without keys and values of its own.
    keys_values: Option<(Tensor, Tensor)>,
}

/// The part of the keys and values that lies in the pool of tails, and the rows that read it.
struct Tails<'a> {
    layer: &'a KeysValues,
    rows: &'a TailRows,
}

/// A mask, and the arrangement of the rows of scores that it applies to.
struct Mask<'a> {
    /// All dimensions but the last, which holds the columns.
    rows: &'a [usize],
    values: &'a Tensor,
}

impl<'a> TensorAttention<'a> {
    /// Creates the attention of a layer.
    pub(super) const fn new(layer: &'a AttentionLayer<Tensor>) -> Self {
        Self {
            layer,
            shape: layer.shape,
        }
    }

    /// Normalizes and rotates queries and keys, writes keys and values to the tails of the caches,
    /// and computes attention for each row over all tokens up to its own, or within the layer's
    /// window.
    ///
    /// `qkv` is `[rows, q_width + 2 × kv_width]`, or what of it the layer has projected; the result
    /// is `[rows, q_width]`.
    pub(super) fn forward(
        &self,
        qkv: &Tensor,
        batch: &Batch,
        memory: &mut Memory<'_>,
    ) -> candle_core::Result<Tensor> {
        if self.shape.is_gated {
            let (qkv, gates) = self.without_gates(qkv)?;
            let mixed = self.mixed(&qkv, batch, memory)?;
            return mixed * candle_nn::ops::sigmoid(&gates)?;
        }
        self.mixed(qkv, batch, memory)
    }

    /// Separates the gates from rows in which a head's gate follows its query.
    fn without_gates(&self, rows: &Tensor) -> candle_core::Result<(Tensor, Tensor)> {
        let (n_rows, width) = rows.dims2()?;
        let (q_width, n_heads) = (self.shape.q_width(), self.shape.n_heads);
        let heads = rows.narrow(1, 0, 2 * q_width)?.contiguous()?;
        let heads = heads.reshape((n_rows, n_heads, 2, self.shape.head_dim))?;
        let part = |index| {
            let part = heads.narrow(2, index, 1)?.contiguous()?;
            part.reshape((n_rows, q_width))
        };
        let keys_values = rows.narrow(1, 2 * q_width, width - 2 * q_width)?;
        Ok((Tensor::cat(&[part(0)?, keys_values], 1)?, part(1)?))
    }

    /// Returns the outputs of the heads, before their gates.
    fn mixed(
        &self,
        qkv: &Tensor,
        batch: &Batch,
        memory: &mut Memory<'_>,
    ) -> candle_core::Result<Tensor> {
        let qkv = batch.in_working_order(qkv)?;
        let qkv = match self.shape.qkv_limit.map(f64::from) {
            Some(limit) => qkv.clamp(-limit, limit)?,
            None => qkv,
        };
        let layer = self.layer;
        let mut heads = self.heads(&qkv, batch)?;
        if let Some(scales) = &batch.query_scales {
            heads.queries = heads.queries.broadcast_mul(scales)?;
        }
        let mut outputs = Vec::new();
        for text in &batch.texts {
            let cache = memory.cache(text.cache)?;
            let heads = heads.rows(text.start, text.positions.len())?;
            let start = cache.n_read() - cache.n_shared();
            if let Some((keys, values)) = &heads.keys_values {
                cache.tail_mut().write(layer.index, start, keys, values)?;
            }
            outputs.push(self.text(&heads.queries, text, cache)?);
        }
        if let Some(rows) = &batch.tails {
            let heads = heads.rows(rows.start, rows.n_slots * rows.n_rows)?;
            if let Some((keys, values)) = &heads.keys_values {
                let columns = rows.columns(layer.kind())?;
                let (keys, values) = (
                    keys.reshape(columns.dims())?,
                    values.reshape(columns.dims())?,
                );
                memory.pool.write(layer.index, columns, &keys, &values)?;
            }
            for group in &rows.groups {
                let cache = memory.cache(group.cache)?;
                let runs = own_runs(cache.shared_runs(), layer.index)?;
                let tails = Tails {
                    layer: memory.pool.layer(layer.index)?,
                    rows,
                };
                let mask = group.mask(layer.kind())?;
                outputs.push(self.group(&heads.queries, &runs, &tails, mask)?);
            }
        }
        batch.in_batch_order(&outputs)
    }

    /// Computes attention for a sequence that reads many tokens: `[rows, q_width]`.
    fn text(
        &self,
        queries: &Tensor,
        text: &TextRows,
        cache: &Cache<TensorRun>,
    ) -> candle_core::Result<Tensor> {
        let (_, n_rows, head_dim) = queries.dims3()?;
        let shape = self.shape;
        let queries = queries.reshape((shape.n_kv_heads, shape.group() * n_rows, head_dim))?;
        // Scale before the product, which could otherwise overflow in half precision.
        let queries = (queries * f64::from(shape.score_scale))?;
        let n_visible = text.positions.last().map_or(0, |last| last + 1);
        let runs = own_runs(cache.runs(n_visible), self.layer.index)?;
        let mask = Mask {
            rows: &[shape.n_heads, n_rows],
            values: text.mask(self.layer.kind())?,
        };
        let mixed = self.attend(&queries, &runs, None, &mask)?;
        mixed
            .reshape((shape.n_heads, n_rows, head_dim))?
            .transpose(0, 1)?
            .reshape((n_rows, shape.q_width()))
    }

    /// Computes attention for the sequences of a group, over the runs that they share and over the
    /// tail of each: `[slots × rows, q_width]`.
    fn group(
        &self,
        queries: &Tensor,
        runs: &[(Tensor, Tensor)],
        tails: &Tails<'_>,
        mask: &Tensor,
    ) -> candle_core::Result<Tensor> {
        let shape = self.shape;
        let (n_kv_heads, n_group, head_dim) = (shape.n_kv_heads, shape.group(), shape.head_dim);
        let (n_slots, n_rows) = (tails.rows.n_slots, tails.rows.n_rows);
        let queries = queries
            .reshape((n_kv_heads, n_group, n_slots, n_rows, head_dim))?
            .permute((0, 2, 1, 3, 4))?;
        let queries = (queries * f64::from(shape.score_scale))?;
        let queries = queries.reshape((n_kv_heads, n_slots * n_group * n_rows, head_dim))?;
        let mask = Mask {
            rows: &[n_kv_heads, n_slots, n_group, n_rows],
            values: mask,
        };
        let mixed = self.attend(&queries, runs, Some(tails), &mask)?;
        mixed
            .reshape((n_kv_heads, n_slots, n_group, n_rows, head_dim))?
            .permute((1, 3, 0, 2, 4))?
            .reshape((n_slots * n_rows, shape.q_width()))
    }

    /// Computes attention for `queries`, `[kv heads, rows, head_dim]`, over whole runs and then
    /// over tails. If there are tails, the rows of each slot follow those of the one before.
    fn attend(
        &self,
        queries: &Tensor,
        runs: &[(Tensor, Tensor)],
        tails: Option<&Tails<'_>>,
        mask: &Mask<'_>,
    ) -> candle_core::Result<Tensor> {
        let (n_kv_heads, n_rows, head_dim) = queries.dims3()?;
        let mut scores = Vec::new();
        for (keys, _) in runs {
            scores.push(queries.matmul(&keys.transpose(1, 2)?)?);
        }
        if let Some(Tails { layer, rows }) = tails {
            let by_slot = (n_kv_heads, rows.n_slots, n_rows / rows.n_slots, head_dim);
            let keys = layer.keys.narrow(2, 0, rows.n_columns)?;
            let tail = queries.reshape(by_slot)?.matmul(&keys.transpose(2, 3)?)?;
            scores.push(tail.reshape((n_kv_heads, n_rows, rows.n_columns))?);
        }
        let mut scores = Tensor::cat(&scores, D::Minus1)?.to_dtype(DType::F32)?;
        if let Some(cap) = self.shape.score_cap.map(f64::from) {
            scores = ((scores / cap)?.tanh()? * cap)?;
        }
        let n_columns = scores.dim(D::Minus1)?;
        let arranged = [mask.rows, &[n_columns]].concat();
        let scores = scores.reshape(arranged)?.broadcast_add(mask.values)?;
        let probs = match &self.layer.sinks {
            None => candle_nn::ops::softmax_last_dim(&scores)?,
            Some(sinks) => {
                // One more column, which has no value.
                let scores = Tensor::cat(&[&scores, &self.sinks_of(sinks, mask)?], D::Minus1)?;
                let probs = candle_nn::ops::softmax_last_dim(&scores)?;
                probs.narrow(D::Minus1, 0, n_columns)?.contiguous()?
            }
        };
        let probs = probs.to_dtype(queries.dtype())?;
        let probs = probs.reshape((n_kv_heads, n_rows, n_columns))?;
        let mut mixed = Vec::new();
        let mut start = 0;
        for (_, values) in runs {
            let n_tokens = values.dim(1)?;
            let probs = probs.narrow(2, start, n_tokens)?.contiguous()?;
            mixed.push(probs.matmul(values)?);
            start += n_tokens;
        }
        if let Some(Tails { layer, rows }) = tails {
            let (n_slots, n_columns) = (rows.n_slots, rows.n_columns);
            let probs = probs.narrow(2, start, n_columns)?.contiguous()?;
            let probs = probs.reshape((n_kv_heads, n_slots, n_rows / n_slots, n_columns))?;
            let values = layer.values.narrow(2, 0, n_columns)?;
            mixed.push(probs.matmul(&values)?.reshape(queries.shape())?);
        }
        let sum = mixed.into_iter().map(Ok).reduce(|sum, part| sum? + part?);
        sum.unwrap_or_else(|| queries.zeros_like())
    }

    /// Returns the sink of each row of scores, arranged as the rows of the mask.
    fn sinks_of(&self, sinks: &Tensor, mask: &Mask<'_>) -> candle_core::Result<Tensor> {
        let shape = self.shape;
        let sinks = match mask.rows {
            [_, _] => sinks.reshape((shape.n_heads, 1, 1))?,
            _ => sinks.reshape((shape.n_kv_heads, 1, shape.group(), 1, 1))?,
        };
        sinks.broadcast_as([mask.rows, &[1]].concat())?.contiguous()
    }

    /// Splits the rows into heads, normalizes queries, keys and values, and rotates queries and keys.
    fn heads(&self, qkv: &Tensor, batch: &Batch) -> candle_core::Result<Heads> {
        let HeadShape {
            n_heads,
            n_kv_heads,
            head_dim,
            ..
        } = self.shape;
        let rotary_angles = self.layer.rotary_angles(&batch.rotary_angles);
        let all_heads = |rows: &Tensor| {
            let (n_rows, width) = rows.dims2()?;
            rows.reshape((n_rows, width / head_dim, head_dim))?
                .transpose(0, 1)?
                .contiguous()
        };
        let first_value = match self.layer.kv_source {
            KvSource::Projected => n_heads + n_kv_heads,
            KvSource::SameProjection => n_heads,
            KvSource::OfLayer(_) => {
                let queries = self.turned(
                    &all_heads(qkv)?,
                    |norms| Some(&norms.queries),
                    rotary_angles,
                )?;
                return Ok(Heads {
                    queries,
                    keys_values: None,
                });
            }
        };
        let norms = self.layer.norms.as_ref();
        let (queries, keys, values) = match norms {
            // One copy and one rotation serve both queries and keys.
            None => {
                let heads = all_heads(qkv)?;
                let rotating = heads.narrow(0, 0, n_heads + n_kv_heads)?;
                let rotated = self.rotated(rotating, rotary_angles)?;
                let queries = rotated.narrow(0, 0, n_heads)?;
                let keys = rotated.narrow(0, n_heads, n_kv_heads)?;
                (queries, keys, heads.narrow(0, first_value, n_kv_heads)?)
            }
            // Norms of single heads can be applied after the one copy that orders all rows by head.
            Some(norms) if norms.queries.dim(0)? == head_dim => {
                let heads = all_heads(qkv)?;
                let queries = heads.narrow(0, 0, n_heads)?;
                let keys = heads.narrow(0, n_heads, n_kv_heads)?;
                (
                    self.turned(&queries, |norms| Some(&norms.queries), rotary_angles)?,
                    self.turned(&keys, |norms| norms.keys.as_ref(), rotary_angles)?,
                    heads.narrow(0, first_value, n_kv_heads)?,
                )
            }
            Some(norms) => {
                let (q_width, kv_width) = (self.shape.q_width(), self.shape.kv_width());
                let queries = qkv.narrow(1, 0, q_width)?;
                let queries = all_heads(&normed(&queries, Some(&norms.queries), norms.eps)?)?;
                let keys = qkv.narrow(1, q_width, kv_width)?;
                let keys = all_heads(&normed(&keys, norms.keys.as_ref(), norms.eps)?)?;
                let values = all_heads(&qkv.narrow(1, first_value * head_dim, kv_width)?)?;
                let queries = self.rotated(queries, rotary_angles)?;
                (queries, self.rotated(keys, rotary_angles)?, values)
            }
        };
        let values = match norms {
            Some(norms) => normed(&values, norms.values.as_ref(), norms.eps)?,
            None => values,
        };
        Ok(Heads {
            queries,
            keys_values: Some((keys, values)),
        })
    }

    /// Normalizes and rotates heads, in the order that the layer asks for.
    fn turned(
        &self,
        heads: &Tensor,
        weights: impl Fn(&HeadNorms<Tensor>) -> Option<&Tensor>,
        rotary_angles: Option<&RotaryAngles<Tensor>>,
    ) -> candle_core::Result<Tensor> {
        let Some(norms) = &self.layer.norms else {
            return self.rotated(heads.clone(), rotary_angles);
        };
        if norms.follow_rotation {
            let heads = self.rotated(heads.clone(), rotary_angles)?;
            normed(&heads, weights(norms), norms.eps)
        } else {
            let heads = normed(heads, weights(norms), norms.eps)?;
            self.rotated(heads, rotary_angles)
        }
    }

    fn rotated(
        &self,
        heads: Tensor,
        rotary_angles: Option<&RotaryAngles<Tensor>>,
    ) -> candle_core::Result<Tensor> {
        let Some(rotary_angles) = rotary_angles else {
            return Ok(heads);
        };
        let n_unrotated = self.shape.head_dim - rotary_angles.n_dims;
        let rotating = heads
            .narrow(2, 0, rotary_angles.n_dims)?
            .contiguous()?
            .unsqueeze(0)?;
        let rotated = match rotary_angles.form {
            RopeForm::Interleaved => {
                candle_nn::rotary_emb::rope_i(&rotating, &rotary_angles.cos, &rotary_angles.sin)
            }
            RopeForm::HalfSplit => {
                candle_nn::rotary_emb::rope(&rotating, &rotary_angles.cos, &rotary_angles.sin)
            }
        };
        let rotated = rotated?.squeeze(0)?;
        if n_unrotated == 0 {
            return Ok(rotated);
        }
        let unrotated = heads.narrow(2, rotary_angles.n_dims, n_unrotated)?;
        Tensor::cat(&[rotated, unrotated], 2)?.contiguous()
    }
}

impl Heads {
    /// Returns `n_rows` consecutive rows.
    fn rows(&self, start: usize, n_rows: usize) -> candle_core::Result<Self> {
        let rows = |heads: &Tensor| heads.narrow(1, start, n_rows)?.contiguous();
        let keys_values = match &self.keys_values {
            Some((keys, values)) => Some((rows(keys)?, rows(values)?)),
            None => None,
        };
        Ok(Self {
            queries: rows(&self.queries)?,
            keys_values,
        })
    }
}

/// Normalizes over the last dimension: a head, or all heads of a row. Without weights, the values stay
/// as they are.
fn normed(values: &Tensor, weights: Option<&Tensor>, eps: f32) -> candle_core::Result<Tensor> {
    let Some(weights) = weights else {
        return Ok(values.clone());
    };
    let wide = values.contiguous()?.to_dtype(DType::F32)?;
    candle_nn::ops::rms_norm(&wide, weights, eps)?.to_dtype(values.dtype())
}

/// Returns keys and values of the first tokens of runs: `[kv heads, tokens, head_dim]` each.
fn own_runs<'a>(
    runs: impl Iterator<Item = (&'a TensorRun, usize)>,
    layer: usize,
) -> candle_core::Result<Vec<(Tensor, Tensor)>> {
    let runs = runs.map(|(run, n_tokens)| {
        let run = run.layer(layer)?;
        let keys = run.keys.narrow(1, 0, n_tokens)?;
        Ok((keys, run.values.narrow(1, 0, n_tokens)?))
    });
    runs.collect()
}
