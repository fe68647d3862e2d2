//! The prompt of a run, with the messages before it and what the model read.

use super::escape::escaped;
use super::line;
use crate::generation::PromptRecord;
use crate::generation::formatting::counted;

/// Appends what the model read for a turn of a conversation, folded up.
pub(super) fn push_message(page: &mut String, number: usize, prompt: &PromptRecord) {
    let n_tokens = counted(prompt.tokens.len(), "token");
    let rendered = prompt.chat.as_ref().map(|chat| escaped(&chat.rendered));
    line(
        page,
        &format!(
            "<p class=\"small quiet\">Turn {number}</p><details class=\"small\"><summary>As the model \
             read it, {n_tokens}</summary><div class=\"source\">{}</div></details>",
            rendered.unwrap_or_default()
        ),
    );
}

/// Appends the prompt, or says that the text was given.
pub(super) fn push_prompt(page: &mut String, prompt: &PromptRecord, scored: bool) {
    if scored {
        return line(
            page,
            "<p class=\"quiet\">A given text: each token is scored as if the model had to write it.</p>",
        );
    }
    let n_tokens = counted(prompt.tokens.len(), "token");
    let mut entry = |title: &str, text: &str| {
        let text = escaped(text);
        line(
            page,
            &format!("<p class=\"small quiet\">{title}</p><div class=\"source\">{text}</div>"),
        );
    };
    match &prompt.chat {
        Some(chat) => {
            if let Some(system) = &chat.settings.system {
                entry("System prompt", system);
            }
            if let Some(kwargs) = chat.settings.kwargs_json() {
                entry("Template variables", &kwargs);
            }
            if let Some(tools) = chat.settings.tools_json() {
                entry("Tools", &tools);
            }
            for message in &chat.settings.history {
                entry(
                    &format!("Earlier: {}", message.role.heading()),
                    &message.shown(),
                );
            }
            entry(chat.settings.message_heading(), &prompt.text);
            entry(&format!("As the model read it, {n_tokens}"), &chat.rendered);
        }
        None => entry(&format!("Prompt, {n_tokens}"), &prompt.text),
    }
}
