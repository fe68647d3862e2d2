//! Tests of what all tabs of the Lab page share.

use egui::{Key, Modifiers, Role, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::state::Command;
use crate::state::tests::{ready, written};
use crate::state::{AppState, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

/// A window with the Lab page of a state.
fn lab(mut state: AppState) -> Window {
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

#[test]
fn each_tab_says_in_its_empty_picture_what_will_come() {
    let mut window = lab(written());
    for (tab, words) in [
        ("Sweep", "One cell for each pair, 8 texts in each."),
        ("Prompts", "One row per task, one cell per setting"),
        ("Blind test", "Two texts from one prompt, without names."),
        ("Influence", "One row for each part of the text"),
        ("Fit", "How likely the text is under each pair of settings"),
        ("Cache", "Each point will be one token"),
        ("Two models", "Both models will read the same text."),
        ("By hand", "Each draw uses the next coin"),
    ] {
        window.get_by_role_and_label(Role::Tab, tab).click();
        window.run_steps(3);
        window.get_by_label_contains(words);
    }
}

#[test]
fn the_stability_map_is_empty_only_without_a_text() {
    let mut window = lab(ready());
    press(&mut window, "Stability");
    window.get_by_label_contains("Generate a text first. The map shows");
}

#[test]
fn the_empty_sweep_follows_its_setup() {
    let mut window = lab(ready());
    let marks = "B and D mark your panes’ settings.";
    window.get_by_label_contains(marks);
    press(&mut window, "Vary one number only");
    window.get_by_label_contains("One point for each value, 8 texts in each.");
    assert!(window.query_by_label_contains(marks).is_none());
}

#[test]
fn a_run_that_waits_says_for_what() {
    let mut window = lab(ready());
    press(&mut window, "Run the sweep");
    press(&mut window, "Cache");
    press(&mut window, "Measure");
    window.get_by_label("Waiting for Sweep to finish");
}

#[test]
fn the_generate_key_draws_by_hand() {
    let mut window = lab(ready());
    press(&mut window, "By hand");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    window.get_by_label("1,000 draws");
}
