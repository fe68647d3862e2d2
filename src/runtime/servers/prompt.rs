//! A prompt as a server reads it.

use std::sync::Arc;
use std::time::Instant;

use super::error::Broken;
use super::{Connection, ServerError, ServerKind, StopFlag, llama_server, vllm};
use crate::generation::{ChatRecord, PromptForm, PromptRecord, PromptText};

/// A prompt whose tokens are known, if the server identifies tokens by ids.
#[derive(Debug, Clone)]
pub struct ServedPrompt(pub Arc<PromptRecord>);

impl ServedPrompt {
    /// Lets the server tokenize a prompt. Returns `None` if it was stopped.
    pub fn of(
        prompt: &PromptText,
        connection: &Connection,
        stop: &StopFlag,
    ) -> Result<Option<Self>, ServerError> {
        match record_of(prompt, connection, stop) {
            Ok(record) => Ok(Some(Self(Arc::new(record)))),
            Err(Broken::Stopped) => Ok(None),
            Err(Broken::Failed(error)) => Err(error),
        }
    }
}

fn record_of(
    prompt: &PromptText,
    connection: &Connection,
    stop: &StopFlag,
) -> Result<PromptRecord, Broken> {
    let started_at = Instant::now();
    let (kind, info) = (connection.kind(), connection.info());
    let chat = match &prompt.form {
        PromptForm::Raw => None,
        PromptForm::Chat { system } if kind == ServerKind::LlamaServer => Some(ChatRecord {
            system: system.clone(),
            rendered: llama_server::render(connection, &prompt.text, system.as_deref(), stop)?,
        }),
        PromptForm::Chat { .. } => {
            return Err(ServerError::Unsupported {
                what: "a chat message".to_owned(),
                needed: "the model’s chat template",
                kind: kind.name(),
            }
            .into());
        }
    };
    let text = chat.as_ref().map_or(&prompt.text, |chat| &chat.rendered);
    let tokens = match kind {
        ServerKind::LlamaServer => llama_server::tokenize(connection, text, stop)?,
        ServerKind::Vllm => vllm::tokenize(connection, text, stop)?,
        ServerKind::Ollama | ServerKind::OpenAi => Vec::new(),
    };
    if kind.has_ids() && tokens.is_empty() {
        return Err(ServerError::PromptEmpty.into());
    }
    if let Some(n_max) = info.n_context.filter(|n_max| tokens.len() >= *n_max) {
        let n_tokens = tokens.len();
        return Err(ServerError::PromptTooLong { n_tokens, n_max }.into());
    }
    Ok(PromptRecord {
        text: prompt.text.clone(),
        chat,
        n_prefilled: tokens.len(),
        tokens: tokens.iter().map(|token| token.id).collect(),
        pieces: tokens.into_iter().map(|token| token.piece).collect(),
        prefill_secs: started_at.elapsed().as_secs_f64(),
    })
}
