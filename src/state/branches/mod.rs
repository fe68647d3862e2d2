//! Going on from a token of a text: continue, step, step back and branch.
//!
//! The steps before that token are kept with their evidence, which is shared and not copied. A text
//! that a branch replaces stays with its pane and can be shown again.

mod requests;

use crate::decoding::TokenId;
use crate::generation::{FinishReason, Generation};
use crate::state::settings::MAX_PANES;
use crate::state::{AppState, Effect, Pane, PaneId, PaneStatus, Pin};

/// How many replaced texts a pane keeps.
const MAX_EARLIER: usize = 32;

/// What the user can do with a text beyond generating it.
#[derive(Debug, Clone, PartialEq)]
pub enum BranchCommand {
    /// Go on where a pane's text was interrupted.
    Continue(PaneId),
    /// Enter or leave step mode.
    ToggleStepMode,
    /// Generate one more token in every pane that can go on.
    Step,
    /// Remove the last token of every text. Nothing is recomputed.
    StepBack,
    /// Open the dialog that continues from a token, or close it.
    Open(Option<Pin>),
    /// Keep the text before a token, and go on from there in another way.
    Branch {
        from: Pin,
        change: BranchChange,
        target: BranchTarget,
    },
    /// Show the text that the pane's last branch replaced; the current one takes its place.
    ShowEarlier(PaneId),
}

/// What a branch does differently from the text that it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchChange {
    /// These tokens come next, picked by the user.
    Tokens(Vec<TokenId>),
    /// The coins of another seed decide. In place, this becomes the pane's seed.
    AnotherSeed,
}

/// Where a branch is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BranchTarget {
    /// In the pane of the text that it leaves.
    #[default]
    InPlace,
    /// In a new pane to its right.
    NewPane,
}

/// The dialog that continues from a token.
#[derive(Debug, Clone, PartialEq)]
pub struct BranchDialog {
    /// The first token to be replaced.
    pub from: Pin,
    /// The replacement, as typed so far.
    pub typed: String,
    pub target: BranchTarget,
}

impl AppState {
    pub(super) fn apply_to_branches(&mut self, command: BranchCommand) -> Vec<Effect> {
        match command {
            BranchCommand::Continue(id) => self.continue_text(id),
            BranchCommand::ToggleStepMode => {
                self.step_mode = !self.step_mode;
                Vec::new()
            }
            BranchCommand::Step => self.step_all(),
            BranchCommand::StepBack => self.step_back(),
            BranchCommand::Open(from) => {
                self.branch_dialog =
                    from.filter(|from| self.can_branch(*from))
                        .map(|from| BranchDialog {
                            from,
                            typed: String::new(),
                            target: BranchTarget::InPlace,
                        });
                Vec::new()
            }
            BranchCommand::Branch {
                from,
                change,
                target,
            } => self.branch(from, change, target),
            BranchCommand::ShowEarlier(id) => self.show_earlier(id),
        }
    }

    /// Returns whether a pane's text was interrupted and can go on.
    pub fn can_continue(&self, pane: &Pane) -> bool {
        let interrupted = |generation: &Generation| {
            let finish = generation.finish.as_ref();
            !generation.steps.is_empty() && finish.is_some_and(FinishReason::can_continue)
        };
        self.can_extend(pane) && pane.generation().is_some_and(interrupted)
    }

    /// Returns whether a text can go on from before this token in another way.
    pub fn can_branch(&self, from: Pin) -> bool {
        let step = |pane: &Pane| Some(from.step < pane.generation()?.steps.len());
        let pane = self.pane(from.pane);
        pane.is_some_and(|pane| self.can_extend(pane) && step(pane) == Some(true))
    }

    /// Returns whether the loaded model can extend a pane's text with the pane's settings.
    fn can_extend(&self, pane: &Pane) -> bool {
        let same_model = |generation: &Generation| {
            let model = self.model.ready();
            model.is_some_and(|model| model.info.is_equivalent_to(&generation.model))
        };
        self.opened.is_none()
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
        let by_hand = match change {
            BranchChange::Tokens(tokens) if tokens.is_empty() => return Vec::new(),
            BranchChange::Tokens(tokens) => tokens,
            BranchChange::AnotherSeed => Vec::new(),
        };
        let seed = self.seed_of(&source).wrapping_add(1);
        let reseeds = by_hand.is_empty();
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
        self.request_branch(pane, text, from.step, by_hand)
    }

    /// Adds an empty pane with the same settings to the right. Returns its id.
    fn add_pane_beside(&mut self, source: &Pane) -> PaneId {
        let id = self.next_pane_id();
        let place = self
            .place_of(source.id)
            .map_or(self.panes.len(), |at| at + 1);
        let pane = Pane::new(id, source.settings.clone());
        self.panes.insert(place.min(self.panes.len()), pane);
        id
    }

    fn step_back(&mut self) -> Vec<Effect> {
        for pane in &mut self.panes {
            if let PaneStatus::Finished(generation) = &mut pane.status
                && generation.steps.pop().is_some()
            {
                generation.finish = Some(FinishReason::Paused);
            }
        }
        self.pin = self.pin.filter(|_| self.pinned().is_some());
        Vec::new()
    }

    fn show_earlier(&mut self, id: PaneId) -> Vec<Effect> {
        let pane = self.panes.iter_mut().find(|pane| pane.id == id);
        if let Some(pane) = pane.filter(|pane| pane.status.running().is_none())
            && let Some(earlier) = pane.earlier.pop()
        {
            let status = std::mem::replace(&mut pane.status, PaneStatus::Finished(earlier));
            if let Some(current) = status.into_generation() {
                // The oldest comes first, so repeating the command walks through all of them.
                pane.earlier.insert(0, current);
            }
        }
        self.pin = self.pin.filter(|_| self.pinned().is_some());
        Vec::new()
    }
}

impl Pane {
    /// Returns how many replaced texts can be shown again.
    pub const fn n_earlier(&self) -> usize {
        self.earlier.len()
    }

    /// Keeps a text that a branch replaces.
    pub(super) fn keep_earlier(&mut self, text: Generation) {
        self.earlier.push(text);
        if self.earlier.len() > MAX_EARLIER {
            self.earlier.remove(0);
        }
    }
}
