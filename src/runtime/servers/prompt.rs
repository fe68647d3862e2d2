//! A prompt as a server reads it.

use std::sync::Arc;
use std::time::Instant;

use super::error::Broken;
use super::{Connection, ServerError, StopFlag};
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
        PromptForm::Chat(settings) => {
            let api = connection.api();
            let rendered = api.render_chat(connection, &prompt.text, settings, stop)?;
            Some(ChatRecord {
                settings: settings.clone(),
                rendered: rendered.ok_or_else(|| ServerError::Unsupported {
                    what: "a chat message".to_owned(),
                    needed: "the model’s chat template",
                    kind: kind.name(),
                })?,
            })
        }
    };
    let text = chat.as_ref().map_or(&prompt.text, |chat| &chat.rendered);
    let tokens = connection.api().tokenize(connection, text, stop)?;
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
