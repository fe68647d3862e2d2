//! Tests of the Lab page: which text, and which part of it, the stability map shows.

use crate::decoding::{Against, Guidance};
use crate::generation::PromptRecord;
use crate::generation::testing::generation;
use crate::lab::kept::{are_the_same, refuses, reopened, run_again};
use crate::lab::stability::state::{advance_stability, stability_source};
use crate::lab::stability::{RewritePlan, RewriteUpdate};
use crate::lab::stability::{StabilityAxes, StabilityCommand, StabilityRun, StabilityScope};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{JobUpdate, asked, planned, ready, report, update_job, written};
use crate::state::{AppState, Command, Effect, Page, Pin, RunRequest};
use crate::worker::GenerationId;

fn advanced(state: &mut AppState) -> StabilityRun {
    assert!(advance_stability(state, || true));
    state.lab.stability.run.clone().unwrap()
}

#[test]
fn the_chosen_pane_is_mapped_or_else_the_default() {
    let mut state = written();
    let [first, last] = [0, 3].map(|place| state.panes[place].id);
    assert_eq!(advanced(&mut state).pane(), Some(last));
    state.lab.stability.pane = Some(first);
    assert_eq!(advanced(&mut state).pane(), Some(first));
    state.panes.remove(first);
    assert_eq!(
        advanced(&mut state).pane(),
        Some(last),
        "the chosen one is gone"
    );
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
    assert_eq!(run.pane(), Some(state.panes[3].id), "the last text");
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
        assert_eq!(run.pane(), Some(state.panes[expected].id), "{reason}");
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

/// Keeps the map on screen. Returns the time that names its file.
fn kept(state: &mut AppState) -> u64 {
    advanced(state);
    assert!(state.lab.has_new_result(LabTab::Stability));
    let effects = state.apply(Command::Lab(LabCommand::Keep(LabTab::Stability)));
    let [Effect::Runs(RunRequest::KeepResult { named_at, .. })] = effects[..] else {
        panic!("{effects:?}");
    };
    assert!(!state.lab.has_new_result(LabTab::Stability));
    named_at
}

#[test]
fn each_map_is_kept_once_and_one_of_another_token_takes_its_place() {
    let mut state = written();
    assert!(!advance_stability(&mut state, || false));
    assert!(!state.lab.has_new_result(LabTab::Stability), "not complete");
    let whole = kept(&mut state);
    state.lab.stability.axes = StabilityAxes::TopK;
    let other_axes = kept(&mut state);
    state.lab.stability.scope = StabilityScope::Token(0);
    let token = kept(&mut state);
    state.lab.stability.scope = StabilityScope::Token(1);
    assert_eq!(kept(&mut state), token);
    assert!(whole < other_axes && other_axes < token);
    state.lab.stability.axes = StabilityAxes::TopP;
    state.lab.stability.scope = StabilityScope::Text;
    assert_eq!(kept(&mut state), whole);
    state.lab.stability.axes = StabilityAxes::MinP;
    advanced(&mut state);
    let closing = state.close();
    let keeps = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::KeepResult { .. }));
    assert!(closing.iter().any(keeps), "{closing:?}");
}

#[test]
fn a_kept_map_says_the_same_as_before() {
    for scope in [StabilityScope::Text, StabilityScope::Token(2)] {
        let mut state = written();
        state.lab.stability.scope = scope;
        let before = advanced(&mut state);
        let mut other = reopened(&state, LabTab::Stability);
        let after = advanced(&mut other);
        assert_eq!(after.pane(), None);
        assert_eq!(after.text.pane_words(), before.text.pane_words());
        let words = |run: &StabilityRun| {
            let cells = (0..run.map.n_cells()).map(|cell| run.sentence(cell));
            let cells: Vec<String> = cells.collect();
            (cells, run.interval_sentence(), run.first_changes())
        };
        assert_eq!(words(&after), words(&before));
        assert_eq!(after.shown_cell(), before.shown_cell());
        assert!(!other.lab.has_new_result(LabTab::Stability));
        // A cell opens with the prompt of then.
        other.prompt.text = "Another".to_owned();
        open_first_cell(&mut other);
        assert_eq!(other.prompt.text, state.prompt.text);
    }
}

