//! The messages of a chat, as chat templates get them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The tools of a chat.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatTools {
    /// The tools that the model can call, in the form of OpenAI's API.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definitions: Vec<Value>,
    /// Which call the message to answer is the result of, if a tool sent it and not the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_call: Option<ToolCallName>,
}

impl ChatTools {
    /// Returns the message to answer, whose content is `text`: the user's, or the result of a tool.
    pub fn message(&self, text: &str) -> ChatMessage {
        match &self.answered_call {
            Some(call) => ChatMessage::tool(text, call.clone()),
            None => ChatMessage::user(text),
        }
    }

    /// Returns whether the chat has neither tools nor the result of one to answer.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Names the call that a tool's message is the result of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallName {
    /// The id that the model gave the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A message of a chat before the one to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    pub role: ChatRole,
    pub content: String,
    /// What the model thought before it said this, without tags. Most templates drop it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The tools that the model called with this message, in the form of OpenAI's API.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Value>,
    /// Which call a tool's message is the result of.
    #[serde(flatten)]
    pub call: ToolCallName,
}

impl ChatMessage {
    /// Creates a message by the user.
    pub fn user(content: impl Into<String>) -> Self {
        Self {
            role: ChatRole::User,
            content: content.into(),
            thinking: None,
            tool_calls: Vec::new(),
            call: ToolCallName::default(),
        }
    }

    /// Creates a message by the model.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self {
            role: ChatRole::Assistant,
            ..Self::user(content)
        }
    }

    /// Creates a tool's message: `content` is the result of this call.
    pub fn tool(content: impl Into<String>, call: ToolCallName) -> Self {
        Self {
            role: ChatRole::Tool,
            call,
            ..Self::user(content)
        }
    }
}

impl ChatMessage {
    /// Returns its content and the tools that it calls, each on a line: `weather({"place":"Oslo"})`.
    pub fn shown(&self) -> String {
        let content = Some(self.content.clone()).filter(|content| !content.is_empty());
        let calls = self.tool_calls.iter().map(call_words);
        content
            .into_iter()
            .chain(calls)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Formats a tool call like a function call.
fn call_words(call: &Value) -> String {
    let function = call.get("function").unwrap_or(call);
    let name = function.get("name").and_then(Value::as_str);
    let arguments = match function.get("arguments") {
        Some(Value::String(json)) => json.clone(),
        Some(arguments) => arguments.to_string(),
        None => String::new(),
    };
    match name {
        Some(name) => format!("{name}({arguments})"),
        None => call.to_string(),
    }
}

/// Who wrote a message of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatRole {
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

impl ChatRole {
    /// Returns its name in messages: "user".
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Returns its name in a heading: "User".
    pub const fn heading(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Assistant => "Assistant",
            Self::Tool => "Tool",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ChatMessage;

    #[test]
    fn a_message_is_shown_with_its_calls() {
        let mut message = ChatMessage::assistant("Let me see.");
        assert_eq!(message.shown(), "Let me see.");
        message.tool_calls = vec![
            json!({ "function": { "name": "weather", "arguments": "{\"place\": \"Oslo\"}" } }),
            json!({ "name": "now", "arguments": {} }),
            json!({ "what": 1 }),
        ];
        let expected = "Let me see.\nweather({\"place\": \"Oslo\"})\nnow({})\n{\"what\":1}";
        assert_eq!(message.shown(), expected);
    }
}
