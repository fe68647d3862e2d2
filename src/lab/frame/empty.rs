//! What a tab shows before there are results: the drawing that will come, without its values.

use egui::{Align2, Label, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::plots::{Axes, Scale, TextRun, paint_text_within, unit_title_ui};
use crate::state::{RunStatus, capitalize};

/// The height of a bar that stands for a line of text, and the distance from one line to the next.
const BAR: f32 = 7.0;
const LINE: f32 = 19.0;

/// The widths of the bars of one text, as shares of the room. The first stands for its heading.
const WIDTHS: [f32; 5] = [0.3, 0.98, 0.9, 0.92, 0.45];

/// The space around a sentence on a picture.
const AROUND: f32 = 8.0;

/// Draws the outline of the texts in the right column, below what they will be.
pub(in crate::lab) fn texts_ui(ui: &Ui, area: Rect, words: &str) {
    let theme = Theme::of(ui);
    let run = TextRun::new(words, Face::Body, theme.text_3);
    let at = area.left_top() + vec2(0.0, 14.0);
    paint_text_within(ui, at, Align2::LEFT_CENTER, run, area.width());
    let y = area.top() + 34.0;
    ui.painter()
        .hline(area.x_range(), y, Stroke::new(1.0, theme.stroke_1));
    bars_ui(ui, area.with_min_y(y + 16.0));
}

/// Draws the outlines of as many texts as there is room for.
pub(in crate::lab) fn bars_ui(ui: &Ui, area: Rect) {
    let color = Theme::of(ui).stroke_1;
    let height = WIDTHS.len() as f32 * LINE;
    let mut top = area.top();
    while top + height <= area.bottom() + LINE {
        // Lines that look like those of other words.
        let shift = 0.03 * ((top - area.top()) / height % 3.0);
        for (line, width) in WIDTHS.into_iter().enumerate() {
            let at = pos2(area.left(), top + line as f32 * LINE);
            let bar = Rect::from_min_size(at, vec2((width - shift) * area.width(), BAR));
            if bar.bottom() <= area.bottom() {
                ui.painter().rect_filled(bar, 3, color);
            }
        }
        top += height + 12.0;
    }
}

/// Draws the outline of a cell or a bar.
pub(in crate::lab) fn outline(ui: &Ui, rect: Rect) {
    let edge = Stroke::new(1.0, Theme::of(ui).stroke_2);
    ui.painter().rect_stroke(rect, 2, edge, StrokeKind::Inside);
}

/// Returns why a run has no results yet: it failed, or it waits as `waiting` says. Returns `None` if
/// nothing is on its way, so that the tab shows its empty picture.
pub(in crate::lab) fn missing_words(status: Option<&RunStatus>, waiting: &str) -> Option<String> {
    match status? {
        RunStatus::Failed { error } => Some(capitalize(error)),
        RunStatus::Waiting | RunStatus::Running => Some(waiting.to_owned()),
        RunStatus::Complete | RunStatus::Stopped => None,
    }
}

/// Returns what results show, in words. If they show nothing yet, says that more are `coming`, or that
/// the run ended too early.
pub(in crate::lab) fn shown_words(
    sentences: &[String],
    status: &RunStatus,
    coming: &str,
) -> String {
    if sentences.is_empty() && status.is_running() {
        coming.to_owned()
    } else if sentences.is_empty() {
        "Too little was measured to say what it shows.".to_owned()
    } else {
        sentences.join(" ")
    }
}

/// Draws a text as it is, cut at the bottom of the area, or bars if there is none yet.
pub(in crate::lab) fn text_ui(ui: &mut Ui, area: Rect, text: &str, face: Face) {
    let text = text.trim();
    if text.is_empty() {
        return bars_ui(ui, area);
    }
    let mut ui = child_ui(ui, area, "text");
    ui.shrink_clip_rect(area);
    let words = face.text(text).color(Theme::of(&ui).text_1);
    ui.add(Label::new(words).wrap());
}

/// Draws a plot with its title and its horizontal axis, but without values.
pub(in crate::lab) fn plot_ui(ui: &Ui, rect: Rect, title: [&str; 2], x: Scale, x_name: &str) {
    unit_title_ui(ui, rect, title, "Not measured yet");
    let axes = Axes::new(rect.with_min_y(rect.top() + 26.0), x, Scale::unmarked());
    axes.paint(ui, x_name);
    let edge = Stroke::new(1.0, Theme::of(ui).stroke_2);
    let area = axes.area();
    ui.painter().hline(area.x_range(), area.bottom(), edge);
    ui.painter().vline(area.left(), area.y_range(), edge);
}

/// Says what the picture will show, in the middle of an area of it.
pub(in crate::lab) fn about_ui(ui: &mut Ui, area: Rect, words: &str) {
    let theme = Theme::of(ui);
    let width = area.width() - 2.0 * AROUND;
    let text = Face::Body.text(words).color(theme.text_2);
    let job = egui::WidgetText::from(text.clone());
    let galley = job.into_galley(ui, Some(egui::TextWrapMode::Wrap), width, Face::Body.font());
    let band = Rect::from_center_size(area.center(), vec2(area.width(), galley.size().y));
    let back = Rect::from_center_size(band.center(), galley.size()).expand2(vec2(16.0, AROUND));
    ui.painter().rect_filled(back, 0, theme.surface_1);
    let mut ui = child_ui(ui, band.shrink2(vec2(AROUND, 0.0)), "about");
    ui.vertical_centered(|ui| ui.add(Label::new(text).wrap()));
}

#[cfg(test)]
mod tests {
    use super::missing_words;
    use crate::state::RunStatus;

    #[test]
    fn a_run_without_results_waits_or_failed_and_a_stopped_one_says_nothing() {
        let error = "the engine is gone".to_owned();
        for (status, expected) in [
            (None, None),
            (Some(RunStatus::Waiting), Some("Loading")),
            (Some(RunStatus::Running), Some("Loading")),
            (Some(RunStatus::Stopped), None),
            (
                Some(RunStatus::Failed { error }),
                Some("The engine is gone"),
            ),
        ] {
            let found = missing_words(status.as_ref(), "Loading");
            assert_eq!(found.as_deref(), expected, "{status:?}");
        }
    }
}
