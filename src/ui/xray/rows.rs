//! The rows of the X-ray: a candidate and its probability after each stage.

use egui::{
    Align2, Color32, Pos2, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
    pos2, vec2,
};

use super::columns::Columns;
use super::folding::ShownColumn;
use super::labels::{prob_range, row_sentence, score_label};
use super::{ROW, Xray};
use crate::analysis::xray::{XrayCell, XrayRow};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::percent;
use crate::plots::{TokenStyle, token_galley};

const BAR_HEIGHT: f32 = 10.0;

/// A row of the table and its place on the screen.
#[derive(Clone, Copy)]
struct PlacedRow<'a> {
    index: usize,
    row: &'a XrayRow,
    rect: Rect,
}

/// Draws the rows after the first `n_fixed` in a scroll area, which follows the chosen candidate.
/// Returns the scroll offset.
pub(super) fn rows_ui(ui: &mut Ui, xray: &Xray<'_>, columns: &Columns, n_fixed: usize) -> Vec2 {
    let rows = || xray.table.rows.iter().enumerate().skip(n_fixed);
    let chosen = xray.table.rows.iter().position(|row| row.chosen);
    let shown_id = ui.scope_id().with("shown row");
    let now = (xray.step, chosen);
    let shown: Option<((u32, usize), Option<usize>)> = ui.data(|data| data.get_temp(shown_id));
    let is_new = shown != Some(now);
    ui.data_mut(|data| data.insert_temp(shown_id, now));
    let width = ui.available_width();
    let output = ScrollArea::both()
        .id_salt("x-ray")
        .auto_shrink(false)
        // A short dock shows only two rows.
        .min_scrolled_height(0.0)
        .show(ui, |ui| {
            // Scrolling to a row keeps the spacing beside it, which would clip the first row.
            ui.spacing_mut().item_spacing = Vec2::ZERO;
            let size = vec2(columns.width().max(width), ROW * rows().count() as f32);
            let (area, _) = ui.allocate_exact_size(size, Sense::hover());
            let left = ui.clip_rect().left();
            if is_new && chosen.is_some_and(|chosen| chosen < n_fixed) {
                let start = Rect::from_min_size(pos2(left, area.top()), vec2(1.0, ROW));
                ui.scroll_to_rect(start, None);
            }
            for (place, (index, row)) in rows().enumerate() {
                let top = area.top() + ROW * place as f32;
                let rect = Rect::from_min_size(pos2(area.left(), top), vec2(size.x, ROW));
                row_ui(ui, xray, columns, PlacedRow { index, row, rect });
                if is_new && row.chosen {
                    let start = Rect::from_min_size(pos2(left, top), vec2(1.0, ROW));
                    ui.scroll_to_rect(start, None);
                }
            }
        });
    output.state.clamped_offset()
}

/// Draws the first `n_fixed` rows, which stay in view when the others scroll.
pub(super) fn fixed_rows_ui(
    ui: &mut Ui,
    xray: &Xray<'_>,
    columns: &Columns,
    n_fixed: usize,
    scrolled: Vec2,
) {
    let area = ui.max_rect();
    ui.shrink_clip_rect(area);
    let size = vec2(columns.width().max(area.width()), ROW);
    for (index, row) in xray.table.rows.iter().enumerate().take(n_fixed) {
        let at = area.min + vec2(-scrolled.x, ROW * index as f32);
        let rect = Rect::from_min_size(at, size);
        row_ui(ui, xray, columns, PlacedRow { index, row, rect });
    }
    if scrolled.y > 0.5 {
        let line = Stroke::new(1.0, Theme::of(ui).stroke_2);
        ui.painter()
            .hline(area.x_range(), area.bottom() - 0.5, line);
    }
}

fn row_ui(ui: &Ui, xray: &Xray<'_>, columns: &Columns, placed: PlacedRow<'_>) {
    let PlacedRow { row, rect, .. } = placed;
    let response = ui.interact(
        rect,
        ui.scope_id().with(("row", row.token.0)),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, row_sentence(xray, row)));
    // Bars animate towards a new step, including those that are scrolled out of view.
    let lengths: Vec<f32> = (0..row.cells.len())
        .map(|column| bar_length(ui, columns, placed, column))
        .collect();
    if !ui.is_rect_visible(rect) {
        return;
    }
    let theme = Theme::of(ui);
    let fill = if row.chosen {
        theme.surface_3
    } else if xray.is_picture {
        // Nothing scrolls behind the names, and the page has its own color.
        Color32::TRANSPARENT
    } else {
        theme.surface_1
    };
    ui.painter().rect_filled(rect, 4, fill);
    for span in &columns.spans {
        let left = pos2(rect.left() + span.from, rect.center().y);
        match span.shown {
            ShownColumn::Score => score_ui(ui, row, left),
            ShownColumn::Table(column) => {
                let cell = row.cells.get(column).copied().unwrap_or(XrayCell::Gone);
                let length = lengths.get(column).copied().unwrap_or_default();
                let fill = match (row.chosen, column == columns.last) {
                    (true, true) => theme.pane(xray.pane),
                    (false, true) => theme.bar_after,
                    (_, false) => theme.bar_before,
                };
                cell_ui(ui, cell, left, length, fill);
            }
            ShownColumn::Neutral { .. } => {}
        }
    }
    name_ui(ui, xray, columns, placed, fill);
    response.on_hover_ui_at_pointer(|ui| {
        ui.label(Face::Small.text(row_sentence(xray, row)));
    });
}

