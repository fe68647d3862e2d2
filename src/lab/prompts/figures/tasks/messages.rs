//! The messages of a chat in JSON.

use serde_json::{Map, Value};

use super::super::checks::quote;
use super::json::Fault;
use super::json_path::Step;
use super::{Role, TaskMessage, TaskMistake};
use crate::generation::ToolCallName;

/// Reads a list of messages, which is a field of a task.
///
/// As in OpenAI's evals, a system message named `example_user` or `example_assistant` is an example of
/// what they say.
pub(super) fn messages(field: &'static str, value: &Value) -> Result<Vec<TaskMessage>, Fault> {
    let wrong = |path: Vec<Step>, field: &str, expected| {
        let field = field.to_owned();
        Fault::at(path, TaskMistake::WrongType { field, expected })
    };
    let list = value.as_array().filter(|list| !list.is_empty());
    let Some(list) = list else {
        return Err(wrong(vec![Step::Key(field)], field, "a list of messages"));
    };
    let mut messages = Vec::new();
    for (index, message) in list.iter().enumerate() {
        let path = |key| vec![Step::Key(field), Step::Index(index), Step::Key(key)];
        let text = |key| {
            let text = message.get(key).and_then(Value::as_str);
            text.ok_or_else(|| wrong(path(key), key, "a text"))
        };
        let own = |key| message.get(key).and_then(Value::as_str).map(str::to_owned);
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let tool_calls = calls.cloned().unwrap_or_default();
        let name = message.get("name").and_then(Value::as_str);
        let role = match (text("role")?, name) {
            ("system", Some("example_user")) | ("user", _) => Role::User,
            ("system", Some("example_assistant")) | ("assistant", _) => Role::Assistant,
            ("system", _) => Role::System,
            ("tool", _) => Role::Tool,
            (role, _) => {
                let role = quote(role).trim_matches(['‘', '’']).to_owned();
                return Err(Fault::at(path("role"), TaskMistake::UnknownRole { role }));
            }
        };
        // A message that only calls tools may have no content.
        let content = match text("content") {
            Err(_)
                if message.get("content").is_none_or(Value::is_null) && !tool_calls.is_empty() =>
            {
                ""
            }
            content => content?,
        };
        messages.push(TaskMessage {
            role,
            content: content.to_owned(),
            thinking: own("reasoning_content").or_else(|| own("thinking")),
            tool_calls,
            call: match role {
                Role::Tool => ToolCallName {
                    tool_call_id: own("tool_call_id"),
                    name: own("name"),
                },
                _ => ToolCallName::default(),
            },
        });
    }
    Ok(messages)
}

/// Reads the tools of a task that has messages.
pub(super) fn tools(object: &Map<String, Value>) -> Result<Vec<Value>, Fault> {
    const NAME: &str = "tools";
    match object.get(NAME) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(tools)) if tools.iter().all(Value::is_object) => Ok(tools.clone()),
        Some(_) => Err(Fault::at(
            vec![Step::Key(NAME)],
            TaskMistake::WrongType {
                field: NAME.to_owned(),
                expected: "a list of tools",
            },
        )),
    }
}
