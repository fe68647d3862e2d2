//! When stages of two chains correspond, and how to name a stage without its window.

use crate::decoding::filters::Window;
use crate::decoding::{Filter, FilterKind};
use crate::generation::listed;

/// Whether two filters take the same place in an engine's chain. Plain and dynamic temperature do:
/// an engine that has both implements them as one stage.
pub(super) fn same_stage(one: &Filter, other: &Filter) -> bool {
    one.kind().place() == other.kind().place()
}

/// Whether this is a plain or dynamic temperature.
pub(in crate::analysis) fn is_temperature(filter: &Filter) -> bool {
    filter.kind().place() == FilterKind::Temperature
}

/// Returns the filter with this window, or unchanged if it has none.
pub(super) fn with_window(filter: &Filter, window: Window) -> Filter {
    let mut filter = filter.clone();
    if let Some(own) = filter.window_mut() {
        *own = window;
    }
    filter
}

/// Reduces a filter to its own numbers: its window, which belongs to the engine, is replaced by the
/// default, and a dynamic temperature without a range by a plain one.
pub(super) fn numbers_of(filter: &Filter) -> Filter {
    match filter {
        Filter::DynamicTemperature(dynamic) if dynamic.is_plain() => {
            Filter::Temperature(dynamic.middle())
        }
        filter => with_window(filter, Window::LAST_64),
    }
}

/// Lists filters in a sentence: "top-k 40, top-p 0.95 and min-p 0.05".
pub(super) fn list(filters: &[Filter]) -> String {
    let words: Vec<String> = filters
        .iter()
        .map(|filter| numbers_of(filter).to_string())
        .collect();
    listed(&words)
}
