//! The messages of a chat as JSON, in the form of OpenAI's API: a list of objects with `role` and
//! `content`, or an object with such a list as `messages`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::generation::{ChatMessage, ChatRole};

/// The maximum number of messages.
const N_MAX: usize = 10_000;

/// A chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    /// The system message, if there is one.
    pub system: Option<String>,
    /// The messages of the user and the model before the last one, oldest first.
    pub history: Vec<ChatMessage>,
    /// The last message if it is the user's, so that it can be answered.
    pub last: Option<String>,
}

/// Why messages can't be read. Every message is fit to be shown, about an "it".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessagesError {
    #[error("it is not JSON: line {line}, column {column}")]
    NotJson { line: usize, column: usize },
    #[error("it holds no list of messages")]
    NoList,
    #[error("it has more than {N_MAX} messages")]
    TooMany,
    #[error("message {number} has no {missing}")]
    Lacks {
        number: usize,
        missing: &'static str,
    },
    #[error("message {number} is a system message; only the first one can be")]
    LateSystem { number: usize },
    #[error("message {number} is by {role:?}; Quartet knows system, user and assistant")]
    OtherRole { number: usize, role: String },
    #[error("message {number} holds something other than text")]
    NotText { number: usize },
    #[error("it holds {n} chats, one per line; keep one of them")]
    Several { n: usize },
}

#[derive(Serialize)]
struct WrittenChat<'a> {
    messages: Vec<Written<'a>>,
}

/// A message as it is written.
#[derive(Serialize)]
struct Written<'a> {
    role: &'a str,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
}

#[derive(Deserialize)]
struct Message {
    role: Option<String>,
    content: Option<Value>,
    #[serde(alias = "reasoning", alias = "thinking")]
    reasoning_content: Option<String>,
}

impl Messages {
    /// Reads messages from JSON.
    pub fn parse(json: &str) -> Result<Self, MessagesError> {
        let read: Value = serde_json::from_str(json).map_err(|error| not_one(json, &error))?;
        Self::from_json(read.get("messages").unwrap_or(&read))
    }

    /// Reads a list of messages.
    pub fn from_json(list: &Value) -> Result<Self, MessagesError> {
        let list = list.as_array();
        let list = list
            .filter(|list| !list.is_empty())
            .ok_or(MessagesError::NoList)?;
        if list.len() > N_MAX {
            return Err(MessagesError::TooMany);
        }
        let mut messages = Self::default();
        for (number, message) in (1..).zip(list) {
            let lacks = |missing| MessagesError::Lacks { number, missing };
            let message = Message::deserialize(message).map_err(|_error| lacks("role"))?;
            let role = message.role.ok_or_else(|| lacks("role"))?;
            let content = message.content.ok_or_else(|| lacks("content"))?;
            let content = text_of(&content).ok_or(MessagesError::NotText { number })?;
            let role = match role.as_str() {
                "user" => ChatRole::User,
                "assistant" => ChatRole::Assistant,
                "system" | "developer" if number == 1 => {
                    messages.system = Some(content);
                    continue;
                }
                "system" | "developer" => return Err(MessagesError::LateSystem { number }),
                _ => return Err(MessagesError::OtherRole { number, role }),
            };
            messages.history.push(ChatMessage {
                role,
                content,
                thinking: message.reasoning_content,
            });
        }
        let is_of_user = |last: &mut ChatMessage| last.role == ChatRole::User;
        let last = messages.history.pop_if(is_of_user);
        messages.last = last.map(|last| last.content);
        Ok(messages)
    }

    /// Returns the chat as JSON on one line: an object with the list as `messages`.
    pub fn to_json(&self) -> String {
        let written = |role, content| Written {
            role,
            content,
            reasoning_content: None,
        };
        let system = self.system.iter().map(|system| written("system", system));
        let history = self.history.iter().map(|message| Written {
            reasoning_content: message.thinking.as_deref(),
            ..written(message.role.name(), &message.content)
        });
        let last = self.last.iter().map(|last| written("user", last));
        let messages: Vec<Written<'_>> = system.chain(history).chain(last).collect();
        // Serializing plain data to memory can't fail.
        serde_json::to_string(&WrittenChat { messages }).unwrap_or_default()
    }
}

/// Returns why a text is not the JSON of one chat.
fn not_one(json: &str, error: &serde_json::Error) -> MessagesError {
    let lines = json.lines().filter(|line| !line.trim().is_empty());
    let chats: Option<Vec<Value>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    match chats {
        Some(chats) if chats.len() > 1 => MessagesError::Several { n: chats.len() },
        _ => MessagesError::NotJson {
            line: error.line(),
            column: error.column(),
        },
    }
}

/// Returns the text of a message: a string, or a list of parts that are all text.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| {
                let is_text = part.get("type").and_then(Value::as_str) == Some("text");
                part.get("text").and_then(Value::as_str).filter(|_| is_text)
            });
            texts.collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Messages, MessagesError, N_MAX};
    use crate::generation::ChatMessage;

    #[test]
    fn a_list_and_a_request_are_read_alike() {
        let list = r#"[
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]},
            {"role": "assistant", "content": "Hello!", "name": "x"},
            {"role": "user", "content": "Who are you?"}
        ]"#;
        let request = format!(r#"{{"model": "m", "messages": {list}}}"#);
        let expected = Messages {
            system: Some("Be kind.".to_owned()),
            history: vec![ChatMessage::user("Hi"), ChatMessage::assistant("Hello!")],
            last: Some("Who are you?".to_owned()),
        };
        for json in [list, &request] {
            assert_eq!(Messages::parse(json).as_ref(), Ok(&expected));
        }
        assert_eq!(Messages::parse(&expected.to_json()), Ok(expected));
    }

    #[test]
    fn a_chat_may_end_with_an_answer() {
        let json = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!", "reasoning_content": "so"}]"#;
        let read = Messages::parse(json).unwrap();
        assert_eq!((read.last.as_deref(), read.history.len()), (None, 2));
        assert_eq!(read.history[1].thinking.as_deref(), Some("so"));
        assert_eq!(Messages::parse(&read.to_json()), Ok(read));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let user = r#"{"role": "user", "content": "Hi"}"#;
        let many = vec![user; N_MAX + 1].join(",");
        for (json, words) in [
            ("[", "it is not JSON: line 1, column 1"),
            ("{}", "it holds no list of messages"),
            ("[]", "it holds no list of messages"),
            (&format!("[{many}]"), "it has more than 10000 messages"),
            (r#"[{"content": "Hi"}]"#, "message 1 has no role"),
            ("[7]", "message 1 has no role"),
            (r#"[{"role": "user"}]"#, "message 1 has no content"),
            (
                r#"[{"role": "user", "content": [{"type": "image_url"}]}]"#,
                "message 1 holds something other than text",
            ),
            (
                &format!(r#"[{user}, {{"role": "system", "content": ""}}]"#),
                "message 2 is a system message; only the first one can be",
            ),
            (
                &format!(r#"[{user}, {{"role": "tool", "content": ""}}]"#),
                "message 2 is by \"tool\"; Quartet knows system, user and assistant",
            ),
            (
                &format!("[{user}]\n\n[{user}]\n"),
                "it holds 2 chats, one per line; keep one of them",
            ),
        ] {
            let error: MessagesError = Messages::parse(json).unwrap_err();
            assert_eq!(error.to_string(), words);
        }
    }
}
