//! Tests of the Lab page: which text, and which part of it, the stability map shows.

use super::written;
use crate::state::{AppState, Pin, StabilityRun, StabilityScope};

fn advanced(state: &mut AppState) -> StabilityRun {
    assert!(state.advance_stability(|| true));
    state.lab.stability.clone().unwrap()
}

#[test]
fn the_chosen_pane_is_mapped_or_else_the_default() {
    let mut state = written();
    let [first, last] = [0, 3].map(|place| state.panes[place].id);
    assert_eq!(advanced(&mut state).pane, last);
    state.lab.stability_pane = Some(first);
    assert_eq!(advanced(&mut state).pane, first);
    state.panes.remove(0);
    assert_eq!(advanced(&mut state).pane, last, "the chosen one is gone");
}

#[test]
fn one_token_is_mapped_with_the_intervals_of_its_choice() {
    let mut state = written();
    let pane = state.panes[3].id;
    let whole = advanced(&mut state);
    assert_eq!((whole.held_step(), whole.n_mapped()), (None, 3));
    state.lab.stability_scope = StabilityScope::Token(1);
    let run = advanced(&mut state);
    assert_eq!((run.held_step(), run.n_mapped()), (Some(1), 1));
    assert!(run.intervals.is_complete());
    let sentence = run.interval_sentence();
    assert!(
        sentence.starts_with("Token 2 stays ‘a’ while "),
        "{sentence}"
    );
    let own = run.map.own_cell().unwrap();
    assert!(
        run.sentence(own).starts_with("Token 2 "),
        "{}",
        run.sentence(own)
    );
    // A number past the end means the last token.
    state.lab.stability_scope = StabilityScope::Token(99);
    assert_eq!(advanced(&mut state).held_step(), Some(2));

    state.lab.stability_scope = StabilityScope::Pinned;
    assert_eq!(advanced(&mut state).held_step(), None, "nothing is pinned");
    state.pin = Some(Pin { pane, step: 0 });
    assert_eq!(advanced(&mut state).held_step(), Some(0));
}

#[test]
fn a_cell_names_the_token_that_takes_the_place_of_the_held_one() {
    let mut state = written();
    state.lab.stability_scope = StabilityScope::Token(2);
    let run = advanced(&mut state);
    let sentences: std::collections::BTreeSet<String> = (0..run.map.n_cells())
        .map(|cell| run.sentence(cell))
        .collect();
    assert!(
        sentences
            .iter()
            .all(|sentence| sentence.contains("oken 3 ")),
        "{sentences:?}"
    );
    assert!(
        sentences
            .iter()
            .any(|sentence| sentence.contains(" would ")),
        "some settings change it: {sentences:?}"
    );
}
