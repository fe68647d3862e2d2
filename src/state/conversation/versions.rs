//! The versions of a turn: the answers that a pane has given to one message.

use crate::generation::{Generation, GenerationId};
use crate::state::branches::{KeptText, KeptTexts};
use crate::state::{Branches, Pane, PaneId};

impl Branches {
    /// Returns the answers to the message of a pane's turn, oldest first: the one on screen and those
    /// that it took the place of.
    pub fn versions(&self, pane: &Pane, turn: usize) -> Vec<GenerationId> {
        let Some(shown) = pane.latest().and_then(|text| text.turn(turn)) else {
            return Vec::new();
        };
        let kept = self.kept.texts().iter();
        let kept = kept.filter(|kept| kept.home == pane.id);
        let turns = kept.filter_map(|kept| kept.head().turn(turn));
        let others = turns.filter(|other| answer_alike(shown, other));
        let mut versions: Vec<GenerationId> = others.map(|other| other.lineage.id).collect();
        versions.push(shown.lineage.id);
        versions.sort_unstable();
        versions.dedup();
        versions
    }
}

impl KeptTexts {
    /// Returns the text that this pane showed last of those whose conversation contains an answer.
    pub(in crate::state) fn last_with(
        &self,
        home: PaneId,
        answer: GenerationId,
    ) -> Option<GenerationId> {
        let contains = |text: &&KeptText| {
            let mut turns = text.head().turns_back();
            text.home == home && turns.any(|turn| turn.lineage.id == answer)
        };
        self.texts().iter().rev().find(contains).map(KeptText::id)
    }
}

/// Returns whether two turns answer the same message after the same turn.
fn answer_alike(one: &Generation, other: &Generation) -> bool {
    let before = |text: &Generation| text.previous_turn.as_ref().map(|turn| turn.lineage.id);
    one.prompt.text == other.prompt.text
        && one.prompt.chat.is_some()
        && other.prompt.chat.is_some()
        && before(one) == before(other)
}
