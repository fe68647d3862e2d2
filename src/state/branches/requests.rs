//! The requests that continue texts.

use std::sync::Arc;

use super::Upcoming;
use crate::decoding::TokenId;
use crate::generation::{
    Continuation, Generation, Lineage, Origin, OriginChange, PaneModel, PromptRecord,
};
use crate::state::pane_models::OwnModel;
use crate::state::panes::pane::{Kept, PendingGeneration};
use crate::state::servers::{Addressed, grouped};
use crate::state::{AppState, Effect, PaneId, PaneStatus};
use crate::worker::{GenerationId, PaneRequest, Request, ServerRequest};

/// The prompt of a text, and the request that continues it.
pub(in crate::state) type ContinueRequest = (Arc<PromptRecord>, Addressed);

/// How a text is continued.
#[derive(Debug, Default)]
pub(in crate::state) struct Extension {
    /// How many of its steps stay.
    pub n_kept: usize,
    pub by_hand: Vec<TokenId>,
    /// Whether `by_hand` holds the tokens of another pane's text, which this pane only reads.
    pub reads: bool,
    pub pause_after: Option<usize>,
    /// How many steps the text shows in step mode; the next one is only previewed.
    pub n_shown: Option<usize>,
    /// What makes it a branch, a new text beside its parent. `None` if the text just grows.
    pub branches_by: Option<OriginChange>,
}

impl AppState {
    pub(super) fn continue_text(&mut self, id: PaneId) -> Vec<Effect> {
        let request = self.continuation_request(id);
        self.send_continuations(request.into_iter().collect())
    }

    /// Continues a text, possibly in another pane.
    pub(super) fn request_branch(
        &mut self,
        pane: PaneId,
        text: Generation,
        extension: Extension,
    ) -> Vec<Effect> {
        let request = self.extension_request(pane, text, extension);
        self.send_continuations(request.into_iter().collect())
    }

    pub(super) fn continuation_request(&mut self, id: PaneId) -> Option<ContinueRequest> {
        let pane = self.pane(id).filter(|pane| self.can_continue(pane))?;
        let text = pane.generation()?.clone();
        let extension = Extension {
            n_kept: text.steps.len(),
            ..Extension::default()
        };
        self.extension_request(id, text, extension)
    }

    pub(in crate::state) fn extension_request(
        &mut self,
        id: PaneId,
        mut text: Generation,
        extension: Extension,
    ) -> Option<ContinueRequest> {
        let pane = self.pane(id)?;
        let (mut config, own) = (self.config_of(pane), self.own_model(pane));
        let (named, model) = (OwnModel::named(own.as_ref()), OwnModel::local(own.as_ref()));
        let served = named.as_ref().and_then(PaneModel::served).cloned();
        let n_given = extension.n_kept + extension.by_hand.len();
        if n_given >= config.limits.max_new_tokens {
            // A text that has reached the limit may grow by as many tokens again.
            config.limits.max_new_tokens += n_given;
        }
        self.last_id += 1;
        let generation_id = GenerationId(self.last_id);
        let pane = self.panes.iter_mut().find(|pane| pane.id == id)?;
        let status = std::mem::replace(&mut pane.status, PaneStatus::Ready);
        let previous = status.into_generation();
        text.go_on(extension.n_kept, config.clone());
        text.finish = None;
        text.grammar_complete = None;
        if let Some(change) = extension.branches_by {
            text.lineage = Lineage {
                id: generation_id,
                origin: Some(Origin {
                    parent: text.lineage.id,
                    position: extension.n_kept,
                    change,
                }),
            };
        }
        pane.upcoming = extension
            .n_shown
            .map(|n_shown| Upcoming::expected(text.lineage.id, n_shown, config.clone()));
        let last = text.steps.last();
        let continuation = Continuation {
            kept: text.steps.iter().map(|step| step.token).collect(),
            selector_state: last
                .map(|step| step.trace.selector_state)
                .unwrap_or_default(),
            at_secs: last.map_or(0.0, |step| step.time.at_secs),
            by_hand: extension.by_hand,
            repeated: Vec::new(),
            reads: extension.reads,
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
                replaces: extension.branches_by.is_some(),
            }),
            own_model: own,
        };
        pane.running_model = named;
        pane.server_notes.clear();
        pane.status = PaneStatus::Waiting { pending };
        let request = PaneRequest {
            id: generation_id,
            config,
            model,
            continuation,
        };
        Some((prompt, (served, request)))
    }

    /// Sends requests, grouped by their prompt, so that the texts of one prompt decode together.
    pub(in crate::state) fn send_continuations(
        &mut self,
        requests: Vec<ContinueRequest>,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (prompt, panes) in grouped(requests) {
            let to_engine = |panes| Request::Continue {
                prompt: Arc::clone(&prompt),
                panes,
            };
            let to_server = |panes| ServerRequest::Continue {
                prompt: Arc::clone(&prompt),
                panes,
            };
            effects.extend(self.send(panes, to_engine, to_server));
        }
        effects
    }
}
