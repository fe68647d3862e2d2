//! Tests of the panes as a user operates them: letters, menus, keys and the marks in Compare.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Color32, Key, Modifiers, Shape, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::decoding::{GrammarKind, GrammarRule};
use crate::design::theme::Theme;
use crate::state::tests::{ready, written};
use crate::state::{AppState, Command, DockTab, PaneStatus, Pin};
use crate::ui::testing::{Window, key, press, window_of};

const SIZE: egui::Vec2 = vec2(1280.0, 800.0);

fn is_shown(window: &Window, name: &str) -> bool {
    window.query_all_by_label(name).next().is_some()
}

fn names(state: &AppState) -> Vec<String> {
    let panes = state.panes.iter();
    panes.map(|pane| pane.settings.name.clone()).collect()
}

fn pinned(state: &mut AppState, place: usize, step: usize) {
    let pane = state.panes[place].id;
    state.apply(Command::Pin(Pin { pane, step }));
}

fn pin(window: &Window) -> Option<(usize, usize)> {
    let state = window.state();
    let pin = state.pin?;
    Some((state.place_of(pin.pane)?, pin.step))
}

/// Returns the name of the pane's text, which is the text itself.
fn text(window: &Window, place: usize) -> String {
    let pane = &window.state().panes[place];
    let text = pane.generation().unwrap();
    text.prompt.text.clone() + &text.text()
}

/// Gives one of the texts the focus. Texts may be equal, so they are told apart by their place.
fn focus_text(window: &mut Window, place: usize) {
    let text = text(window, place);
    let mut nodes: Vec<_> = window.query_all_by_label(&text).collect();
    nodes.sort_by(|a, b| a.rect().left().total_cmp(&b.rect().left()));
    let equal = (0..place).filter(|other| self::text(window, *other) == text);
    nodes[equal.count()].focus();
    window.run_steps(3);
}

#[test]
fn a_branch_as_a_new_pane_is_the_last_and_leaves_letters_alone() {
    let mut state = written();
    pinned(&mut state, 1, 1);
    let before = names(&state);
    let mut window = window_of(SIZE, state);
    window.get_by_label("Unpin the token").focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::C);
    window.get_by_label("As new pane E");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    window.run_steps(3);
    let state = window.state();
    assert_eq!(names(state)[..4], before);
    assert_eq!(state.panes.len(), 5);
    assert!(matches!(state.panes[4].status, PaneStatus::Waiting { .. }));
    assert_eq!(state.pin.map(|pin| pin.pane), Some(state.panes[4].id));
    window.get_by_label("How E chooses");
}

#[test]
fn the_menu_of_a_pane_has_ten_entries() {
    let mut window = window_of(SIZE, written());
    press(&mut window, "More actions for pane D");
    let items: Vec<String> = window
        .query_all_by_role(Role::MenuItem)
        .map(|item| item.accesskit_node().label().unwrap_or_default())
        .collect();
    let expected = [
        "Run only this pane",
        "Model…",
        "A text of your own…",
        "Copy text",
        "Copy settings as",
        "Paste settings…",
        "Rename",
        "Duplicate as pane E",
        "Reset settings",
        "Remove",
    ];
    assert_eq!(items, expected);
    press(&mut window, "Copy settings as");
    window.get_by_label("llama.cpp flags");
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.run_steps(2);
    assert!(!is_shown(&window, "llama.cpp flags"));
    window.get_by_label("Remove");
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.run_steps(2);
    assert!(!is_shown(&window, "Remove"));
}

#[test]
fn a_pane_is_renamed_from_its_menu_and_with_a_key() {
    let mut window = window_of(SIZE, written());
    press(&mut window, "More actions for pane B");
    press(&mut window, "Rename");
    window.event(egui::Event::Text("Mine".to_owned()));
    window.run_steps(2);
    assert_eq!(window.state().panes[1].settings.name, "Mine");
    key(&mut window, Modifiers::NONE, Key::Escape);
    focus_text(&mut window, 2);
    key(&mut window, Modifiers::NONE, Key::F2);
    window.run_steps(2);
    window.event(egui::Event::Text("Yours".to_owned()));
    window.run_steps(2);
    assert_eq!(window.state().panes[2].settings.name, "Yours");
}

