//! The turns of a conversation: a chat answer knows the answer before it.

use std::collections::{HashMap, HashSet};
use std::iter::successors;
use std::sync::Arc;

use super::{ChatMessage, ChatRole, Generation};

/// The maximum number of turns in a conversation. Each turn holds the one before it, so that a longer
/// one could not be dropped or compared without running out of stack.
pub const N_MAX_TURNS: usize = 1_000;

/// A turn before a text.
#[derive(Debug, Clone, Copy)]
pub struct EarlierTurn<'a> {
    /// The index of the first text that follows it.
    pub text: usize,
    /// Its index in the conversation.
    pub turn: usize,
    pub answer: &'a Arc<Generation>,
}

/// Returns the turns before these texts, each once: those of the first text, oldest first, then those
/// that only the next texts follow.
pub fn turns_before<'a>(texts: impl IntoIterator<Item = &'a Generation>) -> Vec<EarlierTurn<'a>> {
    let mut known: HashSet<*const Generation> = HashSet::new();
    let mut turns = Vec::new();
    for (text, last) in texts.into_iter().enumerate() {
        let back = successors(last.previous_turn.as_ref(), |turn| {
            turn.previous_turn.as_ref()
        });
        let back: Vec<&Arc<Generation>> = back.collect();
        let numbered = back.into_iter().rev().enumerate();
        let new = numbered.filter(|(_, answer)| known.insert(Arc::as_ptr(answer)));
        turns.extend(new.map(|(turn, answer)| EarlierTurn { text, turn, answer }));
    }
    turns
}

/// Changes the turns before these texts, each once, in the order of [`turns_before`]. What texts share
/// stays shared.
pub fn change_turns(texts: &mut [&mut Generation], mut change: impl FnMut(usize, &mut Generation)) {
    let turns = turns_before(texts.iter().map(|text| &**text)).into_iter();
    let turns: Vec<Arc<Generation>> = turns.map(|turn| Arc::clone(turn.answer)).collect();
    let mut changed: HashMap<*const Generation, Arc<Generation>> = HashMap::new();
    let of = |turn: &Arc<Generation>, changed: &HashMap<_, Arc<Generation>>| {
        let known = changed.get(&Arc::as_ptr(turn));
        Arc::clone(known.unwrap_or(turn))
    };
    for (index, turn) in turns.iter().enumerate() {
        let mut new = Generation {
            previous_turn: turn.previous_turn.as_ref().map(|turn| of(turn, &changed)),
            ..(**turn).clone()
        };
        change(index, &mut new);
        changed.insert(Arc::as_ptr(turn), Arc::new(new));
    }
    for text in texts {
        text.previous_turn = text.previous_turn.as_ref().map(|turn| of(turn, &changed));
    }
}

impl Generation {
    /// Iterates over the answers of its conversation, from this one back to the first.
    pub fn turns_back(&self) -> impl Iterator<Item = &Self> {
        successors(Some(self), |turn| turn.previous_turn.as_deref())
    }

    /// Returns the answers of its conversation, oldest first. This one is the last.
    pub fn turns(&self) -> Vec<&Self> {
        let mut turns: Vec<&Self> = self.turns_back().collect();
        turns.reverse();
        turns
    }

    /// Returns how many turns its conversation has so far: 1 for an answer that follows no other.
    pub fn n_turns(&self) -> usize {
        self.turns_back().count()
    }

    /// Returns the answer at this index in its conversation, counted from 0.
    pub fn turn(&self, index: usize) -> Option<&Self> {
        let n_after = self.n_turns().checked_sub(index + 1)?;
        self.turns_back().nth(n_after)
    }

    /// Returns how many of the turns before it the model did not get, because they were left out to
    /// make room: always the oldest.
    pub fn n_left_out(&self) -> usize {
        match self.n_turns_read(asks) {
            Some(n_read) => self.n_turns() - 1 - n_read,
            None => 0,
        }
    }

    /// Returns how many of the turns before it are in the messages that its model got, counted back
    /// from the last. `is_turn` compares two messages with a turn. `None` for a text that answers no
    /// message.
    pub fn n_turns_read(&self, is_turn: impl Fn(&[ChatMessage], &Self) -> bool) -> Option<usize> {
        let history = &self.prompt.chat.as_ref()?.settings.history;
        let pairs = history.rchunks(2).zip(self.turns_back().skip(1));
        Some(pairs.take_while(|(pair, turn)| is_turn(pair, turn)).count())
    }

