//! Tests of what the editor always shows, what it folds, and what Escape closes.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use super::ways::MORE;
use crate::decoding::{GrammarKind, GrammarRule};
use crate::state::tests::written;
use crate::state::{AppState, Command};
use crate::ui::testing::{Window, key, press, window_of};

fn editor_of(letter: &str, state: AppState) -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(2);
    press(&mut window, &format!("How {letter} chooses"));
    window
}

fn chain(window: &Window, place: usize) -> String {
    window.state().panes[place].settings.chain.to_string()
}

fn is_shown(window: &Window, name: &str) -> bool {
    window.query_all_by_label(name).next().is_some()
}

fn set_temperature(window: &mut Window, value: f64) {
    let number = window.get_by_role_and_label(Role::SpinButton, "Temperature");
    number.set_value_accesskit(value);
    window.run_steps(4);
}

#[test]
fn a_chain_without_a_temperature_shows_it_at_1_and_gets_it_when_it_is_changed() {
    let mut window = editor_of("B", written());
    assert!(window.state().panes[1].settings.chain.stages.is_empty());
    window.get_by_label("Leaves it as it is");
    assert!(!is_shown(&window, "Remove Temperature"));
    assert!(window.state().panes[1].settings.chain.stages.is_empty());
    assert_eq!(window.state().undo.undo_label(), None);
    set_temperature(&mut window, 0.6);
    assert_eq!(chain(&window, 1), "T 0.6");
    assert!(!is_shown(&window, "Leaves it as it is"));
    assert!(!is_shown(&window, "Remove Temperature"));
    set_temperature(&mut window, 1.0);
    window.get_by_label("Leaves it as it is");
    assert!(!is_shown(&window, "Next hint"));
    assert!(window.state().panes[1].lints().is_empty());
}

#[test]
fn a_stage_added_beside_the_shown_temperature_is_the_only_one_of_the_chain() {
    let mut window = editor_of("B", written());
    press(&mut window, "Add Top-k");
    assert_eq!(window.state().panes[1].settings.chain.stages.len(), 1);
    press(&mut window, "Solo Top-k");
    assert_eq!(window.state().panes[1].solo_stage(), Some(0));
    press(&mut window, "Mute Top-k");
    assert_eq!(window.state().panes[1].settings.chain.stages.len(), 1);
    press(&mut window, "Remove Top-k");
    assert!(window.state().panes[1].settings.chain.stages.is_empty());
}

#[test]
fn the_shown_temperature_can_be_moved() {
    let mut window = editor_of("B", written());
    press(&mut window, "Add Top-k");
    window.get_by_label("Move Temperature").focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::ArrowDown);
    let stages = &window.state().panes[1].settings.chain.stages;
    let names: Vec<&str> = stages.iter().map(|stage| stage.filter.name()).collect();
    assert_eq!(names, ["Top-k", "Temperature"]);
}

#[test]
fn under_greedy_the_temperature_says_that_it_has_no_effect() {
    let mut window = editor_of("A", written());
    let sentence = "No effect: the most likely token is taken";
    let sentence = window.get_by_label(sentence).rect();
    let below = window.get_by_label("Offer more stages").rect();
    assert!(sentence.bottom() <= below.top(), "{sentence:?} {below:?}");
    press(&mut window, "Draw: Greedy");
    press(&mut window, "Sample");
    window.get_by_label("Leaves it as it is");
}

#[test]
fn the_other_ways_to_write_are_folded_until_one_is_used() {
    let mut window = editor_of("B", written());
    assert!(!is_shown(&window, "Grammar: Off"));
    press(&mut window, MORE);
    for off in ["Guidance: Off", "Grammar: Off", "Drafts: Off"] {
        window.get_by_label(off);
    }
    press(&mut window, "Grammar: Off");
    press(&mut window, "Any JSON");
    let line = window.get_by_label(MORE).rect();
    let grammar = window.get_by_label("Grammar: Any JSON").rect();
    assert!(grammar.top() > line.bottom(), "no row moves");
    key(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, "How B chooses");
    let draw = window.get_by_label("Draw: Sample").rect();
    let grammar = window.get_by_label("Grammar: Any JSON").rect();
    assert!(grammar.bottom() < draw.top(), "it stands above the draw");
    assert!(!is_shown(&window, "Guidance: Off"));
    press(&mut window, MORE);
    window.get_by_label("Guidance: Off");
    assert_eq!(window.query_all_by_label("Grammar: Any JSON").count(), 1);
}

#[test]
fn the_ways_to_write_fit_every_window() {
    for size in [
        vec2(900.0, 600.0),
        vec2(1024.0, 700.0),
        vec2(1280.0, 800.0),
        vec2(1600.0, 900.0),
        vec2(1920.0, 1080.0),
    ] {
        let mut window = window_of(size, written());
        press(&mut window, "How D chooses");
        press(&mut window, MORE);
        window.run_steps(3);
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
        for name in ["Close the editor", MORE, "Drafts: Off"] {
            let rect = window.get_by_label(name).rect();
            assert!(screen.contains_rect(rect), "{name} at {rect} in {size}");
        }
    }
}

#[test]
fn escape_closes_the_presets_before_the_editor() {
    let mut window = editor_of("D", written());
    press(&mut window, "Presets");
    window.get_by_label("Your presets");
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!is_shown(&window, "Your presets"));
    window.get_by_label("Draw: Sample");
    press(&mut window, "More commands for the chain");
    press(&mut window, "Copy settings as");
    window.get_by_label("OpenAI JSON");
    for shown in ["Paste settings…", "Close the editor"] {
        key(&mut window, Modifiers::NONE, Key::Escape);
        window.run_steps(2);
        window.get_by_label(shown);
    }
    assert!(!is_shown(&window, "Paste settings…"));
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!is_shown(&window, "Close the editor"));
}

#[test]
fn the_order_is_named_only_if_it_is_not_quartets() {
    let mut window = editor_of("D", written());
    assert!(!is_shown(&window, "Order"));
    press(&mut window, "More commands for the chain");
    press(&mut window, "Order…");
    press(&mut window, "llama.cpp");
    window.get_by_label("Order");
}

#[test]
fn tab_leaves_the_text_of_a_grammar() {
    let mut state = written();
    let pane = state.panes[1].id;
    let mut chain = state.panes[1].settings.chain.clone();
    chain.grammar = Some(Arc::new(GrammarRule::new(GrammarKind::Regex, "[a-z]+")));
    state.apply(Command::SetChain(pane, chain));
    let mut window = editor_of("B", state);
    let role = Role::MultilineTextInput;
    window.get_by_role_and_label(role, "Grammar text").focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Tab);
    let field = window.get_by_role_and_label(role, "Grammar text");
    assert!(!field.is_focused());
    assert_eq!(field.value().as_deref(), Some("[a-z]+"));
}
