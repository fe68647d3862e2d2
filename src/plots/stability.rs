//! How far a text stays the same over two numbers, as a fine grid: colored by the first token that
//! differs, with a dot where the record only gives a lower bound.

use egui::{Align2, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::scale::axis_steps;
use super::sweep::heat_legend;
use super::{MapResponse, Target, TextRun, count, paint_text, paint_text_within};
use crate::analysis::stability::{Stability, StabilityMap};
use crate::analysis::sweep::{Axis, label};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, focus_ring, paint_badge};
use crate::generation::formatting::grouped;

const TITLE: f32 = 26.0;
const LEFT: f32 = 34.0;
const BELOW: f32 = 42.0;

/// A map, and whose text it is of.
#[derive(Debug, Clone, Copy)]
pub struct StabilityPlot<'a> {
    pub map: &'a StabilityMap,
    /// The number of tokens of the text.
    pub n_tokens: usize,
    /// The index of its pane, if it still exists.
    pub pane: Option<usize>,
    /// The selected cell, and what it means.
    pub selected: Option<(usize, &'a str)>,
}

/// Returns the step of the ramp for a number of tokens that stay the same. Each step stands for
/// twice as many tokens as the one before: 0, 1, 3, 7 and so on. The last is for the whole text.
fn step_of(stability: Stability, n_tokens: usize) -> usize {
    if stability.n_same >= n_tokens {
        return Theme::N_HEAT - 1;
    }
    let doublings = (stability.n_same + 1).ilog2() as usize;
    doublings.min(Theme::N_HEAT - 2)
}

/// Shows a map in this rectangle. In a picture, nothing can be clicked.
pub fn stability_ui(ui: &Ui, rect: Rect, plot: StabilityPlot<'_>, target: Target) -> MapResponse {
    let theme = Theme::of(ui);
    title_ui(ui, rect, plot);
    let area = Rect::from_min_max(rect.min + vec2(LEFT, TITLE), rect.max - vec2(2.0, BELOW));
    let grid = Grid::of(area, plot.map);
    grid.paint_cells(ui, plot);
    grid.paint_labels(ui, rect, plot.map);
    let own = plot.map.own_cell();
    if let (Some(cell), Some(pane)) = (own, plot.pane) {
        let ring = grid.cell(cell).expand(2.0);
        ui.painter()
            .rect_stroke(ring, 2, Stroke::new(2.0, theme.text_1), StrokeKind::Outside);
        let center = pos2(ring.center().x, ring.top() - 4.0 - SMALL_BADGE / 2.0);
        let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, pane);
    }
    if let Some((cell, _)) = plot.selected.filter(|_| target == Target::Screen) {
        let cell = grid.cell(cell).expand(1.0);
        let ring = Stroke::new(1.5, theme.text_1);
        ui.painter().rect_stroke(cell, 1, ring, StrokeKind::Outside);
    }
    if target == Target::Picture {
        return MapResponse::default();
    }
    let response = ui.interact(area, ui.scope_id().with("map"), Sense::click());
    response.widget_info(|| {
        let words = plot.selected.map_or("", |(_, words)| words);
        WidgetInfo::labeled(Role::Table, true, format!("First fork. {words}"))
    });
    focus_ring(ui, &response, 2);
    let at = |pointer: Option<Pos2>| grid.cell_at(pointer?);
    MapResponse {
        hovered: at(response.hover_pos()),
        clicked: at(response.interact_pointer_pos()).filter(|_| response.clicked()),
    }
}

fn title_ui(ui: &Ui, rect: Rect, plot: StabilityPlot<'_>) {
    let theme = Theme::of(ui);
    let middle = rect.top() + 9.0;
    let ends = [
        "0".to_owned(),
        format!("{}, doubling", grouped(plot.n_tokens as f64)),
    ];
    let legend = heat_legend(ui, pos2(rect.right(), middle), &ends);
    let run = TextRun::new("First fork", Face::SmallMedium, theme.text_1);
    let title = paint_text(ui, pos2(rect.left(), middle), Align2::LEFT_CENTER, run);
    let map = plot.map;
    let (done, all) = (map.n_done(), map.n_cells());
    let words = if done < all {
        let (done, all) = (grouped(done as f64), grouped(all as f64));
        format!("tokens that stay the same, {done} of {all} cells")
    } else {
        "tokens that stay the same under other settings".to_owned()
    };
    let left = title.right() + 8.0;
    let run = TextRun::new(&words, Face::Small, theme.text_3);
    let room = legend.left() - 12.0 - left;
    paint_text_within(ui, pos2(left, middle), Align2::LEFT_CENTER, run, room);
}

/// Where the cells are.
struct Grid {
    area: Rect,
    n_rows: usize,
    n_columns: usize,
}

impl Grid {
    fn of(area: Rect, map: &StabilityMap) -> Self {
        Self {
            area,
            n_rows: map.rows.values().len().max(1),
            n_columns: map.columns.values().len().max(1),
        }
    }