#[test]
fn a_text_of_your_own_can_be_tested_for_a_watermark() {
    let mut window = window_of(SIZE, written());
    press(&mut window, "More actions for pane A");
    press(&mut window, "A text of your own…");
    press(&mut window, "A human text");
    press(&mut window, "Test for a watermark…");
    let state = window.state();
    assert!(state.dialogs.score.is_none());
    let dialog = state.dialogs.watermark.as_ref().unwrap();
    assert!(dialog.text.starts_with("And after all"));
}

#[test]
fn an_empty_pane_takes_a_text_of_your_own_itself() {
    let mut window = window_of(SIZE, ready());
    press(&mut window, "More actions for pane B");
    press(&mut window, "A text of your own…");
    let dialog = window.state().dialogs.score.as_ref().unwrap();
    assert_eq!(dialog.target, crate::state::BranchTarget::InPlace);
}

#[test]
fn arrows_move_in_the_pane_whose_text_has_the_focus_and_take_it_along() {
    let mut state = written();
    pinned(&mut state, 0, 1);
    let mut window = window_of(SIZE, state);
    window.run_steps(2);
    focus_text(&mut window, 3);
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert_eq!(pin(&window), Some((3, 2)));
    key(&mut window, Modifiers::NONE, Key::ArrowUp);
    assert_eq!(pin(&window), Some((2, 2)));
    window.run_steps(3);
    key(&mut window, Modifiers::NONE, Key::ArrowLeft);
    assert_eq!(pin(&window), Some((2, 1)));
}

/// Returns a state in which the text of pane D was written under this grammar, and the others freely.
fn beside_grammar(regex: &str) -> AppState {
    let mut state = written();
    if let PaneStatus::Finished(text) = &mut state.panes[3].status {
        let rule = GrammarRule::new(GrammarKind::Regex, regex);
        text.config.chain.grammar = Some(Arc::new(rule));
    }
    state.review(|| true);
    state
}

/// Counts the outlines of this color.
fn n_outlines(window: &Window, color: Color32) -> usize {
    fn count(shape: &Shape, color: Color32) -> usize {
        match shape {
            Shape::Vec(shapes) => shapes.iter().map(|shape| count(shape, color)).sum(),
            Shape::Rect(rect) => usize::from(rect.stroke.color == color && rect.stroke.width > 0.0),
            _ => 0,
        }
    }
    let shapes = window.output().shapes.iter();
    shapes.map(|clipped| count(&clipped.shape, color)).sum()
}

#[test]
fn where_a_text_breaks_the_grammar_of_another_pane_is_marked_in_compare_on_request() {
    let state = beside_grammar(" in a cottage");
    let breaks = |place: usize| state.panes[place].breaks_other_grammar_at();
    assert_eq!([0, 1, 2, 3].map(breaks), [Some(2), None, None, None]);
    assert_eq!(state.panes[0].breaks_grammar_at(), None);
    let mut window = window_of(SIZE, state);
    window.run_steps(3);
    let theme = Theme::dark_or_light(true);
    assert_eq!(n_outlines(&window, theme.error), 0);
    assert_eq!(window.query_all_by_label_contains("Breaks").count(), 0);
    window.state_mut().view.dock_tab = DockTab::Compare;
    window.run_steps(3);
    assert!(!is_shown(&window, "at 3"));
    let n_before = n_outlines(&window, theme.stroke_3);
    press(&mut window, "Breaks the grammar of D");
    assert!(is_shown(&window, "at 3"));
    assert!(n_outlines(&window, theme.stroke_3) > n_before);
    assert_eq!(n_outlines(&window, theme.error), 0);
}

#[test]
fn where_a_text_breaks_its_own_grammar_is_marked_at_once() {
    let mut window = window_of(SIZE, beside_grammar("[0-9]+"));
    window.run_steps(3);
    assert!(n_outlines(&window, Theme::dark_or_light(true).error) > 0);
    let words = window.query_all_by_label_contains("Breaks").count();
    assert_eq!(words, 1);
    assert_eq!(window.state().panes[3].breaks_grammar_at(), Some(0));
}
