//! Tests of folded and unfolded thoughts.

use egui::{Event, Modifiers, PointerButton, pos2, vec2};

use super::TOP;
use super::tests::Window;
use super::transcript::{ShownThought, Transcript};
use crate::generation::Generation;
use crate::generation::testing::generation;

fn thinking() -> Generation {
    generation(&[
        ("<think>", 0.9),
        (" hm", 0.4),
        ("\n", 0.4),
        ("</think>", 0.9),
        ("Yes", 0.4),
        (".", 0.4),
    ])
}

/// Returns the text with spaces where the line of a thought must not break.
fn spaced(transcript: &Transcript) -> String {
    transcript.text().replace('\u{A0}', " ")
}

fn shown(generation: &Generation, shown: ShownThought) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.sync(generation, shown);
    transcript
}

#[test]
fn a_folded_thought_is_one_line_and_its_tokens_are_hidden() {
    let text = thinking();
    let folded = shown(&text, ShownThought::Folded);
    let words = spaced(&folded);
    let (prompt, rest) = words.split_once("     ").unwrap();
    assert_eq!(prompt, "Once there was");
    assert!(rest.starts_with("Thought for 4 tokens · "), "{rest}");
    assert!(rest.ends_with(" s\nYes."), "{rest}");
    assert_eq!(folded.n_steps(), 6);
    for step in 0..4 {
        assert_eq!(folded.step_start(step), folded.step_start(3), "{step}");
    }
    let answer = folded.step_start(4).unwrap();
    assert_eq!(&folded.text()[answer..], "Yes.");
    let unfolded = shown(&text, ShownThought::Unfolded);
    assert!(spaced(&unfolded).ends_with(" s\n<think> hm\n</think>Yes."));
    let plain = shown(&text, ShownThought::AsText);
    assert_eq!(plain.text(), "Once there was<think> hm\n</think>Yes.");
}

#[test]
fn a_thought_folds_when_it_is_complete_and_then_only_grows() {
    let text = thinking();
    let mut transcript = Transcript::default();
    for n_steps in 0..=6 {
        let mut growing = text.clone();
        growing.steps = text.steps.range(..n_steps).cloned().collect();
        let restarted = transcript.sync(&growing, ShownThought::Folded);
        assert_eq!(restarted, [0, 4].contains(&n_steps), "{n_steps}");
    }
    let whole = shown(&text, ShownThought::Folded);
    assert_eq!(transcript.text(), whole.text());
    assert!(transcript.sync(&text, ShownThought::Unfolded));
    assert!(!transcript.sync(&text, ShownThought::Unfolded));
}

#[test]
fn a_text_without_a_thought_has_no_line() {
    let text = generation(&[(" a", 0.4), ("<think>", 0.4), ("</think>", 0.4)]);
    let folded = shown(&text, ShownThought::Folded);
    assert_eq!(folded.text(), "Once there was a<think></think>");
    assert!(folded.passage().is_none());
}

#[test]
fn a_click_on_the_line_unfolds_the_thought_and_a_pin_in_it_does_too() {
    let text = thinking();
    let mut window = Window::new(vec2(300.0, 400.0));
    window.show(&text, Vec::new());
    let height = |window: &Window| window.view.layout.height();
    let folded = height(&window);
    let line = window.view.transcript.thought_line().unwrap();
    let y = window.view.layout.row_of(line).unwrap();
    let at = pos2(60.0, TOP + y.center());
    let button = |pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let click = |window: &mut Window| {
        window.show(&text, vec![Event::PointerMoved(at)]);
        let response = window.show(&text, vec![button(true), button(false)]);
        assert_eq!(response.clicked, None, "no token was clicked");
        window.show(&text, Vec::new());
    };
    click(&mut window);
    assert!(!window.view.transcript.passage().unwrap().is_folded);
    assert!(height(&window) > folded);
    click(&mut window);
    assert!(window.view.transcript.passage().unwrap().is_folded);
    assert_eq!(window.view.shown_thought(Some(4)), ShownThought::Folded);
    assert_eq!(window.view.shown_thought(Some(1)), ShownThought::Unfolded);
}
