//! Tracks how far the panes' texts agree, incrementally from frame to frame.

use crate::analysis::{Divergence, DivergenceTracker};
use crate::state::{Pane, PaneId, Panes, TextMark};

/// How far the texts agree, and the marks of the texts that were compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Comparison {
    /// The panes from left to right, each with the mark of its text up to the last compared step.
    /// `agreement` holds for exactly these texts.
    compared: Vec<ComparedText>,
    agreement: DivergenceTracker,
}

#[derive(Debug, Clone, PartialEq)]
struct ComparedText {
    pane: PaneId,
    mark: Option<TextMark>,
}

impl Comparison {
    /// Compares the steps added since the last call. Starts over if a text was replaced or a pane
    /// moved.
    pub(in crate::state) fn update(&mut self, panes: &Panes) {
        let mut pairs = self.compared.iter().zip(panes);
        let can_resume = self.compared.len() == panes.len()
            && pairs.all(|(compared, pane)| compared.is_beginning_of(pane));
        if !can_resume {
            self.agreement = DivergenceTracker::default();
        }
        self.agreement.follow(&panes.generations());
        let compared = panes.iter().map(|pane| ComparedText {
            pane: pane.id,
            mark: pane.generation().map(TextMark::of_all),
        });
        self.compared = compared.collect();
    }

    /// Returns where the texts diverge, as of the last update.
    pub(in crate::state) fn divergence(&self, panes: &Panes) -> Divergence {
        self.agreement.divergence(&panes.generations())
    }
}

impl ComparedText {
    /// Returns whether the pane shows the text that was compared, or a continuation of it.
    fn is_beginning_of(&self, pane: &Pane) -> bool {
        self.pane == pane.id
            && match (&self.mark, pane.generation()) {
                (Some(mark), Some(generation)) => mark.is_beginning_of(generation),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Divergence, first_divergence};
    use crate::state::tests::{asked, ready, write, written};
    use crate::state::{AppState, Command};

    const STORY: [(&str, f64); 3] = [(" in", 0.6), (" a", 0.9), (" cottage", 0.4)];

    /// Returns the divergence, and checks that a review and a full comparison agree with it.
    #[track_caller]
    fn divergence(state: &mut AppState) -> Divergence {
        let divergence = state.divergence();
        state.review(|| true);
        assert_eq!(state.divergence(), divergence);
        assert_eq!(first_divergence(&state.generations()), divergence);
        divergence
    }

    #[test]
    fn a_divergence_disappears_with_the_text_that_caused_it() {
        let mut state = written();
        assert!(matches!(
            divergence(&mut state),
            Divergence::At { step: 2, .. }
        ));
        let pane = state.panes[0].id;
        let ids = asked(&state.apply(Command::Generate(pane)));
        assert!(matches!(
            divergence(&mut state),
            Divergence::At { step: 2, .. }
        ));
        write(&mut state, ids[0], &STORY);
        assert_eq!(divergence(&mut state), Divergence::Agree { n_shared: 3 });
        let ids = asked(&state.apply(Command::Generate(pane)));
        write(&mut state, ids[0], &[(" a", 0.6), (" fox", 0.9)]);
        assert!(matches!(
            divergence(&mut state),
            Divergence::At { step: 0, .. }
        ));
        state.apply(Command::Remove(pane));
        assert_eq!(divergence(&mut state), Divergence::Agree { n_shared: 3 });
        state.apply(Command::Undo);
        assert!(matches!(
            divergence(&mut state),
            Divergence::At { step: 0, .. }
        ));
    }

    #[test]
    fn texts_are_compared_as_they_arrive() {
        let mut state = ready();
        assert_eq!(divergence(&mut state), Divergence::NothingToCompare);
        let ids = asked(&state.apply(Command::GenerateAll));
        let mut n_shared = Vec::new();
        for id in &ids {
            write(&mut state, *id, &STORY);
            n_shared.push(divergence(&mut state));
        }
        let agree = Divergence::Agree { n_shared: 3 };
        let nothing = Divergence::NothingToCompare;
        assert_eq!(n_shared, [nothing, agree.clone(), agree.clone(), agree]);
    }
}
