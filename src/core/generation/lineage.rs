//! Where a text comes from: its own id, and the text that it branched off.

use super::formatting::one_line;
use super::{Generation, GenerationId, Step};

/// The maximum length of a message that names a branch, in characters.
const N_MESSAGE_CHARS: usize = 40;

/// A text's place among the texts of a session. The default is for a text outside the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The id of the request that created the text. A text keeps it when it grows.
    pub id: GenerationId,
    /// The branch that created it, or `None` if it was generated from its prompt.
    pub origin: Option<Origin>,
}

/// The branch that created a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    pub parent: GenerationId,
    /// How many tokens it shares with its parent.
    pub position: usize,
    pub change: OriginChange,
}

/// What made a branch differ from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OriginChange {
    /// The user picked or typed this many tokens.
    ByHand { n_tokens: usize },
    /// It continued with different settings.
    Settings,
    /// It continued with a different seed.
    Seed,
    /// It answers another message in place of the one that its parent answers.
    Message,
}

impl Generation {
    /// Describes what created a branch: "‘hollow’ by hand", "seed 43", "T 0.9". `None` for a text
    /// that was generated from its prompt.
    pub fn origin_words(&self) -> Option<String> {
        let origin = self.lineage.origin?;
        Some(match origin.change {
            OriginChange::ByHand { n_tokens } => {
                let picked = self.steps.iter().skip(origin.position).take(n_tokens);
                let bytes: Vec<u8> = picked.flat_map(bytes_of).copied().collect();
                format!("‘{}’ by hand", String::from_utf8_lossy(&bytes).trim())
            }
            OriginChange::Settings => self.config.chain.to_string(),
            OriginChange::Seed => format!("seed {}", self.config.seed),
            OriginChange::Message => {
                format!("answers ‘{}’", one_line(&self.prompt.text, N_MESSAGE_CHARS))
            }
        })
    }

    /// Returns the text from a step on, on one line of at most about `n_max` bytes: "hollow tree.
    /// He was…".
    pub fn words_from(&self, step: usize, n_max: usize) -> String {
        let mut bytes = Vec::new();
        let mut is_cut = false;
        for step in self.steps.iter().skip(step) {
            if bytes.len() >= n_max {
                is_cut = true;
                break;
            }
            bytes.extend_from_slice(bytes_of(step));
        }
        let text = String::from_utf8_lossy(&bytes);
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ") + if is_cut { "…" } else { "" }
    }
}

fn bytes_of(step: &Step) -> &[u8] {
    &step.piece.bytes
}

#[cfg(test)]
mod tests {
    use super::{Lineage, Origin, OriginChange};
    use crate::generation::GenerationId;
    use crate::generation::testing::generation;

    #[test]
    fn a_branch_says_what_created_it() {
        let mut text = generation(&[(" a", 0.5), (" hollow", 0.2), (" tree", 0.4)]);
        assert_eq!(text.origin_words(), None);
        for (change, words) in [
            (OriginChange::ByHand { n_tokens: 1 }, "‘hollow’ by hand"),
            (
                OriginChange::ByHand { n_tokens: 2 },
                "‘hollow tree’ by hand",
            ),
            (OriginChange::Settings, "T 0.7"),
            (OriginChange::Seed, "seed 42"),
            (OriginChange::Message, "answers ‘Once there was’"),
        ] {
            let origin = Origin {
                parent: GenerationId(1),
                position: 1,
                change,
            };
            text.lineage = Lineage {
                id: GenerationId(2),
                origin: Some(origin),
            };
            assert_eq!(text.origin_words().as_deref(), Some(words));
        }
    }

    #[test]
    fn the_first_words_are_on_one_line() {
        let text = generation(&[(" a", 0.5), ("\n\n", 0.2), (" fox", 0.4), (" ran", 0.4)]);
        assert_eq!(text.words_from(1, 40), "fox ran");
        assert_eq!(text.words_from(0, 6), "a fox…");
        assert_eq!(text.words_from(9, 40), "");
    }
}
