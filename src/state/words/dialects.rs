//! Why panes with the same numbers part, where it is their engines' order or rules.

use crate::analysis::dialects::why_these_differ;
use crate::analysis::{Divergence, first_divergence};
use crate::generation::Generation;
use crate::state::AppState;
use crate::state::app_state::letter;

/// Why the text of the pane at this place parts from those of panes with the same numbers, a
/// sentence for each reason.
pub fn why_it_parts(state: &AppState, place: usize) -> Vec<String> {
    let others = (0..state.panes.len()).filter(|other| *other != place);
    others
        .flat_map(|other| reasons(state, place, other))
        .collect()
}

/// The weightiest reason for each two panes with the same numbers that part.
pub fn why_they_part(state: &AppState) -> Vec<String> {
    let n_panes = state.panes.len();
    let pairs = (0..n_panes).flat_map(|one| (one + 1..n_panes).map(move |other| (one, other)));
    pairs
        .filter_map(|(one, other)| reasons(state, one, other).into_iter().next())
        .collect()
}

fn reasons(state: &AppState, place: usize, other: usize) -> Vec<String> {
    let generation = |place: usize| state.panes.get(place)?.generation();
    let (Some(one), Some(two)) = (generation(place), generation(other)) else {
        return Vec::new();
    };
    let parts = comparable(one, two)
        && matches!(
            first_divergence(&[Some(one), Some(two)]),
            Divergence::At { .. }
        );
    if !parts {
        return Vec::new();
    }
    let letters = [place, other].map(letter);
    let names = letters.map(|letter| format!("pane {letter}"));
    let [first, second] = letters;
    why_these_differ([&one.config.chain, &two.config.chain], names)
        .into_iter()
        .map(|reason| format!("{first} and {second}: {reason}."))
        .collect()
}

/// Whether the texts have all in common but how they were chosen.
fn comparable(one: &Generation, other: &Generation) -> bool {
    one.config.seed == other.config.seed && one.begins_like(other)
}
