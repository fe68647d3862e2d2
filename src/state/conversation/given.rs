//! A conversation that is given, so that its answers are scored, one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::analysis::{GivenTurn, given_turns, messages_after};
use crate::generation::{ChatMessage, ChatSettings, Generation, N_MAX_TURNS, PromptText};
use crate::interop::{Messages, MessagesError};
use crate::state::capitalize;
use crate::state::panes::pane::NewText;

/// The answers to be scored, with the messages that they answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenConversation {
    system: Option<String>,
    turns: VecDeque<GivenTurn>,
}

/// An answer that is scored next, and the text that it becomes.
pub(in crate::state) struct NextAnswer {
    pub prompt: PromptText,
    pub answer: ChatMessage,
    pub new: NewText,
}

impl GivenConversation {
    /// Reads a conversation from a text. `None` for a text that is no list of messages; an error for
    /// one whose answers can't be scored.
    pub(in crate::state) fn read(text: &str) -> Option<Result<Self, String>> {
        if !text.trim_start().starts_with(['[', '{']) {
            return None;
        }
        let messages = match Messages::parse(text) {
            Ok(messages) => messages,
            Err(MessagesError::NotJson { .. } | MessagesError::NoList) => return None,
            Err(error) => return Some(Err(capitalize(&error.to_string()))),
        };
        let n_before = usize::from(messages.system.is_some());
        Some(match given_turns(&messages.history) {
            Ok(turns) if turns.is_empty() => {
                Err("These messages have no answer to score".to_owned())
            }
            Ok(turns) if turns.len() > N_MAX_TURNS => Err(format!(
                "A conversation can have at most {N_MAX_TURNS} turns"
            )),
            Ok(turns) => Ok(Self {
                system: messages.system,
                turns: turns.into(),
            }),
            Err(number) => Err(format!(
                "At message {}, user and assistant don’t speak in turn",
                number + n_before
            )),
        })
    }

    /// Returns how many answers are left to score.
    pub fn n_answers(&self) -> usize {
        self.turns.len()
    }

    /// Removes the next turn, to be scored after `before`. `None` if there is none.
    pub(in crate::state) fn take_next(&mut self, before: Option<Generation>) -> Option<NextAnswer> {
        let GivenTurn { message, answer } = self.turns.pop_front()?;
        let settings = ChatSettings {
            system: self.system.clone(),
            history: before.as_ref().map(messages_after).unwrap_or_default(),
            ..ChatSettings::default()
        };
        Some(NextAnswer {
            new: NewText {
                message: Some(message.clone()),
                previous_turn: before.map(Arc::new),
                origin: None,
            },
            prompt: PromptText::chat_with(message, settings),
            answer,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::generation::{ChatMessage, ChatSupport, FinishReason, PromptForm};
    use crate::interop::Messages;
    use crate::state::tests::{loaded_with, ready, write_more};
    use crate::state::{AppState, Command, Effect, ScoreCommand, ScoreReadiness};
    use crate::worker::{Event, GenerationId, Progress, Request};

    fn score(state: &mut AppState, command: ScoreCommand) -> Vec<Effect> {
        state.apply(Command::Score(command))
    }

    /// The answer that is scored, with how many messages come before its message.
    fn asked(effects: &[Effect]) -> Option<(GenerationId, String, usize)> {
        effects.iter().find_map(|effect| {
            let Effect::Send(Request::ScoreAnswer {
                prompt,
                answer,
                panes,
                ..
            }) = effect
            else {
                return None;
            };
            let PromptForm::Chat(settings) = &prompt.form else {
                panic!("{prompt:?}");
            };
            Some((panes[0].id, answer.content.clone(), settings.history.len()))
        })
    }

    /// Lets the engine score an answer.
    fn read(
        state: &mut AppState,
        id: GenerationId,
        answer: &str,
        reason: FinishReason,
    ) -> Vec<Effect> {
        let prompt = std::sync::Arc::clone(
            &crate::generation::testing::answer_to("Hi", Vec::new(), &[]).prompt,
        );
        let ids = vec![id];
        state.on_event(Event::Progress(Progress::Started { ids, prompt }));
        write_more(state, id, &[(answer, 0.5)]);
        state.on_event(Event::Progress(Progress::Finished { id, reason }))
    }

    fn conversation() -> String {
        let turn = |message, answer| [ChatMessage::user(message), ChatMessage::assistant(answer)];
        let messages = Messages {
            history: [turn("Hi", "Hello"), turn("Why?", "So")].concat(),
            last: Some("Bye".to_owned()),
            ..Messages::default()
        };
        messages.to_json()
    }

    fn opened(text: &str) -> (AppState, ScoreReadiness) {
        let mut state = ready();
        state.on_event(loaded_with(ChatSupport::ready()));
        score(&mut state, ScoreCommand::OpenWith(text.to_owned()));
        let dialog = state.dialogs.score.as_ref().unwrap();
        let readiness = dialog.readiness(&state.panes, &state.models);
        (state, readiness)
    }

    #[test]
    fn the_answers_of_a_conversation_are_scored_one_after_the_other() {
        let (mut state, readiness) = opened(&conversation());
        assert_eq!(readiness, ScoreReadiness::Answers { n: 2 });
        let effects = score(&mut state, ScoreCommand::Run);
        let (id, answer, n_before) = asked(&effects).unwrap();
        assert_eq!((answer.as_str(), n_before), ("Hello", 0));
        let effects = read(&mut state, id, " Hello", FinishReason::Scored);
        let (id, answer, n_before) = asked(&effects).unwrap();
        assert_eq!((answer.as_str(), n_before), ("So", 2));
        assert!(state.is_running());
        let effects = read(&mut state, id, " So", FinishReason::Scored);
        assert_eq!(asked(&effects), None);
        assert!(!state.is_running());
        let pane = state.panes.iter().find(|pane| pane.has_turns()).unwrap();
        assert_eq!(pane.latest().unwrap().n_turns(), 2);
    }

    #[test]
    fn a_stop_leaves_the_other_answers_unscored() {
        let (mut state, _) = opened(&conversation());
        let (id, ..) = asked(&score(&mut state, ScoreCommand::Run)).unwrap();
        let effects = read(&mut state, id, " Hel", FinishReason::Cancelled);
        assert_eq!(asked(&effects), None);
        assert!(!state.is_running());
    }

    #[test]
    fn what_is_no_conversation_is_a_text_or_says_why() {
        for text in ["Once upon a time", "[sic] a text", "{}", "[1, 2"] {
            assert_eq!(super::GivenConversation::read(text), None, "{text}");
        }
        let roles = r#"[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]"#;
        for (text, words) in [
            (
                r#"[{"role": "user", "content": "a"}]"#,
                "no answer to score",
            ),
            (r#"[{"role": "poet", "content": "a"}]"#, "Message 1 is by"),
            (roles, "At message 2, user and assistant"),
        ] {
            let (_, readiness) = opened(text);
            let ScoreReadiness::Impossible(reason) = readiness else {
                panic!("{text}: {readiness:?}");
            };
            assert!(reason.contains(words), "{reason}");
        }
    }
}
