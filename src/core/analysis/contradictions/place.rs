//! The parts of a run.

use std::fmt;

use crate::generation::formatting::pane_letter;
use crate::generation::{EarlierTurn, Generation, turns_before};

/// The part of a run that a contradiction is about, in the order of a run file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunPlace {
    /// The file as a whole.
    File,
    /// The turn with this index in the conversation of a pane, before the text that it shows.
    Turn { pane: usize, turn: usize },
    /// The same in the conversation of a text that no pane showed.
    TurnOfBranch { branch: usize, turn: usize },
    /// The pane with this index.
    Pane(usize),
    /// The text with this index among those that no pane showed.
    Branch(usize),
}

impl RunPlace {
    /// Returns its name beside the letters of panes: "A", "turn 1 of A", "branch 2".
    pub fn short(self) -> String {
        match self {
            Self::Pane(pane) => pane_letter(pane),
            Self::Turn { pane, turn } => format!("turn {} of {}", turn + 1, pane_letter(pane)),
            Self::File | Self::TurnOfBranch { .. } | Self::Branch(_) => self.to_string(),
        }
    }

    /// Returns the same with the places of the panes instead of their indices.
    #[must_use]
    pub fn with_panes(self, place: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Pane(pane) => Self::Pane(place(pane)),
            Self::Turn { pane, turn } => Self::Turn {
                pane: place(pane),
                turn,
            },
            Self::File | Self::TurnOfBranch { .. } | Self::Branch(_) => self,
        }
    }
}

impl fmt::Display for RunPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("the file"),
            Self::Turn { pane, turn } => {
                write!(f, "turn {} of pane {}", turn + 1, pane_letter(*pane))
            }
            Self::TurnOfBranch { branch, turn } => {
                write!(f, "turn {} of branch {}", turn + 1, branch + 1)
            }
            Self::Pane(index) => write!(f, "pane {}", pane_letter(*index)),
            Self::Branch(index) => write!(f, "branch {}", index + 1),
        }
    }
}

/// Returns the turns before the texts of a run, in the order of a run file, with panes numbered in
/// their order. Each is named after the first text that follows it.
pub fn turns_of_run<'a>(
    panes: &[&'a Generation],
    branches: &[&'a Generation],
) -> Vec<(RunPlace, EarlierTurn<'a>)> {
    let place = |found: EarlierTurn<'a>| {
        let EarlierTurn { text, turn, .. } = found;
        let place = match text.checked_sub(panes.len()) {
            None => RunPlace::Turn { pane: text, turn },
            Some(branch) => RunPlace::TurnOfBranch { branch, turn },
        };
        (place, found)
    };
    let texts = panes.iter().chain(branches).copied();
    turns_before(texts).into_iter().map(place).collect()
}
