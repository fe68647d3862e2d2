//! What the tab shows before the first measurement: the text without tints, and rows without numbers.

use egui::{Align2, Rect, Ui, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::lab::frame::{Columns, empty};
use crate::lab::influence::plot::ROW;
use crate::plots::{TextRun, paint_text_within};
use crate::state::AppState;

const ABOUT: &str =
    "One row for each part of the text: how far the model’s choice moves without it.";

/// The height of the title, and of the text at most.
const TITLE: f32 = 26.0;
const TEXT: f32 = 96.0;

/// The height of the bar that stands for a part, and of the outlined one beside it.
const BAR: f32 = 7.0;
const BITS: f32 = 12.0;

/// Draws both columns.
pub(super) fn empty_ui(ui: &mut Ui, columns: Columns, state: &AppState) {
    empty::texts_ui(ui, columns.right, "What the numbers show, in words");
    let theme = Theme::of(ui);
    let area = columns.middle;
    let run = TextRun::new(
        "How far the distribution moves without it",
        Face::SmallMedium,
        theme.text_1,
    );
    let at = pos2(area.left(), area.top() + 9.0);
    paint_text_within(ui, at, Align2::LEFT_CENTER, run, area.width());
    let (text, rows) = area
        .with_min_y(area.top() + TITLE)
        .split_top_bottom_at_y(area.top() + TITLE + TEXT);
    empty::text_ui(ui, text, &state.prompt.text, Face::Prompt);
    rows_ui(ui, rows);
    empty::about_ui(ui, rows, ABOUT);
}

/// Draws a bar for each part, and the outline of its bits.
fn rows_ui(ui: &Ui, area: Rect) {
    let color = Theme::of(ui).stroke_1;
    let mut top = area.top();
    let mut row = 0;
    while top + ROW <= area.bottom() {
        let middle = top + ROW / 2.0;
        // Widths that look like those of words.
        let width = 34.0 + ((row * 37) % 52) as f32;
        let right = area.left() + 96.0;
        let part = Rect::from_min_size(pos2(right - width, middle - BAR / 2.0), vec2(width, BAR));
        ui.painter().rect_filled(part, 3, color);
        let room = (area.width() - 120.0) * 0.7;
        let bits = Rect::from_min_size(pos2(right + 14.0, middle - BITS / 2.0), vec2(room, BITS));
        empty::outline(ui, bits);
        top += ROW;
        row += 1;
    }
}
