//! Editing a text in place, by keys and clicks in the window.

use std::sync::Arc;

use egui::{Event, Key, Modifiers, Pos2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::generation::testing::generation;
use crate::state::tests::{text, written};
use crate::state::{AppState, PaneStatus};
use crate::ui::testing::{Window, click_at, double_click_at, key, window_of};

const WORDS: [&str; 4] = ["שלום", " עולם", " שוב", " כאן"];

fn open(state: AppState) -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

/// A Hebrew text in A.
fn hebrew() -> AppState {
    let mut state = written();
    let words = WORDS.map(|word| (word, 0.5));
    let mut text = generation(&words);
    text.model = Arc::clone(&state.models.main.ready().unwrap().info);
    state.panes[0].status = PaneStatus::Finished(text);
    state
}

/// Moves the pointer there from elsewhere, so that no card is open, and clicks twice.
fn double_click(window: &mut Window, at: Pos2) {
    window.hover_at(Pos2::new(640.0, 20.0));
    window.run_steps(8);
    double_click_at(window, at);
}

/// Edits from this word on. Each is to the left of the one before.
fn edit_word(window: &mut Window, step: usize) {
    let rect = window.get_by_label_contains(WORDS[0]).rect();
    for column in 0..60 {
        key(window, Modifiers::NONE, Key::Escape);
        let at = rect.right_top() + vec2(-16.0 - 5.0 * column as f32, 14.0);
        double_click(window, at);
        let edit = window.state().branches.edit.as_ref();
        if edit.is_some_and(|edit| edit.from.step == step) {
            return;
        }
    }
    panic!("the word is not in view");
}

#[test]
fn a_double_click_on_a_hebrew_word_edits_from_that_word_on() {
    let mut window = open(hebrew());
    let pane = window.state().panes[0].id;
    let rect = window.get_by_label_contains(WORDS[0]).rect();
    let mut edited: Vec<(usize, f32)> = Vec::new();
    for column in 0..60 {
        let at = rect.right_top() + vec2(-16.0 - 5.0 * column as f32, 14.0);
        double_click(&mut window, at);
        let Some(edit) = window.state().branches.edit.clone() else {
            continue;
        };
        assert_eq!(edit.from.pane, pane);
        assert_eq!(edit.typed, WORDS[edit.from.step]);
        let field = window.get_by_label("Edit the text");
        assert!(field.accesskit_node().is_focused());
        // The field ends where the word begins, which is right of the pointer.
        assert!(
            field.rect().right() >= at.x - 1.0,
            "{:?} at {at}",
            field.rect()
        );
        if edited
            .last()
            .is_none_or(|(last, _)| *last != edit.from.step)
        {
            edited.push((edit.from.step, field.rect().right()));
        }
        key(&mut window, Modifiers::NONE, Key::Escape);
    }
    let steps: Vec<usize> = edited.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [0, 1, 2, 3], "from right to left");
    assert!(
        edited.is_sorted_by(|before, after| before.1 > after.1),
        "{edited:?}"
    );
}

#[test]
fn typed_hebrew_replaces_the_word_and_undo_brings_it_back() {
    let mut window = open(hebrew());
    let before = text(window.state(), 0);
    edit_word(&mut window, 1);
    window.event(Event::Text(WORDS[3].to_owned()));
    window.run_steps(2);
    // The caret is behind what was typed: more follows it.
    window.event(Event::Text(WORDS[2].to_owned()));
    window.run_steps(2);
    let typed = window.state().branches.edit.clone().unwrap().typed;
    assert_eq!(typed, [WORDS[3], WORDS[2]].concat());
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(window.state().is_running());
    assert_eq!(window.state().undo.undo_label(), Some("text of A"));
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert!(!window.state().is_running());
    assert_eq!(text(window.state(), 0), before);
}

#[test]
fn a_click_and_the_arrow_keys_put_the_caret_where_they_point() {
    let mut window = open(hebrew());
    edit_word(&mut window, 0);
    let field = window.get_by_label("Edit the text").rect();
    window.hover_at(field.right_top() + vec2(-1.0, 10.0));
    // Apart from the clicks before.
    window.run_steps(20);
    click_at(
        &mut window,
        field.right_top() + vec2(-1.0, 10.0),
        Modifiers::NONE,
    );
    assert_eq!(typed_after(&mut window, "א"), "אשלום");
    key(&mut window, Modifiers::NONE, Key::ArrowLeft);
    assert_eq!(typed_after(&mut window, "ב"), "אשבלום");
}

/// Types a letter. Returns what is in the field then.
fn typed_after(window: &mut Window, letter: &str) -> String {
    window.event(Event::Text(letter.to_owned()));
    window.run_steps(2);
    window.state().branches.edit.clone().unwrap().typed
}
