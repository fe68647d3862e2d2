//! The tails of many KV caches side by side, in two tensors per layer, so that one operation writes
//! or reads all of them: on a GPU, a step costs as much as launching its operations.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use candle_core::Tensor;

use super::run::{KeysValues, N_MIN_CAPACITY, TensorRun};
use crate::engine::decoder::cache::Cache;

/// The most rows of a sequence that one pass writes to its slot.
pub(super) const N_MAX_ROWS: usize = 32;

/// The place of one tail in the pool. It is free once the run that holds it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    /// Changes when the pool closes its gaps.
    index: AtomicUsize,
    /// How much memory the slot takes in all layers.
    n_bytes: AtomicUsize,
}

/// The tails of the sequences that read a few tokens per pass.
#[derive(Debug, Default)]
pub(super) struct TailPool {
    /// `[kv heads, slots, columns, head_dim]` each. A layer is missing until it is first written.
    layers: Vec<KeysValues>,
    /// The slots by index.
    slots: Vec<Weak<Slot>>,
    /// How many tokens a slot holds. [`N_MAX_ROWS`] more columns take the padding rows.
    n_columns: usize,
}

/// Where a pass keeps keys and values.
#[derive(Debug)]
pub(super) struct Memory<'a> {
    pub caches: &'a mut [Cache<TensorRun>],
    /// Holds the tails of some of these caches.
    pub pool: &'a mut TailPool,
}

impl Memory<'_> {
    /// Returns the cache of a sequence.
    pub(super) fn cache(&mut self, index: usize) -> candle_core::Result<&mut Cache<TensorRun>> {
        match self.caches.get_mut(index) {
            Some(cache) => Ok(cache),
            None => candle_core::bail!("cache {index} is not part of the pass"),
        }
    }
}

impl Slot {
    /// Returns the index in the pool.
    pub(super) fn index(&self) -> usize {
        self.index.load(Ordering::Relaxed)
    }

    /// Returns how much memory the slot takes, in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes.load(Ordering::Relaxed)
    }
}

impl TailPool {
    /// Returns the number of slots, in use or free.
    pub(super) const fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns the first column that no sequence reads.
    pub(super) const fn first_unread_column(&self) -> usize {
        self.n_columns
    }

    /// Takes a free slot, or adds one. [`Self::reserve`] must follow.
    pub(super) fn take_slot(&mut self) -> Arc<Slot> {
        let is_free = |slot: &Weak<Slot>| slot.strong_count() == 0;
        let index = match self.slots.iter().position(is_free) {
            Some(index) => index,
            None => self.slots.len(),
        };
        let slot = Arc::new(Slot {
            index: AtomicUsize::new(index),
            n_bytes: AtomicUsize::new(0),
        });
        match self.slots.get_mut(index) {
            Some(free) => *free = Arc::downgrade(&slot),
            None => self.slots.push(Arc::downgrade(&slot)),
        }
        slot
    }

    /// Frees memory before `n_new` slots are taken: all of it if no slot is in use, or the free slots'
    /// if most slots would stay free.
    pub(super) fn tidy(&mut self, n_new: usize) -> candle_core::Result<()> {
        let used: Vec<Arc<Slot>> = self.slots.iter().filter_map(Weak::upgrade).collect();
        if used.is_empty() {
            *self = Self::default();
            return Ok(());
        }
        if 2 * (used.len() + n_new) > self.slots.len() {
            return Ok(());
        }
        if let Some(layer) = self.layers.first() {
            let kept: Vec<u32> = used.iter().map(|slot| slot.index() as u32).collect();
            let kept = Tensor::new(kept, layer.keys.device())?;
            let layers = self.layers.iter();
            let layers = layers.map(|layer| layer.map(|tensor| tensor.index_select(&kept, 1)));
            self.layers = layers.collect::<candle_core::Result<_>>()?;
        }
        for (index, slot) in used.iter().enumerate() {
            slot.index.store(index, Ordering::Relaxed);
        }
        self.slots = used.iter().map(Arc::downgrade).collect();
        Ok(())
    }