    fn x(&self, column: usize) -> f32 {
        self.area.left() + self.area.width() * column as f32 / self.n_columns as f32
    }

    fn y(&self, row: usize) -> f32 {
        self.area.top() + self.area.height() * row as f32 / self.n_rows as f32
    }

    fn cell(&self, cell: usize) -> Rect {
        let (row, column) = (cell / self.n_columns, cell % self.n_columns);
        Rect::from_min_max(
            pos2(self.x(column), self.y(row)),
            pos2(self.x(column + 1), self.y(row + 1)),
        )
    }

    fn cell_at(&self, at: Pos2) -> Option<usize> {
        if !self.area.contains(at) {
            return None;
        }
        let share = (at - self.area.min) / self.area.size();
        let row = count(f64::from(share.y * self.n_rows as f32)).min(self.n_rows - 1);
        let column = count(f64::from(share.x * self.n_columns as f32)).min(self.n_columns - 1);
        Some(row * self.n_columns + column)
    }

    /// Paints neighboring cells of one color as one rectangle.
    fn paint_cells(&self, ui: &Ui, plot: StabilityPlot<'_>) {
        let theme = Theme::of(ui);
        let step = |row: usize, column: usize| {
            let shown = plot.map.shown(row * self.n_columns + column);
            shown.map(|stability| step_of(stability, plot.n_tokens))
        };
        for row in 0..self.n_rows {
            let mut start = 0;
            for column in 1..=self.n_columns {
                let current = step(row, start);
                if column < self.n_columns && step(row, column) == current {
                    continue;
                }
                if let Some(step) = current {
                    // A little overlap, so that no seam shows between rows.
                    let run = Rect::from_min_max(
                        pos2(self.x(start), self.y(row)),
                        pos2(
                            self.x(column),
                            (self.y(row + 1) + 0.5).min(self.area.bottom()),
                        ),
                    );
                    ui.painter().rect_filled(run, 0, theme.heat(step));
                }
                start = column;
            }
        }
        for cell in (0..plot.map.n_cells()).filter(|cell| plot.map.is_known(*cell)) {
            if let Some(stability) = plot.map.shown(cell).filter(|known| !known.exact) {
                let ink = theme.heat_ink(step_of(stability, plot.n_tokens));
                ui.painter()
                    .circle_filled(self.cell(cell).center(), 1.0, ink);
            }
        }
    }

    /// Labels the round values, and names both numbers.
    fn paint_labels(&self, ui: &Ui, rect: Rect, map: &StabilityMap) {
        let theme = Theme::of(ui);
        let color = theme.text_3;
        for (row, value) in round_values(&map.rows) {
            let at = pos2(
                self.area.left() - 8.0,
                f32::midpoint(self.y(row), self.y(row + 1)),
            );
            paint_text(
                ui,
                at,
                Align2::RIGHT_CENTER,
                TextRun::new(&value, Face::Micro, color),
            );
        }
        for (column, value) in round_values(&map.columns) {
            let at = pos2(
                f32::midpoint(self.x(column), self.x(column + 1)),
                self.area.bottom() + 12.0,
            );
            paint_text(
                ui,
                at,
                Align2::CENTER_CENTER,
                TextRun::new(&value, Face::Micro, color),
            );
        }
        let y = self.area.bottom() + 30.0;
        let bounded = match map.n_bounded() {
            0 => String::new(),
            n => format!(
                "     dot: lower bound ({} of {} cells)",
                grouped(n as f64),
                grouped(map.n_done() as f64)
            ),
        };
        let words = format!(
            "up: {}     right: {}{bounded}",
            map.rows.parameter.name().to_lowercase(),
            map.columns.parameter.name().to_lowercase()
        );
        let at = pos2(self.area.left(), y);
        paint_text_within(
            ui,
            at,
            Align2::LEFT_CENTER,
            TextRun::new(&words, Face::Micro, color),
            rect.right() - at.x,
        );
    }
}

/// Returns the places of the values at round numbers, with their labels.
fn round_values(axis: &Axis) -> Vec<(usize, String)> {
    let most = axis.values().iter().copied().fold(0.0, f64::max);
    let (step, _) = axis_steps(most);
    let is_round = |value: f64| (value / step - (value / step).round()).abs() < 1e-6;
    let values = axis.values().iter().enumerate();
    let round = values.filter(|(_, value)| is_round(**value));
    round.map(|(place, value)| (place, label(*value))).collect()
}

#[cfg(test)]
mod tests {
    use super::step_of;
    use crate::analysis::stability::Stability;

    #[test]
    fn colors_double_and_the_last_is_the_whole_text() {
        let step = |n_same| {
            step_of(
                Stability {
                    n_same,
                    exact: true,
                },
                190,
            )
        };
        let steps: Vec<usize> = [0, 1, 2, 3, 6, 7, 127, 189, 190].map(step).to_vec();
        assert_eq!(steps, [0, 1, 1, 2, 2, 3, 7, 7, 8]);
        let long = Stability {
            n_same: 999,
            exact: true,
        };
        assert_eq!(step_of(long, 1000), 7);
    }
}
