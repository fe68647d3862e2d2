//! Estimates how much memory a model will take, and how much the machine has.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::blueprint::{Blueprint, TensorRole};
use super::weights::{Catalog, TensorEntry};
use crate::generation::{Implementation, MemoryNeed, ModelOutline};
use crate::kernels::attention::CacheType;

/// Describes a model from its blueprint and its list of tensors.
pub(super) fn outline(name: String, blueprint: &Blueprint, catalog: &Catalog) -> ModelOutline {
    // Some files store a tied table twice.
    let n_duplicated = if blueprint.tied_head == Some(true) {
        catalog.n_values(&blueprint.naming.name(TensorRole::Head, 0))
    } else {
        0
    };
    ModelOutline {
        name,
        architecture: blueprint.architecture.clone(),
        implementation: Implementation::Quartet,
        n_params: catalog.n_all_values().saturating_sub(n_duplicated),
        quantization: catalog.quantization(),
        formats: catalog.formats(),
        n_context: blueprint.n_context,
        n_file_bytes: catalog.n_file_bytes(),
        n_step_bytes: n_step_bytes(blueprint, catalog),
        memory: memory_need(blueprint, catalog),
        head_dim: Some(blueprint.head_dim),
        load_warning: None,
    }
}

/// Returns the memory that a model needs with the given cache type. Models that run through
/// candle-transformers ignore the cache type.
pub fn memory_with_cache(outline: &ModelOutline, cache: CacheType) -> MemoryNeed {
    let mut memory = outline.memory;
    if let Some(head_dim) = outline.head_dim {
        let n_heads = memory.n_cache_bytes_per_token / default_cache_bytes(head_dim);
        memory.n_cache_bytes_per_token = n_heads * cache.n_bytes(head_dim) as u64;
    }
    memory
}

/// Returns the bytes that one head takes for a position, with the default cache type.
fn default_cache_bytes(head_dim: usize) -> u64 {
    CacheType::default().n_bytes(head_dim).max(1) as u64
}

/// Returns how many bytes of weights a decode step reads: all of them except for embedding tables,
/// of which it reads only a row for each token.
pub(super) fn n_step_bytes(blueprint: &Blueprint, catalog: &Catalog) -> u64 {
    let naming = blueprint.naming;
    let short = |name: &str| {
        let prefix = naming.optional_prefix();
        name.strip_prefix(prefix).unwrap_or(name).to_owned()
    };
    let name = |role| naming.name(role, 0);
    let head_is_stored = catalog.shape(&name(TensorRole::Head)).is_some();
    let lookup_tables = [
        head_is_stored.then(|| short(&name(TensorRole::Embedding))),
        Some(short(&name(TensorRole::PositionEmbedding))),
    ];
    let is_table = |entry: &&TensorEntry| lookup_tables.contains(&Some(short(&entry.name)));
    let read = catalog.weights().filter(|entry| !is_table(entry));
    read.map(|entry| entry.n_bytes).sum()
}

/// Estimates how much memory a model takes on the CPU.
pub(super) fn memory_need(blueprint: &Blueprint, catalog: &Catalog) -> MemoryNeed {
    let n_weight_bytes = catalog.weights().map(|entry| entry.n_bytes).sum();
    let n_heads = [blueprint.n_attention_layers(), blueprint.n_kv_heads];
    MemoryNeed {
        n_weight_bytes,
        n_cache_bytes_per_token: n_heads
            .into_iter()
            .fold(default_cache_bytes(blueprint.head_dim), |product, n| {
                product.saturating_mul(n as u64)
            }),
        n_state_bytes: blueprint.n_state_bytes(),
        n_vocab: n_vocab(blueprint, catalog),
    }
}

/// Returns the number of tokens in the vocabulary: the rows of the embedding table, unless the
/// configuration states it.
fn n_vocab(blueprint: &Blueprint, catalog: &Catalog) -> usize {
    let table = blueprint.naming.name(TensorRole::Embedding, 0);
    let rows = catalog.shape(&table).and_then(|shape| shape.first());
    blueprint.n_vocab.or(rows.copied()).unwrap_or_default()
}

/// Returns how many bytes of memory this program can still allocate, as estimated by the system. In
/// a container, this takes its limit into account.
pub fn free_memory() -> u64 {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory);
    let free = system.available_memory();
    // Subtract the resident memory, not the used memory, which includes the file cache that the
    // system would release.
    system.cgroup_limits().map_or(free, |limits| {
        limits.total_memory.saturating_sub(limits.rss).min(free)
    })
}

#[cfg(test)]
mod tests {
    use super::free_memory;

    #[test]
    fn some_memory_is_free() {
        assert!(free_memory() > 1 << 20);
    }
}
