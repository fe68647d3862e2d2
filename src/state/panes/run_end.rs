//! What follows when the last text of a run ends: the fork is pinned, and a run that changed nothing
//! is recognized.

use crate::analysis::Divergence;
use crate::decoding::TokenId;
use crate::state::words::divergence::{are_comparable, leaving_panes};
use crate::state::{Pane, PaneId, Panes, Pin, Runs};

/// The texts before a run of all panes, to recognize a run that changed nothing.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct TextsBefore {
    texts: Vec<(PaneId, Vec<TokenId>)>,
    /// Whether nothing had changed since these texts were generated.
    is_rerun: bool,
}

/// Why a run produced the texts that the panes already showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// The prompt, the settings and the seeds were the same.
    SameRun,
    /// The changes made no difference.
    NoDifference,
}

impl Repetition {
    /// Returns a sentence for the window.
    pub const fn words(self) -> &'static str {
        match self {
            Self::SameRun => "Same seed, same texts",
            Self::NoDifference => "The changes made no difference: same texts",
        }
    }
}

impl Runs {
    /// Remembers the texts that a run of all panes is about to replace. `is_rerun` says whether
    /// nothing has changed since they were generated.
    pub(in crate::state) fn begin(&mut self, panes: &Panes, is_rerun: bool) {
        self.repetition = None;
        let tokens = |pane: &Pane| {
            let steps = &pane.latest()?.steps;
            Some((pane.id, steps.iter().map(|step| step.token).collect()))
        };
        let texts: Option<Vec<_>> = panes.iter().map(tokens).collect();
        self.texts_before = texts.map(|texts| TextsBefore { texts, is_rerun });
    }

    /// Notes whether the run that has ended changed nothing.
    pub(in crate::state) fn end(&mut self, panes: &Panes) {
        let before = self.texts_before.take();
        self.repetition = before.filter(|before| before.are_of(panes)).map(|before| {
            if before.is_rerun {
                Repetition::SameRun
            } else {
                Repetition::NoDifference
            }
        });
    }
}

impl Panes {
    /// Returns whether another shared seed could change a text.
    pub fn can_vary_by_seed(&self) -> bool {
        self.iter()
            .any(|pane| pane.settings.seed.is_none() && pane.settings.chain.needs_seed())
    }

    /// Returns the token at which the texts first diverge, in the first pane that leaves the
    /// others.
    pub(in crate::state) fn fork(&self, divergence: &Divergence) -> Option<Pin> {
        let Divergence::At { step, groups } = divergence else {
            return None;
        };
        if !are_comparable(&self.generations()) {
            return None;
        }
        let mut places = leaving_panes(groups).into_iter().chain(self.places());
        places.find_map(|place| {
            let pane = self.get(place)?;
            pane.generation()?.steps.get(*step)?;
            Some(Pin {
                pane: pane.id,
                step: *step,
            })
        })
    }
}

impl TextsBefore {
    /// Returns whether the panes show exactly these texts.
    fn are_of(&self, panes: &Panes) -> bool {
        let is_same = |(pane, (id, tokens)): (&Pane, &(PaneId, Vec<TokenId>))| {
            let steps = pane.latest().map(|generation| &generation.steps);
            pane.id == *id
                && steps.is_some_and(|steps| {
                    steps
                        .iter()
                        .map(|step| step.token)
                        .eq(tokens.iter().copied())
                })
        };
        self.texts.len() == panes.len() && panes.iter().zip(&self.texts).all(is_same)
    }
}
