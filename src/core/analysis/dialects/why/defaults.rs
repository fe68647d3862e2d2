//! Differences between the defaults of two engines.

use super::{Names, Side, same_numbers};
use crate::analysis::dialects::stage::{list, same_stage};
use crate::decoding::Filter;

/// How the parameters of two chains compare.
pub(super) enum Numbers {
    Same,
    /// Only defaults differ, as this sentence says.
    Unset(String),
    /// The user set different values.
    Chosen,
}

/// Compares the parameters of two chains.
pub(super) fn numbers(sides: &[Side<'_>; 2], [one, other]: &Names) -> Numbers {
    let [first, second] = sides;
    let of_first = unlike(first, second);
    let of_second = unlike(second, first);
    let unset = of_first.iter().all(|filter| is_default(filter, first))
        && of_second.iter().all(|filter| is_default(filter, second))
        && of_first.iter().all(|filter| is_unset(filter, second))
        && of_second.iter().all(|filter| is_unset(filter, first));
    if !unset {
        return Numbers::Chosen;
    }
    let sentence = match (of_first.as_slice(), of_second.as_slice()) {
        ([], []) => return Numbers::Same,
        (some, []) => format!("{one} applies {} by default; {other} does not", list(some)),
        ([], some) => format!("{other} applies {} by default; {one} does not", list(some)),
        (some, others) => format!(
            "The defaults differ: {one} applies {}, {other} applies {}",
            list(some),
            list(others)
        ),
    };
    Numbers::Unset(sentence)
}

/// The filters of one chain that the other lacks or applies with different parameters.
fn unlike(one: &Side<'_>, other: &Side<'_>) -> Vec<Filter> {
    let differs = |filter: &&&Filter| {
        let there = other.counterpart(filter);
        there.is_none_or(|there| !same_numbers(filter, there))
    };
    one.active
        .iter()
        .filter(differs)
        .copied()
        .cloned()
        .collect()
}

/// Whether the filter has its engine's default parameters.
fn is_default(filter: &Filter, side: &Side<'_>) -> bool {
    let Some(dialect) = side.chain.dialect else {
        return false;
    };
    let stages = dialect.chain().stages;
    let of_engine = stages
        .iter()
        .find(|stage| same_stage(&stage.filter, filter));
    of_engine.is_some_and(|stage| same_numbers(&stage.filter, filter))
}

/// Whether the user left this stage unset in the other chain: it is absent there or has that
/// engine's defaults.
fn is_unset(filter: &Filter, side: &Side<'_>) -> bool {
    let mut stages = side.chain.stages.iter();
    match stages.find(|stage| same_stage(&stage.filter, filter)) {
        None => true,
        Some(stage) => stage.enabled && is_default(&stage.filter, side),
    }
}
