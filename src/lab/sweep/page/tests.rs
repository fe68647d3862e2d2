//! Tests of the Lab page in a window.

use egui::{Key, Modifiers, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::analysis::sweep::testing::text;
use crate::analysis::sweep::{Metric, Parameter};
use crate::decoding::FilterKind;
use crate::generation::{SweepPlan, SweepUpdate};
use crate::lab::{AxisForm, LabCommand, LabTab};
use crate::state::tests::{planned, ready, report, written};
use crate::state::{AppState, Command, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

const NARROW: Vec2 = vec2(1280.0, 800.0);

/// A state on the Lab page with a sweep over temperature. `over_two` adds top-p; then the last of
/// the four cells has no text yet.
fn swept(over_two: bool) -> AppState {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let axis = |kind| AxisForm::new(Parameter::Filter(kind, 0), 2);
    state.lab.sweep.form.rows = axis(FilterKind::Temperature);
    state.lab.sweep.form.columns = over_two.then(|| axis(FilterKind::TopP));
    state.lab.sweep.form.n_seeds = 1;
    let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Sweep)));
    let [effect] = &effects[..] else {
        panic!("{effects:?}");
    };
    let (id, _) = planned::<SweepPlan>(effect).unwrap();
    let n_cells = if over_two { 3 } else { 2 };
    let update = SweepUpdate::Advanced {
        n_tokens: 12,
        secs: 1.0,
        complete: (0..n_cells)
            .map(|cell| text(cell, 0, &[1, 5, 2, 3]))
            .collect(),
    };
    report(&mut state, id, update);
    state
}

fn window(size: Vec2, state: AppState) -> Window {
    let mut window = window_of(size, state);
    window.run_steps(3);
    window
}

#[test]
fn the_page_is_empty_until_a_sweep_runs() {
    let mut window = window(NARROW, ready());
    press(&mut window, "Lab");
    assert_eq!(window.state().page, Page::Lab);
    window.get_by_label_contains("48 cells × 8 seeds × 64 tokens = 24,576 tokens");
    press(&mut window, "Run the sweep");
    assert!(window.state().lab.is_running(LabTab::Sweep));
    press(&mut window, "Stop and keep results");
}

#[test]
fn cells_read_as_sentences_and_are_selected_by_mouse_and_arrow_keys() {
    let mut window = window(NARROW, swept(true));
    press(
        &mut window,
        "Temperature 0.2, top-p 1: surprise 1.0 bits, 1 text",
    );
    assert_eq!(window.state().lab.sweep.selected, Some(1));
    window.get_by_label("T 0.2 · top-p 1");
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    assert_eq!(window.state().lab.sweep.selected, Some(3));
    window.get_by_label("Temperature 1.6, top-p 1: no texts yet");
    key(&mut window, Modifiers::NONE, Key::ArrowLeft);
    assert_eq!(window.state().lab.sweep.selected, Some(2));
    window.get_by_label("Seed 42 · 4 tokens");
    window.get_by_label_contains("the fox");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().page, Page::Write);
    assert_eq!(window.state().panes.len(), 5);
}

#[test]
fn another_figure_is_chosen_from_the_menu() {
    let mut window = window(NARROW, swept(true));
    press(&mut window, "Figure: Surprise");
    press(&mut window, "Greedy");
    assert_eq!(window.state().lab.sweep.metric, Metric::Greedy);
    window.get_by_label("Temperature 0.2, top-p 1: greedy 25 %, 1 text");
}

#[test]
fn a_wide_window_shows_six_maps_and_quality_against_diversity() {
    let window = window(vec2(1920.0, 1080.0), swept(true));
    for figure in ["surprise 1.0 bits", "distinct-2 1.00", "entropy 2.0 bits"] {
        let name = format!("Temperature 0.2, top-p 0.5: {figure}, 1 text");
        assert!(window.query_all_by_label(&name).count() > 0, "{name}");
    }
    window.get_by_label("Surprise is 1.0 bits everywhere.");
}

