//! Tests of what follows the last token, and of a text that follows another one.

use egui::{Event, Pos2, RawInput, Rect, Shape, pos2, vec2};

use super::tests::{Window, input_of, long};
use super::{TOP, TextEnd, TokenTextInput};
use crate::generation::Generation;
use crate::generation::testing::generation;

/// Runs frames with this input and returns the texts that were painted.
fn painted(window: &mut Window, input: TokenTextInput<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    for _ in 0..3 {
        let raw = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, window.size)),
            ..RawInput::default()
        };
        let output = window.ctx.run_ui(raw, |ui| {
            window.view.ui(ui, input);
        });
        let shapes = output.shapes.iter();
        texts = shapes
            .filter_map(|clipped| match &clipped.shape {
                Shape::Text(text) => Some(text.galley.text().to_owned()),
                _ => None,
            })
            .collect();
        output.drop_without_applying_deltas();
    }
    texts
}

#[test]
fn a_slot_stands_where_the_user_decides_about_the_next_token() {
    let text = generation(&[(" fox", 0.5)]);
    let mut window = Window::new(vec2(400.0, 200.0));
    for (end, has_slot) in [
        (TextEnd::Plain, false),
        (TextEnd::Writing, false),
        (TextEnd::Paused, false),
        (TextEnd::Slot, true),
    ] {
        let input = TokenTextInput {
            end,
            ..input_of(&text)
        };
        let texts = painted(&mut window, input);
        assert_eq!(texts.iter().any(|text| text == "?"), has_slot, "{end:?}");
    }
}

#[test]
fn a_step_of_a_paused_text_is_scrolled_into_view() {
    fn paused(generation: &Generation) -> TokenTextInput<'_> {
        TokenTextInput {
            end: TextEnd::Paused,
            ..input_of(generation)
        }
    }
    let text = long();
    let mut before = text.clone();
    before.steps.pop();
    let mut window = Window::new(vec2(400.0, 120.0));
    painted(&mut window, paused(&before));
    assert!(window.view.viewport_top < 1.0);
    painted(&mut window, paused(&text));
    assert!(window.view.viewport_top > 120.0);
}

#[test]
fn a_slot_that_does_not_fit_on_the_line_is_below_it() {
    let text = long();
    let mut window = Window::new(vec2(300.0, 120.0));
    let mut n_below = 0;
    for width in 200..260 {
        window.size.x = width as f32;
        window.show(&text, Vec::new());
        let line_width = (window.size.x - 28.0).floor();
        let slot = window.view.slot(line_width).unwrap();
        assert!(slot.right() <= line_width && slot.left() >= 0.0, "{slot}");
        n_below += usize::from(slot.left() == 0.0);
    }
    assert!(n_below > 0, "some lines are full");
}

#[test]
fn a_text_follows_another_one_to_the_token_at_its_top() {
    let text = long();
    let (mut narrow, mut wide) = (
        Window::new(vec2(240.0, 120.0)),
        Window::new(vec2(400.0, 120.0)),
    );
    for window in [&mut narrow, &mut wide] {
        window.show(&text, vec![Event::PointerMoved(pos2(100.0, 60.0))]);
    }
    narrow.view.scroll_to(text.steps.len() / 2);
    let mut led = None;
    for _ in 0..12 {
        led = narrow.show(&text, Vec::new()).scrolled.or(led);
    }
    let top = led.expect("the pointer is on the text, which scrolled");
    wide.view.scroll_along(top);
    for _ in 0..3 {
        let response = wide.show(&text, Vec::new());
        assert_eq!(response.scrolled, None, "it only follows");
    }
    let row = wide.view.row_of(top.step.unwrap()).unwrap();
    let scrolled = wide.view.viewport_top - TOP;
    assert!((scrolled - row.min - top.offset).abs() < 1.0, "{scrolled}");
}
