//! Estimates how much memory a model will take, and how much the machine has.

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::blueprint::{Blueprint, Naming, Spelling, TensorRole};
use super::weights::{Catalog, TensorEntry};
use crate::generation::{ExpertsOutline, Implementation, MemoryNeed, ModelOutline};
use crate::kernels::attention::CacheType;

/// Describes a model from its blueprint and its list of tensors.
pub(super) fn outline(name: String, blueprint: &Blueprint, catalog: &Catalog) -> ModelOutline {
    let spelling = spelling(blueprint, catalog);
    // Some files store a tied table twice.
    let n_duplicated = if blueprint.tied_head == Some(true) {
        let head = blueprint.naming.name(TensorRole::Head, 0);
        catalog.n_values(&spelling.of(&head))
    } else {
        0
    };
    let beside_text = catalog
        .weights()
        .filter(|entry| !spelling.is_text(&entry.name) || is_of_mtp_head(blueprint, &entry.name));
    let n_beside_text: u64 = beside_text.map(TensorEntry::n_values).sum();
    ModelOutline {
        name,
        architecture: blueprint.architecture.clone(),
        implementation: Implementation::Quartet,
        n_params: catalog
            .n_all_values()
            .saturating_sub(n_duplicated + n_beside_text),
        quantization: catalog.quantization(),
        formats: catalog.formats(),
        n_context: blueprint.n_context,
        n_file_bytes: catalog.n_file_bytes(),
        n_step_bytes: n_step_bytes(blueprint, catalog),
        memory: memory_need(blueprint, catalog),
        experts: experts_outline(blueprint, catalog),
        conversion: catalog.conversion(),
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
/// of which it reads only a row for each token, and a head that drafts.
pub(super) fn n_step_bytes(blueprint: &Blueprint, catalog: &Catalog) -> u64 {
    let spelling = spelling(blueprint, catalog);
    let name = |role| spelling.of(&blueprint.naming.name(role, 0));
    let head_is_stored = catalog.shape(&name(TensorRole::Head)).is_some();
    let lookup_tables = [
        head_is_stored.then(|| name(TensorRole::Embedding)),
        Some(name(TensorRole::PositionEmbedding)),
        Some(name(TensorRole::LayerInputTable)),
    ];
    let is_read = |entry: &&TensorEntry| {
        spelling.is_text(&entry.name)
            && !is_of_mtp_head(blueprint, &entry.name)
            && !lookup_tables.contains(&Some(entry.name.clone()))
    };
    let read = catalog.weights().filter(is_read);
    used_by_token(blueprint, read, TensorEntry::n_memory_bytes)
}

/// Returns whether a tensor belongs to a block that predicts tokens after the next one.
fn is_of_mtp_head(blueprint: &Blueprint, name: &str) -> bool {
    let layer = ["blk.", "model.layers."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix)?.split('.').next()?.parse().ok());
    name.starts_with("mtp.") || layer.is_some_and(|layer: usize| layer >= blueprint.n_layers())
}

/// Returns what a token uses of tensors, counted by `count`: of the experts only those that it chooses.
fn used_by_token<'a>(
    blueprint: &Blueprint,
    entries: impl Iterator<Item = &'a TensorEntry>,
    count: fn(&TensorEntry) -> u64,
) -> u64 {
    let (mut n_of_experts, mut n_others) = (0_u64, 0_u64);
    for entry in entries {
        let sum = if Naming::is_of_experts(&entry.name) {
            &mut n_of_experts
        } else {
            &mut n_others
        };
        *sum = sum.saturating_add(count(entry));
    }
    if let Some(experts) = blueprint.experts {
        n_of_experts = n_of_experts / experts.n_all.max(1) as u64 * experts.n_chosen as u64;
    }
    n_others.saturating_add(n_of_experts)
}

/// Describes the mixtures of experts, if the model has some.
fn experts_outline(blueprint: &Blueprint, catalog: &Catalog) -> Option<ExpertsOutline> {
    let experts = blueprint.experts?;
    let spelling = spelling(blueprint, catalog);
    let of_text = |entry: &&TensorEntry| {
        spelling.is_text(&entry.name) && !is_of_mtp_head(blueprint, &entry.name)
    };
    let stored = catalog.weights().filter(of_text);
    let stored = stored.filter(|entry| Naming::is_of_experts(&entry.name));
    Some(ExpertsOutline {
        n_experts: experts.n_all,
        n_chosen: experts.n_chosen,
        n_active_params: used_by_token(
            blueprint,
            catalog.weights().filter(of_text),
            TensorEntry::n_values,
        ),
        n_bytes: stored.map(TensorEntry::n_memory_bytes).sum(),
    })
}

/// Returns how the file spells the names of its tensors.
fn spelling(blueprint: &Blueprint, catalog: &Catalog) -> Spelling {
    let has_tensor = |name: &str| catalog.shape(name).is_some();
    blueprint.naming.spelling(has_tensor)
}

/// Estimates how much memory a model takes on the CPU.
pub(super) fn memory_need(blueprint: &Blueprint, catalog: &Catalog) -> MemoryNeed {
    let spelling = spelling(blueprint, catalog);
    let weights = catalog.weights();
    let of_text = weights.filter(|entry| spelling.is_text(&entry.name));
    let n_weight_bytes = of_text.map(TensorEntry::n_memory_bytes).sum();
    // In heads of the usual size.
    let n_heads = blueprint.n_cached_values() / blueprint.head_dim.max(1);
    MemoryNeed {
        n_weight_bytes,
        n_cache_bytes_per_token: default_cache_bytes(blueprint.head_dim)
            .saturating_mul(n_heads as u64),
        n_state_bytes: blueprint.n_state_bytes(),
        keeps_checkpoints: true,
        n_vocab: n_vocab(blueprint, catalog),
    }
}

/// Returns the number of tokens in the vocabulary: the rows of the embedding table, unless the
/// configuration states it.
fn n_vocab(blueprint: &Blueprint, catalog: &Catalog) -> usize {
    let table = blueprint.naming.name(TensorRole::Embedding, 0);
    let table = spelling(blueprint, catalog).of(&table);
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
