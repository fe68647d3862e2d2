//! A conversation as the user has it in the window, by keyboard and pointer.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::generation::ChatSupport;
use crate::state::tests::{answer_waiting, loaded_with, ready};
use crate::state::{AppState, PromptMode};
use crate::ui::testing::{Window, key, press, window_of};

fn chat_ready() -> AppState {
    let mut state = ready();
    state.on_event(loaded_with(ChatSupport::ready()));
    state.prompt.mode = PromptMode::Chat;
    state.prompt.text.clear();
    state
}

fn type_text(window: &mut Window, text: &str) {
    window.event(Event::Text(text.to_owned()));
    window.run_steps(2);
}

fn send(window: &mut Window, message: &str, words: &[&str]) {
    type_text(window, message);
    key(window, Modifiers::COMMAND, Key::Enter);
    answer_waiting(window.state_mut(), words);
    window.run_steps(3);
}

/// A window in which all panes have answered two messages, by keyboard alone.
fn conversation(size: egui::Vec2) -> Window {
    let mut window = window_of(size, chat_ready());
    window.run_steps(3);
    send(&mut window, "Hi", &[" Hello"]);
    send(&mut window, "Why?", &[" so", " then", " well", " hm"]);
    window
}

fn told(window: &Window, place: usize) -> Vec<(String, String)> {
    let latest = window.state().panes[place].latest().unwrap();
    let turns = latest.turns().into_iter();
    turns
        .map(|turn| (turn.prompt.text.clone(), turn.text()))
        .collect()
}

#[test]
fn the_reply_is_typed_where_the_prompt_was() {
    for size in [vec2(900.0, 600.0), vec2(1280.0, 800.0)] {
        let window = conversation(size);
        let field = window.get_by_role_and_label(Role::MultilineTextInput, "Reply");
        assert!(field.is_focused(), "{size}");
        assert_eq!(window.state().prompt.text, "");
        let expected = [("Hi", " Hello"), ("Why?", " so")];
        let expected = expected.map(|(message, answer)| (message.to_owned(), answer.to_owned()));
        assert_eq!(told(&window, 0), expected);
        window.get_by_label("Turn 1 of pane A");
        window.get_by_label("Turn 2 of pane A");
        assert!(!window.state().view.dock_open.unwrap_or(true), "{size}");
    }
}

#[test]
fn a_message_is_edited_in_its_place() {
    let mut window = conversation(vec2(1280.0, 800.0));
    let edits: Vec<_> = window.query_all_by_label("Edit the message").collect();
    edits[3].click();
    window.run_steps(4);
    let field = window.get_by_role_and_label(Role::MultilineTextInput, "Edit the message");
    assert!(field.is_focused());
    window.get_by_label("Only in B");
    key(&mut window, Modifiers::COMMAND, Key::A);
    type_text(&mut window, "Why not?");
    key(&mut window, Modifiers::NONE, Key::Enter);
    answer_waiting(window.state_mut(), &[" right"]);
    window.run_steps(3);
    assert_eq!(
        told(&window, 1)[1],
        ("Why not?".to_owned(), " right".to_owned())
    );
    assert_eq!(told(&window, 0)[1].0, "Why?");
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(told(&window, 1)[1], ("Why?".to_owned(), " then".to_owned()));
}

#[test]
fn an_edited_message_goes_to_all_panes_or_stays_as_it_was() {
    let mut window = conversation(vec2(1280.0, 800.0));
    let edit = |window: &mut Window| {
        let edits: Vec<_> = window.query_all_by_label("Edit the message").collect();
        edits[0].click();
        window.run_steps(4);
    };
    edit(&mut window);
    type_text(&mut window, "!");
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert_eq!(window.state().branches.message, None);
    assert_eq!(told(&window, 0).len(), 2);
    edit(&mut window);
    type_text(&mut window, "!");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    answer_waiting(window.state_mut(), &[" Hey"]);
    window.run_steps(3);
    for place in 0..4 {
        assert_eq!(
            told(&window, place),
            [("Hi!".to_owned(), " Hey".to_owned())]
        );
    }
}

#[test]
fn versions_are_shown_and_changed_in_the_head_of_their_turn() {
    let mut window = conversation(vec2(1280.0, 800.0));
    let again: Vec<_> = window.query_all_by_label("Answer again (R)").collect();
    // B draws, so another seed can give another answer.
    again[3].click();
    window.run_steps(2);
    answer_waiting(window.state_mut(), &[" because"]);
    window.run_steps(3);
    window.get_by_label("Turn 2 of pane B, seed 43, version 2 of 2");
    press(&mut window, "Show the version before");
    assert_eq!(told(&window, 1)[1].1, " then");
    press(&mut window, "Show the version after");
    assert_eq!(told(&window, 1)[1].1, " because");
}

#[test]
fn the_keys_choose_the_turn_that_the_dock_shows() {
    let mut window = conversation(vec2(1280.0, 800.0));
    key(&mut window, Modifiers::ALT, Key::ArrowUp);
    assert_eq!(window.state().panes.shown_turn(), Some(0));
    let shown = window.state().panes[0].generation().unwrap();
    assert_eq!(shown.text(), " Hello");
    window.get_by_label_contains("Turn 1: ");
    key(&mut window, Modifiers::ALT, Key::ArrowDown);
    assert_eq!(window.state().panes.shown_turn(), None);
}

#[test]
fn a_new_conversation_begins_with_a_key() {
    let mut window = conversation(vec2(1280.0, 800.0));
    key(&mut window, Modifiers::COMMAND, Key::N);
    let panes = &window.state().panes;
    assert!(panes.iter().all(|pane| pane.latest().is_none()));
    window.get_by_role_and_label(Role::MultilineTextInput, "Message");
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(told(&window, 3).len(), 2);
}
