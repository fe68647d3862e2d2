//! The line above the prompt: what the model is to make of it, and how long it is.

use egui::{
    Align, Color32, Layout, Popup, PopupCloseBehavior, Rect, RectAlign, Response, Role, Sense, Ui,
    WidgetInfo, vec2,
};

use super::tokens::TokensView;
use crate::generation::ChatSupport;
use crate::state::{AppState, Command, PromptLength, PromptMode};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::{Chip, Rest, focus_ring, paint_fill, switch_part};

/// Texts to take where there is none: some to continue, some to answer.
const fn beginnings(mode: PromptMode) -> [&'static str; 3] {
    match mode {
        PromptMode::Raw => [
            "Once upon a time there was a little fox who",
            "The old king had three",
            "One cold morning",
        ],
        PromptMode::Chat => [
            "Why is the sky blue?",
            "Name three uses of a paper clip",
            "Tell a story in four sentences",
        ],
    }
}

/// The room that a beginning may need, with the gap beside it.
const BEGINNING: f32 = 208.0;

/// The popup of tokens is at most so wide, and its tokens so high, in points.
const MOST_POPUP: (f32, f32) = (720.0, 320.0);

/// Around the words of the count, so that there is something to press.
pub(super) const COUNT_PADDING: f32 = 6.0;

/// Draws the line in `head`; `card` is what the popup of tokens opens below. Gives whether the
/// prompt was changed.
pub(super) fn head_ui(
    ui: &mut Ui,
    card: Rect,
    state: &mut AppState,
    view: &mut TokensView,
    commands: &mut Vec<Command>,
) -> bool {
    let mut changed = false;
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.label(Face::Micro.text("Prompt").color(Theme::of(ui).text_3));
        changed |= mode_ui(ui, state);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if state.prompt.is_empty() {
                changed |= beginnings_ui(ui, state);
            } else {
                length_ui(ui, card, state, view, commands);
            }
        });
    });
    changed
}

fn mode_ui(ui: &mut Ui, state: &mut AppState) -> bool {
    let before = state.prompt_mode;
    // A template that is broken can be chosen, so that it is said below the card what is wrong.
    let is_missing = |chat: &ChatSupport| *chat == ChatSupport::Missing;
    let model = state.model.ready().filter(|model| is_missing(&model.chat));
    let chat_complaint = model.and_then(|_| state.chat_complaint());
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for mode in PromptMode::ALL {
            let complaint = chat_complaint.as_ref().filter(|_| mode == PromptMode::Chat);
            let chosen = mode == state.prompt_mode;
            let part = ui
                .add_enabled_ui(complaint.is_none(), |ui| {
                    switch_part(ui, mode.name(), chosen)
                })
                .inner;
            if part.clicked() {
                state.prompt_mode = mode;
            }
            match complaint {
                Some(complaint) => part.on_disabled_hover_text(complaint),
                None => part.on_hover_text(mode.explanation()),
            };
        }
    });
    state.prompt_mode != before
}

fn beginnings_ui(ui: &mut Ui, state: &mut AppState) -> bool {
    let mut changed = false;
    let room = ui.available_width();
    let fits = |(_, n): &(&str, i32)| *n as f32 * BEGINNING <= room;
    let all = beginnings(state.prompt_mode).into_iter().zip(1..);
    let fitting: Vec<_> = all.take_while(fits).collect();
    for (beginning, _) in fitting.into_iter().rev() {
        if ui
            .add(Chip::new(beginning).max_width(BEGINNING - 8.0))
            .clicked()
        {
            beginning.clone_into(&mut state.prompt);
            changed = true;
        }
    }
    changed
}

/// How long the prompt is; pressed, it opens the tokens.
fn length_ui(
    ui: &mut Ui,
    card: Rect,
    state: &AppState,
    view: &mut TokensView,
    commands: &mut Vec<Command>,
) {
    let Some(length) = state.prompt_length() else {
        return;
    };
    let response = count_ui(ui, length).on_hover_text("Show the prompt as the model reads it");
    let (width, height) = MOST_POPUP;
    let below = ui.ctx().content_rect().bottom() - card.bottom() - 120.0;
    let size = (width.min(card.width() - 40.0), height.min(below).max(80.0));
    Popup::from_toggle_button_response(&response)
        .anchor(card)
        .align(RectAlign::BOTTOM_END)
        .gap(8.0)
        .width(size.0)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("The prompt as the model reads it")
        .show(|ui| {
            egui::Frame::new().inner_margin(8).show(ui, |ui| {
                view.popup_ui(ui, size, state, commands);
            });
        });
}

fn count_ui(ui: &mut Ui, length: PromptLength) -> Response {
    let theme = Theme::of(ui);
    let name = length.to_string();
    let words = ui
        .painter()
        .layout_no_wrap(name.clone(), Face::Micro.font(), Color32::PLACEHOLDER);
    let size = vec2((words.size().x + 2.0 * COUNT_PADDING).ceil(), 24.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    let seen = response.clone().with_new_rect(rect.shrink2(vec2(0.0, 2.0)));
    let rest = Rest {
        fill: Color32::TRANSPARENT,
        text: theme.text_3,
    };
    let color = paint_fill(ui, &seen, rest, 6);
    let color = if length.fits() { color } else { theme.error };
    let at = egui::Align2::CENTER_CENTER.align_size_within_rect(words.size(), rect);
    ui.painter().galley(at.min, words, color);
    focus_ring(ui, &seen, 6);
    response
}
