//! The prompt card: the prompt's text, its mode and how the model tokenizes it.

mod head;
mod history;
mod lines;
mod refusal;
mod starters;
mod switches;
mod tokens;

use egui::text::LayoutJob;
use egui::{FontId, Rect, RichText, Stroke, StrokeKind, TextEdit, Ui, pos2, vec2};

use self::head::{COUNT_PADDING, head_ui};
use self::refusal::{refusal_height, refusal_ui};
use self::tokens::TokensView;
use super::lessons::ring_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{checkbox, long_text};
use crate::lessons::Ring;
use crate::state::{AppState, Command, PromptMode};

/// The maximum number of visible rows of the prompt, and of the system prompt.
const MAX_ROWS: usize = 4;
const MAX_SYSTEM_ROWS: usize = 3;

/// A number of characters that nearly always fills the visible rows.
const N_MEASURED_CHARS: usize = 4096;

/// The card's padding on the left and right, in points.
const SIDE: f32 = 14.0;

/// The distance from the card's top edge to its first text, in points.
const HEAD: f32 = 28.0;

/// The width of the label "System", in points.
const SYSTEM_LABEL: f32 = 52.0;

/// The space above the system prompt, and below it including the line, in points.
const SYSTEM_TOP: f32 = 4.0;
const SYSTEM_BOTTOM: f32 = 11.0;

const SYSTEM_FACE: Face = Face::Body;

/// The width of the choice beside an empty system prompt, in points.
const EMPTY_SYSTEM: f32 = 124.0;

/// A typeface, and the width in points at which text is wrapped.
#[derive(Clone, Copy)]
struct TextStyle {
    face: Face,
    width: f32,
}

/// Returns the height of everything but the card's padding, for a card of this width.
pub(super) fn content_height(ui: &Ui, state: &AppState, card_width: f32) -> f32 {
    let style = TextStyle {
        face: Face::Prompt,
        width: card_width - 2.0 * SIDE,
    };
    let rows = n_rows(ui, &state.prompt.text, style, MAX_ROWS);
    let text = rows as f32 * Face::Prompt.row();
    text + system_height(ui, state, card_width) + refusal_height(ui, state, card_width)
}

fn system_height(ui: &Ui, state: &AppState, card_width: f32) -> f32 {
    if !shows_system(ui, state) {
        return 0.0;
    }
    let style = TextStyle {
        face: SYSTEM_FACE,
        width: card_width - 2.0 * SIDE - SYSTEM_LABEL,
    };
    let rows = n_rows(ui, &state.prompt.system, style, MAX_SYSTEM_ROWS);
    SYSTEM_TOP + rows as f32 * system_row(ui) + SYSTEM_BOTTOM
}

/// Returns whether the card has the field of the system prompt: in Chat, but in the middle of a
/// conversation only on request.
fn shows_system(ui: &Ui, state: &AppState) -> bool {
    let is_asked_for = || ui.data(|data| data.get_temp(system_id())).unwrap_or(false);
    state.prompt.mode == PromptMode::Chat && (!state.is_replying() || is_asked_for())
}

fn system_id() -> egui::Id {
    egui::Id::unique("system prompt in a conversation")
}

/// Returns the row height of the system field, which uses the font's own.
fn system_row(ui: &Ui) -> f32 {
    ui.fonts_mut(|fonts| fonts.row_height(&SYSTEM_FACE.font()))
}

/// Returns the number of rows of a text, at most `max_rows`.
fn n_rows(ui: &Ui, text: &str, style: TextStyle, max_rows: usize) -> usize {
    // Laying out a long text in each frame would be slow, and its start usually fills all rows.
    let start = match text.char_indices().nth(N_MEASURED_CHARS) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    };
    let n_start_rows = n_all_rows(ui, start, style);
    if n_start_rows >= max_rows || start.len() == text.len() {
        return n_start_rows.min(max_rows);
    }
    n_all_rows(ui, text, style).min(max_rows)
}

