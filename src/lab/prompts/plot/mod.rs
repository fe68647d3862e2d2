//! Draws the table of shares, the differences between settings, and the share of right answers over
//! what is varied. The same on screen and in a picture.

mod better_by;
mod cell;
mod choice;
mod curve;
mod deciding;
mod map;
mod measures;
mod table;

pub(super) use better_by::{better_by_height, better_by_ui};
pub(super) use cell::cell_words;
pub(super) use choice::{CHOICE, candidate_words, choice_ui};
pub(super) use curve::{SweepCurve, share_words, task_curve_ui};
pub(super) use deciding::{STRIP_ROW, deciding_title_ui, guides_ui, strip_ui, strip_words};
pub(super) use map::sweep_map_ui;
pub(super) use measures::{MEASURES, measures_ui};
pub(super) use table::{TableColumns, all_row_ui, heads_ui, row_ui, title_ui};

use egui::{Color32, Rect, Ui, pos2, vec2};

use super::figures::{SweepReading, TaskResults, TaskSweep, TasksReading};
use crate::plots::{AROUND, PicturePlot, Target};

/// How many rows and strips a picture shows.
const N_ROWS: usize = 40;
const N_STRIPS: usize = 24;

/// The heights of the curve and of the map, and the width of the differences, in a picture.
const CURVE: f32 = 340.0;
const MAP: f32 = 480.0;
const BETTER_BY: f32 = 320.0;
const GAP: f32 = 16.0;

/// The width of a picture, and the height around it with a caption of up to four lines.
const WIDTH: f32 = 860.0;
const CAPTION: f32 = AROUND + 40.0;

/// What a picture shows: the sweep if there is one, and the table otherwise.
#[derive(Debug, Clone, Copy)]
pub(super) struct TasksPlot<'a> {
    pub results: &'a TaskResults,
    pub reading: &'a TasksReading,
    pub sweep: Option<(&'a TaskSweep, &'a SweepReading)>,
}

impl PicturePlot for TasksPlot<'_> {
    fn title(&self) -> &'static str {
        match self.sweep {
            Some((sweep, _)) if sweep.columns.is_some() => "Right answers as two numbers vary",
            Some(_) => "Right answers at any setting",
            None => "Right answers",
        }
    }

    fn default_size(&self) -> [f32; 2] {
        if let Some((sweep, reading)) = self.sweep {
            if sweep.columns.is_some() {
                return [WIDTH, MAP + CAPTION];
            }
            let n_strips = reading.deciding.len().min(N_STRIPS);
            let strips = n_strips as f32 * STRIP_ROW;
            let measures = measures_height(reading);
            return [
                WIDTH,
                CURVE + measures + GAP + table::TITLE + strips + CAPTION,
            ];
        }
        let n_rows = self.reading.order.len().min(N_ROWS) as f32;
        let row = TableColumns::row_height(self.results);
        let head = table::TITLE + table::HEADS + table::ALL;
        let below = better_by_height(self.reading);
        [WIDTH, head + n_rows * row + GAP + below + CAPTION]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(640.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        let area = ui.max_rect();
        match self.sweep {
            Some((sweep, reading)) => {
                draw_sweep(ui, area, SweepCurve::new(self.results, sweep, reading));
            }
            None => self.draw_table(ui, area),
        }
    }
}

/// Returns the height of the plots of what was drawn.
fn measures_height(reading: &SweepReading) -> f32 {
    if reading.drawn.is_empty() {
        0.0
    } else {
        GAP + MEASURES
    }
}

impl TasksPlot<'_> {
    fn draw_table(&self, ui: &Ui, area: Rect) {
        let Self {
            results, reading, ..
        } = *self;
        let columns = TableColumns::new(area.left(), area.width(), results);
        let mut below = title_ui(ui, area, results, reading);
        let mut next = |height: f32| {
            let (row, rest) = below.split_top_bottom_at_y(below.top() + height);
            below = rest;
            row
        };
        heads_ui(ui, next(table::HEADS), columns, results);
        if results.is_judged() {
            all_row_ui(ui, next(table::ALL), columns, results, reading);
        }
        for task in reading.order.iter().take(N_ROWS) {
            let row = next(TableColumns::row_height(results));
            row_ui(ui, row, columns, results, (*task, None));
        }
        next(GAP);
        let size = vec2(BETTER_BY, better_by_height(reading));
        let rect = Rect::from_min_size(next(size.y).min, size);
        better_by_ui(ui, rect, reading, results);
    }
}

fn draw_sweep(ui: &Ui, area: Rect, shown: SweepCurve<'_>) {
    if shown.sweep.columns.is_some() {
        sweep_map_ui(ui, area, shown, None, Target::Picture);
        return;
    }
    let rect = area.with_max_y(area.top() + CURVE);
    let axes = shown.show(ui, rect);
    let mut top = rect.bottom() + GAP;
    if !shown.reading.drawn.is_empty() {
        let measures = Rect::from_x_y_ranges(area.x_range(), top..=top + MEASURES);
        measures_ui(ui, measures, shown);
        top = measures.bottom() + GAP;
    }
    let title = Rect::from_x_y_ranges(area.x_range(), top..=top + table::TITLE);
    deciding_title_ui(ui, title, shown);
    let size = vec2(area.width(), STRIP_ROW);
    let mut row = Rect::from_min_size(pos2(area.left(), title.bottom()), size);
    let strips = row.top();
    for task in shown.reading.deciding.iter().take(N_STRIPS) {
        strip_ui(ui, row, &axes, shown, *task);
        row = row.translate(vec2(0.0, STRIP_ROW));
    }
    guides_ui(ui, strips..=row.top(), &axes, shown);
}
