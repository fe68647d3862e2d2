//! The popup that continues from a token, and what it says about the KV cache.

use super::BranchTarget;
use crate::decoding::TokenId;
use crate::generation::PaneModel;
use crate::state::recording::MEGABYTE;
use crate::state::{AppState, Effect, Pin};
use crate::worker::Request;

/// The default limit on the memory that prompts and texts take in the KV cache.
pub(in crate::state) const DEFAULT_CACHE_MEGABYTES: u32 = 64;

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

impl AppState {
    /// Opens the popup at a token, and asks the engine how much of the text before it is cached.
    pub(super) fn open_dialog(&mut self, from: Option<Pin>) -> Vec<Effect> {
        self.branch_dialog = None;
        let Some(from) = from.filter(|from| self.can_branch(*from)) else {
            return Vec::new();
        };
        let Some(tokens) = self.tokens_before(from) else {
            return Vec::new();
        };
        self.branch_dialog = Some(BranchDialog {
            from,
            typed: String::new(),
            target: BranchTarget::InPlace,
            is_new: true,
            n_cached: None,
            n_before: tokens.len(),
        });
        let model = self.pane(from.pane).and_then(|pane| self.own_model(pane));
        match model.map(|own| own.model) {
            // A server does not report what it has cached.
            Some(PaneModel::Server(_)) => Vec::new(),
            model => {
                let model = model.and_then(|model| model.local().cloned());
                vec![Effect::Send(Request::CountCached { tokens, model })]
            }
        }
    }

    /// Returns the prompt's tokens and those of the text before a token.
    fn tokens_before(&self, from: Pin) -> Option<Vec<TokenId>> {
        let text = self.pane(from.pane)?.generation()?;
        let steps = text.steps.iter().take(from.step);
        let prompt = text.prompt.tokens.iter().copied();
        Some(prompt.chain(steps.map(|step| step.token)).collect())
    }

    pub(in crate::state) fn on_cached_counted(&mut self, n_tokens: usize, n_cached: usize) {
        if let Some(dialog) = &mut self.branch_dialog
            && dialog.n_before == n_tokens
        {
            dialog.n_cached = Some(n_cached);
        }
    }

    /// Returns the request that tells a new engine the limit of its KV cache, unless the default
    /// applies.
    pub(in crate::state) fn cache_limit_request(&self) -> Option<Effect> {
        let is_default = self.cache_megabytes == DEFAULT_CACHE_MEGABYTES;
        (!is_default).then(|| self.cache_limit_effect())
    }

    pub(super) fn cache_limit_effect(&self) -> Effect {
        let n_max_bytes = u64::from(self.cache_megabytes) * MEGABYTE as u64;
        Effect::Send(Request::LimitPrefixCache { n_max_bytes })
    }
}