fn n_all_rows(ui: &Ui, text: &str, TextStyle { face, width }: TextStyle) -> usize {
    let color = Theme::of(ui).text_1;
    // The field reserves space for the caret.
    let job = LayoutJob::simple(text.to_owned(), face.font(), color, width - 2.0);
    let rows = ui.fonts_mut(|fonts| fonts.layout_job(job)).rows.len();
    rows.max(1)
}

/// The card's state between frames.
#[derive(Debug, Default)]
pub(super) struct PromptCard {
    tokens: TokensView,
    was_drawn: bool,
    /// Whether the prompt takes the focus in the next frame.
    takes_focus: bool,
}

impl PromptCard {
    /// Gives the prompt field the keyboard focus when it is drawn next.
    pub(super) const fn take_focus(&mut self) {
        self.takes_focus = true;
    }

    /// Draws the card, and below it why the model can't use the prompt. In a new window, the prompt
    /// field gets the keyboard focus.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        state: &mut AppState,
        commands: &mut Vec<Command>,
    ) {
        ring_ui(ui, rect, state, Ring::Prompt);
        let theme = Theme::of(ui);
        let refused = state.prompt.refusal(&state.models.main).is_some();
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

        // The order of the calls is the tab order.
        let has_system = shows_system(ui, state);
        let mut head = child_ui(ui, head, "prompt head");
        let mode = state.prompt.mode;
        let mut changed = head_ui(&mut head, card, state, &mut self.tokens, commands);
        let is_other_mode = state.prompt.mode != mode;
        let mut has_focus = false;
        if has_system {
            let place = Rect::from_min_max(pos2(body.left(), top), body.right_top());
            let system = system_ui(ui, place, &mut state.prompt.system);
            changed |= system.changed();
            if state.prompt.system.is_empty() {
                changed |= empty_system_ui(ui, place, &mut state.prompt.sends_empty_system);
            }
            has_focus |= system.has_focus();
        }
        let text = text_ui(&mut child_ui(ui, body, "prompt text"), state);
        let takes_focus = std::mem::replace(&mut self.takes_focus, is_other_mode);
        if !std::mem::replace(&mut self.was_drawn, true) || takes_focus {
            focus_at_end(ui, text.id, &state.prompt.text);
        }
        changed |= text.changed();
        has_focus |= text.has_focus();
        changed |= refusal_ui(ui, below, state, commands);
        if changed {
            commands.push(Command::PromptEdited);
        }

        let refused = refused
            || state
                .prompt
                .length(&state.models.main)
                .is_some_and(|length| !length.fits());
        let edge = match (has_focus, refused) {
            (true, _) => Stroke::new(2.0, theme.focus),
            (false, true) => Stroke::new(1.0, theme.error),
            (false, false) => Stroke::new(1.0, theme.stroke_1),
        };
        ui.painter().rect_stroke(card, 8, edge, StrokeKind::Inside);
    }
}

/// The id of the field in which the prompt is typed.
pub(super) fn prompt_field_id() -> egui::Id {
    egui::Id::unique("prompt")
}

fn text_ui(ui: &mut Ui, state: &mut AppState) -> egui::Response {
    let (name, hint) = match (state.prompt.mode, state.is_replying()) {
        _ if state.prompt.is_tool_result() => ("Tool result", "Type what the tool returned"),
        (PromptMode::Raw, _) => ("Prompt", "Type a text to continue"),
        (PromptMode::Chat, false) => ("Message", "Type a message"),
        (PromptMode::Chat, true) => ("Reply", "Reply in all panes"),
    };
    let hint = Face::Prompt.text(hint).color(Theme::of(ui).text_3);
    let color = Theme::of(ui).text_1;
    egui::ScrollArea::vertical()
        .id_salt("prompt")
        .show(ui, |ui| {
            let edit = bare_edit(&mut state.prompt.text, Face::Prompt.font());
            // The field keeps the focus when the one above it comes or goes.
            let edit = edit.id(prompt_field_id()).text_color(color).hint_text(hint);
            ui.add(edit).accessible_name(name)
        })
        .inner
}

