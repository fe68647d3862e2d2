//! One cell of the table: the share of right answers, or the beginning of a text.

use egui::text::LayoutJob;
use egui::{Align2, Color32, Rect, Stroke, StrokeKind, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::lab::prompts::figures::TaskResults;
use crate::plots::{TextRun, heat_step, paint_text};

/// The maximum length of the part of a text that a cell shows, in bytes.
const N_SHOWN: usize = 160;

/// The width below which a cell has no room for a percent sign.
const WITH_SIGN: f32 = 44.0;

/// Formats a share in whole percent: "60 %".
pub(super) fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Formats a share for a cell of this width, with its sign if there is room.
pub(super) fn cell_percent(share: f64, width: f32) -> String {
    if width >= WITH_SIGN {
        whole_percent(share)
    } else {
        format!("{:.0}", share * 100.0)
    }
}

/// Draws the share of right answers. What was not judged is outlined.
pub(super) fn share_cell_ui(ui: &Ui, rect: Rect, results: &TaskResults, at: (usize, usize)) {
    let theme = Theme::of(ui);
    let center = rect.center();
    let Some((n_right, n)) = results.n_right(at.0, at.1) else {
        let edge = Stroke::new(1.0, theme.stroke_2);
        let inside = rect.shrink(0.5);
        ui.painter()
            .rect_stroke(inside, 2, edge, StrokeKind::Inside);
        let run = TextRun::new("–", Face::Small, theme.text_3);
        paint_text(ui, center, Align2::CENTER_CENTER, run);
        return;
    };
    let share = n_right as f64 / n.max(1) as f64;
    let step = heat_step(share);
    ui.painter().rect_filled(rect, 2, theme.heat(step));
    let words = cell_percent(share, rect.width());
    let run = TextRun::new(&words, Face::Small, theme.heat_ink(step));
    paint_text(ui, center, Align2::CENTER_CENTER, run);
}

/// Rings the selected cell.
pub(super) fn ring_ui(ui: &Ui, rect: Rect, results: &TaskResults, at: (usize, usize)) {
    let theme = Theme::of(ui);
    let share = results.n_right(at.0, at.1);
    let share = share.map(|(n_right, n)| n_right as f64 / n.max(1) as f64);
    let ink = share.map_or(theme.text_1, |share| theme.heat_ink(heat_step(share)));
    let inner = Stroke::new(2.0, ink);
    ui.painter()
        .rect_stroke(rect.shrink(2.0), 2, inner, StrokeKind::Inside);
}

/// Draws the beginning of the first answer, in three lines.
pub(super) fn text_cell_ui(
    ui: &Ui,
    rect: Rect,
    results: &TaskResults,
    (task, pane): (usize, usize),
) {
    let theme = Theme::of(ui);
    match results.answers(task, pane).first() {
        Some(answer) => lines_ui(ui, rect, &answer.answer.text, theme.text_1),
        None if results.error_of(task, pane).is_some() => lines_ui(ui, rect, "–", theme.text_3),
        None => lines_ui(ui, rect, "…", theme.text_3),
    }
}

/// Draws the beginning of a text in at most three lines.
pub(super) fn lines_ui(ui: &Ui, rect: Rect, words: &str, color: Color32) {
    let end = words.floor_char_boundary(N_SHOWN);
    let words = words.get(..end).unwrap_or_default();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut job = LayoutJob::simple(words, Face::Small.font(), color, rect.width());
    job.wrap.max_rows = 3;
    let galley = ui.painter().layout_job(job);
    ui.painter().galley(rect.min, galley, color);
}

/// Describes a cell for screen readers: "Task 11, top-p, 60 percent, 3 of 5 right".
pub(in crate::lab::prompts) fn cell_words(
    results: &TaskResults,
    (task, pane): (usize, usize),
) -> String {
    let name = results.panes.get(pane).map(|pane| pane.name.to_lowercase());
    let start = format!("Task {}, {}", task + 1, name.unwrap_or_default());
    if let Some(error) = results.error_of(task, pane) {
        return format!("{start}, {error}");
    }
    if let Some((n_right, n)) = results.n_right(task, pane) {
        let percent = n_right as f64 / n.max(1) as f64 * 100.0;
        return format!("{start}, {percent:.0} percent, {n_right} of {n} right");
    }
    match results.answers(task, pane).first() {
        None => format!("{start}, not answered yet"),
        Some(answer) => {
            let text = &answer.answer.text;
            let end = text.floor_char_boundary(N_SHOWN);
            format!("{start}: {}", text.get(..end).unwrap_or_default())
        }
    }
}
