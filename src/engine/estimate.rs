//! What a model takes before it is loaded, and what the machine has.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::blueprint::{Blueprint, TensorRole};
use super::weights::{Catalog, Place};
use crate::generation::{Implementation, MemoryNeed, ModelOutline};
use crate::kernels::attention::CacheType;

/// What is known of a model from its blueprint and from which tensors it has.
pub fn outline(name: String, blueprint: &Blueprint, catalog: &Catalog) -> ModelOutline {
    // Some files keep the shared table twice.
    let n_twice = if blueprint.tied_head == Some(true) {
        catalog.n_values(&blueprint.naming.name(TensorRole::Head, 0))
    } else {
        0
    };
    ModelOutline {
        name,
        architecture: blueprint.architecture.clone(),
        implementation: Implementation::Quartet,
        n_params: catalog.n_all_values().saturating_sub(n_twice),
        quantization: catalog.quantization(),
        n_context: blueprint.n_context,
        n_file_bytes: catalog.n_file_bytes(),
        n_step_bytes: n_step_bytes(blueprint, catalog),
        memory: memory_need(blueprint, catalog),
        head_dim: Some(blueprint.head_dim),
        unread: None,
    }
}

/// The memory of a model that keeps its keys and values like this; those that run through
/// candle-transformers keep theirs as they were computed.
pub fn memory_with_cache(outline: &ModelOutline, cache: CacheType) -> MemoryNeed {
    let mut memory = outline.memory;
    if let Some(head_dim) = outline.head_dim {
        let n_heads = memory.n_cache_bytes_per_token / usual_cache_bytes(head_dim);
        memory.n_cache_bytes_per_token = n_heads * cache.n_bytes(head_dim) as u64;
    }
    memory
}

/// What a position takes in one head, as keys and values are usually kept.
fn usual_cache_bytes(head_dim: usize) -> u64 {
    CacheType::default().n_bytes(head_dim).max(1) as u64
}

/// How many bytes of weights a forward pass reads: all, but of tables only a row for each token.
fn n_step_bytes(blueprint: &Blueprint, catalog: &Catalog) -> u64 {
    let naming = blueprint.naming;
    let short = |name: &str| {
        let prefix = naming.optional_prefix();
        name.strip_prefix(prefix).unwrap_or(name).to_owned()
    };
    let name = |role| naming.name(role, 0);
    let head_is_stored = catalog.shape(&name(TensorRole::Head)).is_some();
    let passed_over = [
        head_is_stored.then(|| short(&name(TensorRole::Embedding))),
        Some(short(&name(TensorRole::PositionEmbedding))),
    ];
    let is_table = |place: &&Place| passed_over.contains(&Some(short(&place.name)));
    let read = catalog.weights().filter(|place| !is_table(place));
    read.map(|place| place.n_bytes).sum()
}

/// What a model takes on the processor.
pub fn memory_need(blueprint: &Blueprint, catalog: &Catalog) -> MemoryNeed {
    let n_weight_bytes = catalog.weights().map(|place| place.n_bytes).sum();
    let n_heads = [blueprint.n_layers(), blueprint.n_kv_heads];
    MemoryNeed {
        n_weight_bytes,
        n_cache_bytes_per_token: n_heads
            .into_iter()
            .fold(usual_cache_bytes(blueprint.head_dim), |product, n| {
                product.saturating_mul(n as u64)
            }),
        n_state_bytes: 0,
    }
}

/// How many bytes of memory this program could still take, as the system estimates it; in a container,
/// what its limit leaves.
pub fn free_memory() -> u64 {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory);
    let free = system.available_memory();
    // What a container's files hold in the cache counts as used there, but would be given back.
    system.cgroup_limits().map_or(free, |limits| {
        limits.total_memory.saturating_sub(limits.rss).min(free)
    })
}

#[cfg(test)]
mod tests {
    use super::free_memory;

    #[test]
    fn some_memory_is_free_while_this_runs() {
        assert!(free_memory() > 1 << 20);
    }
}
