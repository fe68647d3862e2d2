//! Prompts as the user enters them (a text to continue or a message to answer), and their tokens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ChatMessage, ChatTools, Piece, ToolCallForm};
use crate::decoding::TokenId;

/// A prompt as the user entered it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptText {
    pub text: String,
    pub form: PromptForm,
}

/// Whether the model continues the prompt or answers it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PromptForm {
    /// Continue the text unchanged.
    #[default]
    Raw,
    /// Answer the text, rendered as a user message with the model's chat template.
    Chat(ChatSettings),
}

/// What a chat template gets besides the message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatSettings {
    /// The system message, which may be empty. Many templates write one of their own if there is
    /// none.
    pub system: Option<String>,
    /// The messages before the one to answer, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<ChatMessage>,
    #[serde(default, skip_serializing_if = "ChatTools::is_empty")]
    pub tools: ChatTools,
    pub kwargs: TemplateKwargs,
}

impl ChatSettings {
    /// Creates settings with a system message and nothing else.
    pub fn with_system(system: impl Into<String>) -> Self {
        Self {
            system: Some(system.into()),
            ..Self::default()
        }
    }

    /// Returns the message to answer, whose content is `text`: the user's, or the result of a tool.
    pub fn message(&self, text: &str) -> ChatMessage {
        self.tools.message(text)
    }

    /// Returns the heading of the message to answer.
    pub const fn message_heading(&self) -> &'static str {
        match self.tools.answered_call {
            Some(_) => "Tool result",
            None => "Message",
        }
    }

    /// Returns the tools that the model can call as JSON, or `None` if there are none.
    pub fn tools_json(&self) -> Option<String> {
        let json = serde_json::to_string(&self.tools.definitions).ok();
        json.filter(|_| !self.tools.definitions.is_empty())
    }

    /// Returns the variables as JSON, or `None` if there are none.
    pub fn kwargs_json(&self) -> Option<String> {
        let json = serde_json::to_string(&self.kwargs).ok();
        json.filter(|_| !self.kwargs.is_empty())
    }
}

/// Further variables of a chat template by their names, such as `enable_thinking`: what transformers
/// and servers call `chat_template_kwargs`.
pub type TemplateKwargs = BTreeMap<String, Value>;

/// The names of the variables that are given in another way, and can't be replaced.
pub const GIVEN_VARIABLES: [&str; 4] = ["messages", "add_generation_prompt", "tools", "documents"];

/// A variable that the chat templates of several families read, with its usual values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateSwitch {
    /// Qwen, `SmolLM`, GLM and others.
    EnableThinking,
    /// Granite and `DeepSeek`.
    Thinking,
    /// gpt-oss.
    ReasoningEffort,
}

impl TemplateSwitch {
    pub const ALL: [Self; 3] = [Self::EnableThinking, Self::Thinking, Self::ReasoningEffort];

    /// Returns the name of the variable.
    pub const fn variable(self) -> &'static str {
        match self {
            Self::EnableThinking => "enable_thinking",
            Self::Thinking => "thinking",
            Self::ReasoningEffort => "reasoning_effort",
        }
    }

    /// Returns what the window calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EnableThinking | Self::Thinking => "Thinking",
            Self::ReasoningEffort => "Effort",
        }
    }

    /// Returns its usual values with their labels. If it is not set, the template decides.
    pub fn values(self) -> Vec<(&'static str, Value)> {
        match self {
            Self::EnableThinking | Self::Thinking => {
                vec![("on", Value::Bool(true)), ("off", Value::Bool(false))]
            }
            Self::ReasoningEffort => ["low", "medium", "high"]
                .map(|effort| (effort, Value::from(effort)))
                .to_vec(),
        }
    }
}

impl PromptText {
    /// Creates a prompt that the model continues.
    pub fn raw(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            form: PromptForm::Raw,
        }
    }

    /// Creates a message that the model answers. An empty `system` stands for no system message.
    pub fn chat(text: impl Into<String>, system: impl Into<String>) -> Self {
        let system = Some(system.into()).filter(|system| !system.is_empty());
        let settings = system.map(ChatSettings::with_system);
        Self::chat_with(text, settings.unwrap_or_default())
    }

    /// Creates a message that the model answers, with all that its template gets.
    pub fn chat_with(text: impl Into<String>, settings: ChatSettings) -> Self {
        Self {
            text: text.into(),
            form: PromptForm::Chat(settings),
        }
    }
}

impl PromptForm {
    /// Returns the form of a prompt that was read as this chat message, or as raw text if `None`.
    pub fn of(chat: Option<&ChatRecord>) -> Self {
        chat.map_or(Self::Raw, |chat| Self::Chat(chat.settings.clone()))
    }
}

impl From<String> for PromptText {
    fn from(text: String) -> Self {
        Self::raw(text)
    }
}

impl From<&str> for PromptText {
    fn from(text: &str) -> Self {
        Self::raw(text)
    }
}

/// One token of a tokenized prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptToken {
    pub id: TokenId,
    pub piece: Piece,
}

/// How a chat message was presented to a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatRecord {
    pub settings: ChatSettings,
    /// The chat template's output, which is the text that the model read.
    pub rendered: String,
}

/// Whether a model has a usable chat template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ChatSupport {
    /// The model has no chat template; it can only continue texts.
    #[default]
    Missing,
    Ready {
        /// The switches that its template reads.
        switches: Vec<TemplateSwitch>,
        /// How it lets the model write tool calls, if it names a form that is read.
        tool_calls: Option<ToolCallForm>,
    },
    /// The chat template can't be used.
    Broken {
        /// The reason, which can be shown to the user.
        error: String,
    },
}

impl ChatSupport {
    /// Returns the support of a model whose template reads no switches.
    pub const fn ready() -> Self {
        Self::Ready {
            switches: Vec::new(),
            tool_calls: None,
        }
    }

    /// Returns how the template lets the model write tool calls, if it names a form that is read.
    pub const fn tool_calls(&self) -> Option<ToolCallForm> {
        match self {
            Self::Ready { tool_calls, .. } => *tool_calls,
            Self::Missing | Self::Broken { .. } => None,
        }
    }
}
