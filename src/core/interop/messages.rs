//! The messages of a chat as JSON, in the form of OpenAI's API: a list of objects with `role` and
//! `content`, or an object with such a list as `messages`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::generation::{ChatMessage, ChatRole, ChatTools, ToolCallName};

/// The maximum number of messages.
const N_MAX: usize = 10_000;

/// A chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    /// The system message, if there is one.
    pub system: Option<String>,
    /// The messages before the last one, oldest first.
    pub history: Vec<ChatMessage>,
    /// The last message if it is the user's or a tool's, so that it can be answered.
    pub last: Option<String>,
    /// The tools that the model can call, and which call the last message is the result of.
    pub tools: ChatTools,
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
    #[error("message {number} is by {role:?}; Quartet knows system, user, assistant and tool")]
    OtherRole { number: usize, role: String },
    #[error("message {number} holds something other than text")]
    NotText { number: usize },
    #[error("it holds {n} chats, one per line; keep one of them")]
    Several { n: usize },
}

#[derive(Serialize)]
struct WrittenChat<'a> {
    messages: Vec<Written<'a>>,
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    tools: &'a [Value],
}

/// A message as it is written.
#[derive(Serialize)]
struct Written<'a> {
    role: &'a str,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    tool_calls: &'a [Value],
    #[serde(flatten)]
    call: &'a ToolCallName,
}

impl<'a> From<&'a ChatMessage> for Written<'a> {
    fn from(message: &'a ChatMessage) -> Self {
        Self {
            role: message.role.name(),
            content: &message.content,
            reasoning_content: message.thinking.as_deref(),
            tool_calls: &message.tool_calls,
            call: &message.call,
        }
    }
}

/// Returns a message as JSON in the form of OpenAI's API, with its thought as `reasoning_content`.
pub fn message_json(message: &ChatMessage) -> Value {
    // Serializing plain data to memory can't fail.
    serde_json::to_value(Written::from(message)).unwrap_or_default()
}

#[derive(Deserialize)]
struct Message {
    role: Option<String>,
    content: Option<Value>,
    /// The thought has several names, and a message may have it under more than one.
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Value>>,
    tool_call_id: Option<String>,
    name: Option<String>,
}

impl Messages {
    /// Reads messages from JSON.
    pub fn parse(json: &str) -> Result<Self, MessagesError> {
        let read: Value = serde_json::from_str(json).map_err(|error| not_one(json, &error))?;
        let mut messages = Self::from_json(read.get("messages").unwrap_or(&read))?;
        if let Some(tools) = read.get("tools").and_then(Value::as_array) {
            messages.tools.definitions.clone_from(tools);
        }
        Ok(messages)
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
            let tool_calls = message.tool_calls.unwrap_or_default();
            // A message that only calls tools may have no content.
            let no_text = || (!tool_calls.is_empty()).then(String::new);
            let content = match message.content {
                Some(content) => text_of(&content).ok_or(MessagesError::NotText { number })?,
                None => no_text().ok_or_else(|| lacks("content"))?,
            };
            let thought = message.reasoning_content.or(message.reasoning);
            let thought = thought.or(message.thinking);
            let role = match role.as_str() {
                "user" => ChatRole::User,
                "assistant" => ChatRole::Assistant,
                "tool" => ChatRole::Tool,
                "system" | "developer" if number == 1 => {
                    messages.system = Some(content);
                    continue;
                }
                "system" | "developer" => return Err(MessagesError::LateSystem { number }),
                _ => return Err(MessagesError::OtherRole { number, role }),
            };
            // The name of a user or an assistant is not the name of a tool.
            let call = match role {
                ChatRole::Tool => ToolCallName {
                    tool_call_id: message.tool_call_id,
                    name: message.name,
                },
                ChatRole::User | ChatRole::Assistant => ToolCallName::default(),
            };
            messages.history.push(ChatMessage {
                role,
                content,
                thinking: thought,
                tool_calls,
                call,
            });
        }
        let can_be_answered = |last: &mut ChatMessage| last.role != ChatRole::Assistant;
        if let Some(last) = messages.history.pop_if(can_be_answered) {
            messages.last = Some(last.content);
            messages.tools.answered_call = (last.role == ChatRole::Tool).then_some(last.call);
        }
        Ok(messages)
    }

    /// Returns the chat as JSON on one line: an object with the list as `messages`.
    pub fn to_json(&self) -> String {
        let no_call = ToolCallName::default();
        let system = self.system.iter().map(|content| Written {
            role: "system",
            content,
            reasoning_content: None,
            tool_calls: &[],
            call: &no_call,
        });
        let last = self.last.as_ref().map(|last| self.tools.message(last));
        let others = self.history.iter().chain(&last).map(Written::from);
        let written = WrittenChat {
            messages: system.chain(others).collect(),
            tools: &self.tools.definitions,
        };
        // Serializing plain data to memory can't fail.
        serde_json::to_string(&written).unwrap_or_default()
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
    use crate::generation::{ChatMessage, ChatRole, ChatTools};

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
            tools: ChatTools::default(),
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
        assert_eq!(Messages::parse(&read.to_json()), Ok(read.clone()));
        let twice = json.replace("}]", r#", "thinking": "so"}]"#);
        assert_eq!(Messages::parse(&twice), Ok(read));
    }

    #[test]
    fn a_tools_result_can_be_answered() {
        let call = r#"{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"at\": \"Oslo\"}"}}"#;
        let tool = r#"{"type":"function","function":{"name":"weather","parameters":{}}}"#;
        let question = r#"{"role":"user","content":"Rain?","name":"Ada"}"#;
        let result = r#"{"role":"tool","content":"no","tool_call_id":"c1","name":"weather"}"#;
        let json = format!(
            r#"{{"messages":[{question},{{"role":"assistant","content":null,"tool_calls":[{call}]}},{result}],"tools":[{tool}]}}"#
        );
        let read = Messages::parse(&json).unwrap();
        assert_eq!(read.last.as_deref(), Some("no"));
        let answered = read.tools.answered_call.as_ref().unwrap();
        assert_eq!(answered.tool_call_id.as_deref(), Some("c1"));
        assert_eq!(answered.name.as_deref(), Some("weather"));
        assert_eq!(read.tools.definitions.len(), 1);
        let [asked, called] = &read.history[..] else {
            panic!("{:?}", read.history);
        };
        assert_eq!(asked, &ChatMessage::user("Rain?"));
        assert_eq!(called.role, ChatRole::Assistant);
        assert_eq!(called.tool_calls[0]["function"]["name"], "weather");
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
                &format!(r#"[{user}, {{"role": "function", "content": ""}}]"#),
                "message 2 is by \"function\"; Quartet knows system, user, assistant and tool",
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
