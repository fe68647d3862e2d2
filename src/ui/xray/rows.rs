//! The rows of the X-ray: a candidate and its probability after each stage.

use egui::{
    Align2, Color32, Pos2, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
    pos2, vec2,
};

use super::Xray;
use super::columns::{Columns, rank_label};
use super::fitting::{Fit, Line};
use super::folding::ShownColumn;
use super::hidden::{HiddenLine, Unfolded, hidden_line_ui};
use super::labels::{prob_range, row_sentence, score_label};
use crate::analysis::xray::{XrayCell, XrayRow};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::percent;
use crate::plots::{TokenStyle, token_galley};

/// A row of the table and its place on the screen.
#[derive(Clone, Copy)]
struct PlacedRow<'a> {
    index: usize,
    row: &'a XrayRow,
    rect: Rect,
}

/// Where the rows are drawn, and which fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowsFrame {
    pub rect: Rect,
    pub fit: Fit,
    /// The height below the rows that a horizontal scroll bar takes, in points.
    pub scroll_bar: f32,
}

/// Draws the rows that fit, and a line that stands for the others; or all rows, which scroll.
/// Returns how far they are scrolled sideways.
pub(super) fn rows_ui(ui: &mut Ui, xray: &Xray<'_>, columns: &Columns, frame: RowsFrame) -> f32 {
    let n_rows = xray.table.rows.len();
    let is_cut = n_rows > frame.fit.n_lines && frame.fit.n_lines > 1;
    match Unfolded::of(ui, xray).filter(|_| is_cut) {
        Some(unfolded) => all_rows_ui(ui, xray, columns, (frame, unfolded)),
        None => fitting_rows_ui(ui, xray, columns, frame),
    }
}

/// Draws the rows that fit.
fn fitting_rows_ui(ui: &mut Ui, xray: &Xray<'_>, columns: &Columns, frame: RowsFrame) -> f32 {
    let rows = &xray.table.rows;
    let chosen = rows.iter().position(|row| row.chosen);
    let lines = frame.fit.lines(rows.len(), chosen);
    let height = xray.heights.row;
    let (offset, ()) = scrolled_ui(ui, frame, columns, |ui, left, width| {
        for (at, line) in lines.iter().enumerate() {
            if let Line::Row(index) = *line {
                let min = pos2(left, frame.rect.top() + height * at as f32);
                let rect = Rect::from_min_size(min, vec2(width, height));
                place_row_ui(ui, xray, columns, (index, rect));
            }
        }
    });
    if let Some(n_top) = lines.iter().position(|line| *line == Line::Hidden) {
        let n_hidden = rows.len() + 1 - lines.len();
        let line = HiddenLine::More { n_top, n_hidden };
        if hidden_line_ui(ui, line_rect(frame.rect, n_top, height), xray, line) {
            Unfolded::toggle(ui, xray);
        }
    }
    offset.x
}

/// Draws as many rows as fit from all of them, which scroll by whole rows. The chosen one stays in
/// view, at the bottom if it is scrolled out. The last line hides the others again.
fn all_rows_ui(
    ui: &mut Ui,
    xray: &Xray<'_>,
    columns: &Columns,
    (frame, unfolded): (RowsFrame, Unfolded),
) -> f32 {
    let rows = &xray.table.rows;
    let n_visible = frame.fit.n_lines - 1;
    let height = xray.heights.row;
    let chosen = rows.iter().position(|row| row.chosen);
    // Where the chosen row covers the last line, one more line shows the row under it.
    let n_covered = chosen.map_or(0, |chosen| usize::from(chosen + n_visible < rows.len()));
    let bottom = frame.rect.top() + height * n_visible as f32;
    let visible = frame.rect.with_max_y(bottom);
    let content = vec2(
        columns.width().max(visible.width()),
        height * (rows.len() + n_covered) as f32,
    );
    let mut area = child_ui(ui, visible, "all x-ray rows");
    let mut scroll = ScrollArea::both()
        .id_salt("x-ray rows")
        .auto_shrink(false)
        .min_scrolled_height(0.0);
    if unfolded.is_new {
        let top = frame.fit.n_lines.saturating_sub(2);
        scroll = scroll.vertical_scroll_offset(height * top as f32);
        unfolded.settle(ui);
    }
    let output = scroll.show_viewport(&mut area, |ui, viewport| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        let (area, _) = ui.allocate_exact_size(content, Sense::hover());
        let first = whole_rows(viewport.top() / height);
        for at in 0..n_visible {
            let index = first + at;
            let is_visible = |chosen: usize| (first..first + n_visible).contains(&chosen);
            let covering = chosen.filter(|chosen| at + 1 == n_visible && !is_visible(*chosen));
            let min = pos2(area.left(), visible.top() + height * at as f32);
            let rect = Rect::from_min_size(min, vec2(content.x, height));
            place_row_ui(ui, xray, columns, (covering.unwrap_or(index), rect));
        }
    });
    if hidden_line_ui(
        ui,
        line_rect(frame.rect, n_visible, height),
        xray,
        HiddenLine::Fewer,
    ) {
        Unfolded::toggle(ui, xray);
    }
    output.state.clamped_offset().x
}

