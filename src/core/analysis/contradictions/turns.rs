//! Whether a turn of a conversation was asked with what the turns before it say.

use super::ContradictionKind::Prompt;
use super::found::Found;
use crate::analysis::turn_messages;
use crate::generation::{ChatMessage, Generation};

/// Checks the messages that the chat template got before the one to answer.
pub(super) fn check(text: &Generation, found: &mut Found) {
    let fault = text.previous_turn.as_deref();
    if let Some(words) = fault.and_then(|before| fault_after(text, before)) {
        found.text(Prompt, words);
    }
}

fn fault_after(text: &Generation, before: &Generation) -> Option<String> {
    let Some(history) = history_of(text) else {
        return Some("it follows a turn of a conversation, and answers no message".to_owned());
    };
    let Some(earlier) = history_of(before) else {
        return Some("it follows a turn that answers no message".to_owned());
    };
    // The turn before it is checked itself.
    let [message, answer] = &turn_messages(before);
    if history.strip_prefix(earlier) == Some(&[message.clone(), answer.clone()]) {
        return None;
    }
    let n_before = text.n_turns() - 1;
    let is_turn = |pair: &[ChatMessage], turn: &Generation| *pair == turn_messages(turn);
    let n_read = text.n_turns_read(is_turn).unwrap_or_default();
    let n_rest = history.len() - 2 * n_read;
    let rest = history.get(..n_rest).unwrap_or_default();
    // What is left out is the oldest, first of all messages that were given before turn 1.
    let first = text.turn(0).and_then(history_of).unwrap_or_default();
    if first.ends_with(rest) {
        return None;
    }
    let Some(turn) = text.turns_back().nth(n_read + 1) else {
        return Some("its history does not begin like that of turn 1".to_owned());
    };
    let [_, answer] = turn_messages(turn);
    let number = n_rest - usize::from(rest.last() == Some(&answer));
    let turn = n_before - n_read;
    Some(format!(
        "message {number} of its history is not what turn {turn} says"
    ))
}

fn history_of(text: &Generation) -> Option<&[ChatMessage]> {
    let chat = text.prompt.chat.as_ref()?;
    Some(&chat.settings.history)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::fault_after;
    use crate::analysis::messages_after;
    use crate::generation::testing::{answer_to, generation};
    use crate::generation::{ChatMessage, Generation};

    fn answer(message: &str, history: Vec<ChatMessage>) -> Generation {
        answer_to(message, history, &[(" yes", 0.5)])
    }

    /// Returns what is wrong with the third turn of a conversation that began with a given message,
    /// if its template got these messages.
    fn fault(history: impl Fn(Vec<ChatMessage>) -> Vec<ChatMessage>) -> Option<String> {
        let first = answer("one", vec![ChatMessage::assistant("Hello!")]);
        let second = answer("two", messages_after(&first)).following(Some(Arc::new(first)));
        let third = answer("three", history(messages_after(&second)))
            .following(Some(Arc::new(second.clone())));
        fault_after(&third, &second)
    }

    #[test]
    fn a_turn_is_asked_with_the_turns_before_it() {
        assert_eq!(fault(|all| all), None);
        // The given message is left out first, then turn by turn.
        for n_left_out in [1, 3, 5] {
            let fault = fault(|mut all| all.split_off(n_left_out));
            assert_eq!(fault, None, "{n_left_out}");
        }
        let other = |index: usize| {
            fault(|mut all: Vec<ChatMessage>| {
                all[index].content = "no".to_owned();
                all
            })
        };
        for (index, turn) in [(4, 2), (3, 2), (2, 1), (1, 1)] {
            let words = format!(
                "message {} of its history is not what turn {turn} says",
                index + 1
            );
            assert_eq!(other(index), Some(words));
        }
        let words = "its history does not begin like that of turn 1";
        assert_eq!(other(0).as_deref(), Some(words));
        let halved = fault(|mut all| all.split_off(2));
        assert!(halved.is_some(), "an answer without its message");
    }

    #[test]
    fn only_messages_are_turns() {
        let text = generation(&[(" a", 0.5)]);
        let chat = answer("one", Vec::new());
        let words = "it follows a turn that answers no message";
        assert_eq!(fault_after(&chat, &text).as_deref(), Some(words));
        let words = "it follows a turn of a conversation, and answers no message";
        assert_eq!(fault_after(&text, &chat).as_deref(), Some(words));
    }
}
