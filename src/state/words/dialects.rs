//! Explains why panes with the same parameters diverge because of their engines' order or rules.

use crate::analysis::dialects::explain_differences;
use crate::analysis::{Divergence, first_divergence};
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;
use crate::state::AppState;

/// Returns why the text of this pane diverges from those of other panes with the same parameters,
/// one sentence per reason.
pub fn divergence_reasons_of(state: &AppState, place: usize) -> Vec<String> {
    let others = state.panes.places().filter(|other| *other != place);
    others
        .flat_map(|other| reasons(state, place, other))
        .collect()
}

/// Returns the main reason for each pair of panes with the same parameters that diverge.
pub fn divergence_reasons(state: &AppState) -> Vec<String> {
    let places = state.panes.places();
    let pairs = places.clone().flat_map(|first| {
        let later = places.clone().filter(move |second| *second > first);
        later.map(move |second| (first, second))
    });
    pairs
        .filter_map(|(first, second)| reasons(state, first, second).into_iter().next())
        .collect()
}

fn reasons(state: &AppState, place: usize, other: usize) -> Vec<String> {
    let generation = |place: usize| state.panes.get(place)?.generation();
    let (Some(one), Some(two)) = (generation(place), generation(other)) else {
        return Vec::new();
    };
    let diverges = comparable(one, two)
        && matches!(
            first_divergence(&[Some(one), Some(two)]),
            Divergence::At { .. }
        );
    if !diverges {
        return Vec::new();
    }
    let [first, second] = [place, other].map(pane_letter);
    let names = [&first, &second].map(|letter| format!("pane {letter}"));
    explain_differences([&one.config.chain, &two.config.chain], names)
        .into_iter()
        .map(|reason| format!("{first} and {second}: {reason}."))
        .collect()
}

/// Returns whether the generations differ at most in their chains.
fn comparable(one: &Generation, other: &Generation) -> bool {
    one.config.seed == other.config.seed && one.shares_prompt_with(other)
}