#[test]
fn a_sweep_over_one_parameter_draws_a_curve() {
    let mut window = window(NARROW, swept(false));
    press(&mut window, "Temperature 1.6: surprise 1.0 bits, 1 text");
    assert_eq!(window.state().lab.sweep.selected, Some(1));
}

#[test]
fn the_shortcut_runs_and_escape_stops_the_sweep() {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let mut window = window(NARROW, state);
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(window.state().lab.is_running(LabTab::Sweep));
    assert!(!window.state().is_running());
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(
        window.state().lab.is_running(LabTab::Sweep),
        "until the engine has stopped"
    );
}

#[test]
fn an_invalid_range_says_why_and_cannot_run() {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.sweep.form.columns.as_mut().unwrap().to = 1.5;
    let mut window = window(NARROW, state);
    assert!(
        window
            .query_all_by_label("Top-p must be between 0 and 1")
            .count()
            > 0
    );
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(!window.state().lab.is_running(LabTab::Sweep));
}

#[test]
fn the_page_fits_the_smallest_window() {
    for size in [vec2(900.0, 600.0), NARROW] {
        let window = window(size, swept(true));
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
        for name in ["Stop and keep results", "Open as pane", "Export the sweep"] {
            let rect = window.get_by_label(name).rect();
            assert!(
                screen.contains_rect(rect),
                "{name} is at {rect:?} in {size}"
            );
        }
    }
}

/// Runs frames until the map and the intervals are computed. Each frame computes a part, whose size
/// depends on the machine's speed.
fn run_until_computed(window: &mut Window) {
    let is_complete = |state: &AppState| {
        let run = state.lab.stability.run.as_ref();
        run.is_some_and(|run| run.map.n_done() == 1600 && run.intervals.is_complete())
    };
    for _ in 0..10_000 {
        if is_complete(window.state()) {
            break;
        }
        window.run_steps(1);
    }
    assert!(is_complete(window.state()));
}

#[test]
fn a_text_is_mapped_without_running_the_model() {
    let mut state = written();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let mut window = window(NARROW, state);
    press(&mut window, "Stability");
    run_until_computed(&mut window);
    let run = window.state().lab.stability.run.clone().unwrap();
    window.get_by_label_contains("Not one token of this text changes while");
    let before = run.shown_cell();
    key(&mut window, Modifiers::NONE, Key::ArrowUp);
    let run = window.state().lab.stability.run.clone().unwrap();
    assert_eq!(run.shown_cell() + 40, before);
    let words = run.cell_words(run.shown_cell());
    window.get_by_label_contains(&format!("Divergence. {words}: "));
    press(&mut window, "Open as pane");
    assert_eq!(window.state().page, Page::Write);
    assert_eq!(window.state().panes.len(), 5);
}

#[test]
fn without_a_text_the_stability_tab_says_what_to_do() {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let mut window = window(NARROW, state);
    press(&mut window, "Stability");
    window.get_by_label("Generate a text first.");
}

#[test]
fn a_pane_and_a_token_are_chosen_in_the_stability_tab() {
    let mut state = written();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let first = state.panes[0].id;
    let mut window = window(NARROW, state);
    press(&mut window, "Stability");
    window.run_steps(20);
    press(&mut window, "Map the whole text");
    press(&mut window, "One token, by number");
    run_until_computed(&mut window);
    window.get_by_label("How stable is this choice?");
    window.get_by_label_contains("Token 1 stays ‘in’ while");
    window.get_by_label_contains("Choice of token 1. ");
    let name = format!("Text of D {}", window.state().panes[3].settings.name);
    press(&mut window, &name);
    let name = format!("A {}", window.state().panes[0].settings.name);
    press(&mut window, &name);
    window.run_steps(20);
    assert_eq!(
        window.state().lab.stability.run.as_ref().unwrap().pane(),
        Some(first)
    );
}
