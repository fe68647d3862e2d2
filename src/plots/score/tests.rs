//! How the score responds to the pointer.

use egui::{Event, Modifiers, PointerButton, Pos2, RawInput, Rect, UiBuilder, pos2, vec2};

use super::{ScoreData, score_plot_ui};
use crate::design::style;
use crate::generation::Generation;
use crate::generation::testing::generation;
use crate::plots::{PlotResponse, StepAt, Target};
use crate::state::ScoreMeasure;

/// Runs one frame for each list of events. Returns the response of the last frame.
fn respond(panes: &[Option<&Generation>], events: &[Vec<Event>]) -> PlotResponse {
    let ctx = egui::Context::default();
    style::install(&ctx);
    let rect = Rect::from_min_size(Pos2::ZERO, vec2(600.0, 200.0));
    let mut response = PlotResponse::default();
    // Two idle frames, in which the plot measures its axis.
    for events in [&vec![], &vec![]].into_iter().chain(events) {
        let input = RawInput {
            screen_rect: Some(rect),
            events: events.clone(),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| {
            let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
            let data = ScoreData::of(panes, ScoreMeasure::Surprise);
            response = score_plot_ui(&mut inner, &data, Target::Screen);
        });
        output.textures_delta.clear();
    }
    response
}

const fn at(pane: usize, step: usize) -> StepAt {
    StepAt { pane, step }
}

/// Returns the point above a token. The axis shows 12 tokens from x = 26 to x = 588; the upper
/// staff ends at y = 102.
fn point(number: f32, y: f32) -> Pos2 {
    pos2(26.0 + (588.0 - 26.0) * (number - 0.25) / 12.5, y)
}

#[test]
fn hovering_returns_the_step_under_the_pointer() {
    let text = generation(&[(" fox", 0.1); 12]);
    let panes = [Some(&text), None, Some(&text)];
    let cases = [
        (point(1.0, 40.0), Some(at(0, 0))),
        (point(12.0, 40.0), Some(at(0, 11))),
        (point(12.4, 40.0), Some(at(0, 11))),
        (point(13.0, 40.0), None),
        (point(5.0, 100.0), None),
        (point(5.0, 160.0), Some(at(2, 4))),
        (pos2(10.0, 40.0), None),
    ];
    for (pointer, expected) in cases {
        let response = respond(&panes, &[vec![Event::PointerMoved(pointer)], vec![]]);
        assert_eq!(response.hovered, expected, "{pointer:?}");
        assert_eq!(response.clicked, None);
    }
}

const fn button(pos: Pos2, pressed: bool) -> Event {
    Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    }
}

#[test]
fn a_zoomed_plot_pans_no_further_than_its_tokens() {
    let text = generation(&[(" fox", 0.1); 50]);
    for (target, edge, step) in [(2000.0, 93.0, 0), (-2000.0, 521.0, 49)] {
        let middle = pos2(307.0, 40.0);
        let events = [
            vec![Event::PointerMoved(middle)],
            vec![Event::Zoom(8.0)],
            vec![],
            vec![button(middle, true)],
            vec![Event::PointerMoved(pos2(middle.x + target / 2.0, 40.0))],
            vec![Event::PointerMoved(pos2(middle.x + target, 40.0))],
            vec![button(pos2(middle.x + target, 40.0), false)],
            vec![Event::PointerMoved(pos2(edge, 40.0))],
            vec![],
        ];
        let response = respond(&[Some(&text)], &events);
        assert_eq!(response.hovered, Some(at(0, step)));
    }
}

#[test]
fn a_click_returns_the_step_to_pin() {
    let text = generation(&[(" fox", 0.1); 12]);
    let pointer = point(7.0, 40.0);
    let events = [
        vec![Event::PointerMoved(pointer)],
        vec![button(pointer, true)],
        vec![button(pointer, false)],
    ];
    let response = respond(&[Some(&text)], &events);
    assert_eq!(response.clicked, Some(at(0, 6)));
}

#[test]
fn thousands_of_tokens_merge_into_few_bars() {
    let text = generation(&vec![(" fox", 0.1); 2000]);
    let panes = [Some(&text); 4];
    let ctx = egui::Context::default();
    style::install(&ctx);
    let rect = Rect::from_min_size(Pos2::ZERO, vec2(600.0, 200.0));
    let mut n_shapes = 0;
    for _ in 0..3 {
        let input = RawInput {
            screen_rect: Some(rect),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| {
            score_plot_ui(
                ui,
                &ScoreData::of(&panes, ScoreMeasure::Surprise),
                Target::Screen,
            );
        });
        output.textures_delta.clear();
        n_shapes = output.shapes.len();
    }
    assert!((400..1600).contains(&n_shapes), "{n_shapes}");
}
