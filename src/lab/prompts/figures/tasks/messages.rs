//! The messages of a chat in JSON.

use serde_json::Value;

use super::super::checks::quote;
use super::json::Fault;
use super::json_path::Step;
use super::{Role, TaskMessage, TaskMistake};

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
        let name = message.get("name").and_then(Value::as_str);
        let role = match (text("role")?, name) {
            ("system", Some("example_user")) | ("user", _) => Role::User,
            ("system", Some("example_assistant")) | ("assistant", _) => Role::Assistant,
            ("system", _) => Role::System,
            (role, _) => {
                let role = quote(role).trim_matches(['‘', '’']).to_owned();
                return Err(Fault::at(path("role"), TaskMistake::UnknownRole { role }));
            }
        };
        messages.push(TaskMessage {
            role,
            content: text("content")?.to_owned(),
        });
    }
    Ok(messages)
}
