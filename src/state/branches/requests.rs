//! The requests that make texts go on.

use std::sync::Arc;

use crate::decoding::TokenId;
use crate::generation::{Continuation, Generation, PromptRecord};
use crate::state::panes::pane::{Kept, PendingGeneration};
use crate::state::{AppState, Effect, Pane, PaneId, PaneStatus};
use crate::worker::{GenerationId, PaneRequest, Request};

/// How a text goes on.
#[derive(Debug, Default)]
struct Extension {
    /// How many of its steps stay.
    n_kept: usize,
    by_hand: Vec<TokenId>,
    pause_after: Option<usize>,
    /// Whether the text as it is now is kept for [`AppState::show_earlier`].
    replaces: bool,
}

impl AppState {
    pub(super) fn continue_text(&mut self, id: PaneId) -> Vec<Effect> {
        let request = self.continuation_request(id, None);
        sent(request.into_iter().collect())
    }

    /// Starts with the prompt if it or the model changed since the last run; otherwise the texts go
    /// on.
    pub(super) fn step_all(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        let model = self.model.ready().map(|model| model.info.clone());
        let is_new = |pane: &Pane| {
            let written = !self.keeps_given_text(pane);
            written
                && pane.generation().is_none_or(|generation| {
                    !self.is_prompt_of(&generation.prompt)
                        || Some(&generation.model) != model.as_ref()
                        || generation.steps.is_empty()
                })
        };
        if self.panes.iter().any(is_new) {
            return self.generate_one_token();
        }
        let ids: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        let requests = ids
            .into_iter()
            .filter_map(|id| self.continuation_request(id, Some(1)));
        sent(requests.collect())
    }

    /// Lets a text go on after `n_kept` of its steps, in a pane that may be another one.
    pub(super) fn request_branch(
        &mut self,
        pane: PaneId,
        text: Generation,
        n_kept: usize,
        by_hand: Vec<TokenId>,
    ) -> Vec<Effect> {
        let extension = Extension {
            n_kept,
            by_hand,
            replaces: true,
            pause_after: self.step_mode.then_some(1),
        };
        let request = self.extension_request(pane, text, extension);
        sent(request.into_iter().collect())
    }

    fn continuation_request(
        &mut self,
        id: PaneId,
        pause_after: Option<usize>,
    ) -> Option<(Arc<PromptRecord>, PaneRequest)> {
        let pane = self.pane(id).filter(|pane| self.can_continue(pane))?;
        let text = pane.generation()?.clone();
        let extension = Extension {
            n_kept: text.steps.len(),
            pause_after,
            ..Extension::default()
        };
        self.extension_request(id, text, extension)
    }

    fn extension_request(
        &mut self,
        id: PaneId,
        mut text: Generation,
        extension: Extension,
    ) -> Option<(Arc<PromptRecord>, PaneRequest)> {
        let mut config = self.config_of(self.pane(id)?);
        let n_given = extension.n_kept + extension.by_hand.len();
        if n_given >= config.limits.max_new_tokens {
            // A text at its limit gets as many tokens again.
            config.limits.max_new_tokens += n_given;
        }
        self.last_id += 1;
        let generation_id = GenerationId(self.last_id);
        let pane = self.panes.iter_mut().find(|pane| pane.id == id)?;
        let status = std::mem::replace(&mut pane.status, PaneStatus::Ready);
        let previous = status.into_generation();
        text.steps.truncate(extension.n_kept);
        text.config = config.clone();
        text.finish = None;
        let last = text.steps.last();
        let continuation = Continuation {
            kept: text.steps.iter().map(|step| step.token).collect(),
            selector_state: last
                .map(|step| step.trace.selector_state)
                .unwrap_or_default(),
            at_secs: last.map_or(0.0, |step| step.time.at_secs),
            by_hand: extension.by_hand,
            pause_after: extension.pause_after,
        };
        let prompt = Arc::clone(&text.prompt);
        let pending = PendingGeneration {
            id: generation_id,
            name: pane.settings.name.clone(),
            config: config.clone(),
            previous,
            kept: Some(Kept {
                text,
                replaces: extension.replaces,
            }),
        };
        pane.status = PaneStatus::Waiting { pending };
        let request = PaneRequest {
            id: generation_id,
            config,
            continuation,
        };
        Some((prompt, request))
    }
}

/// Groups requests by their prompt, so that the texts of one prompt decode together.
fn sent(requests: Vec<(Arc<PromptRecord>, PaneRequest)>) -> Vec<Effect> {
    let mut groups: Vec<(Arc<PromptRecord>, Vec<PaneRequest>)> = Vec::new();
    for (prompt, request) in requests {
        match groups.iter_mut().find(|(other, _)| *other == prompt) {
            Some((_, panes)) => panes.push(request),
            None => groups.push((prompt, vec![request])),
        }
    }
    let effects = groups
        .into_iter()
        .map(|(prompt, panes)| Effect::Send(Request::Continue { prompt, panes }));
    effects.collect()
}
