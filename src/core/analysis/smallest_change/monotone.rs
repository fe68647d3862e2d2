//! Along which sliders a choice moves in one direction.

use crate::decoding::{ChainConfig, Filter, GrammarMode, Rules, Selector};

/// Returns whether the choice moves in one direction along the slider, so that bisection finds the
/// nearest change, and a value at which it stays proves that it stays at all values before it.
///
/// Temperature, top-k, top-p and min-p order distributions by likelihood ratio: a larger (for min-p
/// a smaller) value makes every unlikelier token gain on every likelier one. So do the cutoffs,
/// top-A and p-less, which keep fewer of the most likely candidates the larger their value is. The
/// first four also preserve that order for the values of a stage before them. One coin then picks an
/// equal or unlikelier token. Stages before the varied one do the same for all its values.
pub(super) fn is_monotone(chain: &ChainConfig, varied: usize) -> bool {
    let preserves_order = |filter: &Filter| {
        matches!(
            filter,
            Filter::Temperature(_) | Filter::TopK(_) | Filter::TopP(_) | Filter::MinP(_)
        )
    };
    let is_nested = |filter: &Filter| {
        matches!(
            filter,
            Filter::EpsilonCutoff(_) | Filter::EtaCutoff(_) | Filter::TopA(_) | Filter::PLess(_)
        )
    };
    let varies_in_order = chain
        .stages
        .get(varied)
        .is_some_and(|stage| preserves_order(&stage.filter) || is_nested(&stage.filter));
    let mut after = chain.stages.iter().skip(varied + 1);
    matches!(chain.selector, Selector::Multinomial | Selector::Greedy)
        && chain.rules == Rules::default()
        // A check after the draw may draw again.
        && chain.grammar.as_ref().is_none_or(|rule| rule.mode() == GrammarMode::Mask)
        && varies_in_order
        && after.all(|stage| {
            let is_idle = !stage.enabled || stage.filter.is_neutral();
            is_idle || preserves_order(&stage.filter)
        })
}
