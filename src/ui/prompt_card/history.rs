//! The messages before the one to answer.

use egui::{Align, Label, Layout, Popup, RectAlign, ScrollArea, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, menu_item};
use crate::generation::formatting::counted;
use crate::state::{AppState, Command, ConversationCommand, PromptMode};

/// The size of the list of messages, in points.
const WIDTH: f32 = 420.0;
const MAX_HEIGHT: f32 = 320.0;

/// Draws the chip that says how many messages come before the one to answer, if there are any. It
/// opens the list of them.
pub(super) fn history_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let history = &state.prompt.history;
    if history.is_empty() || state.prompt.mode == PromptMode::Raw || state.is_replying() {
        return;
    }
    let label = format!("After {}", counted(history.len(), "message"));
    let response = ui.add(Chip::new(&label).chevron().quiet());
    Popup::menu(&response)
        .align(RectAlign::BOTTOM_START)
        .width(WIDTH)
        .gap(4.0)
        .accessible_name("Earlier messages")
        .show(|ui| {
            let theme = Theme::of(ui);
            let area = ScrollArea::vertical().max_height(MAX_HEIGHT);
            area.min_scrolled_height(MAX_HEIGHT).show(ui, |ui| {
                egui::Frame::new().inner_margin(10).show(ui, |ui| {
                    // The layout of a menu justifies its texts.
                    ui.with_layout(Layout::top_down(Align::Min), |ui| {
                        for message in history {
                            let role = Face::Micro.text(message.role.heading());
                            ui.label(role.color(theme.text_3));
                            let content = Face::Why.text(message.shown()).color(theme.text_1);
                            ui.add(Label::new(content).wrap());
                            ui.add_space(6.0);
                        }
                    });
                });
            });
            ui.separator();
            if menu_item(ui, "New conversation", "forget these messages", false).clicked() {
                commands.push(Command::Conversation(ConversationCommand::New));
                ui.close();
            }
        });
}

#[cfg(test)]
mod tests {
    use egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::generation::{ChatMessage, ChatSupport};
    use crate::state::PromptMode;
    use crate::state::tests::{loaded_with, ready};
    use crate::ui::testing::{press, window_of};

    #[test]
    fn given_messages_are_listed_until_a_new_conversation_begins() {
        let mut state = ready();
        state.on_event(loaded_with(ChatSupport::ready()));
        state.prompt.mode = PromptMode::Chat;
        state.prompt.history = vec![ChatMessage::user("Hi"), ChatMessage::assistant("Hello!")];
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        press(&mut window, "After 2 messages");
        window.get_by_label("Hello!");
        press(&mut window, "New conversation");
        assert_eq!(window.state().prompt.history, []);
        window.run_steps(2);
        assert_eq!(window.query_all_by_label("After 2 messages").count(), 0);
    }
}
