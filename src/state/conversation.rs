//! Conversations: the messages before the one to answer.

use super::Prompt;
use crate::analysis::messages_after;
use crate::generation::{ChatSettings, FinishReason, Generation, PromptForm};

/// Returns whether a text is a complete answer to a message, so that another message can follow it.
pub(super) fn is_answer(text: &Generation) -> bool {
    let has_ended = matches!(
        text.finish,
        Some(
            FinishReason::EndOfText
                | FinishReason::StopString { .. }
                | FinishReason::GrammarComplete
        )
    );
    has_ended && text.prompt.chat.is_some()
}

impl Prompt {
    /// Begins the next message after an answer: the messages so far, the one that it answers, and the
    /// answer without its thought come before it.
    pub(super) fn reply_to(&mut self, text: &Generation) {
        let Some(chat) = &text.prompt.chat else {
            return;
        };
        let settings = ChatSettings {
            history: messages_after(text),
            ..chat.settings.clone()
        };
        self.set_form(PromptForm::Chat(settings));
        self.text.clear();
        self.reading = None;
    }
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
