//! What the tab shows without a text: the map that will come, without its values.

use egui::{Align2, Rect, Ui, pos2, vec2};

use super::map_rect;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::lab::frame::{Columns, empty};
use crate::lab::stability::plot::grid_rect;
use crate::lab::stability::state::stability_source;
use crate::plots::{FineGrid, TextRun, paint_text};
use crate::state::AppState;

/// How many cells are outlined in each direction.
const N_CELLS: usize = 8;

/// Draws both columns.
pub(super) fn empty_ui(ui: &mut Ui, columns: Columns, state: &AppState) {
    empty::texts_ui(ui, columns.right, "What the selected cell means");
    let rect = map_rect(columns.middle);
    let theme = Theme::of(ui);
    let run = TextRun::new("Divergence", Face::SmallMedium, theme.text_1);
    let at = pos2(rect.left(), rect.top() + 9.0);
    paint_text(ui, at, Align2::LEFT_CENTER, run);
    let area = grid_rect(rect);
    let size = area.size() / N_CELLS as f32;
    for cell in 0..N_CELLS * N_CELLS {
        let at = vec2((cell % N_CELLS) as f32, (cell / N_CELLS) as f32);
        let cell = Rect::from_min_size(area.min + at * size, size);
        empty::outline(ui, cell.shrink(1.0));
    }
    if let Some([rows, columns]) = state.lab.stability.axes.axes() {
        let labels = child_ui(ui, rect, "labels");
        FineGrid::new(area, [&rows, &columns]).paint_labels(&labels, rect, "");
    }
    let reason = stability_source(state).err().unwrap_or_default();
    let words = format!(
        "{reason} The map shows how many of its tokens stay the same under other settings."
    );
    empty::about_ui(ui, area, &words);
}
