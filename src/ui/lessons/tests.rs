//! Tests of the Lessons page and the card, by their accessible names and with the keyboard alone.

use egui::{Key, Modifiers, Rect, pos2, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::state::tests::lessons::{begin, begin_loop, temperature, write_all};
use crate::state::tests::ready;
use crate::state::{AppState, Command, LessonCommand, LessonPhase, LessonRun, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

const SIZE: egui::Vec2 = vec2(1280.0, 800.0);

fn phase(window: &Window) -> Option<LessonPhase> {
    window.state().lessons.run().map(LessonRun::phase)
}

fn on_page() -> AppState {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lessons)));
    state
}

fn in_lesson() -> AppState {
    let mut state = ready();
    begin(&mut state);
    state
}

/// Does the step's task, in place of the learner and the engine.
fn solve(window: &mut Window) {
    let state = window.state_mut();
    let effects = state.apply(Command::Lesson(LessonCommand::ShowMe));
    write_all(state, &effects);
    window.run_steps(3);
}

#[test]
fn a_lesson_is_found_and_started_with_the_keyboard() {
    let mut window = window_of(SIZE, ready());
    key(&mut window, Modifiers::COMMAND, Key::Num4);
    assert_eq!(window.state().page, Page::Lessons);
    let last = window.state().lessons.list.len() - 1;
    for _ in 0..=last {
        key(&mut window, Modifiers::NONE, Key::ArrowDown);
    }
    assert_eq!(window.state().lessons.selected, last);
    for _ in 0..=last {
        key(&mut window, Modifiers::NONE, Key::ArrowUp);
    }
    let index = temperature(window.state());
    for _ in 0..index {
        key(&mut window, Modifiers::NONE, Key::ArrowDown);
    }
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Preparing));
    assert_eq!(window.state().page, Page::Write);
}

#[test]
fn every_lesson_has_a_row_with_its_title() {
    let window = window_of(vec2(1280.0, 1600.0), on_page());
    for lesson in &window.state().lessons.list {
        window.get_by_label_contains(&lesson.title);
    }
}

#[test]
fn a_step_is_done_with_the_keyboard_alone() {
    let mut window = window_of(SIZE, in_lesson());
    window.run_steps(3);
    let slider = window.get_by_label_contains("Guess for ‘");
    assert!(slider.is_focused(), "the bar has the focus at once");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(
        phase(&window),
        Some(LessonPhase::Predict),
        "nothing was predicted"
    );
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    key(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    let guess = window.state().lessons.run().unwrap().guess.prob;
    assert_eq!(guess, Some(0.61));
    window.get_by_label_contains("opens once you have guessed");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Do));
    solve(&mut window);
    assert_eq!(phase(&window), Some(LessonPhase::See));
    window.get_by_label_contains("You said 61 %; it is");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Why));
}

#[test]
fn enter_goes_on_whatever_has_the_focus_except_in_a_text_field() {
    let mut window = window_of(SIZE, in_lesson());
    window.run_steps(3);
    window.state_mut().lessons.run_mut().unwrap().guess.say(0.5);
    window.run_steps(2);
    let prompt = egui::accesskit::Role::MultilineTextInput;
    window.get_by_role(prompt).focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Predict), "a text field");
    window.get_by_label("Tint").focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Do));
    let is_open = egui::Popup::is_any_open(&window.ctx);
    assert!(!is_open, "the menu was not opened");
    solve(&mut window);
    assert_eq!(phase(&window), Some(LessonPhase::See));
    // The focus is on a pane's text, where the task may have put it.
    let pane = &window.state().panes[0];
    let text = pane.generation().unwrap();
    let words = text.prompt.text.clone() + &text.text();
    window.query_all_by_label(&words).next().unwrap().focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Why));
    window.get_by_label("Leave the lesson").focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert!(phase(&window).is_some(), "the lesson goes on");
}

#[test]
fn a_digit_chooses_an_option_in_step_mode_and_beside_a_text_field() {
    let mut window = window_of(SIZE, ready());
    window.run_steps(3);
    begin_loop(window.state_mut());
    window.run_steps(3);
    assert!(window.state().is_step_mode());
    let prompt = window.state().prompt.text.clone();
    key(&mut window, Modifiers::NONE, Key::Num2);
    let state = window.state();
    assert_eq!(state.lessons.run().unwrap().guess.option, Some(1));
    assert_eq!(state.prompt.text, prompt);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Do));
}

#[test]
fn a_step_is_done_by_name() {
    let mut window = window_of(SIZE, in_lesson());
    window.run_steps(3);
    window.get_by_label_contains("Step 1 of");
    press(&mut window, "That’s my guess");
    assert_eq!(phase(&window), Some(LessonPhase::Predict), "it is disabled");
    window.state_mut().lessons.run_mut().unwrap().guess.say(0.5);
    window.run_steps(2);
    press(&mut window, "That’s my guess");
    assert_eq!(phase(&window), Some(LessonPhase::Do));
    window.get_by_label("Show me");
    solve(&mut window);
    press(&mut window, "Why");
    press(&mut window, "Read on");
    assert!(window.state().lessons.run().unwrap().reads_on);
    press(&mut window, "Back");
    assert_eq!(phase(&window), Some(LessonPhase::See));
    press(&mut window, "Leave the lesson");
    assert_eq!(phase(&window), None);
}

#[test]
fn escape_leaves_the_lesson_and_keeps_the_place() {
    let mut window = window_of(SIZE, in_lesson());
    window.run_steps(3);
    for _ in 0..3 {
        key(&mut window, Modifiers::NONE, Key::Escape);
    }
    assert_eq!(phase(&window), None);
    assert_eq!(window.state().panes.len(), 4);
}

#[test]
fn the_card_fits_every_window() {
    for size in [vec2(1024.0, 700.0), SIZE, vec2(1920.0, 1080.0)] {
        let mut window = window_of(size, in_lesson());
        window.run_steps(3);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), size);
        for name in [
            "That’s my guess",
            "Leave the lesson",
            "Generate",
            "How B chooses",
        ] {
            let rect = window.get_by_label(name).rect();
            assert!(screen.contains_rect(rect), "{name} at {rect:?} in {size:?}");
        }
        let card = window.get_by_label("Leave the lesson").rect().left();
        let pane = window
            .get_by_label("More actions for pane B")
            .rect()
            .right();
        assert!(pane < card, "the card covers pane B in {size:?}");
    }
}
