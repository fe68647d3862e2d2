//! `--chat` and `--prompts`: how a prompt's text is interpreted, and lists of prompts in files.

use std::path::Path;

use clap::Args;

use super::failure::Failure;
use super::text_input::{MAX_TEXT_BYTES, read_text};
use crate::generation::PromptText;

/// Whether prompts are raw text or messages to answer.
#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    /// Let the model answer the prompt, using its chat template
    #[arg(long)]
    pub(crate) chat: bool,

    /// The system message of the chat; may be empty, which many templates treat otherwise than none
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "chat"
    )]
    system: Option<String>,
}

impl ChatArguments {
    /// Makes a prompt from a text.
    pub(crate) fn prompt(&self, text: impl Into<String>) -> PromptText {
        if self.chat {
            PromptText::chat_with(text, self.system.clone())
        } else {
            PromptText::raw(text)
        }
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
    use super::lines;

    #[test]
    fn every_line_with_words_is_a_prompt() {
        let text = "Once upon\r\n\n  \n The fox \nlast";
        assert_eq!(lines(text), ["Once upon", " The fox ", "last"]);
    }
}
