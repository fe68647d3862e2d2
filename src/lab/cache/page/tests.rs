//! Tests of the Cache tab in a window.

use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::lab::cache::figures::testing::{facts, samples};
use crate::lab::cache::{CachePlan, CacheUpdate};
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{JobUpdate, planned, ready, report, update_job};
use crate::state::{AppState, Command, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

/// A state on the Cache tab, after up to `n_samples` measurements.
fn measured(n_samples: usize, end: Option<JobUpdate>) -> AppState {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Cache;
    let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Cache)));
    let [effect] = &effects[..] else {
        panic!("{effects:?}");
    };
    let (id, _) = planned::<CachePlan>(effect).unwrap();
    let samples = samples().into_iter().take(n_samples);
    report(&mut state, id, CacheUpdate::Started(facts()));
    for sample in samples {
        report(&mut state, id, CacheUpdate::Measured(sample));
    }
    if let Some(update) = end {
        update_job(&mut state, id, update);
    }
    state
}

fn window(state: AppState) -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

fn is_shown(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).count() > 0
}

#[test]
fn the_shortcut_measures_and_escape_stops() {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Cache;
    let mut window = window(state);
    window.get_by_label_contains("Each point will be one token");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(window.state().lab.is_running(LabTab::Cache));
    let waiting = window.query_all_by_label("Waiting for the engine");
    assert!(waiting.count() > 0);
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("Stop");
}

#[test]
fn a_measurement_is_drawn_and_read_as_a_table() {
    let mut window = window(measured(1000, Some(JobUpdate::Finished)));
    window.get_by_label("measured while writing 100 tokens");
    assert!(is_shown(
        &window,
        "At 109 tokens that takes 80 times as long."
    ));
    window.get_by_label("2 × 8 × 4 × 32 × 4 = 8,192");
    window.get_by_label_contains("Same tokens both ways at 10 lengths");
    for plot in [
        "Time per token",
        "Cache memory",
        "Reading a prompt",
        "Tokens per second",
    ] {
        assert!(is_shown(&window, plot), "{plot}");
    }
    press(&mut window, "Show as a table");
    window.get_by_label_contains("Length 20: cache on 0.32 ms, cache off 6.0 ms");
    window.get_by_label_contains("Prompt 110: in parallel 11 ms, one by one 33 ms");
    press(&mut window, "Show the picture");
}

#[test]
fn points_appear_as_they_are_measured_and_a_stop_keeps_them() {
    let running = window(measured(50, None));
    running.get_by_label("With the cache, 51 of 100 tokens");
    assert!(is_shown(&running, "With the cache, a token takes"));
    let stopped = window(measured(50, Some(JobUpdate::Stopped)));
    stopped.get_by_label("stopped after 51 of 100 tokens");
    stopped.get_by_label("Measure again");
    let lab = stopped.state().lab.cache.run.as_ref().unwrap().lab.as_ref();
    assert_eq!(lab.unwrap().on.len(), 50);
}

#[test]
fn a_measurement_that_ended_early_promises_nothing() {
    const COMING: &str = "Points appear as they are measured.";
    let running = window(measured(1, None));
    running.get_by_label(COMING);
    let stopped = window(measured(1, Some(JobUpdate::Stopped)));
    assert!(!is_shown(&stopped, COMING));
    stopped.get_by_label("Too little was measured to say what it shows.");
}

#[test]
fn a_failure_says_why() {
    let error = "the context is full".to_owned();
    let window = window(measured(0, Some(JobUpdate::Failed { error })));
    assert!(window.query_all_by_label("The context is full").count() > 0);
}
