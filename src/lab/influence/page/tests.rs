//! Tests of the Influence tab in a window.

use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::lab::influence::InfluenceUpdate;
use crate::lab::influence::tests::{facts, measure, start, updates, vocabulary};
use crate::lab::kept::reopened;
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{ready, report};
use crate::state::{AppState, Command, ModelStatus, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

fn opened() -> AppState {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Influence;
    state
}

fn window(state: AppState) -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

#[test]
fn the_shortcut_measures_and_escape_stops() {
    let mut window = window(opened());
    window.get_by_label_contains("One row for each part of the text");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    assert!(window.state().lab.is_running(LabTab::Influence));
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.get_by_label("Stop");
}

#[test]
fn rows_are_read_and_select_a_part() {
    let mut state = opened();
    let ModelStatus::Ready(model) = &mut state.models.main else {
        panic!("no model is ready");
    };
    model.vocabulary = vocabulary();
    let (id, _) = start(&mut state);
    report(&mut state, id, InfluenceUpdate::Started(facts()));
    for update in updates() {
        report(&mut state, id, update);
    }
    let mut window = window(state);
    let run = |window: &Window| window.state().lab.influence.run.clone().unwrap();
    assert_eq!(run(&window).selected, None);
    press(&mut window, "Without ‘Once’: 0.02 bits, ‘nest’ 10 %");
    assert_eq!(run(&window).selected, Some(0));
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    assert_eq!(run(&window).selected, Some(1));
    let stop = LabCommand::Stop(LabTab::Influence);
    assert!(!window.state_mut().apply(Command::Lab(stop)).is_empty());
}

#[test]
fn a_result_from_the_history_says_so_and_is_closed() {
    let mut state = opened();
    measure(&mut state);
    let mut window = window(reopened(&state, LabTab::Influence));
    window.get_by_label_contains("Result of ");
    press(&mut window, "Close the result");
    assert!(window.query_by_label_contains("Result of ").is_none());
    window.get_by_label_contains("One row for each part of the text");
}
