//! The prompt: its text, and what the model makes of it.

use egui::{Align, Layout, Rect, Stroke, StrokeKind, TextEdit, Ui, vec2};

use super::fonts::Face;
use super::part::part;
use super::theme::Theme;
use super::widgets::Chip;
use crate::state::{AppState, Command, PromptCount};

/// Beginnings to take where there is none.
const BEGINNINGS: [&str; 3] = [
    "Once upon a time there was a little fox who",
    "The old king had three",
    "One cold morning",
];

/// As many rows are seen at once.
const MOST_ROWS: f32 = 4.0;

/// The height that the prompt's text takes on a card of this width.
pub(super) fn text_height(ui: &Ui, prompt: &str, card_width: f32) -> f32 {
    let font = Face::Prompt.font();
    let color = Theme::of(ui).text_1;
    let text = if prompt.is_empty() { " " } else { prompt };
    let mut job = egui::text::LayoutJob::simple(text.to_owned(), font, color, card_width - 30.0);
    for section in &mut job.sections {
        section.format.line_height = Some(Face::Prompt.row());
    }
    let rows = ui.fonts_mut(|fonts| fonts.layout_job(job)).rows.len() as f32;
    rows.clamp(1.0, MOST_ROWS) * Face::Prompt.row()
}

/// Draws the card. `focus` puts the caret at the end of the text.
pub(super) fn prompt_ui(
    ui: &mut Ui,
    rect: Rect,
    state: &mut AppState,
    focus: bool,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    ui.painter().rect_filled(rect, 8, theme.surface_1);
    let inner = rect.shrink2(vec2(14.0, 9.0));
    let head = Rect::from_min_size(inner.min, vec2(inner.width(), 19.0));
    let body = Rect::from_min_max(head.left_bottom(), rect.max - vec2(14.0, 8.0));

    let response = text_ui(&mut part(ui, body, "prompt text"), &mut state.prompt);
    if focus {
        focus_at_end(ui, response.id, &state.prompt);
    }
    let mut changed = response.changed();
    head_ui(&mut part(ui, head, "prompt head"), state, &mut changed);
    if changed {
        commands.push(Command::PromptEdited);
    }

    let refused = matches!(state.prompt_count, PromptCount::Refused { .. });
    let edge = match (response.has_focus(), refused) {
        (true, _) => Stroke::new(2.0, theme.focus),
        (false, true) => Stroke::new(1.0, theme.error),
        (false, false) => Stroke::new(1.0, theme.stroke_1),
    };
    ui.painter().rect_stroke(rect, 8, edge, StrokeKind::Inside);
}

fn text_ui(ui: &mut Ui, prompt: &mut String) -> egui::Response {
    egui::ScrollArea::vertical()
        .id_salt("prompt")
        .show(ui, |ui| {
            let edit = TextEdit::multiline(prompt)
                .font(Face::Prompt.font())
                .text_color(Theme::of(ui).text_1)
                .hint_text(
                    Face::Prompt
                        .text("Write a beginning")
                        .color(Theme::of(ui).text_3),
                )
                .frame(egui::Frame::NONE)
                .margin(egui::Margin::ZERO)
                .desired_rows(1)
                .desired_width(f32::INFINITY);
            ui.add(edit).accessible_name("Prompt")
        })
        .inner
}

/// The label, and at the right the count, the complaint, or beginnings to take.
fn head_ui(ui: &mut Ui, state: &mut AppState, changed: &mut bool) {
    let theme = Theme::of(ui);
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.label(Face::Micro.text("Prompt").color(theme.text_3));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if state.prompt.is_empty() {
                for beginning in BEGINNINGS.iter().rev() {
                    let chip = Chip::new(beginning).max_width(200.0);
                    if ui.add(chip).clicked() {
                        (*beginning).clone_into(&mut state.prompt);
                        *changed = true;
                    }
                }
                return;
            }
            match &state.prompt_count {
                PromptCount::Unknown => {}
                PromptCount::Fits { n_tokens: 1 } => {
                    ui.label(Face::Micro.text("1 token").color(theme.text_3));
                }
                PromptCount::Fits { n_tokens } => {
                    let words = format!("{n_tokens} tokens");
                    ui.label(Face::Micro.text(words).color(theme.text_3));
                }
                PromptCount::Refused { reason } => {
                    ui.label(Face::Micro.text(reason).color(theme.error));
                }
            }
        });
    });
}

fn focus_at_end(ui: &Ui, id: egui::Id, prompt: &str) {
    let end = egui::text::CCursor::new(prompt.chars().count());
    let mut edit = TextEdit::load_state(ui, id).unwrap_or_default();
    edit.cursor
        .set_char_range(Some(egui::text::CCursorRange::one(end)));
    TextEdit::store_state(ui, id, edit);
    ui.memory_mut(|memory| memory.request_focus(id));
}
