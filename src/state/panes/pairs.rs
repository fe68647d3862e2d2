//! The comparisons of every pair of texts, recomputed only when a text changes.

use super::all::Panes;
use crate::analysis::TextComparison;
use crate::generation::Generation;
use crate::state::TextMark;

/// Two panes and the comparison of their texts.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPair {
    /// The places of the panes, the left one first.
    pub panes: [usize; 2],
    /// `None` if their prompts or models differ.
    pub comparison: Option<TextComparison>,
    /// The texts that were compared.
    marks: [TextMark; 2],
}

impl ComparedPair {
    /// Compares every pair of these texts, each with its pane.
    pub fn all_of(texts: &[(usize, &Generation)]) -> Vec<Self> {
        let pairs = (1..).zip(texts).flat_map(|(next, (a, text_a))| {
            let others = texts.iter().skip(next);
            others.map(move |(b, text_b)| Self::of([*a, *b], [text_a, text_b]))
        });
        pairs.collect()
    }

    fn of(panes: [usize; 2], texts: [&Generation; 2]) -> Self {
        let [a, b] = texts;
        Self {
            panes,
            comparison: TextComparison::of(a, b),
            marks: texts.map(TextMark::of_all),
        }
    }

    fn is_of(&self, panes: [usize; 2], texts: [&Generation; 2]) -> bool {
        let mut marks = self.marks.iter().zip(texts);
        self.panes == panes && marks.all(|(mark, text)| mark.is_all_of(text))
    }
}

/// The comparisons of all panes that have a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct ComparedPairs(Vec<ComparedPair>);

impl ComparedPairs {
    /// Returns the comparisons, as of the last update.
    pub(in crate::state) fn all(&self) -> &[ComparedPair] {
        &self.0
    }

    /// Forgets them: nothing shows them.
    pub(in crate::state) fn clear(&mut self) {
        self.0.clear();
    }

    /// Compares the texts that have changed while `has_time` returns true. Returns whether all
    /// comparisons are current.
    pub(in crate::state) fn update(
        &mut self,
        panes: &Panes,
        has_time: &mut impl FnMut() -> bool,
    ) -> bool {
        let texts: Vec<(usize, &Generation)> = started(panes).collect();
        let mut complete = true;
        let mut pairs = Vec::new();
        for (index, (a, text_a)) in texts.iter().enumerate() {
            for (b, text_b) in texts.iter().skip(index + 1) {
                let (panes, texts) = ([*a, *b], [*text_a, *text_b]);
                let known = self.0.iter().position(|pair| pair.panes == panes);
                let known = known.map(|at| self.0.swap_remove(at));
                match known {
                    Some(known) if known.is_of(panes, texts) => pairs.push(known),
                    // The comparison of the text so far is better than none.
                    Some(outdated) if !has_time() => {
                        complete = false;
                        pairs.push(outdated);
                    }
                    None if !has_time() => complete = false,
                    _ => pairs.push(ComparedPair::of(panes, texts)),
                }
            }
        }
        self.0 = pairs;
        complete
    }
}

/// Returns the panes that have a text with at least one token.
fn started(panes: &Panes) -> impl Iterator<Item = (usize, &Generation)> {
    panes
        .placed()
        .filter_map(|(place, pane)| Some((place, pane.generation()?)))
        .filter(|(_, text)| !text.steps.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::state::tests::{asked, write, written};
    use crate::state::{AppState, Command, DockTab};

    fn n_edits(state: &AppState) -> Vec<([usize; 2], usize)> {
        let pairs = state.compared_pairs().iter();
        let edits = pairs.map(|pair| (pair.panes, pair.comparison.as_ref().unwrap().n_edits));
        edits.collect()
    }

    #[test]
    fn every_pair_is_compared_while_the_tab_shows_it_and_again_when_a_text_changes() {
        let mut state = written();
        assert!(state.review(|| true));
        assert_eq!(state.compared_pairs(), []);
        state.view.dock_tab = DockTab::Compare;
        // A frame without time to spare continues later.
        assert!(!state.review(|| false));
        assert_eq!(state.compared_pairs(), []);
        assert!(state.review(|| true));
        let before = n_edits(&state);
        assert!(
            before.iter().all(|(_, n_edits)| *n_edits <= 1),
            "{before:?}"
        );
        let all = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        assert!(before.iter().map(|(panes, _)| *panes).eq(all));

        let pane = state.panes[0].id;
        let ids = asked(&state.apply(Command::Generate(pane)));
        write(&mut state, ids[0], &[(" cottage", 0.5)]);
        assert!(!state.review(|| false));
        assert_eq!(n_edits(&state), before);
        assert!(state.review(|| true));
        let after = n_edits(&state);
        assert!(
            after[..3].iter().all(|(_, n_edits)| *n_edits > 1),
            "{after:?}"
        );
        assert_eq!(after[3..], before[3..]);
    }
}
