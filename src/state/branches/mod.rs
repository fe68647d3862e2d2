//! Continuing a text from any of its tokens: continue, step, step back and branch.
//!
//! The steps before that token are kept with their evidence, which is shared, not copied. A text
//! that a branch replaces stays with its pane and can be shown again.

mod commands;
mod dialog;
mod edit;
mod kept_texts;
mod navigate;
mod requests;
mod run_texts;
mod step_mode;
mod tree;

pub use dialog::BranchDialog;
pub use edit::InPlaceEdit;
pub(super) use kept_texts::{KeptText, KeptTexts};
pub use run_texts::RunTexts;
pub(super) use run_texts::renumber;
pub(super) use step_mode::Upcoming;
pub use tree::{BranchRow, BranchTree};

pub(super) use self::requests::{ContinueRequest, Extension};
use crate::decoding::TokenId;
use crate::generation::GenerationId;
use crate::state::{MessageEdit, PaneId, Pin};

/// The texts that branch off from one another, and the popup that continues from a token.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Branches {
    /// The popup that continues from a token, while it is open.
    pub dialog: Option<BranchDialog>,
    /// The text that is being edited in place.
    pub edit: Option<InPlaceEdit>,
    /// The message that is being edited.
    pub message: Option<MessageEdit>,
    /// The only pane that steps in step mode; `None` for all.
    pub step_pane: Option<PaneId>,
    pub(in crate::state) kept: KeptTexts,
    /// The kept text that was removed last.
    pub(in crate::state) removed: Option<KeptText>,
    /// The tree of texts, as of the last review.
    pub tree: BranchTree,
}

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
    /// Edit a text in place from a token on, or stop editing.
    Edit(Option<Pin>),
    /// Continue after the text that was typed in place.
    FinishEdit(BranchTarget),
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
                | Self::FinishEdit(_)
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
