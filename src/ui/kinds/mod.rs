//! The kind of token that the stepper of the dock steps by: its chip and menu, and in Numbers where
//! the tokens of this kind are.

mod list;
mod menu;
mod strip;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use egui::text::{LayoutJob, TextWrapping};
use egui::{Color32, Galley, Rect, Ui, pos2};

use crate::design::fonts::Face;

pub(super) use list::kind_list_ui;
pub(super) use menu::{kind_chip_ui, step_button_name};

/// The space beside the text of a row, in points.
const INDENT: f32 = 6.0;

/// Lays text out on one line, cut with an ellipsis if it does not fit.
fn line(ui: &Ui, text: &str, face: Face, width: f32) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), face.font(), Color32::PLACEHOLDER);
    job.wrap = TextWrapping::truncate_at_width(width);
    ui.painter().layout_job(job)
}

/// Paints a line at the left of a cell.
fn put(ui: &Ui, galley: Arc<Galley>, cell: Rect, color: Color32) {
    let at = pos2(cell.left(), cell.center().y - galley.size().y / 2.0);
    ui.painter()
        .galley_with_override_text_color(at, galley, color);
}
