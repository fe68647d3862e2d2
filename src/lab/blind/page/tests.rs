//! Tests of the Blind test tab in a window.

use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::analysis::sweep::testing::text;
use crate::generation::{SweepPlan, SweepUpdate};
use crate::lab::blind::state::blind_contestants;
use crate::lab::{LabCommand, LabTab};
use crate::state::tests::{JobUpdate, planned, ready, report, update_job};
use crate::state::{AppState, Command, Effect, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

/// Answers the request for texts: each contestant writes a different one with each seed.
fn answer(state: &mut AppState, effects: &[Effect]) {
    let [effect] = effects else {
        panic!("{effects:?}");
    };
    let (id, plan) = planned::<SweepPlan>(effect).unwrap();
    let places = (0..plan.cells.len()).flat_map(|cell| (0..plan.n_seeds).map(move |s| (cell, s)));
    let complete = places.map(|(cell, seed)| text(cell, seed, &[1 + cell as u32, seed as u32 + 1]));
    let update = SweepUpdate::Advanced {
        n_tokens: 12,
        secs: 1.0,
        complete: complete.collect(),
    };
    report(state, id, update);
    update_job(state, id, JobUpdate::Finished);
}

fn window() -> Window {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Blind;
    let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Blind)));
    answer(&mut state, &effects);
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

#[test]
fn votes_are_cast_with_keys_and_buttons_and_names_wait_for_ten() {
    let mut window = window();
    window.get_by_label_contains("Text 1: ");
    window.get_by_label_contains("Text 2: ");
    window.get_by_label_contains("0 of 10");
    key(&mut window, Modifiers::NONE, Key::Num1);
    key(&mut window, Modifiers::NONE, Key::Num0);
    assert_eq!(window.state().lab.blind.votes().len(), 2);
    assert_eq!(window.state().lab.blind.votes()[0].picked, Some(0));
    assert_eq!(window.state().lab.blind.votes()[1].picked, None);
    window.get_by_label_contains("2 of 10");
    assert_eq!(
        window.query_all_by_label_contains("% of the time").count(),
        0
    );
    press(&mut window, "Take back the last vote");
    window.get_by_label_contains("1 of 10");
    press(&mut window, "Can’t tell");
    while window.state().lab.blind.votes().len() < 10 {
        if window.state().lab.blind.run().unwrap().shown().is_empty() {
            // The window's effects are not carried out here, so the texts come from a new test.
            let effects = window
                .state_mut()
                .apply(Command::Lab(LabCommand::Run(LabTab::Blind)));
            let sweep = effects.last().unwrap().clone();
            answer(window.state_mut(), &[sweep]);
        }
        key(&mut window, Modifiers::NONE, Key::Num2);
    }
    window.run_steps(3);
    let n_named = window.query_all_by_label_contains("% of the time").count();
    assert_eq!(n_named, blind_contestants(window.state()).len());
    press(&mut window, "Forget…");
    press(&mut window, "Forget all 10 votes");
    window.get_by_label_contains("0 of 10");
}

#[test]
fn escape_ends_the_test_and_keeps_the_votes() {
    let mut window = window();
    key(&mut window, Modifiers::NONE, Key::Num2);
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!window.state().lab.blind.is_running());
    window.get_by_label_contains("Two texts from one prompt");
    window.get_by_label_contains("1 of 10");
    window.get_by_label("Start the test");
}

#[test]
fn four_texts_are_shown_in_two_rows() {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    state.lab.tab = LabTab::Blind;
    state.lab.blind.n_shown = 4;
    let effects = state.apply(Command::Lab(LabCommand::Run(LabTab::Blind)));
    answer(&mut state, &effects);
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    let top = |window: &Window, text: &str| window.get_by_label_contains(text).rect().top();
    assert!(top(&window, "Text 1: ") < top(&window, "Text 3: "));
    key(&mut window, Modifiers::NONE, Key::Num4);
    assert_eq!(window.state().lab.blind.votes()[0].picked, Some(3));
}
