//! Keys and values of all layers.

use crate::engine::decoder::cache::{Cache, Run};
use crate::kernels::attention::{CacheType, Heads, KeysValues, Span};

/// Keys and values of neighbouring tokens, for all layers.
#[derive(Debug, Default)]
pub struct CpuRun {
    layers: Vec<KeysValues>,
}

impl Run for CpuRun {}

impl CpuRun {
    /// One layer's part, to write to: of the run that begins at this place in its sequence.
    ///
    /// A tail that began elsewhere holds nothing that was committed, because its sequence was cut before it.
    pub fn layer_mut(
        &mut self,
        layer: usize,
        (heads, cache_type): (Heads, CacheType),
        first_position: usize,
    ) -> Option<&mut KeysValues> {
        if self.layers.len() <= layer {
            let empty = || KeysValues::new(heads, cache_type, first_position);
            self.layers.resize_with(layer + 1, empty);
        }
        let found = self.layers.get_mut(layer)?;
        if found.first_position() != first_position {
            *found = KeysValues::new(heads, cache_type, first_position);
        }
        Some(found)
    }
}

/// One layer's part of what a sequence has read, in the order of positions, up to `n_visible` tokens.
pub fn spans(cache: &Cache<CpuRun>, layer: usize, n_visible: usize) -> Vec<Span<'_>> {
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
