//! Tests of the Lab page: which text, and which part of it, the stability map shows.

use crate::lab::LabCommand;
use crate::lab::stability::state::{advance_stability, stability_source};
use crate::lab::stability::{StabilityAxes, StabilityCommand, StabilityRun, StabilityScope};
use crate::state::tests::{asked, ready, written};
use crate::state::{AppState, Command, Page, Pin};

fn advanced(state: &mut AppState) -> StabilityRun {
    assert!(advance_stability(state, || true));
    state.lab.stability.run.clone().unwrap()
}

#[test]
fn the_chosen_pane_is_mapped_or_else_the_default() {
    let mut state = written();
    let [first, last] = [0, 3].map(|place| state.panes[place].id);
    assert_eq!(advanced(&mut state).pane, last);
    state.lab.stability.pane = Some(first);
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
    state.lab.stability.scope = StabilityScope::Token(1);
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
    state.lab.stability.scope = StabilityScope::Token(99);
    assert_eq!(advanced(&mut state).held_step(), Some(2));

    state.lab.stability.scope = StabilityScope::Pinned;
    assert_eq!(advanced(&mut state).held_step(), None, "nothing is pinned");
    state.pin = Some(Pin { pane, step: 0 });
    assert_eq!(advanced(&mut state).held_step(), Some(0));
}

#[test]
fn a_cell_names_the_token_that_takes_the_place_of_the_held_one() {
    let mut state = written();
    state.lab.stability.scope = StabilityScope::Token(2);
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

#[test]
fn a_stability_map_follows_the_text_and_its_axes() {
    let mut state = written();
    assert!(advance_stability(&mut state, || true));
    let run = state.lab.stability.run.clone().unwrap();
    assert_eq!(run.pane, state.panes[3].id, "the last text");
    assert_eq!(run.map.n_done(), run.map.n_cells());
    let own = run.map.own_cell().unwrap();
    assert_eq!(run.cell_words(own), "T 0.7 · top-p 0.9");
    state.lab.stability.axes = StabilityAxes::TopK;
    assert!(!advance_stability(&mut state, || false));
    let run = state.lab.stability.run.as_ref().unwrap();
    assert_eq!((run.map.n_done(), run.axes), (0, StabilityAxes::TopK));
    for (pinned, expected, reason) in [
        (0, 3, "a greedy text is the last choice"),
        (1, 1, "the pinned text"),
    ] {
        let pane = state.panes[pinned].id;
        state.apply(Command::Pin(Pin { pane, step: 0 }));
        advance_stability(&mut state, || true);
        let run = state.lab.stability.run.as_ref().unwrap();
        assert_eq!(run.pane, state.panes[expected].id, "{reason}");
    }
    let n_panes = state.panes.len();
    open_first_cell(&mut state);
    assert_eq!(state.panes.len(), n_panes + 1);
}

fn open_first_cell(state: &mut AppState) {
    let open = LabCommand::Stability(StabilityCommand::Open { cell: 0 });
    let effects = state.apply(Command::Lab(open));
    assert_eq!(asked(&effects).len(), 1);
    assert_eq!(state.page, Page::Write);
}

#[test]
fn a_text_that_cannot_be_replayed_says_why() {
    let mut state = ready();
    assert_eq!(
        stability_source(&state).unwrap_err(),
        "Generate a text first."
    );
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(ids.len(), 4);
    assert!(advance_stability(&mut state, || true) && state.lab.stability.run.is_none());
}
