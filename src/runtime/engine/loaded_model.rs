//! A model that is ready to use: weights, tokenizer and metadata.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::session::Prompt;
use super::{CausalLm, ChatError, ChatTemplate, EngineError, GrammarTrie, Message, Tokenizer};
use crate::decoding::TokenId;
use crate::generation::RecommendedSampling;
use crate::generation::{
    ByteSize, ChatMessage, ChatRecord, ChatSettings, ChatSupport, ModelInfo, PromptCheck,
    PromptForm, PromptRecord, PromptText, ToolCallForm, Vocabulary,
};
use crate::kernels::ReturnedMemory;

/// A callback that receives the fraction of a model loaded so far, between 0 and 1, and decides
/// whether to continue.
pub type LoadProgress<'a> = &'a mut dyn FnMut(f32) -> ControlFlow<()>;

/// A model that is ready to generate text.
pub struct LoadedModel {
    /// The weights, with the KV caches of all open sequences.
    pub lm: Box<dyn CausalLm>,
    pub tokenizer: Tokenizer,
    /// The text of each token.
    pub vocabulary: Arc<Vocabulary>,
    /// The tokens with which the model ends a text.
    pub end_tokens: Vec<TokenId>,
    /// The chat template, or why it cannot be used. `None` for models without one.
    pub chat: Option<Result<ChatTemplate, ChatError>>,
    pub info: Arc<ModelInfo>,
    /// The author's recommended sampling settings, if the files contain any.
    pub recommended_sampling: Option<Arc<RecommendedSampling>>,
    /// Why an optional file could not be loaded. `None` if there was no such problem.
    pub load_warning: Option<String>,
    /// The vocabulary as grammars need it. Empty until a grammar is used.
    pub grammar_trie: GrammarTrie,
    /// A model with the same vocabulary that the user chose to draft for this one or guide it.
    pub second: Option<Box<LoadedModel>>,
    /// The second model that comes with this one, used unless the user has chosen another.
    pub own_second: Option<Box<LoadedModel>>,
    /// Must be the last field, so that it is dropped after the others have been freed.
    pub memory: ReturnedMemory,
}

/// A text that is read rather than written, after its prompt.
pub struct GivenText {
    /// The prompt, with the tokens of the text after its own.
    pub text: Prompt,
    /// How many tokens belong to the prompt.
    pub n_prompt: usize,
}

impl GivenText {
    /// A text without a prompt: its first token stands for one.
    pub const fn bare(text: Prompt) -> Self {
        Self { text, n_prompt: 1 }
    }
}

/// Texts up to this length, in bytes, are always tokenized.
const N_BYTES_TOKENIZED: usize = 1 << 20;

impl LoadedModel {
    /// Tokenizes a prompt, after rendering it through the chat template if it is a message. The
    /// tokenizer adds the tokens that begin a text; to a message of a model in a folder, only its
    /// template does.
    pub fn encode_prompt(&self, prompt: &PromptText) -> Result<Prompt, EngineError> {
        self.check_length(&prompt.text)?;
        let text = prompt.text.clone();
        match &prompt.form {
            PromptForm::Raw => Ok(Prompt {
                tokens: self.tokenizer.encode(&text)?,
                text,
                chat: None,
            }),
            PromptForm::Chat(settings) => {
                let rendered = self.render(&text, settings)?;
                Ok(Prompt {
                    tokens: self.tokenizer.encode_chat(&rendered)?,
                    text,
                    chat: Some(ChatRecord {
                        settings: settings.clone(),
                        rendered,
                    }),
                })
            }
        }
    }

    /// Tokenizes a prompt to continue. Fails if it is empty or does not fit into the context.
    pub fn prompt(&self, prompt: &PromptText) -> Result<Prompt, EngineError> {
        let prompt = self.encode_prompt(prompt)?;
        let (n_tokens, n_max) = (prompt.tokens.len(), self.lm.n_context());
        if prompt.text.is_empty() || prompt.tokens.is_empty() {
            Err(EngineError::PromptEmpty)
        } else if n_tokens > n_max {
            Err(EngineError::PromptTooLong { n_tokens, n_max })
        } else {
            Ok(prompt)
        }
    }

    /// Tokenizes an answer to a message, as the chat template writes it after the prompt, up to the
    /// token that ends it. Fails if it does not fit into the context after the prompt.
    pub fn encode_answer(
        &self,
        message: &PromptText,
        answer: &ChatMessage,
    ) -> Result<GivenText, EngineError> {
        let mut prompt = self.prompt(message)?;
        let (PromptForm::Chat(settings), Some(chat)) = (&message.form, &prompt.chat) else {
            return Err(ChatError::Missing.into());
        };
        self.check_length(&answer.content)?;
        let written = self.render_with(&message.text, settings, Some(answer))?;
        let tokens = self.tokenizer.encode_chat(&written)?;
        let mut answered = match (
            tokens.strip_prefix(&*prompt.tokens),
            written.strip_prefix(&chat.rendered),
        ) {
            (Some(answered), _) => answered.to_vec(),
            // A token spans the end of the prompt.
            (None, Some(rest)) => self.tokenizer.encode_continuation(rest)?,
            // The template writes what comes before an answer otherwise than when it awaits one.
            (None, None) => self.tokenizer.encode_continuation(&answer.content)?,
        };
        let end = answered
            .iter()
            .position(|token| self.end_tokens.contains(token));
        answered.truncate(end.map_or(usize::MAX, |end| end + 1));
        if answered.is_empty() {
            return Err(EngineError::NothingToScore);
        }
        let n_prompt = prompt.tokens.len();
        prompt.tokens.extend(answered);
        Ok(GivenText {
            n_prompt,
            text: self.checked_text(prompt)?,
        })
    }

