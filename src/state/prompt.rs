//! The prompt as edited: its mode, how the model tokenizes it, and why it can't be used.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Effect, ModelStatus, Settings, capitalize, cut_to_limit, cut_words};
use crate::generation::formatting::{counted, grouped};
use crate::generation::{
    ChatMessage, ChatSettings, ChatSupport, ChatTools, PromptForm, PromptRecord, PromptText,
    PromptToken, TemplateKwargs, TemplateSwitch,
};
use crate::worker::Request;

/// How the model treats the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    /// Continue it as plain text.
    #[default]
    Raw,
    /// Answer it, formatted by the model's chat template.
    Chat,
}

impl PromptMode {
    /// Both modes, from left to right.
    pub const ALL: [Self; 2] = [Self::Raw, Self::Chat];

    /// Returns the label on the switch.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "Raw",
            Self::Chat => "Chat",
        }
    }

    /// Returns the tooltip of the switch.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Raw => "The model continues the text exactly as written",
            Self::Chat => "The model answers the message, formatted by its chat template",
        }
    }
}

/// What the model continues or answers, as edited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The text to continue in raw mode, the message to answer in chat mode.
    pub text: String,
    pub mode: PromptMode,
    /// The system prompt of chat mode; may be empty.
    pub system: String,
    /// Whether an empty system prompt is sent as an empty message. Many templates write a system
    /// message of their own if there is none.
    pub sends_empty_system: bool,
    /// The messages of a chat before the one to answer, oldest first.
    pub history: Vec<ChatMessage>,
    /// The tools of the chat, and whether the text is the result of one.
    pub tools: ChatTools,
    /// The variables of the chat template that were set, for each model that reads them.
    pub template_kwargs: TemplateKwargs,
    /// The engine's latest tokenization of the prompt, which may lag behind `text`.
    pub reading: Option<PromptReading>,
}

impl Prompt {
    /// Returns the saved prompt, which has not been tokenized yet.
    pub(super) fn of(settings: &Settings) -> Self {
        let [text, system] = [&settings.prompt, &settings.system].map(|typed| {
            let mut typed = typed.clone();
            cut_to_limit(&mut typed);
            typed
        });
        Self {
            text,
            mode: settings.prompt_mode,
            system,
            sends_empty_system: settings.sends_empty_system,
            history: settings.chat_history.clone(),
            tools: settings.chat_tools.clone(),
            template_kwargs: settings.template_kwargs.clone(),
            reading: None,
        }
    }

    /// Puts the prompt into the settings that are saved.
    pub(super) fn write_to(&self, settings: &mut Settings) {
        settings.prompt.clone_from(&self.text);
        settings.prompt_mode = self.mode;
        settings.system.clone_from(&self.system);
        settings.sends_empty_system = self.sends_empty_system;
        settings.chat_history.clone_from(&self.history);
        settings.chat_tools.clone_from(&self.tools);
        settings.template_kwargs.clone_from(&self.template_kwargs);
    }
}

/// How the model tokenizes a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptReading {
    /// The prompt that was tokenized; the one in the window may have changed since.
    pub prompt: PromptText,
    /// Its tokens, or why it could not be tokenized.
    pub tokens: Result<Arc<[PromptToken]>, String>,
}

/// The length of a prompt, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptLength {
    pub n_tokens: usize,
    /// The model's context size.
    pub n_max: usize,
}

impl PromptLength {
    /// Returns whether the prompt fits into the model's context.
    pub const fn fits(self) -> bool {
        self.n_tokens <= self.n_max
    }
}

impl PromptLength {
    /// Writes "112 of 2,048 tokens".
    pub fn of_context_words(&self) -> String {
        let n_tokens = grouped(self.n_tokens as f64);
        format!("{n_tokens} of {}", counted(self.n_max, "token"))
    }
}

impl std::fmt::Display for PromptLength {
    /// Writes "10 tokens", followed by the context size if the prompt is too long.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", counted(self.n_tokens, "token"))?;
        if self.fits() {
            return Ok(());
        }
        let n_max = grouped(self.n_max as f64);
        write!(f, ", but the model reads at most {n_max}")
    }
}

impl Prompt {
    /// Returns the prompt with its mode, as it is sent to the engine.
    pub fn to_text(&self) -> PromptText {
        PromptText {
            text: self.text.clone(),
            form: self.form(),
        }
    }

    /// Returns whether the text is what a tool returned, rather than the user's message.
    pub fn is_tool_result(&self) -> bool {
        self.mode == PromptMode::Chat && self.tools.answered_call.is_some()
    }

    /// Returns the system message that a chat gets.
    fn system_message(&self) -> Option<String> {
        let is_sent = self.sends_empty_system || !self.system.is_empty();
        is_sent.then(|| self.system.clone())
    }

