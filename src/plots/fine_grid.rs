//! A grid of many small cells over two numbers, without gaps, labeled at round values.

use egui::{Align2, Color32, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2};

use super::scale::axis_steps;
use super::{MapResponse, TextRun, count, paint_text, paint_text_within};
use crate::analysis::sweep::{Axis, label};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;

/// The layout of the cells. The largest value of the rows is at the top.
pub struct FineGrid<'a> {
    area: Rect,
    rows: &'a Axis,
    columns: &'a Axis,
    /// Whether the first row is at the bottom.
    is_rising: bool,
}

impl<'a> FineGrid<'a> {
    /// Lays out the cells in an area.
    pub fn new(area: Rect, [rows, columns]: [&'a Axis; 2]) -> Self {
        Self {
            area,
            rows,
            columns,
            is_rising: rows.values().first() < rows.values().last(),
        }
    }

    fn n_rows(&self) -> usize {
        self.rows.values().len().max(1)
    }

    fn n_columns(&self) -> usize {
        self.columns.values().len().max(1)
    }

    fn x(&self, column: usize) -> f32 {
        self.area.left() + self.area.width() * column as f32 / self.n_columns() as f32
    }

    /// Converts a row's index to its distance from the top, or the other way round.
    fn flipped(&self, row: usize) -> usize {
        if self.is_rising {
            self.n_rows() - 1 - row.min(self.n_rows() - 1)
        } else {
            row
        }
    }

    fn y(&self, n_above: usize) -> f32 {
        self.area.top() + self.area.height() * n_above as f32 / self.n_rows() as f32
    }

    /// Returns the rectangle of a cell.
    pub fn cell(&self, cell: usize) -> Rect {
        let (row, column) = (cell / self.n_columns(), cell % self.n_columns());
        let n_above = self.flipped(row);
        Rect::from_min_max(
            pos2(self.x(column), self.y(n_above)),
            pos2(self.x(column + 1), self.y(n_above + 1)),
        )
    }

    /// Returns the cell at this point.
    pub fn cell_at(&self, at: Pos2) -> Option<usize> {
        if !self.area.contains(at) {
            return None;
        }
        let share = (at - self.area.min) / self.area.size();
        let n_above = count(f64::from(share.y * self.n_rows() as f32)).min(self.n_rows() - 1);
        let column = count(f64::from(share.x * self.n_columns() as f32)).min(self.n_columns() - 1);
        Some(self.flipped(n_above) * self.n_columns() + column)
    }

    /// Paints the cells that have a color. Neighbors of the same color share a rectangle.
    pub fn paint_cells(&self, ui: &Ui, color: impl Fn(usize) -> Option<Color32>) {
        let n_columns = self.n_columns();
        for n_above in 0..self.n_rows() {
            let row = self.flipped(n_above);
            let color = |column: usize| color(row * n_columns + column);
            let mut start = 0;
            for column in 1..=n_columns {
                let current = color(start);
                if column < n_columns && color(column) == current {
                    continue;
                }
                if let Some(color) = current {
                    // A little overlap, so that no seam shows between rows.
                    let bottom = (self.y(n_above + 1) + 0.5).min(self.area.bottom());
                    let run = Rect::from_min_max(
                        pos2(self.x(start), self.y(n_above)),
                        pos2(self.x(column), bottom),
                    );
                    ui.painter().rect_filled(run, 0, color);
                }
                start = column;
            }
        }
    }

    /// Labels the round values, and names both numbers. A note follows the names.
    pub fn paint_labels(&self, ui: &Ui, rect: Rect, note: &str) {
        let color = Theme::of(ui).text_3;
        for (row, value) in round_values(self.rows) {
            let n_above = self.flipped(row);
            let y = f32::midpoint(self.y(n_above), self.y(n_above + 1));
            let at = pos2(self.area.left() - 8.0, y);
            paint_text(
                ui,
                at,
                Align2::RIGHT_CENTER,
                TextRun::new(&value, Face::Micro, color),
            );
        }
        for (column, value) in round_values(self.columns) {
            let x = f32::midpoint(self.x(column), self.x(column + 1));
            let at = pos2(x, self.area.bottom() + 12.0);
            paint_text(
                ui,
                at,
                Align2::CENTER_CENTER,
                TextRun::new(&value, Face::Micro, color),
            );
        }
        let words = format!(
            "up: {}     right: {}{note}",
            self.rows.parameter.name().to_lowercase(),
            self.columns.parameter.name().to_lowercase()
        );
        let at = pos2(self.area.left(), self.area.bottom() + 30.0);
        let room = rect.right() - at.x;
        paint_text_within(
            ui,
            at,
            Align2::LEFT_CENTER,
            TextRun::new(&words, Face::Micro, color),
            room,
        );
    }

    /// Paints a ring around the selected cell.
    pub fn paint_selected(&self, ui: &Ui, cell: usize) {
        let ring = Stroke::new(1.5, Theme::of(ui).text_1);
        let cell = self.cell(cell).expand(1.0);
        ui.painter().rect_stroke(cell, 1, ring, StrokeKind::Outside);
    }

    /// Reports the cell under the pointer. Screen readers read the name.
    pub fn response(&self, ui: &Ui, name: &str) -> MapResponse {
        let response = ui.interact(self.area, ui.scope_id().with("map"), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Table, true, name));
        focus_ring(ui, &response, 2);
        let at = |pointer: Option<Pos2>| self.cell_at(pointer?);
        MapResponse {
            hovered: at(response.hover_pos()),
            clicked: at(response.interact_pointer_pos()).filter(|_| response.clicked()),
        }
    }
}

