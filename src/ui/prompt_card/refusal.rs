//! The sentence below the card: why the model can't use the prompt, with a button to fix it.

use egui::text::LayoutJob;
use egui::{Align, Color32, Layout, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::Chip;
use crate::state::{AppState, Command, ConversationCommand, PromptMode};

/// The width of the button on the right, in points.
const BUTTON: f32 = 184.0;

/// The width of the icon on the left, in points.
const SIGN: f32 = 30.0;

/// The gap between the card and the sentence, in points.
const GAP: f32 = 4.0;

/// Returns the height of the sentence below a card of this width; 0 if there is none.
pub(super) fn refusal_height(ui: &Ui, state: &AppState, card_width: f32) -> f32 {
    let Some(sentence) = sentence_of(state) else {
        return 0.0;
    };
    let job = sentence_job(sentence, card_width);
    let rows = ui.fonts_mut(|fonts| fonts.layout_job(job)).rows.len();
    GAP + (rows as f32 * Face::Small.row()).max(24.0)
}

/// Returns why the model can't use the prompt, or that a conversation no longer fits.
fn sentence_of(state: &AppState) -> Option<String> {
    let refusal = state.prompt.refusal(&state.models.main);
    refusal.or_else(|| Some(state.full_conversation()?.words))
}

/// Draws the sentence in `rect`. Returns whether the prompt mode was changed.
pub(super) fn refusal_ui(
    ui: &mut Ui,
    rect: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) -> bool {
    let Some(sentence) = sentence_of(state) else {
        return false;
    };
    let inner = rect.with_min_y(rect.top() + GAP);
    let (words, button) = inner.split_left_right_at_x(inner.right() - BUTTON);
    sentence_ui(ui, words, sentence, rect.width());
    if state.prompt.mode == PromptMode::Raw {
        return false;
    }
    let layout = Layout::right_to_left(Align::Center);
    if state.prompt.refusal(&state.models.main).is_none()
        && let Some(full) = state.full_conversation()
    {
        let mut ui = child_ui(ui, button, "full conversation");
        let button = |ui: &mut Ui| ui.add(Chip::new("Leave out the oldest turn")).clicked();
        if full.can_leave_out && ui.with_layout(layout, button).inner {
            let leave_out = ConversationCommand::LeaveOutOldest(full.pane);
            commands.push(Command::Conversation(leave_out));
        }
        return false;
    }
    let clicked = child_ui(ui, button, "refusal")
        .with_layout(layout, |ui| ui.add(Chip::new("Use raw")).clicked())
        .inner;
    if clicked {
        state.prompt.mode = PromptMode::Raw;
    }
    clicked
}

fn sentence_ui(ui: &mut Ui, rect: Rect, sentence: String, card_width: f32) {
    let color = Theme::of(ui).error;
    let response = ui.interact(rect, ui.scope_id().with("refusal"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &sentence));
    let galley = ui.painter().layout_job(sentence_job(sentence, card_width));
    let top = rect.center().y - galley.size().y / 2.0;
    let icon = Rect::from_center_size(pos2(rect.left() + 11.0, top + 8.0), Vec2::splat(14.0));
    Icon::Warning.paint(ui.painter(), icon, color);
    let at = pos2(rect.left() + SIGN, top);
    ui.painter().galley(at, galley, color);
}

fn sentence_job(sentence: String, card_width: f32) -> LayoutJob {
    let width = card_width - SIGN - BUTTON;
    let font = Face::Small.font();
    let mut job = LayoutJob::simple(sentence, font, Color32::PLACEHOLDER, width);
    for section in &mut job.sections {
        section.format.line_height = Some(Face::Small.row());
    }
    job
}
