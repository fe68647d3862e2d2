//! Continuing a text from any of its tokens: continue, step, step back and branch.
//!
//! The steps before that token are kept with their evidence, which is shared, not copied. A text
//! that a branch replaces stays with its pane and can be shown again.

mod dialog;
mod kept_texts;
mod navigate;
mod requests;
mod run_texts;
mod step_mode;
mod tree;

pub use dialog::BranchDialog;
pub(super) use dialog::DEFAULT_CACHE_MEGABYTES;
pub(super) use kept_texts::{KeptText, KeptTexts};
pub use run_texts::RunTexts;
pub(super) use step_mode::Upcoming;
pub use tree::{BranchRow, BranchTree};

pub(super) use self::requests::{ContinueRequest, Extension};
use crate::decoding::TokenId;
use crate::generation::{FinishReason, Generation, GenerationId, OriginChange};
use crate::state::settings::MAX_PANES;
use crate::state::{AppState, Effect, Pane, PaneId, Pin};

/// The default memory limit for texts that no pane shows: enough for 10,000 tokens of the embedded
/// model with all their probabilities.
pub(super) const DEFAULT_KEPT_MEGABYTES: u32 = 256;

/// What the user can do with a text beyond generating it.
#[derive(Debug, Clone, PartialEq)]
pub enum BranchCommand {
    /// Continue a pane's text where it was interrupted.
    Continue(PaneId),
    /// Step in this pane only, or in all panes.
    StepOnly(Option<PaneId>),
    /// Add one token to every text that steps.
    Step,
    /// Add tokens that the user picked to a text.
    Pick(PaneId, Vec<TokenId>),
    /// Run every text that steps to its end, starting from the prompt if there is no text yet.
    KeepRunning,
    /// Remove the last token of every text that steps. Nothing is recomputed.
    StepBack,
    /// Open the popup that continues from a token, or close it.
    Open(Option<Pin>),
    /// Keep the text before a token, and continue differently from there.
    Branch {
        from: Pin,
        change: BranchChange,
        target: BranchTarget,
    },
    /// Tell the engine the new memory limit of the KV cache.
    LimitCache,
    /// Show the text that the pane showed before its current one.
    ShowEarlier(PaneId),
    /// Show a text of the tree in its pane, as it was.
    ShowText(GenerationId),
    /// Remove a text that no pane shows.
    RemoveText(GenerationId),
    /// Bring back the text that was removed last.
    RestoreText,
}

impl BranchCommand {
    /// Returns whether it adds tokens to a text.
    const fn writes(&self) -> bool {
        matches!(
            self,
            Self::Continue(_)
                | Self::Step
                | Self::Pick(..)
                | Self::KeepRunning
                | Self::Branch { .. }
        )
    }
}

/// What a branch does differently from the text that it branches off from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchChange {
    /// These tokens come next, picked by the user.
    Tokens(Vec<TokenId>),
    /// Another seed's coins choose the tokens. In place, it becomes the pane's seed.
    AnotherSeed,
    /// The pane's current settings, which differ from those of the text, choose the tokens.
    Settings,
}

/// Where a branch is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BranchTarget {
    /// In the pane of the text that it branches off from.
    #[default]
    InPlace,
    /// In a new pane to its right.
    NewPane,
}

impl AppState {
    pub(super) fn apply_to_branches(&mut self, command: BranchCommand) -> Vec<Effect> {
        if command.writes() && self.question_reason().is_some() {
            return Vec::new();
        }
        match command {
            BranchCommand::Continue(id) => self.continue_text(id),
            BranchCommand::StepOnly(pane) => {
                self.step_pane = pane;
                Vec::new()
            }
            BranchCommand::Step => self.step(),
            BranchCommand::Pick(id, tokens) => self.pick(id, tokens),
            BranchCommand::KeepRunning => self.keep_running(),
            BranchCommand::StepBack => self.step_back(),
            BranchCommand::Open(from) => self.open_dialog(from),
            BranchCommand::LimitCache => vec![self.cache_limit_effect()],
            BranchCommand::Branch {
                from,
                change,
                target,
            } => self.branch(from, change, target),
            BranchCommand::ShowEarlier(id) => self.show_earlier(id),
            BranchCommand::ShowText(id) => self.show_text(id),
            BranchCommand::RemoveText(id) => self.remove_text(id),
            BranchCommand::RestoreText => self.restore_text(),
        }
    }

