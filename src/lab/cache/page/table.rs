//! Measurements as tables, which screen readers read as one sentence per row.

use egui::{Align2, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::lab::cache::figures::{CacheLab, CacheTable};
use crate::plots::{TextRun, paint_text, paint_text_within};

const ROW: f32 = 22.0;

/// The maximum widths of the first column and of the others.
const FIRST: f32 = 150.0;
const COLUMN: f32 = 124.0;

/// Draws all tables, one below another.
pub(super) fn tables_ui(ui: &mut Ui, lab: &CacheLab) {
    let theme = Theme::of(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for table in lab.tables() {
            let title = Face::SmallMedium.text(&table.title).color(theme.text_1);
            ui.label(title);
            ui.scope(|ui| table_ui(ui, &table));
            ui.add_space(14.0);
        }
    });
}

/// Draws a table, with the first column aligned left and the numbers aligned right.
pub(super) fn table_ui(ui: &mut Ui, table: &CacheTable) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    let n_others = table.head.len().saturating_sub(1).max(1) as f32;
    let width = ui.available_width().min(FIRST + n_others * COLUMN);
    let column = COLUMN.min((width - FIRST.min(width * 0.5)) / n_others);
    let first = width - n_others * column;
    let head = std::iter::once((true, &table.head));
    let rows = head.chain(table.rows.iter().map(|row| (false, row)));
    for (is_head, row) in rows {
        let size = vec2(width, ROW);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let words = if is_head {
            row.join(", ")
        } else {
            table.sentence(row)
        };
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
        let (label, number) = if is_head {
            (theme.text_3, theme.text_3)
        } else {
            (theme.text_2, theme.text_1)
        };
        for (place, cell) in row.iter().enumerate() {
            let y = rect.center().y;
            if place == 0 {
                let run = TextRun::new(cell, Face::Small, label);
                let at = pos2(rect.left(), y);
                paint_text_within(ui, at, Align2::LEFT_CENTER, run, first - 8.0);
            } else {
                let run = TextRun::new(cell, Face::Small, number);
                let right = rect.left() + first + place as f32 * column;
                paint_text(ui, pos2(right, y), Align2::RIGHT_CENTER, run);
            }
        }
    }
}
