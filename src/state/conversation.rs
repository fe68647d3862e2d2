//! Conversations: the messages before the one to answer.

use super::{AppState, Effect, Pane, PaneId, PromptMode};
use crate::analysis::Thought;
use crate::generation::{ChatMessage, ChatRole, FinishReason, Generation, PromptForm};

impl AppState {
    /// Returns whether the text of a pane is a complete answer, so that a message can follow it.
    pub fn can_reply(&self, pane: &Pane) -> bool {
        let is_answer = |text: &Generation| {
            let has_ended = matches!(
                text.finish,
                Some(
                    FinishReason::EndOfText
                        | FinishReason::StopString { .. }
                        | FinishReason::GrammarComplete
                )
            );
            has_ended && text.prompt.chat.is_some()
        };
        let is_idle = pane.status.running().is_none() && self.runs.opened.is_none();
        is_idle && self.lessons.run().is_none() && pane.generation().is_some_and(is_answer)
    }

    /// Begins the next message after the answer of a pane: all panes answer it, after the messages so
    /// far and that answer, without its thought.
    pub(super) fn reply(&mut self, id: PaneId) -> Vec<Effect> {
        let pane = self.pane(id).filter(|pane| self.can_reply(pane));
        let Some(text) = pane.and_then(Pane::generation) else {
            return Vec::new();
        };
        let Some(chat) = &text.prompt.chat else {
            return Vec::new();
        };
        let mut settings = chat.settings.clone();
        let message = |role, content| ChatMessage { role, content };
        let question = message(ChatRole::User, text.prompt.text.clone());
        let answer = message(ChatRole::Assistant, answer_of(text));
        settings.history.extend([question, answer]);
        self.prompt.set_form(PromptForm::Chat(settings));
        self.prompt.mode = PromptMode::Chat;
        self.prompt.text.clear();
        self.prompt.tokenize(&self.models.main)
    }

    /// Begins a new conversation: the next message is the first.
    pub(super) fn forget_messages(&mut self) -> Vec<Effect> {
        self.prompt.history.clear();
        self.prompt.tokenize(&self.models.main)
    }
}

/// Returns an answer as the template gets it: without its thought and the white space around it.
fn answer_of(text: &Generation) -> String {
    let first = Thought::of(text).map_or(0, |thought| thought.steps().end);
    text.text_from(first).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use crate::generation::{ChatRole, ChatSupport, PromptForm};
    use crate::state::tests::{asked, chat_written, loaded_with};
    use crate::state::{AppState, Command, PromptMode, Settings};
    use crate::worker::ModelSource;

    #[test]
    fn the_next_message_follows_the_answer_of_a_pane() {
        let mut state = chat_written("Hi", &[(" Hello", 0.5), ("!", 0.25)]);
        let pane = state.panes[0].id;
        assert!(state.can_reply(&state.panes[0]));
        state.apply(Command::Reply(pane));
        assert_eq!(
            (state.prompt.text.as_str(), state.prompt.mode),
            ("", PromptMode::Chat)
        );
        let history = &state.prompt.history;
        let told: Vec<_> = history
            .iter()
            .map(|said| (said.role, &*said.content))
            .collect();
        assert_eq!(
            told,
            [(ChatRole::User, "Hi"), (ChatRole::Assistant, "Hello!")]
        );
        state.prompt.text = "Who are you?".to_owned();
        let PromptForm::Chat(settings) = state.prompt.to_text().form else {
            panic!("the next message is a chat");
        };
        assert_eq!(settings.history.len(), 2);
        assert_eq!(
            asked(&state.apply(Command::GenerateAll)).len(),
            state.panes.len()
        );
        // It survives a restart.
        let json = state.settings().to_json().unwrap();
        let settings = Settings::from_json(&json).settings;
        let (mut next, _) = AppState::new(settings, ModelSource::Embedded);
        next.on_event(loaded_with(ChatSupport::ready()));
        assert_eq!(next.prompt.history, state.prompt.history);
        next.apply(Command::NewConversation);
        assert_eq!(next.prompt.history, []);
    }

    #[test]
    fn only_a_complete_answer_can_be_replied_to() {
        let state = crate::state::tests::written();
        assert!(!state.can_reply(&state.panes[0]), "it continues a text");
    }
}
