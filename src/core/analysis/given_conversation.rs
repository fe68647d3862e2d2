//! A conversation that is given rather than written, so that its answers are scored one after the other.

use std::collections::VecDeque;

use super::messages_after;
use crate::generation::{ChatMessage, ChatRole, ChatSettings, Generation, N_MAX_TURNS, PromptText};

/// The answers to be scored, with the messages that they answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenConversation {
    /// What the template gets besides the messages.
    settings: ChatSettings,
    turns: VecDeque<(String, ChatMessage)>,
}

/// An answer to be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The message that it answers, after those before it.
    pub prompt: PromptText,
    pub answer: ChatMessage,
}

/// Why the answers of a conversation can't be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GivenError {
    #[error("it has no answer to score")]
    NoAnswer,
    #[error("a conversation can have at most {N_MAX_TURNS} turns")]
    TooLong,
    #[error("at message {number}, user and assistant don’t speak in turn")]
    NotInTurn { number: usize },
}

impl GivenConversation {
    /// Reads messages after the system message. Those after the last answer are left out. Fails unless
    /// the user and the model speak in turn.
    pub fn of(mut settings: ChatSettings, messages: &[ChatMessage]) -> Result<Self, GivenError> {
        let is_answer = |message: &ChatMessage| message.role == ChatRole::Assistant;
        let last = messages
            .iter()
            .rposition(is_answer)
            .ok_or(GivenError::NoAnswer)?;
        let first = 1 + usize::from(settings.system.is_some());
        let mut turns = VecDeque::new();
        for (number, pair) in (first..)
            .step_by(2)
            .zip(messages.get(..=last).unwrap_or_default().chunks(2))
        {
            let not_in_turn = |number| GivenError::NotInTurn { number };
            let [message, answer] = pair else {
                return Err(not_in_turn(number));
            };
            if message.role != ChatRole::User {
                return Err(not_in_turn(number));
            }
            if !is_answer(answer) || !answer.tool_calls.is_empty() {
                return Err(not_in_turn(number + 1));
            }
            turns.push_back((message.content.clone(), answer.clone()));
        }
        if turns.len() > N_MAX_TURNS {
            return Err(GivenError::TooLong);
        }
        // All messages that are answered are the user's.
        settings.tools.answered_call = None;
        Ok(Self { settings, turns })
    }

    /// Returns how many answers are left to score.
    pub fn n_answers(&self) -> usize {
        self.turns.len()
    }

    /// Removes the next answer, to be scored after `before`. `None` if there is none.
    pub fn take_next(&mut self, before: Option<&Generation>) -> Option<GivenAnswer> {
        let (message, answer) = self.turns.pop_front()?;
        let settings = ChatSettings {
            history: before.map(messages_after).unwrap_or_default(),
            ..self.settings.clone()
        };
        let prompt = PromptText::chat_with(message, settings);
        Some(GivenAnswer { prompt, answer })
    }
}

#[cfg(test)]
mod tests {
    use super::{GivenConversation, GivenError};
    use crate::generation::testing::answer_to;
    use crate::generation::{ChatMessage, ChatSettings, PromptForm, ToolCallName};

    fn read(system: &str, messages: &[&ChatMessage]) -> Result<GivenConversation, GivenError> {
        let settings = match system {
            "" => ChatSettings::default(),
            system => ChatSettings::with_system(system),
        };
        let messages: Vec<ChatMessage> = messages.iter().copied().cloned().collect();
        GivenConversation::of(settings, &messages)
    }

    #[test]
    fn given_messages_are_turns_if_both_speak_in_turn() {
        let user = ChatMessage::user("Hi");
        let answer = ChatMessage::assistant("Hello!");
        let tool = ChatMessage::tool("no", ToolCallName::default());
        let mut calling = answer.clone();
        calling.tool_calls = vec!["f".into()];
        let turns = |messages: &[&ChatMessage]| read("", messages).map(|read| read.n_answers());
        let not_in_turn = |number| Err(GivenError::NotInTurn { number });
        assert_eq!(turns(&[]), Err(GivenError::NoAnswer));
        assert_eq!(turns(&[&user]), Err(GivenError::NoAnswer));
        assert_eq!(turns(&[&user, &answer, &user, &answer, &user]), Ok(2));
        assert_eq!(turns(&[&answer]), not_in_turn(1));
        assert_eq!(turns(&[&user, &user, &answer]), not_in_turn(2));
        assert_eq!(turns(&[&user, &answer, &tool, &answer]), not_in_turn(3));
        assert_eq!(turns(&[&user, &calling]), not_in_turn(2));
        let after_system = read("Be kind.", &[&answer]);
        assert_eq!(after_system, Err(GivenError::NotInTurn { number: 2 }));
        let long = [&user, &answer].repeat(crate::generation::N_MAX_TURNS + 1);
        assert_eq!(turns(&long), Err(GivenError::TooLong));
    }

    #[test]
    fn each_answer_comes_after_those_before_it() {
        let (user, answer) = (ChatMessage::user("Hi"), ChatMessage::assistant("Hello!"));
        let mut given = read("Be kind.", &[&user, &answer, &user, &answer]).unwrap();
        let first = given.take_next(None).unwrap();
        let settings = ChatSettings::with_system("Be kind.");
        assert_eq!(first.prompt.form, PromptForm::Chat(settings.clone()));
        assert_eq!((first.prompt.text.as_str(), &first.answer), ("Hi", &answer));
        let written = answer_to("Hi", Vec::new(), &[("Hello!", 0.5)]);
        let second = given.take_next(Some(&written)).unwrap();
        let settings = ChatSettings {
            history: vec![user, answer],
            ..settings
        };
        assert_eq!(second.prompt.form, PromptForm::Chat(settings));
        assert_eq!(given.take_next(Some(&written)), None);
    }
}
