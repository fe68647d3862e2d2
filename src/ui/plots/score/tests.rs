//! What the score answers when it is pointed at.

use egui::{Event, Modifiers, PointerButton, Pos2, RawInput, Rect, UiBuilder, pos2, vec2};

use super::{ScoreData, score_plot_ui};
use crate::generation::Generation;
use crate::generation::testing::generation;
use crate::state::ScoreMeasure;
use crate::ui::plots::{PlotResponse, StepAt};
use crate::ui::style;

/// Runs the frames that these events need and gives the answer to the last of them.
fn answer(panes: &[Option<&Generation>], events: &[Vec<Event>]) -> PlotResponse {
    let ctx = egui::Context::default();
    style::install(&ctx);
    let rect = Rect::from_min_size(Pos2::ZERO, vec2(600.0, 200.0));
    let mut answer = PlotResponse::default();
    // Two frames at rest, in which the plot learns how much room its axis takes.
    for events in [&vec![], &vec![]].into_iter().chain(events) {
        let input = RawInput {
            screen_rect: Some(rect),
            events: events.clone(),
            ..RawInput::default()
        };
        let mut output = ctx.run_ui(input, |ui| {
            let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
            let data = ScoreData::of(panes, ScoreMeasure::Surprise);
            answer = score_plot_ui(&mut inner, &data);
        });
        output.textures_delta.clear();
    }
    answer
}

const fn at(pane: usize, step: usize) -> StepAt {
    StepAt { pane, step }
}

/// The axis holds 25 tokens between x = 26 and 588; the upper staff ends at y = 102.
fn place(number: f32, y: f32) -> Pos2 {
    pos2(26.0 + (588.0 - 26.0) * (number - 0.25) / 25.5, y)
}

#[test]
fn pointing_names_the_step_of_the_staff_under_the_pointer() {
    let written = generation(&[(" fox", 0.1); 12]);
    let panes = [Some(&written), None, Some(&written)];
    let cases = [
        (place(1.0, 40.0), Some(at(0, 0))),
        (place(12.0, 40.0), Some(at(0, 11))),
        (place(12.4, 40.0), Some(at(0, 11))),
        (place(13.0, 40.0), None),
        (place(5.0, 100.0), None),
        (place(5.0, 160.0), Some(at(2, 4))),
        (pos2(10.0, 40.0), None),
    ];
    for (pointer, expected) in cases {
        let answer = answer(&panes, &[vec![Event::PointerMoved(pointer)], vec![]]);
        assert_eq!(answer.hovered, expected, "{pointer:?}");
        assert_eq!(answer.clicked, None);
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
fn what_is_zoomed_into_is_dragged_as_far_as_there_are_tokens() {
    let written = generation(&[(" fox", 0.1); 50]);
    for (target, edge, step) in [(2000.0, 93.0, 0), (-2000.0, 521.0, 49)] {
        let middle = place(13.0, 40.0);
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
        let answer = answer(&[Some(&written)], &events);
        assert_eq!(answer.hovered, Some(at(0, step)));
    }
}

#[test]
fn a_click_asks_to_pin_the_step() {
    let written = generation(&[(" fox", 0.1); 12]);
    let pointer = place(7.0, 40.0);
    let events = [
        vec![Event::PointerMoved(pointer)],
        vec![button(pointer, true)],
        vec![button(pointer, false)],
    ];
    let answer = answer(&[Some(&written)], &events);
    assert_eq!(answer.clicked, Some(at(0, 6)));
}

#[test]
fn thousands_of_tokens_are_few_bars() {
    let written = generation(&vec![(" fox", 0.1); 2000]);
    let panes = [Some(&written); 4];
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
            score_plot_ui(ui, &ScoreData::of(&panes, ScoreMeasure::Surprise));
        });
        output.textures_delta.clear();
        n_shapes = output.shapes.len();
    }
    assert!((400..1600).contains(&n_shapes), "{n_shapes}");
}
