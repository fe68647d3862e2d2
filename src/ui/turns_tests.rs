//! A conversation as the user has it in the window, by keyboard and pointer.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

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
    window.run_steps(2);
    let panes = &window.state().panes;
    assert!(panes.iter().all(|pane| pane.latest().is_none()));
    let message = window.get_by_role_and_label(Role::MultilineTextInput, "Message");
    assert!(message.is_focused());
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(told(&window, 3).len(), 2);
}

/// The name of what has the focus.
fn focused(window: &Window) -> Option<String> {
    let found = window.query_all_by(|node| node.is_focused() && !node.is_hidden());
    let node = found.last()?.accesskit_node();
    node.label().or_else(|| node.value())
}

/// Presses Shift+Tab until what has this name has the focus.
fn tab_back_to(window: &mut Window, name: &str) {
    for _ in 0..8 {
        key(window, Modifiers::SHIFT, Key::Tab);
        window.run_steps(4);
        if focused(window).as_deref() == Some(name) {
            return;
        }
    }
    panic!("{name} is out of reach: {:?}", focused(window));
}

/// A conversation in which A's text has the focus.
fn with_focus(size: egui::Vec2) -> Window {
    let mut window = conversation(size);
    key(&mut window, Modifiers::NONE, Key::F6);
    window.run_steps(3);
    assert!(answer_has_focus(&window, " so"));
    window
}

fn answer_has_focus(window: &Window, answer: &str) -> bool {
    focused(window).is_some_and(|name| name.trim() == answer.trim())
}

#[test]
fn the_focus_returns_to_the_answer_after_an_edit_by_keyboard() {
    for size in [vec2(900.0, 600.0), vec2(1280.0, 800.0)] {
        let mut window = with_focus(size);
        tab_back_to(&mut window, "Edit the message");
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.get_by_label("Only in A");
        key(&mut window, Modifiers::NONE, Key::Escape);
        window.run_steps(3);
        assert!(answer_has_focus(&window, " so"), "{:?}", focused(&window));

        tab_back_to(&mut window, "Edit the message");
        key(&mut window, Modifiers::NONE, Key::Enter);
        type_text(&mut window, "!");
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(3);
        assert_eq!(focused(&window), None, "nothing is answered yet");
        answer_waiting(window.state_mut(), &[" right"]);
        window.run_steps(4);
        assert!(
            answer_has_focus(&window, " right"),
            "{:?}",
            focused(&window)
        );
    }
}

#[test]
fn an_answer_does_not_take_the_focus_from_a_field() {
    let mut window = with_focus(vec2(1280.0, 800.0));
    tab_back_to(&mut window, "Answer again (R)");
    key(&mut window, Modifiers::NONE, Key::Enter);
    window.run_steps(3);
    window
        .get_by_role_and_label(Role::MultilineTextInput, "Reply")
        .focus();
    window.run_steps(3);
    answer_waiting(window.state_mut(), &[" again"]);
    window.run_steps(4);
    let field = window.get_by_role_and_label(Role::MultilineTextInput, "Reply");
    assert!(field.is_focused());
}

#[test]
fn the_focus_stays_between_the_versions() {
    let mut window = with_focus(vec2(1280.0, 800.0));
    key(&mut window, Modifiers::NONE, Key::F6);
    window.run_steps(3);
    tab_back_to(&mut window, "Answer again (R)");
    key(&mut window, Modifiers::NONE, Key::Enter);
    answer_waiting(window.state_mut(), &[" because"]);
    window.run_steps(4);
    window.get_by_label("Turn 2 of pane B, seed 43, version 2 of 2");
    tab_back_to(&mut window, "Show the version before");
    for (shown, back) in [
        (" then", "Show the version after"),
        (" because", "Show the version before"),
    ] {
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(3);
        assert_eq!(told(&window, 1)[1].1, shown);
        assert_eq!(focused(&window).as_deref(), Some(back));
    }
}

