//! The candidates of the X-ray: a word, and what is left of it after each stage.

use egui::{
    Align2, Color32, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use super::columns::Columns;
use super::words::{between, spoken_row};
use super::{ROW, Xray};
use crate::analysis::xray::{XrayCell, XrayRow};
use crate::ui::fonts::Face;
use crate::ui::plots::word_galley;
use crate::ui::theme::Theme;
use crate::ui::words::percent;

const BAR: f32 = 10.0;

/// Draws the rows, which are scrolled where they need more room than there is; gives how far they
/// are scrolled to the side.
pub(super) fn rows_ui(ui: &mut Ui, xray: &Xray<'_>, columns: &Columns) -> f32 {
    let shown_id = ui.scope_id().with("shown step");
    let shown: Option<(u32, usize)> = ui.data(|data| data.get_temp(shown_id));
    let is_new = shown != Some(xray.step);
    ui.data_mut(|data| data.insert_temp(shown_id, xray.step));
    let width = ui.available_width();
    let output = ScrollArea::both()
        .id_salt("x-ray")
        .auto_shrink(false)
        // In a low dock there is room for two rows.
        .min_scrolled_height(0.0)
        .show(ui, |ui| {
            let size = vec2(
                columns.width().max(width),
                ROW * xray.table.rows.len() as f32,
            );
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            for (index, row) in xray.table.rows.iter().enumerate() {
                let top = rect.top() + ROW * index as f32;
                let at = Rect::from_min_size(pos2(rect.left(), top), vec2(size.x, ROW));
                row_ui(ui, xray, columns, (index, row, at));
                if is_new && row.chosen {
                    let left = ui.clip_rect().left();
                    let start = Rect::from_min_size(pos2(left, top), vec2(1.0, ROW));
                    ui.scroll_to_rect(start, None);
                }
            }
        });
    output.state.clamped_offset().x
}

fn row_ui(
    ui: &Ui,
    xray: &Xray<'_>,
    columns: &Columns,
    (index, row, rect): (usize, &XrayRow, Rect),
) {
    let response = ui.interact(
        rect,
        ui.scope_id().with(("row", row.token.0)),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, spoken_row(xray, row)));
    // The bars move on their way to a new step, also those that are out of sight.
    let lengths: Vec<f32> = (0..row.cells.len())
        .map(|column| bar_length(ui, columns, row, (index, column)))
        .collect();
    if !ui.is_rect_visible(rect) {
        return;
    }
    let theme = Theme::of(ui);
    let fill = if row.chosen {
        theme.surface_3
    } else {
        theme.surface_1
    };
    ui.painter().rect_filled(rect, 4, fill);
    for (column, (cell, length)) in row.cells.iter().zip(lengths).enumerate() {
        let Some((from, _)) = columns.spans.get(column) else {
            continue;
        };
        let left = pos2(rect.left() + from, rect.center().y);
        let fill = match (row.chosen, column == columns.last) {
            (true, true) => theme.pane(xray.pane),
            (false, true) => theme.bar_after,
            (_, false) => theme.bar_before,
        };
        cell_ui(ui, *cell, left, length, fill);
    }
    name_ui(ui, xray, columns, (row, rect, fill));
    response.on_hover_ui_at_pointer(|ui| {
        ui.label(Face::Small.text(spoken_row(xray, row)));
    });
}

/// The length of a cell's bar, on its way to where it should be.
fn bar_length(ui: &Ui, columns: &Columns, row: &XrayRow, (index, column): (usize, usize)) -> f32 {
    let prob = match row.cells.get(column) {
        Some(XrayCell::Kept(prob) | XrayCell::Between(_, prob) | XrayCell::Cut(Some(prob))) => {
            *prob
        }
        _ => 0.0,
    };
    let id = ui.scope_id().with(("bar", index, column));
    let time = ui.style().animation_time;
    let length = columns.unit * prob as f32;
    ui.ctx().animate_value_with_time(id, length, time)
}

/// The word stays in sight where the columns are scrolled to the side.
fn name_ui(
    ui: &Ui,
    xray: &Xray<'_>,
    columns: &Columns,
    (row, rect, fill): (&XrayRow, Rect, Color32),
) {
    let theme = Theme::of(ui);
    let left = ui.clip_rect().left().max(rect.left());
    let at = Rect::from_min_size(pos2(left, rect.top()), vec2(columns.names - 6.0, ROW));
    ui.painter().rect_filled(at, 4, fill);
    let color = if row.chosen {
        theme.text_1
    } else if xray.table.cut_by(row).is_some() {
        theme.text_3
    } else {
        theme.text_2
    };
    let piece = (xray.piece)(row.token);
    let galley = word_galley(ui, &piece, (color, false), columns.names - 14.0);
    let place = Align2::LEFT_CENTER.anchor_size(pos2(left + 6.0, rect.center().y), galley.size());
    if xray.written == Some(row.token) && !row.chosen {
        let below = place.bottom() - 1.0;
        let line = Stroke::new(1.0, theme.text_3);
        ui.painter().hline(place.x_range(), below, line);
    }
    ui.painter().galley(place.min, galley, color);
}

/// A bar and its figure.
fn cell_ui(ui: &Ui, cell: XrayCell, left: egui::Pos2, length: f32, fill: Color32) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let bar = Rect::from_min_size(left - vec2(0.0, BAR / 2.0), vec2(length.max(2.0), BAR));
    let hollow = |color: Color32| {
        if length < 6.0 {
            let tick = Rect::from_min_size(bar.min, vec2(2.0, BAR));
            painter.rect_filled(tick, 1, color);
        } else {
            let edge = Stroke::new(1.0, color);
            painter.rect_stroke(bar, 2, edge, StrokeKind::Inside);
        }
    };
    let figure = |words: &str, face: Face, color: Color32| {
        let at = pos2(bar.right() + 8.0, left.y);
        painter.text(at, Align2::LEFT_CENTER, words, face.font(), color)
    };
    match cell {
        XrayCell::Kept(prob) => {
            painter.rect_filled(bar, 2, fill);
            figure(&percent(prob), Face::Small, theme.text_2);
        }
        XrayCell::Between(least, most) => {
            let words = between(least, most);
            if words.starts_with('≤') {
                hollow(fill);
            } else {
                painter.rect_filled(bar, 2, fill);
            }
            figure(&words, Face::Small, theme.text_2);
        }
        XrayCell::Cut(Some(prob)) => {
            hollow(theme.bar_cut);
            let placed = figure(&percent(prob), Face::Small, theme.struck_text);
            let line = Stroke::new(1.0, theme.struck_text);
            painter.hline(placed.x_range(), left.y, line);
        }
        XrayCell::Cut(None) => {
            hollow(theme.bar_cut);
            figure("cut", Face::Micro, theme.text_3);
        }
        XrayCell::Unknown => {
            let words = "not recorded";
            painter.text(
                left,
                Align2::LEFT_CENTER,
                words,
                Face::Micro.font(),
                theme.text_3,
            );
        }
        XrayCell::Gone | XrayCell::Muted => {}
    }
}
