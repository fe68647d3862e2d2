//! The popup that continues from a token, and what it says about the KV cache.

use super::BranchTarget;
use crate::decoding::TokenId;
use crate::generation::PaneModel;
use crate::state::{Branches, Effect, Models, Panes, Pin};
use crate::worker::Request;

/// The popup that continues from a token.
#[derive(Debug, Clone, PartialEq)]
pub struct BranchDialog {
    /// The first token to be replaced.
    pub from: Pin,
    /// The replacement, as typed so far.
    pub typed: String,
    pub target: BranchTarget,
    /// Whether it was opened just now, so that its first row takes the focus.
    pub is_new: bool,
    /// How many tokens before the branch are in the KV cache; `None` until the engine has answered.
    n_cached: Option<usize>,
    /// How many tokens precede the branch, including those of the prompt.
    n_before: usize,
}

impl BranchDialog {
    /// Says how many tokens are cached, or must be prefilled again before the branch can continue.
    pub fn cache_words(&self, cache_megabytes: u32) -> String {
        // The last token is read in the pass that computes the next one.
        let n_needed = self.n_before.saturating_sub(1);
        match self.n_cached {
            None => String::new(),
            Some(n_cached) if n_cached >= n_needed => match n_cached {
                1 => "1 token cached".to_owned(),
                n => format!("{n} tokens cached"),
            },
            Some(n_cached) => {
                let n_missing = n_needed - n_cached;
                let tokens = if n_missing == 1 { "token" } else { "tokens" };
                format!(
                    "Must prefill {n_missing} {tokens} again: the {cache_megabytes} MB cache no \
                     longer holds them"
                )
            }
        }
    }
}

impl Branches {
    /// Opens the popup at a token, and asks the engine how much of the text before it is cached.
    pub(super) fn open_dialog(
        &mut self,
        from: Pin,
        panes: &Panes,
        models: &Models,
    ) -> Option<Effect> {
        let pane = panes.pane(from.pane)?;
        let text = pane.generation()?;
        let steps = text.steps.iter().take(from.step);
        let prompt = text.prompt.tokens.iter().copied();
        let tokens: Vec<TokenId> = prompt.chain(steps.map(|step| step.token)).collect();
        self.dialog = Some(BranchDialog {
            from,
            typed: String::new(),
            target: BranchTarget::InPlace,
            is_new: true,
            n_cached: None,
            n_before: tokens.len(),
        });
        let model = match models.own(pane).map(|own| own.model) {
            // A server does not report what it has cached.
            Some(PaneModel::Server(_)) => return None,
            Some(PaneModel::Local(source)) => Some(source),
            None => None,
        };
        Some(Effect::Send(Request::CountCached { tokens, model }))
    }

    pub(in crate::state) fn on_cached_counted(&mut self, n_tokens: usize, n_cached: usize) {
        if let Some(dialog) = &mut self.dialog
            && dialog.n_before == n_tokens
        {
            dialog.n_cached = Some(n_cached);
        }
    }
}
