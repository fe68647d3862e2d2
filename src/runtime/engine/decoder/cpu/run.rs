//! The KV cache of the CPU backend.

use crate::engine::decoder::cache::Cache;
use crate::kernels::attention::{CacheType, Heads, KeysValues, Span};

/// Keys and values of consecutive tokens, for all layers.
#[derive(Debug, Clone, Default)]
pub(crate) struct CpuRun {
    layers: Vec<KeysValues>,
}

/// How keys and values are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KvFormat {
    pub heads: Heads,
    pub cache_type: CacheType,
}

impl CpuRun {
    /// Returns how much memory the run takes, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        self.layers.iter().map(KeysValues::n_bytes).sum()
    }

    /// Returns one layer of the run for writing. `first_position` is where the run starts in its
    /// sequence.
    ///
    /// A run that started elsewhere is replaced. It holds nothing that was committed, because its
    /// sequence has since been truncated to a position before it.
    pub(crate) fn layer_mut(
        &mut self,
        layer: usize,
        format: KvFormat,
        first_position: usize,
    ) -> Option<&mut KeysValues> {
        let empty = || KeysValues::new(format.heads, format.cache_type, first_position);
        if self.layers.len() <= layer {
            self.layers.resize_with(layer + 1, empty);
        }
        let keys_values = self.layers.get_mut(layer)?;
        if keys_values.first_position() != first_position {
            *keys_values = empty();
        }
        Some(keys_values)
    }
}

/// Returns one layer of a cache in the order of positions, up to `n_visible` tokens.
pub(super) fn spans(cache: &Cache<CpuRun>, layer: usize, n_visible: usize) -> Vec<Span<'_>> {
    let mut start = 0;
    let spans = cache.runs(n_visible).filter_map(|(run, n_tokens)| {
        let positions = start..start + n_tokens;
        start = positions.end;
        let keys_values = run.layers.get(layer)?;
        Some(Span {
            keys_values,
            positions,
        })
    });
    spans.collect()
}
