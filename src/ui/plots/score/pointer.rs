//! What the score answers to the pointer, and what a screen reader says of it.

use egui::{Role, WidgetInfo};
use egui_plot::PlotTransform;

use super::data::ScoreData;
use super::n_merged;
use crate::ui::plots::scale::count;
use crate::ui::plots::{PlotResponse, StepAt};
use crate::ui::widgets::letter;
use crate::ui::words::token_word;

/// Tells what is under the pointer, and gives it back.
pub(super) fn respond(
    data: &ScoreData<'_>,
    response: &egui::Response,
    transform: &PlotTransform,
) -> PlotResponse {
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, spoken(data)));
    let hovered = response
        .hover_pos()
        .and_then(|pointer| step_under(data, transform, pointer));
    if let Some(at) = hovered
        && let Some(step) = data.step(at)
    {
        let value = data.value_label(data.measure.value(step));
        let words = format!(
            "{} · token {} ‘{}’ · {value}",
            letter(at.pane),
            at.step + 1,
            token_word(&step.piece)
        );
        response.clone().on_hover_text_at_pointer(words);
    }
    PlotResponse {
        hovered,
        clicked: hovered.filter(|_| response.clicked()),
    }
}

/// The step of the lane under the pointer that stands nearest to it, if the lane has one there; where
/// several share a bar, the one that made it as tall as it is.
fn step_under(
    data: &ScoreData<'_>,
    transform: &PlotTransform,
    pointer: egui::Pos2,
) -> Option<StepAt> {
    let point = transform.value_from_position(pointer);
    let row = (data.lanes.len() as f64 - point.y).floor();
    let number = point.x.round();
    if row < 0.0 || number < 1.0 {
        return None;
    }
    let lane = data.lanes.get(count(row))?;
    let step = data.tallest(lane, count(number) - 1, n_merged(transform))?;
    let pane = lane.pane;
    Some(StepAt { pane, step })
}

/// What a screen reader says of the score.
fn spoken(data: &ScoreData<'_>) -> String {
    let [subtitle, _] = data.subtitles();
    let lanes = data
        .lanes
        .iter()
        .map(|lane| format!("{} {} tokens", letter(lane.pane), lane.steps.len()));
    format!(
        "The score, {subtitle}: {}",
        lanes.collect::<Vec<_>>().join(", ")
    )
}
