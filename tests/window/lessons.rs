//! A teacher's lesson, dropped on the window and taken with the keyboard alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use quartet::state::{AppState, LessonPhase, LessonRun};

use crate::window::{DEFAULT_SIZE, Window, is_ready, open, reciting, settings, wait};

/// A dropped file, as the operating system reports it.
#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("the window reads the file by its path".to_owned())
    }
}

/// Returns a lesson with an order, a match and a mark question about the settings of three panes.
fn lesson() -> String {
    include_str!("../../src/state/tests/kinds.toml")
        .replace("value = \"A.tokens\"", "value = \"A.top_k\"")
        .replace("value = \"B.tokens\"", "value = \"B.top_k\"")
        .replace("value = \"C.tokens\"", "value = \"C.top_k\"")
        .replace("any.tokens == 4", "any.top_k == 1")
        .replace("any.tokens == 3", "any.top_k == 3")
        .replace("any.tokens == 2", "any.top_k == 2")
}

fn drop_on(window: &mut Window, path: PathBuf) {
    let dropped = Arc::new(Dropped(path));
    window.input_mut().dropped_files.push(dropped);
    window.run_steps(2);
}

fn key(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(3);
}

fn keys(window: &mut Window, pressed: &[Key]) {
    for pressed in pressed {
        key(window, Modifiers::NONE, *pressed);
    }
}

fn phase(state: &AppState) -> Option<LessonPhase> {
    state.lessons.run().map(LessonRun::phase)
}

fn wait_for(window: &mut Window, part: LessonPhase) {
    wait(window, part.name(), |state| phase(state) == Some(part));
}

/// Focuses the last control with this name, because the card is drawn after the panes.
fn focus_last(window: &mut Window, name: &str) {
    window.get_all_by_label(name).last().unwrap().focus();
    window.run_steps(2);
}

#[test]
fn a_dropped_lesson_is_taken_with_the_keyboard_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, lesson()).unwrap();
    let mut window = open(settings(8), DEFAULT_SIZE, reciting);
    wait(&mut window, "the model", is_ready);
    drop_on(&mut window, path);
    wait_for(&mut window, LessonPhase::Predict);
    window.get_by_label("Put the panes in order.");

    keys(&mut window, &[Key::Num3, Key::Num2, Key::Num1, Key::Enter]);
    wait_for(&mut window, LessonPhase::Do);
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    wait_for(&mut window, LessonPhase::See);
    window.get_by_label_contains("All 3 pairs are in the right order");

    keys(&mut window, &[Key::Enter, Key::Enter]);
    wait_for(&mut window, LessonPhase::Predict);
    // A is the middle one, B the short one, C the long one.
    keys(&mut window, &[Key::Num3, Key::Num1, Key::Num2, Key::Enter]);
    wait_for(&mut window, LessonPhase::Do);
    window.get_by_label("Tint").focus();
    window.run_steps(2);
    keys(&mut window, &[Key::Enter]);
    window.get_by_label("Rank").focus();
    window.run_steps(2);
    keys(&mut window, &[Key::Enter]);
    wait_for(&mut window, LessonPhase::See);
    window.get_by_label_contains("All 3 are right");

    focus_last(&mut window, "Why");
    keys(&mut window, &[Key::Enter]);
    wait_for(&mut window, LessonPhase::Why);
    focus_last(&mut window, "Continue");
    keys(&mut window, &[Key::Enter]);
    wait_for(&mut window, LessonPhase::Predict);
    keys(&mut window, &[Key::ArrowRight, Key::ArrowLeft, Key::Enter]);
    wait_for(&mut window, LessonPhase::Do);
    key(&mut window, Modifiers::ALT, Key::Num2);
    wait_for(&mut window, LessonPhase::See);
    window.get_by_label_contains("Right: it is token 4.");
}

#[test]
fn dropping_a_broken_lesson_reports_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.toml");
    let source = lesson().replace("first = \"lowest\"", "first = \"least\"");
    std::fs::write(&path, source).unwrap();
    let mut window = open(settings(8), DEFAULT_SIZE, reciting);
    wait(&mut window, "the model", is_ready);
    let before = window.state().state().panes.clone();
    drop_on(&mut window, path);
    wait(&mut window, "the notice", |state| {
        let notice = state.notices.first();
        notice.is_some_and(|notice| notice.title == "broken.toml can’t be opened")
    });
    let state = window.state().state();
    let body = &state.notices[0].body;
    assert!(
        body.contains("Line ") && body.contains("use lowest or highest"),
        "{body}"
    );
    assert_eq!((phase(state), &state.panes), (None, &before));
}