    /// Compares a recorded prompt with what the tokenizer and the chat template make of its text.
    pub fn check_prompt(&self, prompt: &PromptRecord) -> PromptCheck {
        let checked = match &prompt.chat {
            None => self.check_text(prompt),
            Some(chat) => self.check_chat(prompt, chat),
        };
        checked.unwrap_or_else(|error| PromptCheck::Failed {
            error: error.to_string(),
        })
    }

    /// Compares the tokens of a prompt with its text. A text that was scored shows no more of its
    /// first token than the piece.
    fn check_text(&self, prompt: &PromptRecord) -> Result<PromptCheck, EngineError> {
        let shows_pieces = self.vocabulary.visible_text(&prompt.tokens) == prompt.text;
        self.check_length(&prompt.text)?;
        let is_same = shows_pieces || self.tokenizer.encode(&prompt.text)? == prompt.tokens;
        Ok(if is_same {
            PromptCheck::Same
        } else {
            PromptCheck::OtherTokens
        })
    }

    /// Compares a rendered chat with its messages, and its tokens with the rendered text.
    fn check_chat(
        &self,
        prompt: &PromptRecord,
        chat: &ChatRecord,
    ) -> Result<PromptCheck, EngineError> {
        self.check_length(&chat.rendered)?;
        let is_same = self.render(&prompt.text, &chat.settings)? == chat.rendered;
        Ok(if !is_same && !self.inserts_date() {
            PromptCheck::OtherRendering
        } else if self.tokenizer.encode_turn(&chat.rendered)? != prompt.tokens {
            PromptCheck::OtherTokens
        } else if is_same {
            PromptCheck::Same
        } else {
            PromptCheck::Dated
        })
    }

    /// Returns whether the chat template asks for the date.
    fn inserts_date(&self) -> bool {
        let template = self.chat.as_ref().and_then(|chat| chat.as_ref().ok());
        template.is_some_and(|template| template.source().contains("strftime_now"))
    }

    /// Tokenizes a text that is read rather than continued. Keeps its first `n_first` tokens, if
    /// that is set. Fails if the rest has no token to predict or does not fit into the context.
    pub fn encode_text(&self, text: &str, n_first: Option<usize>) -> Result<Prompt, EngineError> {
        let mut text = self.encode_whole(text)?;
        text.tokens.truncate(n_first.unwrap_or(usize::MAX));
        self.checked_text(text)
    }

    /// Tokenizes a text that is read rather than continued.
    pub(super) fn encode_whole(&self, text: &str) -> Result<Prompt, EngineError> {
        let prompt = self.encode_prompt(&PromptText::raw(text));
        prompt.map_err(|error| match error {
            EngineError::PromptTooLarge { n_bytes, n_max } => {
                EngineError::TextTooLarge { n_bytes, n_max }
            }
            other => other,
        })
    }

    /// Fails if a text has no token to predict or does not fit into the context.
    pub fn checked_text(&self, text: Prompt) -> Result<Prompt, EngineError> {
        let (n_tokens, n_max) = (text.tokens.len(), self.lm.n_context());
        if n_tokens > n_max {
            Err(EngineError::TextTooLong { n_tokens, n_max })
        } else if n_tokens < 2 {
            Err(EngineError::NothingToScore)
        } else {
            Ok(text)
        }
    }

    /// Fails if a long text can't fit into the context, even if each token were the longest one.
    /// Tokenizing many megabytes takes seconds, so only shorter texts are tokenized to find their
    /// length.
    fn check_length(&self, text: &str) -> Result<(), EngineError> {
        let n_max = self.lm.n_context();
        if text.len() <= N_BYTES_TOKENIZED {
            return Ok(());
        }
        let pieces = self.vocabulary.iter();
        let longest = pieces.map(|(_, piece)| piece.bytes.len()).max();
        if text.len() / longest.unwrap_or_default().max(1) > n_max {
            let n_bytes = ByteSize(text.len() as u64);
            return Err(EngineError::PromptTooLarge { n_bytes, n_max });
        }
        Ok(())
    }

    fn render(&self, text: &str, settings: &ChatSettings) -> Result<String, ChatError> {
        self.render_with(text, settings, None)
    }

    /// Renders a chat up to this answer, or up to where the model answers.
    fn render_with(
        &self,
        text: &str,
        settings: &ChatSettings,
        answer: Option<&ChatMessage>,
    ) -> Result<String, ChatError> {
        let template = match &self.chat {
            Some(Ok(template)) => template,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(ChatError::Missing),
        };
        let system = settings
            .system
            .iter()
            .map(|text| Message::System(text.clone()));
        let history = settings.history.iter().cloned();
        let others = history
            .chain([settings.message(text)])
            .chain(answer.cloned());
        let messages: Vec<Message> = system.chain(others.map(Message::Other)).collect();
        let mut variables = settings.kwargs.clone();
        let tools = &settings.tools.definitions;
        if !tools.is_empty() {
            variables.insert("tools".to_owned(), tools.clone().into());
        }
        template.render(&messages, answer.is_none(), &variables)
    }

    /// Returns whether the model has a usable chat template.
    pub fn chat_support(&self) -> ChatSupport {
        match &self.chat {
            None => ChatSupport::Missing,
            Some(Ok(template)) => ChatSupport::Ready {
                switches: template.switches().to_vec(),
                tool_calls: ToolCallForm::of_template(template.source()),
            },
            Some(Err(error)) => ChatSupport::Broken {
                error: error.to_string(),
            },
        }
    }
}