/// Rounds a distance in rows to a whole number of them.
#[expect(clippy::cast_sign_loss, reason = "a negative distance becomes 0 first")]
fn whole_rows(rows: f32) -> usize {
    rows.round().max(0.0) as usize
}

/// Draws content that scrolls sideways if the columns do not fit. It gets the left edge and the
/// width of the rows.
fn scrolled_ui<T>(
    ui: &mut Ui,
    frame: RowsFrame,
    columns: &Columns,
    content: impl FnOnce(&Ui, f32, f32) -> T,
) -> (Vec2, T) {
    let below = frame.rect.bottom() + frame.scroll_bar;
    let mut area = child_ui(ui, frame.rect.with_max_y(below), "x-ray rows");
    area.spacing_mut().scroll.floating_allocated_width = frame.scroll_bar;
    let output = ScrollArea::horizontal()
        .id_salt("x-ray")
        .auto_shrink(false)
        .show(&mut area, |ui| {
            ui.spacing_mut().item_spacing = Vec2::ZERO;
            let width = columns.width().max(frame.rect.width());
            let size = vec2(width, frame.rect.height());
            let (area, _) = ui.allocate_exact_size(size, Sense::hover());
            content(ui, area.left(), width)
        });
    (output.state.clamped_offset(), output.inner)
}

/// Returns where the line at this index is, unscrolled.
fn line_rect(rows: Rect, index: usize, height: f32) -> Rect {
    let min = pos2(rows.left(), rows.top() + height * index as f32);
    Rect::from_min_size(min, vec2(rows.width(), height))
}

fn place_row_ui(ui: &Ui, xray: &Xray<'_>, columns: &Columns, (index, rect): (usize, Rect)) {
    if let Some(row) = xray.table.rows.get(index) {
        row_ui(ui, xray, columns, PlacedRow { index, row, rect });
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
                cell_ui(ui, cell, left, vec2(length, xray.heights.bar), fill);
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
    let at = Rect::from_min_size(
        pos2(left, rect.top()),
        vec2(columns.names - 6.0, rect.height()),
    );
    ui.painter().rect_filled(at, 4, fill);
    let color = if row.chosen {
        theme.text_1
    } else if xray.table.cut_by(row).is_some() {
        theme.text_3
    } else {
        theme.text_2
    };
    let piece = (xray.piece)(row.token);
    let max_width = columns.names - columns.ranks - 14.0;
    let galley = token_galley(ui, &piece, TokenStyle::plain(color), max_width);
    let at = pos2(left + columns.ranks + 6.0, rect.center().y);
    let name_rect = Align2::LEFT_CENTER.anchor_size(at, galley.size());
    if let Some(rank) = row.rank.filter(|_| columns.ranks > 0.0) {
        ui.painter().text(
            at,
            Align2::RIGHT_CENTER,
            rank_label(rank),
            Face::Micro.font(),
            theme.text_3,
        );
    }
    if xray.generated == Some(row.token) && !row.chosen {
        let below = name_rect.bottom() - 1.0;
        let line = Stroke::new(1.0, theme.text_3);
        ui.painter().hline(name_rect.x_range(), below, line);
    }
    ui.painter().galley(name_rect.min, galley, color);
}

/// Draws a bar and its number.
fn cell_ui(ui: &Ui, cell: XrayCell, left: Pos2, size: Vec2, fill: Color32) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let Vec2 {
        x: length,
        y: height,
    } = size;
    let bar = Rect::from_min_size(
        left - vec2(0.0, height / 2.0),
        vec2(length.max(2.0), height),
    );
    let hollow = |color: Color32| {
        if length < 6.0 {
            let tick = Rect::from_min_size(bar.min, vec2(2.0, height));
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
