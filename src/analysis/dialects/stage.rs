//! What counts as one stage in two chains, and how a stage is said where its window does not matter.

use crate::decoding::Filter;
use crate::decoding::filters::{DynamicTemperature, Temperature, Window};
use crate::generation::listed;

/// Whether two filters stand in the same place of an engine's chain. Plain and dynamic temperature
/// do: an engine that has both has one stage for them.
pub(super) fn same_stage(one: &Filter, other: &Filter) -> bool {
    (is_temperature(one) && is_temperature(other))
        || std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Plain or dynamic temperature.
pub(in crate::analysis) const fn is_temperature(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Temperature(_) | Filter::DynamicTemperature(_)
    )
}

/// The filter with another window; one that does not look back stays as it is.
pub(super) fn with_window(filter: &Filter, window: Window) -> Filter {
    let mut filter = filter.clone();
    if let Some(own) = filter.window_mut() {
        *own = window;
    }
    filter
}

/// The filter's numbers alone: without its window, which is the engine's, and a dynamic temperature
/// that has no range as the plain one that it is.
pub(super) fn numbers_of(filter: &Filter) -> Filter {
    match filter {
        Filter::DynamicTemperature(dynamic) if dynamic.range <= 0.0 => plain(dynamic),
        filter => with_window(filter, Window::LAST_64),
    }
}

/// The middle of a dynamic temperature.
pub(super) const fn plain(dynamic: &DynamicTemperature) -> Filter {
    Filter::Temperature(Temperature {
        temperature: dynamic.temperature,
    })
}

/// Filters in a sentence: "top-k 40, top-p 0.95 and min-p 0.05".
pub(super) fn list(filters: &[Filter]) -> String {
    let words: Vec<String> = filters
        .iter()
        .map(|filter| numbers_of(filter).to_string())
        .collect();
    listed(&words)
}
