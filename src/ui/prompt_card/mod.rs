//! The prompt: its text, what the model is to make of it, and what it does make of it.

mod head;
mod lines;
mod refusal;
mod tokens;

use egui::text::LayoutJob;
use egui::{FontId, Rect, RichText, Stroke, StrokeKind, TextEdit, Ui, pos2, vec2};

use self::head::{COUNT_PADDING, head_ui};
use self::refusal::{refusal_height, refusal_ui};
use self::tokens::TokensView;
use super::fonts::Face;
use super::part::part;
use super::theme::Theme;
use crate::state::{AppState, Command, PromptMode};

/// As many rows of the prompt are seen at once, and of the system prompt.
const MOST_ROWS: usize = 4;
const MOST_SYSTEM_ROWS: usize = 3;

/// So many characters nearly always fill as many rows as are seen at once.
const BEGINNING: usize = 4096;

/// The card's padding from side to side.
const SIDE: f32 = 14.0;

/// From the card's edge to the first of its texts.
const HEAD: f32 = 28.0;

/// What the word "System" takes before its text.
const SYSTEM_LABEL: f32 = 52.0;

/// What is above the system prompt, and below it with the line.
const SYSTEM_TOP: f32 = 4.0;
const SYSTEM_BOTTOM: f32 = 11.0;

const SYSTEM_FACE: Face = Face::Body;

/// The height that all but the card's own padding takes on a card of this width.
pub(super) fn content_height(ui: &Ui, state: &AppState, card_width: f32) -> f32 {
    let width = card_width - 2.0 * SIDE;
    let rows = n_rows(ui, &state.prompt, (Face::Prompt, width), MOST_ROWS);
    let text = rows as f32 * Face::Prompt.row();
    text + system_height(ui, state, card_width) + refusal_height(ui, state, card_width)
}

fn system_height(ui: &Ui, state: &AppState, card_width: f32) -> f32 {
    if state.prompt_mode == PromptMode::Raw {
        return 0.0;
    }
    let width = card_width - 2.0 * SIDE - SYSTEM_LABEL;
    let rows = n_rows(ui, &state.system, (SYSTEM_FACE, width), MOST_SYSTEM_ROWS);
    SYSTEM_TOP + rows as f32 * system_row(ui) + SYSTEM_BOTTOM
}

/// A field sets its rows as the face itself has it.
fn system_row(ui: &Ui) -> f32 {
    ui.fonts_mut(|fonts| fonts.row_height(&SYSTEM_FACE.font()))
}

/// How many rows a text takes, `most` where it takes more.
fn n_rows(ui: &Ui, text: &str, set: (Face, f32), most: usize) -> usize {
    // A long text is not looked at to its end in each frame: its beginning takes no more rows.
    let beginning = match text.char_indices().nth(BEGINNING) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    };
    let n_first = n_all_rows(ui, beginning, set);
    if n_first >= most || beginning.len() == text.len() {
        return n_first.min(most);
    }
    n_all_rows(ui, text, set).min(most)
}

fn n_all_rows(ui: &Ui, text: &str, (face, width): (Face, f32)) -> usize {
    let color = Theme::of(ui).text_1;
    // The field keeps room for the caret.
    let job = LayoutJob::simple(text.to_owned(), face.font(), color, width - 2.0);
    let rows = ui.fonts_mut(|fonts| fonts.layout_job(job)).rows.len();
    rows.max(1)
}

/// What the card remembers from frame to frame.
#[derive(Debug, Default)]
pub(super) struct PromptCard {
    tokens: TokensView,
    was_drawn: bool,
}

impl PromptCard {
    /// Draws the card, and below it why the model makes nothing of the prompt. In a new window the
    /// text has the keyboard.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        state: &mut AppState,
        commands: &mut Vec<Command>,
    ) {
        let theme = Theme::of(ui);
        let refused = state.prompt_refusal().is_some();
        let refusal = refusal_height(ui, state, rect.width());
        let (card, below) = rect.split_top_bottom_at_y(rect.bottom() - refusal);
        ui.painter().rect_filled(card, 8, theme.surface_1);
        let head = Rect::from_min_max(
            card.min + vec2(SIDE, 7.0),
            pos2(card.right() - SIDE + COUNT_PADDING, card.top() + 31.0),
        );
        let top = card.top() + HEAD;
        let system = system_height(ui, state, rect.width());
        let body = Rect::from_min_max(
            pos2(card.left() + SIDE, top + system),
            card.max - vec2(SIDE, 8.0),
        );

        // In the order in which the tabulator goes through them.
        let is_chat = state.prompt_mode == PromptMode::Chat;
        let mut head = part(ui, head, "prompt head");
        let mut changed = head_ui(&mut head, card, state, &mut self.tokens, commands);
        let mut has_focus = false;
        if is_chat {
            let place = Rect::from_min_max(pos2(body.left(), top), body.right_top());
            let system = system_ui(ui, place, &mut state.system);
            changed |= system.changed();
            has_focus |= system.has_focus();
        }
        let text = text_ui(&mut part(ui, body, "prompt text"), state);
        if !std::mem::replace(&mut self.was_drawn, true) {
            focus_at_end(ui, text.id, &state.prompt);
        }
        changed |= text.changed();
        has_focus |= text.has_focus();
        changed |= refusal_ui(ui, below, state);
        if changed {
            commands.push(Command::PromptEdited);
        }

        let refused = refused || state.prompt_length().is_some_and(|length| !length.fits());
        let edge = match (has_focus, refused) {
            (true, _) => Stroke::new(2.0, theme.focus),
            (false, true) => Stroke::new(1.0, theme.error),
            (false, false) => Stroke::new(1.0, theme.stroke_1),
        };
        ui.painter().rect_stroke(card, 8, edge, StrokeKind::Inside);
    }
}

