//! Attention and the KV cache, in tensor operations.

use candle_core::{D, DType, Device, Tensor};

use crate::engine::blueprint::{RopeForm, Rotation};
use crate::engine::decoder::attention::{AttentionLayer, HeadShape};
use crate::engine::decoder::batch::{Place, RotaryAngles};
use crate::engine::decoder::cache::Cache;

/// Attention in tensor operations.
#[derive(Debug)]
pub(super) struct TensorAttention {
    shape: HeadShape,
}

/// Keys and values of consecutive tokens, for all layers.
#[derive(Debug, Default)]
pub(crate) struct TensorRun {
    layers: Vec<KeysValues>,
}

#[derive(Debug)]
struct KeysValues {
    /// `[kv heads, capacity, head_dim]`, like the values.
    keys: Tensor,
    values: Tensor,
}

impl TensorAttention {
    /// Creates attention for heads of this shape.
    pub(super) const fn new(shape: HeadShape) -> Self {
        Self { shape }
    }

    /// Returns some heads of all rows, normed if the layer has head norms: `[heads, rows,
    /// head_dim]`.
    fn heads(
        &self,
        qkv: &Tensor,
        start: usize,
        n_heads: usize,
        norm: Option<(&Tensor, f32)>,
    ) -> candle_core::Result<Tensor> {
        let n_rows = qkv.dim(0)?;
        let head_dim = self.shape.head_dim;
        let width = n_heads * head_dim;
        let mut heads = qkv.narrow(1, start, width)?;
        if let Some((weights, eps)) = norm {
            let group_size = weights.dim(0)?;
            let parts = heads.reshape((n_rows, width / group_size, group_size))?;
            let parts = parts.contiguous()?.to_dtype(DType::F32)?;
            heads = candle_nn::ops::rms_norm(&parts, weights, eps)?.to_dtype(qkv.dtype())?;
        }
        heads
            .reshape((n_rows, n_heads, head_dim))?
            .transpose(0, 1)?
            .contiguous()
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

    /// Computes attention for the rows of one sequence: `[heads, rows, head_dim]`.
    fn attend(
        &self,
        layer: &AttentionLayer<Tensor>,
        queries: &Tensor,
        positions: &[usize],
        cache: &Cache<TensorRun>,
    ) -> candle_core::Result<Tensor> {
        let (n_heads, n_rows, head_dim) = queries.dims3()?;
        let n_visible = positions.last().map_or(0, |last| last + 1);
        let n_kv_heads = self.shape.n_kv_heads;
        let queries = queries.reshape((n_kv_heads, self.shape.group() * n_rows, head_dim))?;
        // Scale before the product, which could otherwise overflow in half precision.
        let queries = (queries * f64::from(self.shape.score_scale))?;
        let mut scores = Vec::new();
        let mut values = Vec::new();
        for (run, n_tokens) in cache.runs(n_visible) {
            let run = run.layer(layer.index)?;
            let keys = run.keys.narrow(1, 0, n_tokens)?;
            scores.push(queries.matmul(&keys.transpose(1, 2)?)?);
            values.push(run.values.narrow(1, 0, n_tokens)?);
        }
        let mut scores = Tensor::cat(&scores, D::Minus1)?.to_dtype(DType::F32)?;
        if let Some(cap) = self.shape.score_cap.map(f64::from) {
            scores = ((scores / cap)?.tanh()? * cap)?;
        }
        let scores = scores
            .reshape((n_heads, n_rows, n_visible))?
            .broadcast_add(&mask(layer, positions, n_visible, queries.device())?)?;
        let probs = candle_nn::ops::softmax_last_dim(&scores)?.to_dtype(queries.dtype())?;
        let probs = probs.reshape((n_kv_heads, self.shape.group() * n_rows, n_visible))?;
        let mut mixed = queries.zeros_like()?;
        let mut start = 0;
        for values in values {
            let n_tokens = values.dim(1)?;
            let probs = probs.narrow(2, start, n_tokens)?.contiguous()?;
            mixed = (mixed + probs.matmul(&values)?)?;
            start += n_tokens;
        }
        mixed.reshape((n_heads, n_rows, head_dim))
    }
}

/// The rows of one forward pass.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    pub places: &'a [Place],
    /// The rotary angles of the rows, for each of the model's rotations.
    pub rotary_angles: Vec<RotaryAngles<Tensor>>,
}

impl<'a> Batch<'a> {
    /// Computes the angles of the rows.
    pub(super) fn new(
        places: &'a [Place],
        rotations: &[Rotation],
        device: &Device,
        dtype: DType,
    ) -> candle_core::Result<Self> {
        let rotary_angles = rotations.iter().map(|rotation| {
            let rotary_angles = RotaryAngles::new(rotation, places);
            let shape = (places.len(), rotary_angles.n_dims / 2);
            Ok(RotaryAngles {
                form: rotary_angles.form,
                n_dims: rotary_angles.n_dims,
                cos: Tensor::from_vec(rotary_angles.cos, shape, device)?.to_dtype(dtype)?,
                sin: Tensor::from_vec(rotary_angles.sin, shape, device)?.to_dtype(dtype)?,
            })
        });
        Ok(Self {
            places,
            rotary_angles: rotary_angles.collect::<candle_core::Result<_>>()?,
        })
    }
}

