//! The score's response to the pointer, and its description for a screen reader.

use egui::{Role, WidgetInfo};
use egui_plot::PlotTransform;

use super::data::ScoreData;
use super::n_merged;
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::token_word;
use crate::plots::scale::count;
use crate::plots::{PlotResponse, StepAt};

/// Shows a tooltip for the step under the pointer. Returns the hovered and the clicked step.
pub(super) fn hover_ui(
    data: &ScoreData<'_>,
    response: &egui::Response,
    transform: &PlotTransform,
) -> PlotResponse {
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, describe(data)));
    let hovered = response
        .hover_pos()
        .and_then(|pointer| step_under(data, transform, pointer));
    if let Some(at) = hovered
        && let Some(step) = data.step(at)
    {
        let value = data.step_label(step);
        let tooltip = format!(
            "{} · token {} ‘{}’ · {value}",
            pane_letter(at.pane),
            at.step + 1,
            token_word(&step.piece)
        );
        response.clone().on_hover_text_at_pointer(tooltip);
    }
    PlotResponse {
        hovered,
        clicked: hovered.filter(|_| response.clicked()),
    }
}

/// Returns the step of the lane and token under the pointer, if there is one. If several steps
/// share a bar, returns the highest.
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

/// Describes the score for a screen reader.
fn describe(data: &ScoreData<'_>) -> String {
    let [subtitle, _] = data.subtitles();
    let lanes = data
        .lanes
        .iter()
        .map(|lane| format!("{} {} tokens", pane_letter(lane.pane), lane.n_steps()));
    format!(
        "{}, {subtitle}: {}",
        data.measure.name(),
        lanes.collect::<Vec<_>>().join(", ")
    )
}
