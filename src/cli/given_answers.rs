//! `quartet score --messages`: the answers of a conversation, each scored after the messages before it.

use std::path::Path;
use std::sync::Arc;

use super::failure::Failure;
use super::pane_run::{Console, Engine, Pane, Task};
use super::text_input::{MAX_TEXT_BYTES, read_text};
use super::text_output::error_of;
use crate::analysis::{GivenTurn, given_turns, messages_after};
use crate::generation::{ChatSettings, Generation, N_MAX_TURNS, PromptText};
use crate::interop::Messages;

/// The answers of a file of messages, with the messages that they answer.
pub(super) struct GivenAnswers {
    system: Option<String>,
    turns: Vec<GivenTurn>,
}

impl GivenAnswers {
    /// Reads messages from a file, or from standard input for `-`.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = read_text(path, "the messages", MAX_TEXT_BYTES)?;
        let failure = |error: &str| {
            let path = path.display();
            Failure::run(format!(
                "the answers can’t be scored: {error}\nFile: {path}"
            ))
        };
        let messages = Messages::parse(&text).map_err(|error| failure(&error.to_string()))?;
        let n_before = usize::from(messages.system.is_some());
        let turns = given_turns(&messages.history).map_err(|number| {
            let number = number + n_before;
            failure(&format!(
                "at message {number}, user and assistant don’t speak in turn"
            ))
        })?;
        if turns.is_empty() {
            return Err(failure("there is none"));
        }
        if turns.len() > N_MAX_TURNS {
            return Err(failure(&format!("there are more than {N_MAX_TURNS}")));
        }
        Ok(Self {
            system: messages.system,
            turns,
        })
    }

    /// Scores each answer under the settings of all panes. Returns the last answer of each pane, with
    /// those before it, or the first that could not be scored.
    pub(super) fn score(
        self,
        engine: &mut Engine,
        panes: &[Pane],
        console: &mut Console,
    ) -> Vec<Generation> {
        let mut answers: Vec<Generation> = Vec::new();
        for turn in self.turns {
            let settings = ChatSettings {
                system: self.system.clone(),
                history: answers.first().map(messages_after).unwrap_or_default(),
                ..ChatSettings::default()
            };
            let task = Task::ScoreAnswer {
                prompt: PromptText::chat_with(turn.message, settings),
                answer: turn.answer,
            };
            let next = engine.run_task(task, panes, console).into_iter();
            let mut before = answers.into_iter().map(Arc::new);
            answers = next.map(|text| text.following(before.next())).collect();
            if console.interrupt.is_raised() || answers.iter().any(|text| error_of(text).is_some())
            {
                break;
            }
        }
        answers
    }
}