impl TensorAttention {
    /// Norms and rotates queries and keys, writes keys and values to the tails of the caches, and
    /// computes attention for each row over all tokens up to its own, or over the layer's window.
    ///
    /// `qkv` is `[rows, q_width + 2 × kv_width]`; the result is `[rows, q_width]`.
    pub(super) fn forward(
        &self,
        layer: &AttentionLayer<Tensor>,
        qkv: &Tensor,
        batch: &Batch<'_>,
        caches: &mut [Cache<TensorRun>],
    ) -> candle_core::Result<Tensor> {
        let (q_width, kv_width) = (self.shape.q_width(), self.shape.kv_width());
        let n_kv_heads = self.shape.n_kv_heads;
        let norms = layer.norms.as_ref();
        let query_norm = norms.map(|norms| (&norms.queries, norms.eps));
        let key_norm = norms.map(|norms| (&norms.keys, norms.eps));
        let rotary_angles = layer.rotary_angles(&batch.rotary_angles);
        let queries = self.heads(qkv, 0, self.shape.n_heads, query_norm)?;
        let queries = self.rotated(queries, rotary_angles)?;
        let keys = self.heads(qkv, q_width, n_kv_heads, key_norm)?;
        let keys = self.rotated(keys, rotary_angles)?;
        let values = self.heads(qkv, q_width + kv_width, n_kv_heads, None)?;
        let mut mixed = Vec::new();
        let mut order = vec![0_u32; batch.places.len()];
        let mut n_done = 0;
        for (index, cache) in caches.iter_mut().enumerate() {
            let (rows, positions): (Vec<u32>, Vec<usize>) = (0..)
                .zip(batch.places)
                .filter(|(_, place)| place.cache == index)
                .map(|(row, place)| (row, place.position))
                .unzip();
            let indices = Tensor::new(rows.as_slice(), qkv.device())?;
            let start = cache.n_read() - cache.n_shared();
            let keys = keys.index_select(&indices, 1)?;
            let values = values.index_select(&indices, 1)?;
            cache.tail_mut().write(layer.index, start, &keys, &values)?;
            let queries = queries.index_select(&indices, 1)?;
            mixed.push(self.attend(layer, &queries, &positions, cache)?);
            for row in rows {
                if let Some(place) = order.get_mut(row as usize) {
                    *place = n_done;
                }
                n_done += 1;
            }
        }
        let order = Tensor::new(order.as_slice(), qkv.device())?;
        Tensor::cat(&mixed, 1)?
            .index_select(&order, 1)?
            .transpose(0, 1)?
            .reshape((batch.places.len(), q_width))
    }
}

impl TensorRun {
    /// Returns how much memory the run takes, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        let tensors = self.layers.iter().flat_map(|run| [&run.keys, &run.values]);
        tensors
            .map(|tensor| tensor.elem_count() * tensor.dtype().size_in_bytes())
            .sum()
    }

    fn layer(&self, layer: usize) -> candle_core::Result<&KeysValues> {
        match self.layers.get(layer) {
            Some(run) => Ok(run),
            None => candle_core::bail!("layer {layer} has no cache"),
        }
    }

    /// Writes keys and values at position `start` of the run. The capacity doubles when it is
    /// exceeded, so each token is copied about once on average.
    fn write(
        &mut self,
        layer: usize,
        start: usize,
        keys: &Tensor,
        values: &Tensor,
    ) -> candle_core::Result<()> {
        let (n_kv_heads, n_rows, head_dim) = keys.dims3()?;
        if self.layers.len() == layer {
            let empty = || Tensor::zeros((n_kv_heads, 0, head_dim), keys.dtype(), keys.device());
            self.layers.push(KeysValues {
                keys: empty()?,
                values: empty()?,
            });
        }
        let Some(run) = self.layers.get_mut(layer) else {
            candle_core::bail!("layer {layer} has no cache");
        };
        grow(&mut run.keys, start, n_rows)?;
        grow(&mut run.values, start, n_rows)?;
        run.keys.slice_set(keys, 1, start)?;
        run.values.slice_set(values, 1, start)
    }
}

/// Ensures capacity for `n_more` tokens after the first `n_kept`, which are preserved.
fn grow(tensor: &mut Tensor, n_kept: usize, n_more: usize) -> candle_core::Result<()> {
    let (n_kv_heads, capacity, head_dim) = tensor.dims3()?;
    if n_kept + n_more > capacity {
        let capacity = (n_kept + n_more).next_power_of_two().max(64);
        let shape = (n_kv_heads, capacity, head_dim);
        let wider = Tensor::zeros(shape, tensor.dtype(), tensor.device())?;
        if n_kept > 0 {
            wider.slice_set(&tensor.narrow(1, 0, n_kept)?.contiguous()?, 1, 0)?;
        }
        *tensor = wider;
    }
    Ok(())
}

/// Returns the attention mask: 0 for visible tokens, minus infinity after the row's own position
/// and before its window.
fn mask(
    layer: &AttentionLayer<Tensor>,
    positions: &[usize],
    n_visible: usize,
    device: &Device,
) -> candle_core::Result<Tensor> {
    let values: Vec<f32> = positions
        .iter()
        .flat_map(|position| {
            let visible = layer.first_visible(*position)..=*position;
            (0..n_visible).map(move |seen| {
                if visible.contains(&seen) {
                    0.0
                } else {
                    f32::NEG_INFINITY
                }
            })
        })
        .collect();
    Tensor::from_vec(values, (positions.len(), n_visible), device)
}