/// Writes the text of a kept map again, with the tokens of `written`. Returns the plan and the id.
fn rewrite(state: &mut AppState, effects: &[Effect]) -> (GenerationId, RewritePlan) {
    let (id, plan) = planned::<RewritePlan>(&effects[0]).unwrap();
    let text = generation(&[(" in", 0.6), (" a", 0.9), (" cottage", 0.4)]);
    let prompt = PromptRecord {
        text: plan.prompt.text.clone(),
        ..PromptRecord::clone(&text.prompt)
    };
    report(state, id, RewriteUpdate::Started(Box::new(prompt)));
    for step in text.steps {
        report(state, id, RewriteUpdate::Stepped(Box::new(step)));
    }
    (id, plan)
}

#[test]
fn a_kept_map_is_computed_again_from_its_text() {
    for scope in [StabilityScope::Text, StabilityScope::Token(2)] {
        let mut state = written();
        state.lab.stability.scope = scope;
        state.lab.stability.axes = StabilityAxes::MinP;
        advanced(&mut state);
        let (mut other, effects) = run_again(&state, LabTab::Stability);
        let (id, plan) = rewrite(&mut other, &effects);
        let text = state.panes[3].generation().unwrap();
        let tokens = text.steps.iter().map(|step| step.token);
        assert_eq!(plan.tokens, tokens.collect::<Vec<_>>());
        assert_eq!(plan.config, text.config);
        assert_eq!(plan.prompt, state.prompt.to_text());
        assert_eq!(update_job(&mut other, id, JobUpdate::Finished), []);
        advanced(&mut other);
        assert!(other.lab.has_new_result(LabTab::Stability));
        let keep = LabCommand::Keep(LabTab::Stability);
        let effects = other.apply(Command::Lab(keep));
        are_the_same(&state, &other, LabTab::Stability, &effects);
        other.apply(Command::Lab(LabCommand::Close(LabTab::Stability)));
        assert_eq!(other.lab.stability.axes, StabilityAxes::TopP);
        assert_eq!(other.lab.stability.scope, StabilityScope::Text);
    }
}

#[test]
fn a_text_that_is_not_written_again_leaves_the_kept_map() {
    let mut state = written();
    let before = advanced(&mut state);
    let error = "it is too long".to_owned();
    for end in [JobUpdate::Stopped, JobUpdate::Failed { error }] {
        let (mut other, effects) = run_again(&state, LabTab::Stability);
        let (id, _) = rewrite(&mut other, &effects);
        assert_eq!(update_job(&mut other, id, end), [], "it is kept already");
        assert_eq!(advanced(&mut other).map, before.map);
        assert!(!other.lab.is_running(LabTab::Stability));
    }
    let mut other = reopened(&state, LabTab::Stability);
    let run = other.lab.stability.run.as_mut().unwrap();
    run.text.config.chain.guidance = Some(Guidance::usual(Against::Model));
    let refusal = other.again_refusal(LabTab::Stability).unwrap().words;
    assert!(
        refusal.ends_with("generate the text again on Write"),
        "{refusal}"
    );
}

#[test]
fn choosing_a_text_on_screen_leaves_the_kept_map() {
    let mut state = written();
    advanced(&mut state);
    let (_, result) = state.lab.result(LabTab::Stability).unwrap();
    state.lab.stability.axes = StabilityAxes::MinP;
    advanced(&mut state);
    state.show_result("It", result, 7);
    let shown = advanced(&mut state);
    assert_eq!((shown.pane(), shown.axes), (None, StabilityAxes::TopP));
    assert_eq!(state.lab.finished_at(LabTab::Stability), 7);
    let pane = state.panes[3].id;
    state.lab.stability.pane = Some(pane);
    assert_eq!(advanced(&mut state).pane(), Some(pane));
    assert_eq!(state.lab.kept, None);
}

#[test]
fn a_map_that_contradicts_itself_is_not_shown() {
    let mut state = written();
    state.lab.stability.scope = StabilityScope::Token(1);
    advanced(&mut state);
    refuses(&state, LabTab::Stability, |json| {
        json["map"]["cells"].as_array_mut().unwrap().pop();
    });
    refuses(&state, LabTab::Stability, |json| {
        json["map"]["held"] = 99.into();
    });
    refuses(&state, LabTab::Stability, |json| {
        json["text"]["place"] = 99.into();
    });
    refuses(&state, LabTab::Stability, |json| {
        json["map"]["cells"][0]["n_same"] = 9.into();
    });
}
