//! How far the panes' texts agree, kept from frame to frame.

use super::review::TextMark;
use crate::analysis::{Agreement, Divergence};
use crate::generation::Generation;
use crate::state::{Pane, PaneId};

/// How far the texts agree, and which texts they were, as far as they had come.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Comparison {
    compared: Vec<(PaneId, Option<TextMark>)>,
    agreement: Agreement,
}

impl Comparison {
    /// Compares what the texts have gained; begins anew where one is another, or at another place.
    pub(in crate::state) fn follow(&mut self, panes: &[Pane]) {
        let goes_on = self.compared.len() == panes.len()
            && self.compared.iter().zip(panes).all(is_beginning_of);
        if !goes_on {
            self.agreement = Agreement::default();
        }
        self.agreement.follow(&generations(panes));
        let marks = panes.iter().map(|pane| {
            let mark = |text: &Generation| TextMark::of(text, text.steps.len());
            (pane.id, pane.generation().map(mark))
        });
        self.compared = marks.collect();
    }

    /// Where the texts part; those that were compared last.
    pub(in crate::state) fn divergence(&self, panes: &[Pane]) -> Divergence {
        self.agreement.divergence(&generations(panes))
    }
}

fn generations(panes: &[Pane]) -> Vec<Option<&Generation>> {
    panes.iter().map(Pane::generation).collect()
}

/// Whether a pane shows the text that was compared, or what it has grown to.
fn is_beginning_of(((id, mark), pane): (&(PaneId, Option<TextMark>), &Pane)) -> bool {
    *id == pane.id
        && match (mark, pane.generation()) {
            (Some(mark), Some(generation)) => mark.is_beginning_of(generation),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Divergence, first_divergence};
    use crate::state::tests::{asked, ready, write, written};
    use crate::state::{AppState, Command};

    const STORY: [(&str, f64); 3] = [(" in", 0.6), (" a", 0.9), (" cottage", 0.4)];

    /// Where the texts part, before and after it is taken down.
    #[track_caller]
    fn divergence(state: &mut AppState) -> Divergence {
        let fork = state.divergence();
        state.review(|| true);
        assert_eq!(state.divergence(), fork);
        assert_eq!(first_divergence(&state.generations()), fork);
        fork
    }

    #[test]
    fn a_fork_goes_with_the_text_that_made_it() {
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
    fn texts_that_come_one_after_the_other_are_compared_as_they_come() {
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
