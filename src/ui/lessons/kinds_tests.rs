//! Order, match and mark questions, by their accessible names and with the keyboard alone.

use egui::{Key, Modifiers, Rect, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::lessons::{Act, Lesson, Ring};
use crate::state::tests::lesson_kinds::{
    answer_well, begin_kinds, measure, miss_temperature, next_question, prepare_again, take_kinds,
};
use crate::state::tests::ready;
use crate::state::{AppState, Command, LessonCommand, LessonPhase, LessonRun, Tint};
use crate::ui::testing::{Window, key, press, window_of};

const SIZE: egui::Vec2 = vec2(1280.0, 800.0);

fn phase(window: &Window) -> Option<LessonPhase> {
    window.state().lessons.run().map(LessonRun::phase)
}

/// Opens a window at this step of the lesson that has every kind of question.
fn at_step(size: egui::Vec2, step: usize) -> Window {
    let mut window = window_of(size, ready());
    window.run_steps(3);
    let state = window.state_mut();
    begin_kinds(state);
    for _ in 0..step {
        answer_well(state);
        next_question(state);
    }
    window.run_steps(3);
    assert_eq!(phase(&window), Some(LessonPhase::Predict));
    window
}

fn digits(window: &mut Window, keys: &[Key]) {
    for digit in keys {
        key(window, Modifiers::NONE, *digit);
    }
}

/// Submits the prediction with Enter and does the task.
fn submit_and_solve(window: &mut Window) {
    key(window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(window), Some(LessonPhase::Do));
    let state: &mut AppState = window.state_mut();
    let effects = state.apply(Command::Lesson(LessonCommand::ShowMe));
    measure(state, &effects);
    for (id, n) in crate::state::tests::asked(&effects)
        .into_iter()
        .zip([3, 2, 4])
    {
        let pieces = [(" lived", 0.6), (" in", 0.9), (" a", 0.8), (" house", 0.4)];
        crate::state::tests::write(state, id, &pieces[..n]);
    }
    window.run_steps(3);
    assert_eq!(phase(window), Some(LessonPhase::See));
}

#[test]
fn an_order_is_given_with_the_keyboard_alone() {
    let mut window = at_step(SIZE, 0);
    digits(&mut window, &[Key::Num3, Key::Num1, Key::Num2]);
    window.get_by_label("Three, place 1");
    digits(
        &mut window,
        &[Key::Backspace, Key::Backspace, Key::Backspace],
    );
    window.get_by_label("Three, no place yet");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(
        phase(&window),
        Some(LessonPhase::Predict),
        "nothing was predicted"
    );
    digits(&mut window, &[Key::Num2, Key::Num1, Key::Num3]);
    submit_and_solve(&mut window);
    window.get_by_label_contains("All 3 pairs are in the right order");
    window.get_by_label("Two, place 1: 2");
}

#[test]
fn an_order_is_given_by_name() {
    let mut window = at_step(SIZE, 0);
    for name in ["One", "Two", "Three"] {
        press(&mut window, &format!("{name}, no place yet"));
    }
    press(&mut window, "One, place 1");
    let order = &window.state().lessons.run().unwrap().guess.order;
    assert_eq!(*order, [1, 2], "a second click removes it");
    press(&mut window, "One, no place yet");
    press(&mut window, "Sure");
    press(&mut window, "That’s my guess");
    assert_eq!(phase(&window), Some(LessonPhase::Do));
}

#[test]
fn all_pairs_are_matched_with_the_keyboard_alone() {
    let mut window = at_step(SIZE, 1);
    digits(&mut window, &[Key::Num1, Key::Num2, Key::Num3]);
    window.get_by_label("Pane A: the short one");
    digits(
        &mut window,
        &[Key::Backspace, Key::Backspace, Key::Backspace],
    );
    window.get_by_label("Pane A: not matched yet");
    digits(&mut window, &[Key::Num3, Key::Num1, Key::Num2]);
    window.get_by_label("Pane A: the middle one");
    window.get_by_label("2: the long one, pane C");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(phase(&window), Some(LessonPhase::Do));
    // The tint is edited in place; the card notices.
    window.state_mut().view.tint = Tint::Rank;
    window.run_steps(3);
    assert_eq!(phase(&window), Some(LessonPhase::See));
    window.get_by_label_contains("All 3 are right");
}

#[test]
fn pairs_are_matched_by_name_in_any_order() {
    let mut window = at_step(SIZE, 1);
    press(&mut window, "Pane C: not matched yet");
    press(&mut window, "2: the long one");
    window.get_by_label("Pane C: the long one");
    press(&mut window, "1: the short one");
    window.get_by_label("Pane A: the short one");
    // An option matched with another pane can be taken from it.
    press(&mut window, "Pane B: not matched yet");
    press(&mut window, "1: the short one, pane A");
    window.get_by_label("Pane A: not matched yet");
    window.get_by_label("Pane B: the short one");
}

#[test]
fn a_line_can_be_dragged_from_a_pane_to_an_option() {
    let mut window = at_step(SIZE, 1);
    let from = window
        .get_by_label("Pane B: not matched yet")
        .rect()
        .center();
    let to = window.get_by_label("3: the middle one").rect().center();
    window.hover_at(from);
    window.run_steps(1);
    window.drag_at(from);
    window.run_steps(1);
    for share in [0.3, 0.7, 1.0] {
        window.hover_at(from + (to - from) * share);
        window.run_steps(1);
    }
    window.drop_at(to);
    window.run_steps(3);
    window.get_by_label("Pane B: the middle one");
}

#[test]
fn a_token_is_marked_with_the_keyboard_alone() {
    let mut window = at_step(SIZE, 2);
    let scale = window.get_by_label("Marked token");
    assert!(scale.is_focused(), "the scale has the focus at once");
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(
        phase(&window),
        Some(LessonPhase::Predict),
        "nothing was predicted"
    );
    // The mark starts at the last token written.
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    window.get_by_label("token 4, not written yet");
    key(&mut window, Modifiers::NONE, Key::ArrowLeft);
    window.get_by_label("token 3, ‘a’");
    submit_and_solve(&mut window);
    window.get_by_label_contains("Right: it is token 3.");
}

#[test]
fn curves_keep_their_names_until_the_answer_is_seen() {
    let mut window = at_step(SIZE, 3);
    window.get_by_label_contains("One: 6.00 ms at 20 tokens");
    assert!(
        window
            .query_by_label_contains("without the cache: ")
            .is_none()
    );
    key(&mut window, Modifiers::NONE, Key::Num1);
    submit_and_solve(&mut window);
    window.get_by_label_contains("without the cache: 6.00 ms at 20 tokens");
}

#[test]
fn a_repeated_question_says_which_lesson_it_is_from() {
    let mut state = ready();
    miss_temperature(&mut state);
    take_kinds(&mut state);
    prepare_again(&mut state);
    let mut window = window_of(SIZE, state);
    window.run_steps(4);
    window.get_by_label("You missed this in ‘What does temperature do?’; try again.");
    window.get_by_label("Asked again: Predict");
    press(&mut window, "Not now");
    assert_eq!(phase(&window), Some(LessonPhase::Ending));
}

#[test]
fn every_question_fits_every_window() {
    for size in [vec2(1024.0, 700.0), SIZE, vec2(1920.0, 1080.0)] {
        for (step, name) in [
            "Three, no place yet",
            "3: the middle one",
            "Marked token",
            "2: Two",
        ]
        .into_iter()
        .enumerate()
        {
            let window = at_step(size, step);
            let rect = window.get_by_label(name).rect();
            let foot = window.get_by_label("That’s my guess").rect();
            let screen = Rect::from_min_size(egui::Pos2::ZERO, size);
            assert!(screen.contains_rect(rect), "{name} at {rect:?} in {size:?}");
            assert!(
                rect.bottom() <= foot.top(),
                "{name} under the button in {size:?}"
            );
        }
    }
}

#[test]
fn every_control_can_have_a_ring() {
    let source = include_str!("../../state/tests/kinds.toml");
    for (name, ring, acts) in [
        ("tokens", Ring::Tokens, vec![]),
        ("seed", Ring::Seed, vec![]),
        ("stop", Ring::Stop, vec![]),
        ("pace", Ring::Pace, vec![]),
        ("pace", Ring::Pace, vec![Act::StepMode]),
        ("tint", Ring::Tint, vec![]),
        ("generate", Ring::Generate, vec![]),
        ("prompt", Ring::Prompt, vec![]),
    ] {
        let mine = source.replacen("ring = \"generate\"", &format!("ring = \"{name}\""), 1);
        let mut lesson = Lesson::from_toml(&mine).unwrap();
        assert_eq!(lesson.steps[0].ring, Some(ring), "{name}");
        lesson.setup.acts.extend(acts);
        let rings = |lesson: Lesson| {
            let mut state = ready();
            state.lessons.list.push(std::sync::Arc::new(lesson));
            let index = state.lessons.list.len() - 1;
            state.apply(Command::Lesson(LessonCommand::Start(index)));
            let prompt = state.prompt.text.clone();
            state.on_event(crate::state::tests::tokenized(prompt, 2));
            let run = state.lessons.run_mut().unwrap();
            assert_eq!(run.ring(), None, "the question comes first");
            run.guess.order = vec![0, 1, 2];
            state.apply(Command::Lesson(LessonCommand::Next));
            let mut window = window_of(SIZE, state);
            window.run_steps(4);
            n_rings(&window)
        };
        let mut bare = lesson.clone();
        bare.steps[0].ring = None;
        assert_eq!(rings(lesson), rings(bare) + 1, "{name}");
    }
}

/// Counts the rings in the last frame, which it recognizes by their stroke.
fn n_rings(window: &Window) -> usize {
    let focus = crate::design::theme::Theme::dark_or_light(true).focus;
    let shapes = window.output().shapes.iter();
    let is_ring = |shape: &&egui::epaint::ClippedShape| match &shape.shape {
        egui::Shape::Rect(rect) => {
            rect.stroke.color == focus
                && (rect.stroke.width - 2.0).abs() < 1e-6
                && rect.stroke_kind == egui::StrokeKind::Outside
        }
        _ => false,
    };
    shapes.filter(is_ring).count()
}
