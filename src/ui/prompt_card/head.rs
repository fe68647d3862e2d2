//! The line above the prompt: the mode switch and the token count.

use egui::{
    Align, Color32, Layout, Popup, PopupCloseBehavior, Rect, RectAlign, Response, Role, Sense, Ui,
    Vec2, WidgetInfo, vec2,
};

use super::history::history_ui;
use super::starters::{starter_chips_ui, starter_menu_ui};
use super::switches::switches_ui;
use super::system_id;
use super::tokens::TokensView;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, ControlColors, focus_ring, paint_fill, switch_part};
use crate::generation::ChatSupport;
use crate::state::{Action, AppState, Command, ConversationCommand, PromptMode};
use crate::ui::keys::key_words;

/// The maximum width of the token popup, and the maximum height of its tokens, in points.
const MAX_POPUP: Vec2 = vec2(720.0, 320.0);

/// The padding on each side of the token count, in points.
pub(super) const COUNT_PADDING: f32 = 6.0;

/// Draws the line; the token popup opens below `card`. Returns whether the prompt was changed.
pub(super) fn head_ui(
    ui: &mut Ui,
    card: Rect,
    state: &mut AppState,
    view: &mut TokensView,
    commands: &mut Vec<Command>,
) -> bool {
    let mut changed = false;
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        let replies = state.is_replying();
        let label = match replies {
            _ if state.prompt.is_tool_result() => "Tool result",
            true => "Reply",
            false => "Prompt",
        };
        ui.label(Face::Micro.text(label).color(Theme::of(ui).text_3));
        changed |= mode_ui(ui, state);
        changed |= switches_ui(ui, state);
        history_ui(ui, state, commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if replies {
                conversation_ui(ui, card, state, view, commands);
            } else if state.prompt.text.is_empty() && state.prompt.history.is_empty() {
                changed |= starter_chips_ui(ui, state);
            } else {
                length_ui(ui, card, state, view, commands);
                changed |= starter_menu_ui(ui, state);
            }
        });
    });
    changed
}

/// Draws what belongs to a conversation: how long it is, the button that begins another one, and the
/// one that shows the system prompt.
fn conversation_ui(
    ui: &mut Ui,
    card: Rect,
    state: &AppState,
    view: &mut TokensView,
    commands: &mut Vec<Command>,
) {
    if let Some(length) = state.conversation_length() {
        let words = length.of_context_words();
        let response = count_ui(ui, &words, length.fits());
        let hint = "Show what each pane’s model reads. The count is for the fullest pane";
        tokens_popup_ui(ui, card, &response.on_hover_text(hint), |ui, size| {
            view.popup_ui(ui, size, state, commands);
        });
    }
    let keys = key_words(ui, Action::NewConversation);
    let button = ui.add(Chip::new("New conversation").quiet());
    if button
        .on_hover_text(format!(
            "Set all texts aside ({keys}). Undo brings them back"
        ))
        .clicked()
    {
        commands.push(Command::Conversation(ConversationCommand::New));
    }
    let mut shown = ui.data(|data| data.get_temp(system_id())).unwrap_or(false);
    let system = ui.add(Chip::new("System").quiet());
    if system
        .on_hover_text("Show or hide the system prompt, which all next answers get")
        .clicked()
    {
        shown = !shown;
        ui.data_mut(|data| data.insert_temp(system_id(), shown));
    }
}

fn mode_ui(ui: &mut Ui, state: &mut AppState) -> bool {
    let before = state.prompt.mode;
    // A broken template can still be selected, so that the error appears below the card.
    let is_missing = |chat: &ChatSupport| *chat == ChatSupport::Missing;
    let model = state
        .models
        .main
        .ready()
        .filter(|model| is_missing(&model.chat));
    let chat_unavailable = model.and_then(|_| state.models.main.chat_unavailable_reason());
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for mode in PromptMode::ALL {
            let unavailable = chat_unavailable
                .as_ref()
                .filter(|_| mode == PromptMode::Chat);
            let chosen = mode == state.prompt.mode;
            let part = ui
                .add_enabled_ui(unavailable.is_none(), |ui| {
                    switch_part(ui, mode.name(), chosen)
                })
                .inner;
            if part.clicked() {
                state.prompt.mode = mode;
            }
            match unavailable {
                Some(reason) => part.on_disabled_hover_text(reason),
                None => part.on_hover_text(mode.explanation()),
            };
        }
    });
    state.prompt.mode != before
}

/// Draws the token count, which opens the token popup.
fn length_ui(
    ui: &mut Ui,
    card: Rect,
    state: &AppState,
    view: &mut TokensView,
    commands: &mut Vec<Command>,
) {
    let Some(length) = state.prompt.length(&state.models.main) else {
        return;
    };
    let response = count_ui(ui, &length.to_string(), length.fits());
    let response = response.on_hover_text("Show the prompt as the model reads it");
    tokens_popup_ui(ui, card, &response, |ui, size| {
        view.popup_ui(ui, size, state, commands);
    });
}

/// Draws the popup below `card` that this button opens. `content` gets the size of its tokens.
fn tokens_popup_ui(ui: &Ui, card: Rect, button: &Response, content: impl FnOnce(&mut Ui, Vec2)) {
    let below = ui.ctx().content_rect().bottom() - card.bottom() - 120.0;
    let size = vec2(
        MAX_POPUP.x.min(card.width() - 40.0),
        MAX_POPUP.y.min(below).max(80.0),
    );
    Popup::from_toggle_button_response(button)
        .anchor(card)
        .align(RectAlign::BOTTOM_END)
        .gap(8.0)
        .width(size.x)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("The prompt as the model reads it")
        .show(|ui| {
            egui::Frame::new()
                .inner_margin(8)
                .show(ui, |ui| content(ui, size));
        });
}

fn count_ui(ui: &mut Ui, name: &str, fits: bool) -> Response {
    let theme = Theme::of(ui);
    let words =
        ui.painter()
            .layout_no_wrap(name.to_owned(), Face::Micro.font(), Color32::PLACEHOLDER);
    let size = vec2((words.size().x + 2.0 * COUNT_PADDING).ceil(), 24.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    let seen = response.clone().with_new_rect(rect.shrink2(vec2(0.0, 2.0)));
    let rest = ControlColors {
        fill: Color32::TRANSPARENT,
        text: theme.text_3,
    };
    let color = paint_fill(ui, &seen, rest, 6);
    let color = if fits { color } else { theme.error };
    let at = egui::Align2::CENTER_CENTER.align_size_within_rect(words.size(), rect);
    ui.painter().galley(at.min, words, color);
    focus_ring(ui, &seen, 6);
    response
}
