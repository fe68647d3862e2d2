//! The temperature, which the editor always shows: at 1 if the chain has none.

use crate::decoding::filters::Temperature;
use crate::decoding::{ChainConfig, Filter, FilterKind, Selector, Stage};

use super::usual::place_for;

const NEUTRAL: Filter = Filter::Temperature(Temperature { temperature: 1.0 });

/// Adds a neutral temperature at its usual place to a chain that has none. Returns its index.
pub(super) fn add_temperature(chain: &mut ChainConfig) -> Option<usize> {
    if n_temperatures(chain) > 0 {
        return None;
    }
    let index = place_for(chain, &NEUTRAL);
    chain.stages.insert(index, Stage::from(NEUTRAL));
    Some(index)
}

/// Removes the added temperature again unless the user changed it.
pub(super) fn drop_unchanged(chain: &mut ChainConfig) {
    let unchanged = Stage::from(NEUTRAL);
    if let Some(index) = chain.stages.iter().position(|stage| *stage == unchanged) {
        chain.stages.remove(index);
    }
}

/// Returns whether the user can remove a stage. The last temperature stays.
pub(super) fn is_removable(chain: &ChainConfig, index: usize) -> bool {
    let stage = chain.stages.get(index);
    let is_temperature = stage.is_some_and(|stage| is_temperature(&stage.filter));
    !is_temperature || n_temperatures(chain) > 1
}

/// Says that a temperature does nothing, if so.
pub(super) fn idle_words(filter: &Filter, selector: Selector) -> Option<&'static str> {
    let Filter::Temperature(Temperature { temperature }) = filter else {
        return None;
    };
    if selector == Selector::Greedy {
        Some("No effect: the most likely token is taken")
    } else if (temperature - 1.0).abs() < f32::EPSILON {
        Some("Leaves it as it is")
    } else {
        None
    }
}

fn n_temperatures(chain: &ChainConfig) -> usize {
    let stages = chain.stages.iter();
    stages.filter(|stage| is_temperature(&stage.filter)).count()
}

fn is_temperature(filter: &Filter) -> bool {
    filter.kind() == FilterKind::Temperature
}
