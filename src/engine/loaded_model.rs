//! A model that is ready: weights, tokenizer, and what is known of both.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::session::Prompt;
use super::{CausalLm, ChatError, ChatTemplate, EngineError, Message, Role, Tokenizer};
use crate::decoding::TokenId;
use crate::generation::RecommendedSampling;
use crate::generation::{ChatRecord, ChatSupport, ModelInfo, PromptForm, PromptText, Vocabulary};

/// What hears how far the loading of a model has come, between 0 and 1, and says whether to go on.
pub type LoadProgress<'a> = &'a mut dyn FnMut(f32) -> ControlFlow<()>;

/// A model that is ready to read and write.
pub struct LoadedModel {
    /// The weights, and the sequences that they have read.
    pub lm: Box<dyn CausalLm>,
    /// Text to tokens.
    pub tokenizer: Tokenizer,
    /// What each token stands for.
    pub vocabulary: Arc<Vocabulary>,
    /// The tokens with which the model ends a text.
    pub end_tokens: Vec<TokenId>,
    /// How a chat is written, of models that have learned to answer; or why it can't be.
    pub chat: Option<Result<ChatTemplate, ChatError>>,
    /// What it is.
    pub info: Arc<ModelInfo>,
    /// How its author would choose its tokens, where the files say so.
    pub recommended_sampling: Option<Arc<RecommendedSampling>>,
    /// What of its files could not be read although it works without, and why; nothing where all could.
    pub unread: Option<String>,
}

impl LoadedModel {
    /// The prompt as the model reads it: as it stands, or through the chat template. The model's rule
    /// for how a text begins holds for both.
    pub fn read(&self, prompt: &PromptText) -> Result<Prompt, EngineError> {
        let text = prompt.text.clone();
        match &prompt.form {
            PromptForm::Raw => Ok(Prompt {
                tokens: self.tokenizer.encode(&text)?,
                text,
                chat: None,
            }),
            PromptForm::Chat { system } => {
                let rendered = self.render(&text, system)?;
                Ok(Prompt {
                    tokens: self.tokenizer.encode_turn(&rendered)?,
                    text,
                    chat: Some(ChatRecord {
                        system: system.clone(),
                        rendered,
                    }),
                })
            }
        }
    }

    fn render(&self, text: &str, system: &str) -> Result<String, ChatError> {
        let template = match &self.chat {
            Some(Ok(template)) => template,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(ChatError::Missing),
        };
        let message = |role, content: &str| Message {
            role,
            content: content.to_owned(),
        };
        let mut messages = Vec::new();
        if !system.is_empty() {
            messages.push(message(Role::System, system));
        }
        messages.push(message(Role::User, text));
        template.render(&messages, true)
    }

    /// Whether the model can be talked to.
    pub fn chat_support(&self) -> ChatSupport {
        match &self.chat {
            None => ChatSupport::Missing,
            Some(Ok(_)) => ChatSupport::Ready,
            Some(Err(error)) => ChatSupport::Broken {
                error: error.to_string(),
            },
        }
    }
}
