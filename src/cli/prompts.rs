//! `--chat` and `--prompts`: how a prompt's text is interpreted, and lists of prompts in files.

use std::collections::VecDeque;
use std::path::Path;

use clap::Args;

use super::failure::Failure;
use super::text_input::{MAX_TEXT_BYTES, read_text};
use crate::generation::{ChatSettings, ChatTools, GIVEN_VARIABLES, PromptText, TemplateKwargs};
use crate::interop::Messages;

/// Whether prompts are raw text or messages to answer.
#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    /// Let the model answer the prompt, using its chat template
    #[arg(long, group = "chats")]
    pub(crate) chat: bool,

    /// The system message of the chat; may be empty, which many templates treat otherwise than none
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "chat"
    )]
    system: Option<String>,

    #[arg(
        long,
        help = r#"Variables of the chat template, as in '{"enable_thinking": false}'"#,
        value_name = "JSON",
        requires = "chats",
        value_parser = template_kwargs
    )]
    chat_template_kwargs: Option<TemplateKwargs>,
}

impl ChatArguments {
    /// Returns the variables for the chat template.
    pub(crate) fn kwargs(&self) -> TemplateKwargs {
        self.chat_template_kwargs.clone().unwrap_or_default()
    }

    /// Makes a prompt from a text.
    pub(crate) fn prompt(&self, text: impl Into<String>) -> PromptText {
        if self.chat {
            let settings = ChatSettings {
                system: self.system.clone(),
                history: Vec::new(),
                tools: ChatTools::default(),
                kwargs: self.kwargs(),
            };
            PromptText::chat_with(text, settings)
        } else {
            PromptText::raw(text)
        }
    }
}

/// Reads a chat from a file with messages, or from standard input for `-`. If it ends with an answer,
/// `next` is the message to answer.
pub(crate) fn messages_from(
    path: &Path,
    kwargs: TemplateKwargs,
    next: &mut VecDeque<String>,
) -> Result<PromptText, Failure> {
    read_messages(path, "the messages can’t be answered", |messages| {
        let next_message = messages.last.or_else(|| next.pop_front());
        let message = next_message
            .ok_or("the last one is the model’s; write the next one with --reply TEXT")?;
        let settings = ChatSettings {
            system: messages.system,
            history: messages.history,
            tools: messages.tools,
            kwargs,
        };
        Ok(PromptText::chat_with(message, settings))
    })
}

/// Reads messages from a file, or from standard input for `-`, and makes something of them. `what` begins
/// the error: "the messages can’t be answered".
pub(super) fn read_messages<T>(
    path: &Path,
    what: &str,
    of: impl FnOnce(Messages) -> Result<T, String>,
) -> Result<T, Failure> {
    let text = read_text(path, "the messages", MAX_TEXT_BYTES)?;
    let read = Messages::parse(&text).map_err(|error| error.to_string());
    read.and_then(of).map_err(|error| {
        let path = path.display();
        Failure::run(format!("{what}: {error}\nFile: {path}"))
    })
}

/// Reads the variables for a chat template.
fn template_kwargs(json: &str) -> Result<TemplateKwargs, String> {
    let kwargs: Option<TemplateKwargs> = serde_json::from_str(json).ok();
    let Some(kwargs) = kwargs else {
        return Err(r#"write a JSON object, as in {"enable_thinking": false}"#.to_owned());
    };
    match GIVEN_VARIABLES
        .iter()
        .find(|name| kwargs.contains_key(**name))
    {
        Some(name) => Err(format!(
            "{name} is what the prompt is about; it can’t be set"
        )),
        None => Ok(kwargs),
    }
}

/// Reads the prompts of a file, or of standard input for `-`. Empty lines are skipped.
pub(crate) fn prompts_from(path: &Path) -> Result<Vec<String>, Failure> {
    let text = read_text(path, "the prompts", MAX_TEXT_BYTES)?;
    let prompts = lines(&text);
    if prompts.is_empty() {
        return Err(Failure::run(format!(
            "the file has no prompts\nFile: {}",
            path.display()
        )));
    }
    Ok(prompts)
}

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{lines, template_kwargs};

    #[test]
    fn template_variables_are_a_json_object() {
        let read = template_kwargs(r#"{"enable_thinking": false, "reasoning_effort": "low"}"#);
        assert_eq!(read.unwrap()["enable_thinking"], false);
        for (json, error) in [
            ("false", "write a JSON object"),
            ("{enable_thinking: false}", "write a JSON object"),
            (r#"{"messages": []}"#, "messages is what"),
        ] {
            let found = template_kwargs(json).unwrap_err();
            assert!(found.starts_with(error), "{found}");
        }
    }

    #[test]
    fn every_line_with_words_is_a_prompt() {
        let text = "Once upon\r\n\n  \n The fox \nlast";
        assert_eq!(lines(text), ["Once upon", " The fox ", "last"]);
    }
}
