//! `quartet score --messages`: the answers of a conversation, each scored after the messages before it.

use std::path::Path;
use std::sync::Arc;

use super::failure::Failure;
use super::pane_run::{Console, Engine, Pane, Task};
use super::prompts::read_messages;
use super::text_output::error_of;
use crate::analysis::{GivenAnswer, GivenConversation};
use crate::generation::{ChatSettings, Generation};

/// Reads a conversation from a file of messages, or from standard input for `-`.
pub(super) fn given_answers(path: &Path) -> Result<GivenConversation, Failure> {
    read_messages(path, "the answers can’t be scored", |messages| {
        let settings = ChatSettings {
            system: messages.system,
            tools: messages.tools,
            ..ChatSettings::default()
        };
        GivenConversation::of(settings, &messages.history).map_err(|error| error.to_string())
    })
}

/// Scores each answer under the settings of all panes. Returns the last answer of each pane, with those
/// before it, or the first that could not be scored.
pub(super) fn score_answers(
    mut given: GivenConversation,
    engine: &mut Engine,
    panes: &[Pane],
    console: &mut Console,
) -> Vec<Generation> {
    let mut answers: Vec<Generation> = Vec::new();
    while let Some(GivenAnswer { prompt, answer }) = given.take_next(answers.first()) {
        let task = Task::ScoreAnswer { prompt, answer };
        let next = engine.run_task(task, panes, console).into_iter();
        let mut before = answers.into_iter().map(Arc::new);
        answers = next.map(|text| text.following(before.next())).collect();
        if console.interrupt.is_raised() || answers.iter().any(|text| error_of(text).is_some()) {
            break;
        }
    }
    answers
}