    /// Returns the switches of the chat template that can be set now.
    pub fn switches<'a>(&self, main: &'a ModelStatus) -> &'a [TemplateSwitch] {
        let chat = main.ready().map(|model| &model.chat);
        match chat {
            Some(ChatSupport::Ready { switches, .. }) if self.mode == PromptMode::Chat => switches,
            _ => &[],
        }
    }

    /// Takes over how a text was asked for.
    pub(crate) fn set_form(&mut self, form: PromptForm) {
        let (mode, chat) = match form {
            PromptForm::Raw => (PromptMode::Raw, ChatSettings::default()),
            PromptForm::Chat(chat) => (PromptMode::Chat, chat),
        };
        self.mode = mode;
        self.sends_empty_system = chat.system.as_ref().is_some_and(String::is_empty);
        self.system = chat.system.unwrap_or_default();
        self.history = chat.history;
        self.tools = chat.tools;
        self.template_kwargs = chat.kwargs;
    }

    /// Returns the length of the prompt, if known. While the user types, this is the last length
    /// that was reported, so that the count does not flicker.
    pub fn length(&self, main: &ModelStatus) -> Option<PromptLength> {
        let tokens = self.tokens()?;
        Some(PromptLength {
            n_tokens: tokens.len(),
            n_max: main.ready()?.info.n_context,
        })
    }

    /// Returns how many tokens fit into the context after the prompt, if that is fewer than the
    /// token limit.
    pub fn context_limit(&self, main: &ModelStatus, max_new_tokens: usize) -> Option<usize> {
        let PromptLength { n_tokens, n_max } = self.length(main)?;
        let room = n_max.checked_sub(n_tokens)?;
        (room < max_new_tokens).then_some(room)
    }

    /// Returns the tokens of the last prompt that was tokenized.
    pub fn tokens(&self) -> Option<&Arc<[PromptToken]>> {
        self.reading.as_ref()?.tokens.as_ref().ok()
    }

    /// Returns why the model can't use the last prompt that was tokenized.
    pub fn refusal(&self, main: &ModelStatus) -> Option<String> {
        cut_words(&self.text).or_else(|| {
            if let Some(error) = self.chat_mode_error(main) {
                return Some(error);
            }
            let reading = self.reading.as_ref()?;
            reading.tokens.as_ref().err().map(|error| capitalize(error))
        })
    }

    /// Returns why chat mode is unavailable, if it is the current mode.
    fn chat_mode_error(&self, main: &ModelStatus) -> Option<String> {
        let is_chat = self.mode == PromptMode::Chat;
        main.chat_unavailable_reason().filter(|_| is_chat)
    }

    pub(super) fn empty_reason(&self) -> Option<String> {
        let sentence = match self.mode {
            PromptMode::Raw => "Type a prompt first",
            PromptMode::Chat => "Type a message first",
        };
        self.text.is_empty().then(|| sentence.to_owned())
    }

    /// Returns why the prompt can't be continued or answered now.
    pub(super) fn blocking_reason(&self, main: &ModelStatus) -> Option<String> {
        if let Some(reason) = self.empty_reason() {
            return Some(reason);
        }
        // An outdated result says nothing about the current prompt.
        let reading = self.reading.as_ref();
        let is_outdated = reading.is_some_and(|reading| !self.is_current(&reading.prompt));
        if is_outdated {
            return self.chat_mode_error(main);
        }
        let too_long = || {
            let length = self.length(main).filter(|length| !length.fits());
            length.map(|length| length.to_string())
        };
        self.refusal(main).or_else(too_long)
    }

    /// Returns whether a text was generated from the current prompt.
    pub(super) fn is_of(&self, record: &PromptRecord) -> bool {
        record.text == self.text && PromptForm::of(record.chat.as_ref()) == self.form()
    }

    /// Returns whether its last reading is of this prompt.
    pub(super) fn reads(&self, prompt: &PromptText) -> bool {
        let reading = self.reading.as_ref();
        reading.is_some_and(|reading| reading.prompt == *prompt)
    }

    fn is_current(&self, prompt: &PromptText) -> bool {
        prompt.text == self.text && prompt.form == self.form()
    }

    fn form(&self) -> PromptForm {
        match self.mode {
            PromptMode::Raw => PromptForm::Raw,
            PromptMode::Chat => PromptForm::Chat(ChatSettings {
                system: self.system_message(),
                history: self.history.clone(),
                tools: self.tools.clone(),
                kwargs: self.template_kwargs.clone(),
            }),
        }
    }

    /// Asks the engine to tokenize the prompt.
    pub(crate) fn tokenize(&mut self, main: &ModelStatus) -> Vec<Effect> {
        if self.text.is_empty() || self.chat_mode_error(main).is_some() {
            self.reading = None;
            return Vec::new();
        }
        if main.ready().is_none() {
            return Vec::new();
        }
        vec![Effect::Send(Request::Tokenize {
            prompt: self.to_text(),
            model: None,
        })]
    }

    /// Stores the engine's answer, unless the prompt has changed since.
    pub(super) fn on_tokenized(
        &mut self,
        prompt: PromptText,
        tokens: Result<Vec<PromptToken>, String>,
    ) {
        if self.is_current(&prompt) {
            let tokens = tokens.map(Arc::from);
            self.reading = Some(PromptReading { prompt, tokens });
        }
    }

    /// Copies the prompt as the model reads it, special tokens included. Does nothing until the
    /// current prompt has been tokenized.
    pub(super) fn copy(&self) -> Option<Effect> {
        let reading = self.reading.as_ref();
        let reading = reading.filter(|reading| self.is_current(&reading.prompt));
        let tokens = reading.and_then(|reading| reading.tokens.as_ref().ok());
        tokens.map(|tokens| Effect::CopyText(text_of(tokens)))
    }
}

/// Returns the text of tokens, with the names of special tokens.
pub(super) fn text_of(tokens: &[PromptToken]) -> String {
    let pieces = tokens.iter().map(|token| token.piece.bytes.as_slice());
    String::from_utf8_lossy(&pieces.collect::<Vec<_>>().concat()).into_owned()
}
