//! Chats as messages in the form of OpenAI's API: one object per line, for each pane that answers a
//! message.

use crate::analysis::messages_after;
use crate::generation::{ChatTools, Generation};
use crate::interop::Messages;

/// Renders the lines. Panes that continue a text have none.
pub(super) fn render(panes: &[Option<&Generation>]) -> String {
    let texts = panes.iter().copied().flatten();
    let lines = texts.filter_map(|text| {
        let chat = text.prompt.chat.as_ref()?;
        let messages = Messages {
            system: chat.settings.system.clone(),
            history: messages_after(text),
            last: None,
            tools: ChatTools {
                answered_call: None,
                ..chat.settings.tools.clone()
            },
        };
        Some(messages.to_json() + "\n")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::render;
    use crate::analysis::messages_after;
    use crate::generation::testing::generation;
    use crate::generation::{ChatRecord, ChatSettings};
    use crate::interop::Messages;

    #[test]
    fn an_exported_chat_can_be_read_back() {
        let pieces = ["<think>", "so", "</think>", " ", "Oslo", "."];
        let mut text = generation(&pieces.map(|piece| (piece, 0.5)));
        let plain = text.clone();
        Arc::make_mut(&mut text.prompt).chat = Some(ChatRecord {
            settings: ChatSettings::with_system("Be \"kind\"."),
            rendered: String::new(),
        });
        let lines = render(&[None, Some(&text), Some(&plain)]);
        let expected = r#"{"messages":[{"role":"system","content":"Be \"kind\"."},{"role":"user","content":"Once there was"},{"role":"assistant","content":"Oslo.","reasoning_content":"so"}]}"#;
        assert_eq!(lines, format!("{expected}\n"));
        let read = Messages::parse(&lines).unwrap();
        assert_eq!(read.history, messages_after(&text));
        assert_eq!(read.system.as_deref(), Some("Be \"kind\"."));
        assert_eq!(read.last, None);
    }
}
