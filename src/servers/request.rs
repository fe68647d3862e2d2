//! Requests to all kinds of servers, and their responses, in common terms.

use super::distribution::Reported;
use super::error::Broken;
use super::{Connection, ServerKind, StopFlag, llama_server, ollama, openai, vllm};
use crate::decoding::TokenId;
use crate::generation::PromptRecord;

/// The position in a text at which a token is requested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub prompt: &'a PromptRecord,
    /// The prompt's tokens, then those of the text. Servers without ids use the text instead.
    pub tokens: &'a [TokenId],
    /// The text after the prompt.
    pub text: &'a [u8],
    /// Which of the server's slots holds the text, if one can be chosen.
    pub slot: Option<usize>,
}

impl Place<'_> {
    /// Returns the text that the model has read, or `None` if it ends within a character.
    pub(super) fn whole_text(&self) -> Option<String> {
        let text = std::str::from_utf8(self.text).ok()?;
        let chat = self.prompt.chat.as_ref();
        let prompt = chat.map_or(self.prompt.text.as_str(), |chat| chat.rendered.as_str());
        Some(format!("{prompt}{text}"))
    }
}

/// One step of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub reported: Reported,
    /// How long the server itself took, if it reports that.
    pub server_secs: Option<f64>,
    /// The model that responded, if the server reports it.
    pub model: Option<String>,
    /// Whether the server's own sampler ended the text here and reported nothing.
    pub ended: bool,
}

/// A part of a streamed text.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamPart {
    pub tokens: Vec<StreamedToken>,
    pub end: Option<StreamEnd>,
    pub model: Option<String>,
    /// How long the server has decoded so far, if it reports that.
    pub server_secs: Option<f64>,
}

/// A token of a streamed text.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamedToken {
    pub reported: Reported,
    pub bytes: Vec<u8>,
}

/// Why a server's sampler ended a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    EndOfText,
    Limit,
    ContextFull,
}

/// Requests the distribution of the next token.
pub(super) fn ask_step(
    connection: &Connection,
    place: Place<'_>,
    n_probs: usize,
    stop: &StopFlag,
) -> Result<Answer, Broken> {
    match connection.kind() {
        ServerKind::LlamaServer => llama_server::ask_step(connection, place, n_probs, stop),
        ServerKind::Vllm => vllm::ask_step(connection, place, n_probs, stop),
        ServerKind::Ollama => ollama::ask_step(connection, place, n_probs, stop),
        ServerKind::OpenAi => openai::ask_step(connection, place, n_probs, stop),
    }
}