    /// Returns whether it comes after another text of the same conversation.
    pub fn follows(&self, other: &Self) -> bool {
        let mut before = self.turns_back().skip(1);
        before.any(|turn| turn.lineage.id == other.lineage.id)
    }

    /// Returns whether both texts, or turns of their conversations, continue the same prompt, or one
    /// answers again where the other has a turn.
    pub fn is_related_to(&self, other: &Self) -> bool {
        let mut turns = self.turns_back();
        turns.any(|turn| other.turns_back().any(|other| are_related(turn, other)))
    }

    /// Returns a copy that follows this answer in its conversation.
    #[must_use]
    pub fn following(self, previous: Option<Arc<Self>>) -> Self {
        Self {
            previous_turn: previous,
            ..self
        }
    }
}

fn are_related(one: &Generation, other: &Generation) -> bool {
    let parent = |text: &Generation| text.lineage.origin.map(|origin| origin.parent);
    one.shares_prompt_with(other)
        || parent(one) == Some(other.lineage.id)
        || parent(other) == Some(one.lineage.id)
}

/// Returns whether these are the message of a turn and an answer to it.
fn asks(pair: &[ChatMessage], turn: &Generation) -> bool {
    let [message, answer] = pair else {
        return false;
    };
    message.role != ChatRole::Assistant
        && answer.role == ChatRole::Assistant
        && message.content == turn.prompt.text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{N_MAX_TURNS, turns_before};
    use crate::generation::testing::answer_to;
    use crate::generation::{ChatMessage, Generation};

    /// An answer to a message after `previous`, whose template got these messages before it.
    fn answer(
        message: &str,
        history: Vec<ChatMessage>,
        previous: Option<Generation>,
    ) -> Generation {
        let text = answer_to(message, history, &[(" yes", 0.5)]);
        text.following(previous.map(Arc::new))
    }

    #[test]
    fn the_turns_of_a_conversation_are_numbered_from_the_oldest() {
        let first = answer("one", Vec::new(), None);
        let second = answer("two", Vec::new(), Some(first.clone()));
        let third = answer("three", Vec::new(), Some(second.clone()));
        assert_eq!((first.n_turns(), third.n_turns()), (1, 3));
        assert_eq!(third.turns(), [&first, &second, &third]);
        assert_eq!(third.turn(0), Some(&first));
        assert_eq!(third.turn(2), Some(&third));
        assert_eq!(third.turn(3), None);
    }

    #[test]
    fn turns_that_several_texts_follow_are_listed_once() {
        let first = answer("one", Vec::new(), None);
        let second = answer("two", Vec::new(), Some(first.clone()));
        let branch = answer("two", Vec::new(), None).following(second.previous_turn.clone());
        let third = answer("three", Vec::new(), Some(branch.clone()));
        let turns = turns_before([&first, &second, &branch, &third]);
        let found: Vec<_> = turns.iter().map(|turn| (turn.text, turn.turn)).collect();
        assert_eq!(found, [(1, 0), (3, 1)]);
        assert_eq!(**turns[1].answer, branch);
    }

    #[test]
    fn a_conversation_of_the_maximum_length_needs_little_stack() {
        let check = || {
            let mut last = answer("one", Vec::new(), None);
            for _ in 1..N_MAX_TURNS {
                last = answer("more", Vec::new(), Some(last));
            }
            let copy = last.clone();
            assert!(last == copy && !format!("{last:?}").is_empty());
        };
        // Threads have at least 2 MiB.
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        thread.spawn(check).unwrap().join().unwrap();
    }

    #[test]
    fn turns_that_the_model_did_not_get_are_left_out() {
        let turn = |message: &str| [ChatMessage::user(message), ChatMessage::assistant("yes")];
        let first = answer("one", Vec::new(), None);
        let second = answer("two", turn("one").to_vec(), Some(first));
        assert_eq!(second.n_left_out(), 0);
        let all = [turn("one"), turn("two")].concat();
        assert_eq!(answer("three", all, Some(second.clone())).n_left_out(), 0);
        let cut = turn("two").to_vec();
        assert_eq!(answer("three", cut, Some(second.clone())).n_left_out(), 1);
        assert_eq!(answer("three", Vec::new(), Some(second)).n_left_out(), 2);
    }
}