/// Draws the field of the system prompt and the line below it.
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
    let hint = system_hint(ui, field.width() - EMPTY_SYSTEM);
    let hint = RichText::new(hint).font(SYSTEM_FACE.font());
    let hint = hint.color(theme.text_3);
    egui::ScrollArea::vertical()
        .id_salt("system")
        .show(&mut child_ui(ui, field, "system prompt"), |ui| {
            let edit = bare_edit(system, SYSTEM_FACE.font());
            let edit = edit.text_color(theme.text_2).hint_text(hint);
            ui.add(edit).accessible_name("System prompt")
        })
        .inner
}

/// Returns what an empty system prompt says, as far as this width allows.
fn system_hint(ui: &Ui, width: f32) -> &'static str {
    let style = TextStyle {
        face: SYSTEM_FACE,
        width,
    };
    ["How the model should behave (optional)", "Optional"]
        .into_iter()
        .find(|hint| n_all_rows(ui, hint, style) == 1)
        .unwrap_or_default()
}

/// Draws the choice whether an empty system prompt is sent, at the right end of its field. Returns
/// whether it was changed.
fn empty_system_ui(ui: &mut Ui, rect: Rect, is_sent: &mut bool) -> bool {
    let height = system_row(ui);
    let min = pos2(rect.right() - EMPTY_SYSTEM, rect.top() + SYSTEM_TOP);
    let place = Rect::from_min_size(min, vec2(EMPTY_SYSTEM, height));
    let help = "Send a system message even if it is empty. Without one, many chat templates write \
                their own, such as ‘You are a helpful assistant’";
    let mut ui = child_ui(ui, place, "empty system prompt");
    ui.spacing_mut().interact_size.y = height;
    checkbox(&mut ui, is_sent, Face::Small.text("Send it empty"))
        .on_hover_text(help)
        .changed()
}

/// Creates a field without a frame; the card is its frame.
fn bare_edit(text: &mut String, font: FontId) -> TextEdit<'_> {
    long_text(text)
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
    use egui::accesskit::Role;
    use egui::{Context, RawInput, vec2};
    use egui_kittest::kittest::Queryable as _;

    use super::{MAX_ROWS, N_MEASURED_CHARS, TextStyle, n_all_rows, n_rows};
    use crate::design::fonts::Face;
    use crate::design::style;
    use crate::generation::ChatSupport;
    use crate::state::tests::{loaded_with, ready};
    use crate::ui::testing::{press, window_of};

    #[test]
    fn choosing_chat_gives_the_message_the_focus() {
        let mut state = ready();
        state.on_event(loaded_with(ChatSupport::ready()));
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(2);
        press(&mut window, "Chat");
        let field = window.get_by_role_and_label(Role::MultilineTextInput, "Message");
        assert!(field.is_focused());
    }

    #[test]
    fn all_rows_are_visible_up_to_the_maximum() {
        let words = "word ".repeat(N_MEASURED_CHARS);
        let ctx = Context::default();
        style::install(&ctx);
        let output = ctx.run_ui(RawInput::default(), |ui| {
            for width in [100.0, 800.0, 20_000.0, 1e6] {
                let face = Face::Prompt;
                let style = TextStyle { face, width };
                let n_measured = N_MEASURED_CHARS;
                for n_chars in [0, 9, 200, n_measured, n_measured + 1, words.len()] {
                    let text = words.get(..n_chars).unwrap();
                    let expected = n_all_rows(ui, text, style).min(MAX_ROWS);
                    let n_rows = n_rows(ui, text, style, MAX_ROWS);
                    assert_eq!(n_rows, expected, "{n_chars} in {width}");
                }
            }
        });
        output.drop_without_applying_deltas();
    }
}
