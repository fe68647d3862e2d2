//! Where right and wrong answers part.

use std::ops::Range;

use super::JudgedAnswer;
use crate::decoding::TokenId;
use crate::generation::Vocabulary;

/// The token at which the answers part, some of which are right and some wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The tokens that all answers have in common.
    pub shared: Vec<TokenId>,
    /// The next token of each answer. `None` for one that ends here.
    pub next: Vec<Option<TokenId>>,
}

impl Fork {
    /// Returns `None` if the answers are all right, all wrong or all the same.
    pub(super) fn of(answers: &[JudgedAnswer]) -> Option<Self> {
        let first = answers.first()?;
        let is_right = first.is_right();
        if answers.iter().all(|answer| answer.is_right() == is_right) {
            return None;
        }
        let n_shared = answers.iter().map(|answer| {
            let both = first.tokens.iter().zip(&answer.tokens);
            both.take_while(|(a, b)| a == b).count()
        });
        let n_shared = n_shared.min().unwrap_or(0);
        Some(Self {
            shared: first.tokens.get(..n_shared)?.to_vec(),
            next: answers
                .iter()
                .map(|answer| answer.tokens.get(n_shared).copied())
                .collect(),
        })
    }

    /// Returns where the parting token is in the text of an answer, in bytes, or `None` if the text
    /// ends before it.
    pub fn range_in(&self, answer: &JudgedAnswer, vocabulary: &Vocabulary) -> Option<Range<usize>> {
        let n_thought = answer.answer.n_thought;
        let shared = self.shared.get(n_thought..)?;
        let token = answer.tokens.get(self.shared.len()..=self.shared.len())?;
        let before = vocabulary.text_with_special(shared);
        let before = if n_thought > 0 {
            before.trim_start()
        } else {
            &before
        };
        let text = &answer.answer.text;
        let after = text.strip_prefix(before)?;
        let parting = vocabulary.text_with_special(token);
        // The spaces before a word are not underlined, nor is what a stop string has cut off.
        let word = parting.trim_start();
        let n_spaces = parting.len() - word.len();
        let start = before.len() + n_spaces.min(after.len());
        let end = (before.len() + parting.len()).min(text.len());
        let is_whole = text.is_char_boundary(start) && text.is_char_boundary(end);
        (is_whole && start < end).then_some(start..end)
    }
}