#[test]
fn what_has_the_focus_is_in_view() {
    let mut window = window_of(vec2(900.0, 600.0), chat_ready());
    window.run_steps(3);
    for message in ["One", "Two", "Three", "Four", "Five", "Six"] {
        send(&mut window, message, &[" yes"]);
    }
    key(&mut window, Modifiers::NONE, Key::F6);
    window.run_steps(3);
    let pane = window.get_by_label("Name of pane C").rect().top();
    let mut reached = Vec::new();
    for _ in 0..23 {
        key(&mut window, Modifiers::SHIFT, Key::Tab);
        window.run_steps(6);
        let found = window.query_all_by(|node| node.is_focused() && !node.is_hidden());
        reached.extend(found.last().map(|node| {
            let name = node.accesskit_node().label().unwrap_or_default();
            (name, node.rect())
        }));
    }
    let buttons = reached
        .iter()
        .filter(|(name, _)| name == "Edit the message");
    let buttons: Vec<_> = buttons.collect();
    assert_eq!(buttons.len(), 6, "{reached:?}");
    for (_, rect) in buttons {
        assert!(rect.top() > 170.0 && rect.bottom() < pane, "{rect:?}");
    }
}

#[test]
fn arrow_keys_in_the_answer_of_another_turn_show_that_turn() {
    let mut window = with_focus(vec2(1280.0, 800.0));
    for _ in 0..4 {
        key(&mut window, Modifiers::SHIFT, Key::Tab);
        window.run_steps(3);
    }
    assert!(
        answer_has_focus(&window, " Hello"),
        "{:?}",
        focused(&window)
    );
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    window.run_steps(3);
    assert_eq!(window.state().panes.shown_turn(), Some(0));
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    let pin = window.state().pin.unwrap();
    assert_eq!((pin.pane, pin.step), (window.state().panes[0].id, 0));
}

#[test]
fn the_focus_returns_to_the_answer_when_the_popup_that_branches_closes() {
    let mut window = with_focus(vec2(1280.0, 800.0));
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    for end in [Key::Escape, Key::Enter] {
        key(&mut window, Modifiers::NONE, Key::C);
        window.run_steps(3);
        assert!(window.state().branches.dialog.is_some());
        key(&mut window, Modifiers::NONE, end);
        window.run_steps(4);
        assert!(window.state().branches.dialog.is_none());
        assert_eq!(window.state().is_running(), end == Key::Enter);
        let name = focused(&window).unwrap_or_default();
        assert!(!name.is_empty() && name != "Reply", "after {end:?}");
    }
}

#[test]
fn an_answer_has_the_whole_of_a_low_pane() {
    let mut window = window_of(vec2(900.0, 600.0), chat_ready());
    window.run_steps(3);
    let lines = [" one\ntwo\nthree\nfour\nfive\nsix"];
    send(&mut window, "Hi", &lines);
    send(&mut window, "Why?", &lines);
    window.run_steps(3);
    let head = window.get_by_label("Turn 2 of pane A").rect();
    let name = window.get_by_label("How A chooses").rect();
    // Nothing is left of the turn above.
    assert!(head.top() < name.bottom() + 16.0, "{head:?} {name:?}");
}

#[test]
fn turns_far_out_of_view_are_not_drawn() {
    let mut window = window_of(vec2(900.0, 600.0), chat_ready());
    window.run_steps(3);
    for index in 0..12 {
        send(&mut window, &format!("Message {index}"), &[" yes"]);
    }
    window.run_steps(3);
    let is_drawn = |window: &Window, turn: usize| {
        let name = format!("Turn {turn} of pane A");
        window.query_by_label(&name).is_some()
    };
    let drawn: Vec<usize> = (1..=12).filter(|turn| is_drawn(&window, *turn)).collect();
    assert!(
        (2..8).contains(&drawn.len()) && drawn.contains(&12),
        "{drawn:?}"
    );
    // A turn that the views show comes into view.
    for _ in 0..11 {
        key(&mut window, Modifiers::ALT, Key::ArrowUp);
    }
    window.run_steps(4);
    assert_eq!(window.state().panes.shown_turn(), Some(0));
    let first = window.get_by_label("Turn 1 of pane A").rect();
    let body = window.get_by_label("How A chooses").rect().bottom();
    assert!(
        first.top() >= body - 1.0 && first.bottom() < body + 100.0,
        "{first:?}"
    );
    assert!(!is_drawn(&window, 8) && is_drawn(&window, 12));
}
