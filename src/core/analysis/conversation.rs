//! What the next message of a conversation follows: its messages so far, and the tokens of them that
//! the model has read already.

use super::Thought;
use crate::decoding::TokenId;
use crate::generation::formatting::{counted, quoted};
use crate::generation::{ChatMessage, Generation, THOUGHT_TAGS};

/// Returns the messages of a conversation up to an answer: those before the message that it answers,
/// that message, and the answer. Empty for a text that answers none.
pub fn messages_after(answer: &Generation) -> Vec<ChatMessage> {
    let Some(chat) = &answer.prompt.chat else {
        return Vec::new();
    };
    let mut messages = chat.settings.history.clone();
    messages.extend(turn_messages(answer));
    messages
}

/// Returns what a turn adds to its conversation: the message, and the answer.
pub fn turn_messages(answer: &Generation) -> [ChatMessage; 2] {
    let (text, chat) = (&answer.prompt.text, &answer.prompt.chat);
    let message = chat.as_ref().map(|chat| chat.settings.message(text));
    let message = message.unwrap_or_else(|| ChatMessage::user(text));
    [message, answer_message(answer)]
}

/// Returns an answer as a chat template gets it: its thought apart, and without the white space around
/// either.
fn answer_message(answer: &Generation) -> ChatMessage {
    let thought = Thought::of(answer);
    let first = thought.map_or(0, |thought| thought.steps().end);
    let message = ChatMessage::assistant(answer.text_from(first).trim());
    ChatMessage {
        thinking: thought.map(|thought| thought_words(answer, thought)),
        ..message
    }
}

/// Returns the words of a thought without its tags.
fn thought_words(text: &Generation, thought: Thought) -> String {
    let steps = text.steps.range(thought.steps());
    let bytes: Vec<u8> = steps.flat_map(|step| step.piece.bytes.clone()).collect();
    let tagged = String::from_utf8_lossy(&bytes);
    let mut words = tagged.trim();
    for tags in THOUGHT_TAGS {
        words = words.strip_prefix(tags.opening).unwrap_or(words);
        words = words.strip_suffix(tags.closing).unwrap_or(words);
    }
    words.trim().to_owned()
}

/// How much of a turn's prompt the model has read before, in the turn before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedBeginning {
    /// How many tokens at the beginning of the prompt are those that the turn before read and wrote.
    pub n_shared: usize,
    /// How many tokens the turn before read and wrote.
    pub n_before: usize,
    /// The first tokens that differ, the earlier one first, if the template renders the earlier turns
    /// otherwise than before. Their keys and values can't be reused.
    pub differs: Option<[TokenId; 2]>,
}

impl SharedBeginning {
    /// Compares the prompt of a turn with what the turn before it read and wrote. `None` for the first
    /// turn, and if the two turns are by models that can't share a cache.
    pub fn of(turn: &Generation) -> Option<Self> {
        let before = turn.previous_turn.as_deref()?;
        if !turn.model.is_equivalent_to(&before.model) {
            return None;
        }
        let written = before.steps.iter().map(|step| step.token);
        let earlier: Vec<TokenId> = before
            .prompt
            .tokens
            .iter()
            .copied()
            .chain(written)
            .collect();
        let now = &turn.prompt.tokens;
        let pairs = earlier.iter().zip(now);
        let n_shared = pairs.take_while(|(before, now)| before == now).count();
        let differing = earlier.get(n_shared).zip(now.get(n_shared));
        Some(Self {
            n_shared,
            n_before: earlier.len(),
            differs: differing.map(|(before, now)| [*before, *now]),
        })
    }

    /// Says which token kept the model from reusing what it had read, if one did.
    pub fn words(&self, turn: &Generation) -> Option<String> {
        let [before, now] = self.differs?;
        let piece = |token| quoted(&turn.vocabulary.piece(token));
        let n_again = counted(self.n_before - self.n_shared, "token");
        let (before, now) = (piece(before), piece(now));
        Some(format!(
            "At token {}, the template has {now} where the turn before had {before}: {n_again} of the \
             earlier turns could not be reused",
            self.n_shared + 1
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{SharedBeginning, messages_after};
    use crate::decoding::TokenId;
    use crate::generation::testing::{answer_to, generation};
    use crate::generation::{ChatMessage, Generation};

    fn answer(pieces: &[(&str, f64)]) -> Generation {
        answer_to("Hi", Vec::new(), pieces)
    }

    #[test]
    fn the_thought_of_an_answer_is_kept_apart() {
        assert_eq!(messages_after(&generation(&[(" a", 0.5)])), []);
        let text = answer(&[
            ("<think>", 0.5),
            ("so", 0.5),
            ("</think>", 0.5),
            ("\n\nYes ", 0.5),
        ]);
        let [message, reply] = messages_after(&text).try_into().unwrap();
        assert_eq!(message, ChatMessage::user("Hi"));
        assert_eq!(
            (reply.content.as_str(), reply.thinking.as_deref()),
            ("Yes", Some("so"))
        );
        let plain = messages_after(&answer(&[(" Yes", 0.5)]));
        assert_eq!(plain[1], ChatMessage::assistant("Yes"));
    }

    #[test]
    fn a_prompt_shares_its_beginning_with_the_turn_before_it() {
        let first = answer(&[(" yes", 0.5), (".", 0.5)]);
        let read = first.prompt.tokens.clone();
        let written: Vec<TokenId> = first.steps.iter().map(|step| step.token).collect();
        let turn = |tokens: Vec<TokenId>| {
            let mut text = answer(&[(" no", 0.5)]).following(Some(Arc::new(first.clone())));
            Arc::make_mut(&mut text.prompt).tokens = tokens;
            SharedBeginning::of(&text).unwrap()
        };
        let more = TokenId(99);
        let all = turn([read.clone(), written.clone(), vec![more]].concat());
        let n_before = read.len() + written.len();
        assert_eq!(
            (all.n_shared, all.n_before, all.differs),
            (n_before, n_before, None)
        );
        let other = turn([read.clone(), vec![more]].concat());
        assert_eq!(other.n_shared, read.len());
        assert_eq!(other.differs, Some([written[0], more]));
        assert_eq!(SharedBeginning::of(&first), None);
    }
}