fn text_ui(ui: &mut Ui, state: &mut AppState) -> egui::Response {
    let (name, hint) = match state.prompt_mode {
        PromptMode::Raw => ("Prompt", "Write a beginning"),
        PromptMode::Chat => ("Message", "Write a message"),
    };
    let hint = Face::Prompt.text(hint).color(Theme::of(ui).text_3);
    let color = Theme::of(ui).text_1;
    egui::ScrollArea::vertical()
        .id_salt("prompt")
        .show(ui, |ui| {
            let edit = bare_edit(&mut state.prompt, Face::Prompt.font());
            let edit = edit.text_color(color).hint_text(hint);
            ui.add(edit).accessible_name(name)
        })
        .inner
}

/// The field of the system prompt, and the line below it.
fn system_ui(ui: &mut Ui, rect: Rect, system: &mut String) -> egui::Response {
    let theme = Theme::of(ui);
    let line = Stroke::new(1.0, theme.stroke_1);
    ui.painter()
        .hline(rect.x_range(), rect.bottom() - 6.0, line);
    let texts = Rect::from_min_max(
        pos2(rect.left(), rect.top() + SYSTEM_TOP),
        pos2(rect.right(), rect.bottom() - SYSTEM_BOTTOM),
    );
    let (label, field) = texts.split_left_right_at_x(rect.left() + SYSTEM_LABEL);
    ui.painter().text(
        pos2(label.left(), label.top() + system_row(ui) / 2.0),
        egui::Align2::LEFT_CENTER,
        "System",
        Face::Micro.font(),
        theme.text_3,
    );
    let hint = "How the model is to behave; may stay empty";
    let hint = RichText::new(hint).font(SYSTEM_FACE.font());
    let hint = hint.color(theme.text_3);
    egui::ScrollArea::vertical()
        .id_salt("system")
        .show(&mut part(ui, field, "system prompt"), |ui| {
            let edit = bare_edit(system, SYSTEM_FACE.font());
            let edit = edit.text_color(theme.text_2).hint_text(hint);
            ui.add(edit).accessible_name("System prompt")
        })
        .inner
}

/// A field without a frame of its own, whose card is its frame.
fn bare_edit(text: &mut String, font: FontId) -> TextEdit<'_> {
    TextEdit::multiline(text)
        .font(font)
        .frame(egui::Frame::NONE)
        .margin(egui::Margin::ZERO)
        .desired_rows(1)
        .desired_width(f32::INFINITY)
}

fn focus_at_end(ui: &Ui, id: egui::Id, prompt: &str) {
    let end = egui::text::CCursor::new(prompt.chars().count());
    let mut edit = TextEdit::load_state(ui, id).unwrap_or_default();
    edit.cursor
        .set_char_range(Some(egui::text::CCursorRange::one(end)));
    TextEdit::store_state(ui, id, edit);
    ui.memory_mut(|memory| memory.request_focus(id));
}

#[cfg(test)]
mod tests {
    use egui::{Context, RawInput};

    use super::{BEGINNING, MOST_ROWS, n_all_rows, n_rows};
    use crate::ui::fonts::Face;
    use crate::ui::style;

    #[test]
    fn as_many_rows_are_seen_as_there_are_and_no_more_than_four() {
        let words = "word ".repeat(BEGINNING);
        let ctx = Context::default();
        style::install(&ctx);
        let output = ctx.run_ui(RawInput::default(), |ui| {
            for width in [100.0, 800.0, 20_000.0, 1e6] {
                let set = (Face::Prompt, width);
                for n_chars in [0, 9, 200, BEGINNING, BEGINNING + 1, words.len()] {
                    let text = words.get(..n_chars).unwrap();
                    let expected = n_all_rows(ui, text, set).min(MOST_ROWS);
                    let n_rows = n_rows(ui, text, set, MOST_ROWS);
                    assert_eq!(n_rows, expected, "{n_chars} in {width}");
                }
            }
        });
        output.drop_without_applying_deltas();
    }
}
