//! What two engines do with what nobody set.

use super::{Names, Side, same_numbers};
use crate::analysis::dialects::stage::{list, same_stage};
use crate::decoding::Filter;

/// How the numbers of two chains compare.
pub(super) enum Numbers {
    /// They are the same.
    Same,
    /// Only what nobody set differs, as the sentence says.
    Unset(String),
    /// They differ by the user's will.
    Chosen,
}

/// Compares the numbers of two chains.
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
        (some, []) => format!("{one} applies {} on its own, {other} does not", list(some)),
        ([], some) => format!("{other} applies {} on its own, {one} does not", list(some)),
        (some, others) => format!(
            "What nobody set differs: {one} applies {}, {other} {}",
            list(some),
            list(others)
        ),
    };
    Numbers::Unset(sentence)
}

/// What acts in one chain and in the other not at all or with other numbers.
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

/// Whether the filter is as its engine has it unless told otherwise.
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

/// Whether the other chain says nothing of this stage either: it lacks it, or has it as its own
/// engine has it.
fn is_unset(filter: &Filter, side: &Side<'_>) -> bool {
    let mut stages = side.chain.stages.iter();
    match stages.find(|stage| same_stage(&stage.filter, filter)) {
        None => true,
        Some(stage) => stage.enabled && is_default(&stage.filter, side),
    }
}
