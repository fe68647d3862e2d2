//! Keys and values of consecutive tokens, in tensors.

use std::sync::Arc;

use candle_core::Tensor;

use super::tail_pool::Slot;

/// Capacities of runs are multiples of this many tokens.
pub(super) const N_MIN_CAPACITY: usize = 64;

/// Keys and values of consecutive tokens, for all layers: in the run's own tensors or in a slot of
/// the tail pool, never in both.
#[derive(Debug, Default)]
pub(crate) struct TensorRun {
    layers: Vec<KeysValues>,
    slot: Option<Arc<Slot>>,
}

/// Keys and values of one layer.
#[derive(Debug)]
pub(super) struct KeysValues {
    /// `[kv heads, capacity, head_dim]` in a run, `[kv heads, slots, capacity, head_dim]` in the
    /// tail pool.
    pub keys: Tensor,
    /// Has the same shape as the keys.
    pub values: Tensor,
}

impl TensorRun {
    /// Creates a run that is kept in a slot of the pool.
    pub(super) fn in_slot(slot: Arc<Slot>) -> Self {
        Self {
            layers: Vec::new(),
            slot: Some(slot),
        }
    }

    /// Creates a run with its own tensors.
    pub(super) const fn with_layers(layers: Vec<KeysValues>) -> Self {
        Self { layers, slot: None }
    }

    /// Returns the slot of the pool that holds the run, if one does.
    pub(super) const fn slot(&self) -> Option<&Arc<Slot>> {
        self.slot.as_ref()
    }

    /// Returns how much memory the run takes, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        let own: usize = self.layers.iter().map(KeysValues::n_bytes).sum();
        own + self.slot.as_ref().map_or(0, |slot| slot.n_bytes())
    }

    /// Returns a layer of a run that has its own tensors.
    pub(super) fn layer(&self, layer: usize) -> candle_core::Result<&KeysValues> {
        match self.layers.get(layer) {
            Some(run) => Ok(run),
            None => candle_core::bail!("layer {layer} has no cache"),
        }
    }

    /// Writes keys and values, `[kv heads, rows, head_dim]`, from position `start` of the run. The
    /// capacity doubles when it is exceeded, so each token is copied about once on average.
    pub(super) fn write(
        &mut self,
        layer: usize,
        start: usize,
        keys: &Tensor,
        values: &Tensor,
    ) -> candle_core::Result<()> {
        let (n_kv_heads, n_rows, head_dim) = keys.dims3()?;
        let capacity = (start + n_rows).next_power_of_two().max(N_MIN_CAPACITY);
        let empty = || {
            Tensor::zeros(
                (n_kv_heads, capacity, head_dim),
                keys.dtype(),
                keys.device(),
            )
        };
        if self.layers.len() == layer {
            self.layers.push(KeysValues {
                keys: empty()?,
                values: empty()?,
            });
        }
        let Some(run) = self.layers.get_mut(layer) else {
            candle_core::bail!("layer {layer} has no cache");
        };
        for (tensor, rows) in [(&mut run.keys, keys), (&mut run.values, values)] {
            if start + n_rows > tensor.dim(1)? {
                let wider = empty()?;
                if start > 0 {
                    wider.slice_set(&tensor.narrow(1, 0, start)?.contiguous()?, 1, 0)?;
                }
                *tensor = wider;
            }
            tensor.slice_set(rows, 1, start)?;
        }
        Ok(())
    }
}

impl KeysValues {
    /// Returns how much memory the tensors take, in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        let n_bytes = |tensor: &Tensor| tensor.elem_count() * tensor.dtype().size_in_bytes();
        n_bytes(&self.keys) + n_bytes(&self.values)
    }

    /// Applies a change of shape to keys and values.
    pub(super) fn map(
        &self,
        change: impl Fn(&Tensor) -> candle_core::Result<Tensor>,
    ) -> candle_core::Result<Self> {
        Ok(Self {
            keys: change(&self.keys)?,
            values: change(&self.values)?,
        })
    }
}
