//! The sentence below the card: why the model makes nothing of the prompt, and the way out.

use egui::text::LayoutJob;
use egui::{Color32, Rect, Ui, pos2, vec2};

use crate::state::{AppState, PromptMode};
use crate::ui::fonts::Face;
use crate::ui::part::part;
use crate::ui::theme::Theme;
use crate::ui::widgets::Chip;

const WRITE_RAW: &str = "Write raw";

/// What the button takes at the right.
const BUTTON: f32 = 96.0;

/// Between the card and the sentence.
const GAP: f32 = 4.0;

/// How high the sentence is below a card of this width; nothing where there is none.
pub(super) fn refusal_height(ui: &Ui, state: &AppState, card_width: f32) -> f32 {
    let Some(sentence) = state.prompt_refusal() else {
        return 0.0;
    };
    let job = sentence_job(sentence, card_width);
    let rows = ui.fonts_mut(|fonts| fonts.layout_job(job)).rows.len();
    GAP + (rows as f32 * Face::Small.row()).max(24.0)
}

/// Says why, in `rect`. Gives whether the mode was changed.
pub(super) fn refusal_ui(ui: &mut Ui, rect: Rect, state: &mut AppState) -> bool {
    let Some(sentence) = state.prompt_refusal() else {
        return false;
    };
    let theme = Theme::of(ui);
    let inner = rect.with_min_y(rect.top() + GAP);
    let words = Rect::from_min_max(
        inner.min + vec2(14.0, 0.0),
        pos2(inner.right() - BUTTON, inner.bottom()),
    );
    let job = sentence_job(sentence.clone(), rect.width());
    let galley = ui.painter().layout_job(job);
    let top = (words.center().y - galley.size().y / 2.0).max(words.top());
    ui.painter()
        .galley(pos2(words.left(), top), galley, theme.error);
    let name = |ui: &Ui| {
        ui.interact(words, ui.scope_id().with("refusal"), egui::Sense::hover())
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &sentence));
    };
    name(ui);
    if state.prompt_mode == PromptMode::Raw {
        return false;
    }
    let button = Rect::from_min_max(pos2(words.right(), inner.top()), inner.max);
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    let mut changed = false;
    part(ui, button, "refusal").with_layout(layout, |ui| {
        if ui.add(Chip::new(WRITE_RAW)).clicked() {
            state.prompt_mode = PromptMode::Raw;
            changed = true;
        }
    });
    changed
}

fn sentence_job(sentence: String, card_width: f32) -> LayoutJob {
    let width = card_width - 14.0 - BUTTON;
    let font = Face::Small.font();
    let mut job = LayoutJob::simple(sentence, font, Color32::PLACEHOLDER, width);
    for section in &mut job.sections {
        section.format.line_height = Some(Face::Small.row());
    }
    job
}