/// Returns the indices of the round values, with their labels.
fn round_values(axis: &Axis) -> Vec<(usize, String)> {
    let values = axis.values().iter().copied();
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let least = values.fold(f64::INFINITY, f64::min);
    // Values far above 0 need finer marks than an axis from 0 would have.
    let span = if least > most / 3.0 {
        most - least
    } else {
        most
    };
    let (step, _) = axis_steps(span);
    let is_round = |value: f64| (value / step - (value / step).round()).abs() < 1e-6;
    let values = axis.values().iter().enumerate();
    let round = values.filter(|(_, value)| is_round(**value));
    round.map(|(place, value)| (place, label(*value))).collect()
}

#[cfg(test)]
mod tests {
    use egui::{Rect, pos2};

    use super::{FineGrid, round_values};
    use crate::analysis::sweep::{Axis, Parameter};
    use crate::decoding::FilterKind;

    fn axis(kind: FilterKind, ends: [f64; 2], n: usize) -> Axis {
        Axis::range(Parameter::Filter(kind, 0), ends, n).unwrap()
    }

    #[test]
    fn the_largest_row_is_at_the_top_whatever_the_order() {
        let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(40.0, 30.0));
        let columns = axis(FilterKind::TopP, [0.5, 0.8], 4);
        for (ends, top) in [([0.2, 0.6], 2), ([0.6, 0.2], 0)] {
            let rows = axis(FilterKind::Temperature, ends, 3);
            let grid = FineGrid::new(area, [&rows, &columns]);
            assert_eq!(grid.cell_at(pos2(1.0, 1.0)), Some(top * 4));
            assert_eq!(grid.cell(top * 4 + 3).right_top(), pos2(40.0, 0.0));
            for cell in 0..12 {
                assert_eq!(grid.cell_at(grid.cell(cell).center()), Some(cell));
            }
            assert_eq!(grid.cell_at(pos2(41.0, 1.0)), None);
        }
    }

    #[test]
    fn round_values_are_labeled() {
        let labels = |axis: &Axis| {
            let values = round_values(axis).into_iter();
            values.map(|(_, label)| label).collect::<Vec<_>>()
        };
        let heat = axis(FilterKind::Temperature, [2.0, 0.05], 40);
        assert_eq!(labels(&heat), ["2", "1.5", "1", "0.5"]);
        let top_p = axis(FilterKind::TopP, [0.5, 1.0], 51);
        assert_eq!(labels(&top_p), ["0.6", "0.8", "1"]);
    }
}