    /// Makes room for all slots, with this many tokens in each.
    pub(super) fn reserve(&mut self, n_tokens: usize) -> candle_core::Result<()> {
        if n_tokens > self.n_columns {
            self.n_columns = n_tokens.next_power_of_two().max(N_MIN_CAPACITY);
        }
        let (n_slots, n_columns) = (self.slots.len(), self.n_columns + N_MAX_ROWS);
        let mut n_bytes = 0;
        for layer in &mut self.layers {
            let grown = layer.map(|tensor| grown(tensor, n_slots, n_columns))?;
            *layer = grown;
            n_bytes += layer.n_bytes();
        }
        for slot in self.slots.iter().filter_map(Weak::upgrade) {
            slot.n_bytes.store(n_bytes / n_slots, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Writes rows of every slot: keys and values `[kv heads, slots, rows, head_dim]`, each to the
    /// column given for it.
    pub(super) fn write(
        &mut self,
        layer: usize,
        columns: &Tensor,
        keys: &Tensor,
        values: &Tensor,
    ) -> candle_core::Result<()> {
        if self.layers.len() == layer {
            let (n_kv_heads, n_slots, _, head_dim) = keys.dims4()?;
            let shape = (n_kv_heads, n_slots, self.n_columns + N_MAX_ROWS, head_dim);
            let empty = || Tensor::zeros(shape, keys.dtype(), keys.device());
            self.layers.push(KeysValues {
                keys: empty()?,
                values: empty()?,
            });
        }
        let layer = self.layer(layer)?;
        layer.keys.scatter_set(columns, keys, 2)?;
        layer.values.scatter_set(columns, values, 2)
    }

    /// Returns the keys and values of a layer.
    pub(super) fn layer(&self, layer: usize) -> candle_core::Result<&KeysValues> {
        match self.layers.get(layer) {
            Some(layer) => Ok(layer),
            None => candle_core::bail!("layer {layer} has no cache"),
        }
    }

    /// Copies a slot to another one.
    pub(super) fn copy_slot(&mut self, from: &Slot, to: &Slot) -> candle_core::Result<()> {
        self.reserve(0)?;
        for layer in &self.layers {
            for tensor in [&layer.keys, &layer.values] {
                let slot = tensor.narrow(1, from.index(), 1)?.force_contiguous()?;
                tensor.slice_set(&slot, 1, to.index())?;
            }
        }
        Ok(())
    }

    /// Copies the first tokens of a slot into a run with its own tensors.
    pub(super) fn extract(&self, slot: &Slot, n_tokens: usize) -> candle_core::Result<TensorRun> {
        let layers = self.layers.iter().map(|layer| {
            layer.map(|tensor| {
                let slot = tensor.narrow(1, slot.index(), 1)?.squeeze(1)?;
                slot.narrow(1, 0, n_tokens)?.force_contiguous()
            })
        });
        let layers: candle_core::Result<Vec<_>> = layers.collect();
        Ok(TensorRun::with_layers(layers?))
    }
}

/// Returns the tensor with room for more slots and columns, or unchanged if it already has that
/// room.
fn grown(tensor: &Tensor, n_slots: usize, n_columns: usize) -> candle_core::Result<Tensor> {
    let (n_kv_heads, n_held_slots, n_held_columns, head_dim) = tensor.dims4()?;
    if (n_held_slots, n_held_columns) == (n_slots, n_columns) {
        return Ok(tensor.clone());
    }
    let mut grown = tensor.clone();
    let zeros = |shape| Tensor::zeros(shape, tensor.dtype(), tensor.device());
    if n_columns > n_held_columns {
        let added = zeros((
            n_kv_heads,
            n_held_slots,
            n_columns - n_held_columns,
            head_dim,
        ))?;
        grown = Tensor::cat(&[&grown, &added], 2)?;
    }
    if n_slots > n_held_slots {
        let added = zeros((n_kv_heads, n_slots - n_held_slots, n_columns, head_dim))?;
        grown = Tensor::cat(&[&grown, &added], 1)?;
    }
    Ok(grown)
}
