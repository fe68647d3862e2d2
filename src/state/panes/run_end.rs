//! What follows when the last text of a run ends: the fork is pinned, a run that changed nothing is
//! recognized, and a newcomer learns that tokens can be clicked.

use crate::analysis::Divergence;
use crate::decoding::TokenId;
use crate::generation::needs_seed;
use crate::state::words::divergence::{are_comparable, leaving_panes};
use crate::state::{AppState, Command, Effect, Notice, Pane, PaneId, Pin};

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

/// What to try after the first run.
const TOKEN_HINT: &str = "Click any token to see how it was chosen";

/// Returns whether this notice is the hint about tokens.
pub(in crate::state) fn is_token_hint(notice: &Notice) -> bool {
    notice.title == TOKEN_HINT
}

impl AppState {
    /// Returns why the last run changed nothing, until something changes.
    pub fn repetition(&self) -> Option<Repetition> {
        let is_current = !self.is_running() && !self.output_is_stale();
        self.repetition.filter(|_| is_current)
    }

    /// Returns whether another shared seed could change a text.
    pub fn can_vary_by_seed(&self) -> bool {
        let mut panes = self.panes.iter();
        panes.any(|pane| pane.settings.seed.is_none() && needs_seed(&pane.settings.chain))
    }

    /// Runs all panes with the next seed.
    pub(in crate::state) fn try_another_seed(&mut self) -> Vec<Effect> {
        if self.is_running() || self.blocking_reason().is_some() {
            return Vec::new();
        }
        self.seed = self.seed.wrapping_add(1);
        self.generate_all()
    }

    /// Remembers the texts that a run of all panes is about to replace.
    pub(in crate::state) fn begin_run(&mut self) {
        self.repetition = None;
        let tokens = |pane: &Pane| {
            let steps = &pane.generation()?.steps;
            Some((pane.id, steps.iter().map(|step| step.token).collect()))
        };
        let texts: Option<Vec<_>> = self.panes.iter().map(tokens).collect();
        let is_rerun = !self.output_is_stale();
        self.texts_before = texts.map(|texts| TextsBefore { texts, is_rerun });
    }

    /// Ends the run and keeps it in the history. Call it when a text has ended; it does nothing while
    /// another one is being generated.
    pub(in crate::state) fn end_run(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        self.drop_repeated_texts();
        let before = self.texts_before.take();
        self.repetition = before
            .filter(|before| before.are_of(&self.panes))
            .map(|before| {
                if before.is_rerun {
                    Repetition::SameRun
                } else {
                    Repetition::NoDifference
                }
            });
        if self.is_step_mode() {
            // The shown token is the newest one, unless the user pins another.
            return self.keep_run();
        }
        self.pin = self.pin.or_else(|| self.fork());
        if self.pin.is_some() && !self.view.knows_tokens {
            // An action keeps the hint open.
            let hint = Notice::hint(TOKEN_HINT);
            self.notify(hint.with_action("Hide this hint", Command::CloseNotice));
        }
        self.keep_run()
    }

    /// Hides the hint about tokens for good: the user has tried it, or does not need it.
    pub(in crate::state) fn learn_tokens(&mut self) {
        self.view.knows_tokens = true;
        self.notices.retain(|notice| !is_token_hint(notice));
    }

    /// Returns the token at which the texts first diverge, in the first pane that leaves the
    /// others.
    fn fork(&self) -> Option<Pin> {
        if !are_comparable(&self.generations()) {
            return None;
        }
        let Divergence::At { step, groups } = self.divergence() else {
            return None;
        };
        let leaving = leaving_panes(&groups);
        let all = 0..self.panes.len();
        let mut places = leaving.into_iter().chain(all);
        places.find_map(|place| {
            let pane = self.panes.get(place)?;
            pane.generation()?.steps.get(step)?;
            Some(Pin {
                pane: pane.id,
                step,
            })
        })
    }
}

impl TextsBefore {
    /// Returns whether the panes show exactly these texts.
    fn are_of(&self, panes: &[Pane]) -> bool {
        let is_same = |(pane, (id, tokens)): (&Pane, &(PaneId, Vec<TokenId>))| {
            let steps = pane.generation().map(|generation| &generation.steps);
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