    /// Returns whether a pane's text was interrupted and can be continued.
    pub fn can_continue(&self, pane: &Pane) -> bool {
        let interrupted = |generation: &Generation| {
            let finish = generation.finish.as_ref();
            !generation.steps.is_empty() && finish.is_some_and(FinishReason::can_continue)
        };
        self.can_extend(pane) && pane.generation().is_some_and(interrupted)
    }

    /// Returns whether a text can branch off before this token.
    pub fn can_branch(&self, from: Pin) -> bool {
        let step = |pane: &Pane| Some(from.step < pane.generation()?.steps.len());
        let pane = self.pane(from.pane);
        pane.is_some_and(|pane| self.can_extend(pane) && step(pane) == Some(true))
    }

    /// Returns whether the loaded model can extend a pane's text with the pane's settings.
    fn can_extend(&self, pane: &Pane) -> bool {
        let same_model = |generation: &Generation| {
            let model = self.model_of(pane);
            model.is_some_and(|model| model.info.is_equivalent_to(&generation.model))
        };
        self.opened.is_none()
            && pane.reads.is_none()
            && pane.status.running().is_none()
            && pane.settings.chain.validate().is_ok()
            && self.limits.max_new_tokens > 0
            && pane.generation().is_some_and(same_model)
    }

    /// Returns whether a branch can be shown in a new pane.
    pub fn can_add_pane(&self) -> bool {
        self.panes.len() < MAX_PANES
    }

    fn branch(&mut self, from: Pin, change: BranchChange, target: BranchTarget) -> Vec<Effect> {
        if !self.can_branch(from) {
            return Vec::new();
        }
        let Some(source) = self.pane(from.pane).cloned() else {
            return Vec::new();
        };
        let origin = match &change {
            BranchChange::Tokens(tokens) if tokens.is_empty() => return Vec::new(),
            BranchChange::Tokens(tokens) => OriginChange::ByHand {
                n_tokens: tokens.len(),
            },
            BranchChange::AnotherSeed => OriginChange::Seed,
            BranchChange::Settings => OriginChange::Settings,
        };
        let by_hand = match change {
            BranchChange::Tokens(tokens) => tokens,
            BranchChange::AnotherSeed | BranchChange::Settings => Vec::new(),
        };
        let seed = self.seed_of(&source).wrapping_add(1);
        let reseeds = origin == OriginChange::Seed;
        let pane = match target {
            BranchTarget::NewPane if !self.can_add_pane() => return Vec::new(),
            BranchTarget::NewPane => self.add_pane_beside(&source),
            BranchTarget::InPlace => source.id,
        };
        if let Some(pane) = self.panes.iter_mut().find(|other| other.id == pane)
            && reseeds
        {
            pane.settings.seed = Some(seed);
        }
        self.branch_dialog = None;
        let Some(text) = source.status.into_generation() else {
            return Vec::new();
        };
        self.pin = Some(Pin { pane, ..from });
        let n_new = by_hand.len().max(1);
        let extension = Extension {
            n_kept: from.step,
            by_hand,
            pause_after: self.is_step_mode().then_some(n_new + 1),
            n_shown: self.is_step_mode().then_some(from.step + n_new),
            branches_by: Some(origin),
            ..Extension::default()
        };
        self.request_branch(pane, text, extension)
    }

    /// Adds an empty pane with the same settings to the right of this one. Returns its id.
    fn add_pane_beside(&mut self, source: &Pane) -> PaneId {
        let id = self.next_pane_id();
        let place = self
            .place_of(source.id)
            .map_or(self.panes.len(), |at| at + 1);
        let pane = Pane::new(id, source.settings.clone());
        self.panes.insert(place.min(self.panes.len()), pane);
        id
    }
}