fn score_ui(ui: &Ui, row: &XrayRow, left: Pos2) {
    let theme = Theme::of(ui);
    let color = if row.chosen {
        theme.text_1
    } else {
        theme.text_2
    };
    let score = score_label(row);
    ui.painter()
        .text(left, Align2::LEFT_CENTER, score, Face::Small.font(), color);
}

/// Returns the animated length of a cell's bar.
fn bar_length(ui: &Ui, columns: &Columns, placed: PlacedRow<'_>, column: usize) -> f32 {
    let prob = match placed.row.cells.get(column) {
        Some(XrayCell::Kept(prob) | XrayCell::Between(_, prob) | XrayCell::Cut(Some(prob))) => {
            *prob
        }
        _ => 0.0,
    };
    let id = ui.scope_id().with(("bar", placed.index, column));
    let time = ui.style().animation_time;
    let length = columns.unit * prob as f32;
    ui.ctx().animate_value_with_time(id, length, time)
}

/// Draws the candidate's name over the row, so that it stays visible when the columns scroll.
fn name_ui(ui: &Ui, xray: &Xray<'_>, columns: &Columns, placed: PlacedRow<'_>, fill: Color32) {
    let PlacedRow { row, rect, .. } = placed;
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
    let galley = token_galley(ui, &piece, TokenStyle::plain(color), columns.names - 14.0);
    let name_rect =
        Align2::LEFT_CENTER.anchor_size(pos2(left + 6.0, rect.center().y), galley.size());
    if xray.generated == Some(row.token) && !row.chosen {
        let below = name_rect.bottom() - 1.0;
        let line = Stroke::new(1.0, theme.text_3);
        ui.painter().hline(name_rect.x_range(), below, line);
    }
    ui.painter().galley(name_rect.min, galley, color);
}

/// Draws a bar and its number.
fn cell_ui(ui: &Ui, cell: XrayCell, left: Pos2, length: f32, fill: Color32) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let bar = Rect::from_min_size(
        left - vec2(0.0, BAR_HEIGHT / 2.0),
        vec2(length.max(2.0), BAR_HEIGHT),
    );
    let hollow = |color: Color32| {
        if length < 6.0 {
            let tick = Rect::from_min_size(bar.min, vec2(2.0, BAR_HEIGHT));
            painter.rect_filled(tick, 1, color);
        } else {
            let edge = Stroke::new(1.0, color);
            painter.rect_stroke(bar, 2, edge, StrokeKind::Inside);
        }
    };
    let label = |text: &str, face: Face, color: Color32| {
        let at = pos2(bar.right() + 8.0, left.y);
        painter.text(at, Align2::LEFT_CENTER, text, face.font(), color)
    };
    match cell {
        XrayCell::Kept(prob) => {
            painter.rect_filled(bar, 2, fill);
            label(&percent(prob), Face::Small, theme.text_2);
        }
        XrayCell::Between(least, most) => {
            let range = prob_range(least, most);
            if range.starts_with('≤') {
                hollow(fill);
            } else {
                painter.rect_filled(bar, 2, fill);
            }
            label(&range, Face::Small, theme.text_2);
        }
        XrayCell::Cut(Some(prob)) => {
            hollow(theme.bar_cut);
            let painted = label(&percent(prob), Face::Small, theme.struck_text);
            let line = Stroke::new(1.0, theme.struck_text);
            painter.hline(painted.x_range(), left.y, line);
        }
        XrayCell::Cut(None) => {
            hollow(theme.bar_cut);
            label("cut", Face::Micro, theme.text_3);
        }
        XrayCell::Unknown => {
            painter.text(
                left,
                Align2::LEFT_CENTER,
                "not recorded",
                Face::Micro.font(),
                theme.text_3,
            );
        }
        XrayCell::Gone | XrayCell::Muted => {}
    }
}
