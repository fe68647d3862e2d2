//! How likely texts are as two numbers vary. Settings that can't generate them are blank.

use egui::{Align2, Pos2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::{FitPlot, TITLE, step_of, title_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::grouped;
use crate::plots::{FineGrid, MapResponse, Target, TextRun, count, paint_text};

const LEFT: f32 = 34.0;
const BELOW: f32 = 42.0;

/// Shows a map in this rectangle. In a picture, nothing can be clicked.
pub(crate) fn fit_map_ui(ui: &Ui, rect: Rect, plot: FitPlot<'_>, target: Target) -> MapResponse {
    let theme = Theme::of(ui);
    let setup = &plot.fit.setup;
    let Some(columns) = &setup.columns else {
        return MapResponse::default();
    };
    let region_nats = setup.region_nats();
    let most = region_nats * 2_f64.powf(Theme::N_HEAT as f64 - 2.0);
    let ends = [
        format!("{most:.0} nats less likely, halving"),
        "likeliest".to_owned(),
    ];
    title_ui(ui, rect, &subtitle(plot), Some(&ends));
    let area = Rect::from_min_max(rect.min + vec2(LEFT, TITLE), rect.max - vec2(2.0, BELOW));
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(area, 0, edge, StrokeKind::Outside);
    let grid = FineGrid::new(area, [&setup.rows, columns]);
    grid.paint_cells(ui, |cell| {
        let likelihood = plot.fit.shown(cell)?;
        let nats = plot.nats_below(likelihood)?;
        Some(theme.heat(step_of(nats, region_nats)))
    });
    let has_blank = paint_border(ui, &grid, plot);
    let blank = if has_blank {
        "     blank: can’t generate it"
    } else {
        ""
    };
    grid.paint_labels(ui, rect, blank);
    if let (Some(cell), Some(pane)) = (setup.base_cell(), plot.pane) {
        let badge =
            Rect::from_center_size(grid.cell(cell).center(), vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, pane);
    }
    paint_best(ui, area, &grid, plot);
    if target == Target::Picture {
        return MapResponse::default();
    }
    if let Some((cell, _)) = plot.selected {
        grid.paint_selected(ui, cell);
    }
    grid.response(ui, &plot.spoken())
}

fn subtitle(plot: FitPlot<'_>) -> String {
    let (done, all) = (plot.fit.n_done(), plot.fit.setup.n_cells());
    if done < all {
        let (done, all) = (grouped(done as f64), grouped(all as f64));
        format!("{done} of {all} settings")
    } else {
        plot.fit.size_words()
    }
}

/// Draws the line between the possible and the impossible cells. Returns whether any cell is
/// impossible.
fn paint_border(ui: &Ui, grid: &FineGrid<'_>, plot: FitPlot<'_>) -> bool {
    let setup = &plot.fit.setup;
    let n_columns = setup.n_columns();
    let n_rows = setup.rows.values().len();
    let stroke = Stroke::new(1.5, Theme::of(ui).text_1);
    let is_possible = |cell: usize| {
        let shown = plot.fit.shown(cell);
        shown.map(|likelihood| likelihood.ruled_out.is_none())
    };
    let mut has_blank = false;
    for cell in 0..setup.n_cells() {
        has_blank |= is_possible(cell) == Some(false);
        let (row, column) = (cell / n_columns, cell % n_columns);
        let right = (column + 1 < n_columns).then_some(cell + 1);
        let next = (row + 1 < n_rows).then_some(cell + n_columns);
        for (other, is_beside) in [(right, true), (next, false)] {
            let Some(other) = other else { continue };
            let (Some(here), Some(there)) = (is_possible(cell), is_possible(other)) else {
                continue;
            };
            if here == there {
                continue;
            }
            let (here, there) = (grid.cell(cell), grid.cell(other));
            if is_beside {
                ui.painter().vline(here.right(), here.y_range(), stroke);
            } else {
                let y = here.bottom().min(there.bottom());
                ui.painter().hline(here.x_range(), y, stroke);
            }
        }
    }
    has_blank
}

/// Rings the best settings, and names them.
fn paint_best(ui: &Ui, area: Rect, grid: &FineGrid<'_>, plot: FitPlot<'_>) {
    let theme = Theme::of(ui);
    let Some(best) = plot.best else { return };
    let Some(center) = place_of(grid, plot, &best.values) else {
        return;
    };
    // A light ring within a dark one, so that it shows on every color.
    ui.painter()
        .circle_stroke(center, 6.0, Stroke::new(3.5, theme.surface_1));
    ui.painter()
        .circle_stroke(center, 6.0, Stroke::new(1.5, theme.text_1));
    let words = format!("likeliest: {}", plot.fit.setup.words(&best.values));
    let width = Face::Small.width(ui, &words) + 14.0;
    let size = vec2(width, 22.0);
    let is_left = center.x + 14.0 + width > area.right();
    let left = if is_left {
        center.x - 14.0 - width
    } else {
        center.x + 14.0
    };
    let top = (center.y - 11.0).clamp(area.top() + 2.0, area.bottom() - 24.0);
    let label = Rect::from_min_size(pos2(left, top), size);
    ui.painter().rect_filled(label, 5, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_2);
    ui.painter().rect_stroke(label, 5, edge, StrokeKind::Inside);
    let run = TextRun::new(&words, Face::Small, theme.text_1);
    paint_text(ui, label.center(), Align2::CENTER_CENTER, run);
}

/// Returns the position of settings that may lie between the cells.
fn place_of(grid: &FineGrid<'_>, plot: FitPlot<'_>, values: &[f64]) -> Option<Pos2> {
    let setup = &plot.fit.setup;
    let axes = setup.axes();
    let [row, column] = [0, 1].map(|index| {
        let (axis, value) = (axes.get(index)?, *values.get(index)?);
        // Interpolate between the neighbors on either side.
        let found = axis
            .values()
            .windows(2)
            .enumerate()
            .find_map(|(place, pair)| {
                let [a, b] = pair else { return None };
                let is_between = (*a <= value && value <= *b) || (*b <= value && value <= *a);
                is_between.then(|| place as f32 + ((value - a) / (b - a)) as f32)
            });
        found.or(Some(0.0))
    });
    let (row, column) = (row?, column?);
    let n_columns = setup.n_columns();
    let corner = |row: usize, column: usize| grid.cell(row * n_columns + column).center();
    let (row_0, column_0) = (count(row.floor().into()), count(column.floor().into()));
    let row_1 = (row_0 + 1).min(setup.rows.values().len().saturating_sub(1));
    let column_1 = (column_0 + 1).min(n_columns.saturating_sub(1));
    let (from, to) = (corner(row_0, column_0), corner(row_1, column_1));
    Some(pos2(
        from.x + (to.x - from.x) * column.fract(),
        from.y + (to.y - from.y) * row.fract(),
    ))
}
