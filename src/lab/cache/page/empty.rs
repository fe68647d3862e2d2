//! What the tab shows before the first measurement: the plots that will come, without points.

use egui::{Rect, Ui, vec2};

use crate::design::child_ui::child_ui;
use crate::lab::cache::plot::{BAR, N_BARS, ROW, TITLE, rects_of};
use crate::lab::frame::{Columns, empty};
use crate::plots::{Scale, unit_title_ui};
use crate::state::AppState;

const ABOUT: &str = "Each point will be one token: how long it took with the cache and without it.";

/// Draws both columns.
pub(super) fn empty_ui(ui: &mut Ui, columns: Columns, state: &AppState) {
    empty::texts_ui(ui, columns.right, "What the plots show, in words");
    let area = columns.middle;
    let [times, memory, reads, speeds] = rects_of(area);
    let n_tokens = state.lab.cache.n_tokens as f64;
    let plot = |rect: Rect, ui: &mut Ui, title: [&str; 2], x_name: &str| {
        let ui = child_ui(ui, rect, title[0]);
        empty::plot_ui(&ui, rect, title, Scale::between(0.0, n_tokens), x_name);
    };
    let unit = "milliseconds, against the length of the text";
    plot(times, ui, ["Time per token", unit], "tokens of text");
    plot(memory, ui, ["Cache memory", "bytes"], "tokens of text");
    let title = ["Reading a prompt", "milliseconds"];
    plot(reads, ui, title, "tokens of prompt");
    speeds_ui(ui, speeds);
    empty::about_ui(ui, times, ABOUT);
}

/// Draws the outlines of the bars.
fn speeds_ui(ui: &mut Ui, rect: Rect) {
    let ui = child_ui(ui, rect, "speeds");
    let title = ["Tokens per second", "writing against reading"];
    unit_title_ui(&ui, rect, title, "Not measured yet");
    let mut bar = Rect::from_min_size(
        rect.left_top() + vec2(0.0, TITLE + 8.0),
        vec2(rect.width() * 0.8, BAR),
    );
    for _ in 0..N_BARS {
        empty::outline(&ui, bar);
        bar = bar.translate(vec2(0.0, ROW));
    }
}
