//! The table: a row per task, a column per settings. The cells of a judged list are shares of right
//! answers; those of another list are the beginnings of texts.

use egui::{Align2, Color32, Rect, Stroke, Ui, pos2, vec2};

use super::cell::{cell_percent, lines_ui, ring_ui, share_cell_ui, text_cell_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::{counted, grouped};
use crate::lab::prompts::figures::statistics::ShareEstimate;
use crate::lab::prompts::figures::{TaskResults, TasksReading};
use crate::plots::{TextRun, heat_legend, paint_text, paint_text_within, unit_title_ui};

/// The heights of the title, of the names of the panes, and of the row of totals.
pub(super) const TITLE: f32 = 26.0;
pub(super) const HEADS: f32 = 38.0;
pub(super) const ALL: f32 = 44.0;

/// The heights of a row of shares and of texts.
const SHARES: f32 = 25.0;
const TEXTS: f32 = 62.0;

/// The distance from one column of shares to the next: usually, and if there is little room.
const WIDE: f32 = 58.0;
const NARROW: f32 = 36.0;

/// The most settings with columns of the usual width.
const N_WIDE: usize = 4;

/// The widths of the prompt, at least, and of what is expected.
const PROMPT: f32 = 120.0;
const MIN_PROMPT: f32 = 84.0;
const EXPECTED: f32 = 84.0;

/// The minimum width of a column of texts, and the gap between two of them.
const MIN_TEXT: f32 = 90.0;
const TEXT_GAP: f32 = 10.0;

/// The horizontal layout of the table.
#[derive(Debug, Clone, Copy)]
pub(in crate::lab::prompts) struct TableColumns {
    left: f32,
    prompt: f32,
    /// 0 if there is no room for what is expected.
    expected: f32,
    /// The distance from one column of cells to the next.
    pitch: f32,
    gap: f32,
}

impl TableColumns {
    /// Lays out the columns in this width, which is at least the minimum.
    pub(in crate::lab::prompts) fn new(left: f32, width: f32, results: &TaskResults) -> Self {
        let n = results.panes.len() as f32;
        if !results.is_judged() {
            let pitch = width / (n + 1.0);
            return Self {
                left,
                prompt: pitch,
                expected: 0.0,
                pitch,
                gap: TEXT_GAP,
            };
        }
        let has_room = width >= PROMPT + EXPECTED + n * WIDE;
        let pitch = if results.panes.len() <= N_WIDE && has_room {
            WIDE
        } else {
            NARROW
        };
        let rest = width - n * pitch;
        let expected = if rest >= PROMPT + EXPECTED {
            EXPECTED
        } else {
            0.0
        };
        Self {
            left,
            prompt: rest - expected,
            expected,
            pitch,
            gap: 2.0,
        }
    }

    /// Returns the width below which the table scrolls sideways.
    pub(in crate::lab::prompts) fn min_width(results: &TaskResults) -> f32 {
        let n = results.panes.len() as f32;
        if results.is_judged() {
            MIN_PROMPT + n * NARROW
        } else {
            (n + 1.0) * MIN_TEXT
        }
    }

    /// Returns the height of a row.
    pub(in crate::lab::prompts) fn row_height(results: &TaskResults) -> f32 {
        if results.is_judged() { SHARES } else { TEXTS }
    }

    /// Returns the rectangle of the prompts in a row.
    pub(in crate::lab::prompts) fn prompts(&self, row: Rect) -> Rect {
        row.with_max_x(self.left + self.prompt)
    }

    /// Returns the rectangle of a cell in a row.
    pub(in crate::lab::prompts) fn cell(&self, pane: usize, row: Rect) -> Rect {
        let left = self.left + self.prompt + self.expected + pane as f32 * self.pitch;
        let corner = pos2(left + self.gap / 2.0, row.top() + 1.0);
        Rect::from_min_size(corner, vec2(self.pitch - self.gap, row.height() - 2.0))
    }

    fn is_narrow(&self) -> bool {
        self.pitch < WIDE
    }
}

/// Draws the title, with the color ramp on the right. Returns the space below it.
pub(in crate::lab::prompts) fn title_ui(
    ui: &Ui,
    area: Rect,
    results: &TaskResults,
    reading: &TasksReading,
) -> Rect {
    let (title, below) = area.split_top_bottom_at_y(area.top() + TITLE);
    let tasks = counted(results.tasks().len(), "task");
    let words = reading.verdict.as_ref().map(|verdict| &*verdict.sentence);
    if !results.is_judged() {
        let unit = format!("the beginning of each first answer, {tasks}");
        unit_title_ui(ui, title, ["Answers", &unit], "");
        return below;
    }
    let answers = counted(results.n_answers, "answer");
    let order = reading.sorted_by.map(|(order, is_reversed)| {
        let name = order.name(&results.panes, is_reversed);
        format!(", {name}")
    });
    let order = order.unwrap_or_default();
    let unit = format!("share of {answers}, {tasks}{order}");
    let right = pos2(title.right(), title.top() + 9.0);
    let legend = heat_legend(ui, right, &["0 %".to_owned(), "100 %".to_owned()]);
    let title = title.with_max_x(legend.left() - 12.0);
    unit_title_ui(
        ui,
        title,
        ["Right answers", &unit],
        words.unwrap_or_default(),
    );
    below
}

/// Draws the names of the columns.
pub(in crate::lab::prompts) fn heads_ui(
    ui: &Ui,
    area: Rect,
    columns: TableColumns,
    results: &TaskResults,
) {
    let theme = Theme::of(ui);
    let run = |words| TextRun::new(words, Face::Micro, theme.text_3);
    let y = area.bottom() - 12.0;
    paint_text(ui, pos2(area.left(), y), Align2::LEFT_CENTER, run("prompt"));
    if columns.expected > 0.0 {
        let at = pos2(columns.left + columns.prompt, y);
        paint_text(ui, at, Align2::LEFT_CENTER, run("expected"));
    }
    for (index, pane) in results.panes.iter().enumerate() {
        let cell = columns.cell(index, area);
        let name = TextRun::new(&pane.name, Face::Micro, theme.text_2);
        let (badge, at, align, room) = if !results.is_judged() {
            let badge = pos2(cell.left() + SMALL_BADGE / 2.0, y);
            let left = cell.left() + SMALL_BADGE + 6.0;
            let at = pos2(left, y);
            (badge, at, Align2::LEFT_CENTER, cell.right() - left)
        } else if columns.is_narrow() {
            // There is no room for names.
            let at = pos2(cell.center().x, y);
            (at, at, Align2::CENTER_CENTER, 0.0)
        } else {
            let at = pos2(cell.center().x, y);
            let badge = at - vec2(0.0, 16.0);
            (badge, at, Align2::CENTER_CENTER, columns.pitch)
        };
        let badge = Rect::from_center_size(badge, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, results.place(index));
        if room > 0.0 {
            paint_text_within(ui, at, align, name, room);
        }
    }
}

/// Draws the share of right answers over all tasks, with its interval.
pub(in crate::lab::prompts) fn all_row_ui(
    ui: &Ui,
    row: Rect,
    columns: TableColumns,
    results: &TaskResults,
    reading: &TasksReading,
) {
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().hline(row.x_range(), row.top(), edge);
    ui.painter().hline(row.x_range(), row.bottom() - 3.0, edge);
    let inside = row.with_max_y(row.bottom() - 3.0);
    let words = all_words(results, reading);
    let run = TextRun::new(&words, Face::Medium, theme.text_1);
    let room = columns.prompt + columns.expected;
    paint_text_within(ui, inside.left_center(), Align2::LEFT_CENTER, run, room);
    for (index, share) in reading.shares.iter().enumerate() {
        let cell = columns.cell(index, inside);
        if let Some(estimate) = share {
            estimate_ui(ui, cell, columns, estimate);
        } else {
            let run = TextRun::new("–", Face::Small, theme.text_3);
            paint_text(ui, cell.center(), Align2::CENTER_CENTER, run);
        }
    }
}

/// Draws a share and its interval below it.
fn estimate_ui(ui: &Ui, cell: Rect, columns: TableColumns, estimate: &ShareEstimate) {
    let theme = Theme::of(ui);
    let face = if columns.is_narrow() {
        Face::Strong
    } else {
        Face::Run
    };
    let words = cell_percent(estimate.share, cell.width());
    let run = TextRun::new(&words, face, theme.text_1);
    let at = cell.center() - vec2(0.0, 8.0);
    paint_text(ui, at, Align2::CENTER_CENTER, run);
    if let Some(interval) = estimate.interval {
        let [low, high] = [interval.low, interval.high].map(|end| end * 100.0);
        let words = format!("{low:.0}–{high:.0}");
        let run = TextRun::new(&words, Face::Micro, theme.text_3);
        let at = cell.center() + vec2(0.0, 9.0);
        paint_text(ui, at, Align2::CENTER_CENTER, run);
    }
}

/// "All 40", or "12 of 40" while answers are missing.
fn all_words(results: &TaskResults, reading: &TasksReading) -> String {
    let counts = reading.shares.iter().flatten();
    let n = counts.map(|share| share.n_prompts).max().unwrap_or(0);
    let n_tasks = results.tasks().len();
    if n == n_tasks {
        format!("All {}", grouped(n as f64))
    } else {
        format!("{} of {}", grouped(n as f64), grouped(n_tasks as f64))
    }
}

/// Draws the row of a task. The cell of the selected settings is ringed.
pub(in crate::lab::prompts) fn row_ui(
    ui: &Ui,
    row: Rect,
    columns: TableColumns,
    results: &TaskResults,
    at: (usize, Option<usize>),
) {
    if results.is_judged() {
        share_row_ui(ui, row, columns, results, at);
    } else {
        text_row_ui(ui, row, columns, results, at);
    }
}

fn share_row_ui(
    ui: &Ui,
    row: Rect,
    columns: TableColumns,
    results: &TaskResults,
    (task, selected): (usize, Option<usize>),
) {
    let theme = Theme::of(ui);
    if selected.is_some() {
        let fill = row.expand2(vec2(6.0, 0.0));
        ui.painter().rect_filled(fill, 6, theme.surface_3);
    }
    let words = results.prompt_words(task);
    let run = TextRun::new(&words, Face::Candidate, prompt_color(theme, selected));
    let room = columns.prompt - 10.0;
    paint_text_within(ui, row.left_center(), Align2::LEFT_CENTER, run, room);
    if columns.expected > 0.0 {
        let words = results.expected_words(task);
        let run = TextRun::new(&words, Face::Candidate, theme.text_3);
        let at = pos2(columns.left + columns.prompt, row.center().y);
        paint_text_within(ui, at, Align2::LEFT_CENTER, run, EXPECTED - 8.0);
    }
    for pane in 0..results.panes.len() {
        let cell = columns.cell(pane, row);
        share_cell_ui(ui, cell, results, (task, pane));
        if selected == Some(pane) {
            ring_ui(ui, cell, results, (task, pane));
        }
    }
}

fn text_row_ui(
    ui: &Ui,
    row: Rect,
    columns: TableColumns,
    results: &TaskResults,
    (task, selected): (usize, Option<usize>),
) {
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().hline(row.x_range(), row.top(), edge);
    let inside = row.shrink2(vec2(0.0, 6.0));
    let prompt = inside.with_max_x(columns.left + columns.prompt - TEXT_GAP);
    let words = results.prompt_words(task);
    lines_ui(ui, prompt, &words, prompt_color(theme, selected));
    for pane in 0..results.panes.len() {
        let cell = columns.cell(pane, inside);
        if selected == Some(pane) {
            let fill = cell.expand2(vec2(4.0, 4.0));
            ui.painter().rect_filled(fill, 5, theme.surface_3);
        }
        text_cell_ui(ui, cell, results, (task, pane));
    }
}

/// Returns the color of a prompt, which stands out in the selected row.
fn prompt_color(theme: &Theme, selected: Option<usize>) -> Color32 {
    if selected.is_some() {
        theme.text_1
    } else {
        theme.text_2
    }
}
