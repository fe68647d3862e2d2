//! Requests for texts: what panes generate, continue or score, and how they are stopped.

use std::sync::Arc;
use std::time::Instant;

use super::{EngineThread, NO_MODEL};
use crate::decoding::TokenId;
use crate::engine::{
    Compute, EngineError, GivenText, LoadProgress, LoadedModel, Progress, Prompt, Session,
};
use crate::generation::hosts::OWN_MODEL;
use crate::generation::{
    ChatMessage, FinishReason, GenerationId, ModelSource, PromptCheck, PromptRecord, PromptText,
    PromptToken,
};
use crate::worker::event_sender::Disconnected;
use crate::worker::{Event, PaneRequest};

impl<L> EngineThread<L>
where
    L: Fn(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
        + Send
        + Sync
        + 'static,
{
    pub(super) fn tokenize(
        &mut self,
        prompt: PromptText,
        source: Option<ModelSource>,
    ) -> Result<(), Disconnected> {
        let session = self.sessions.of_mut(source.as_ref());
        let tokens = match session.map(|session| session.model()) {
            Some(model) => match model.encode_prompt(&prompt) {
                Ok(tokenized) => {
                    let with_piece = |id| PromptToken {
                        id,
                        piece: model.vocabulary.piece(id),
                    };
                    Ok(tokenized.tokens.into_iter().map(with_piece).collect())
                }
                Err(error) => Err(error.to_string()),
            },
            None => Err(not_loaded(source.as_ref()).to_owned()),
        };
        let answer = Event::Tokenized {
            prompt,
            model: source,
            tokens,
        };
        self.events.send(answer)
    }

    pub(super) fn render(&self, id: GenerationId, chat: &PromptText) -> Result<(), Disconnected> {
        let session = self.sessions.of(None);
        let progress = match session.map(|session| session.model().encode_prompt(chat)) {
            Some(Ok(Prompt { text, chat, tokens })) => Progress::Started {
                ids: vec![id],
                prompt: Arc::new(PromptRecord {
                    text,
                    chat,
                    tokens,
                    ..PromptRecord::default()
                }),
            },
            Some(Err(error)) => Progress::failed(id, error),
            None => Progress::failed(id, not_loaded(None)),
        };
        self.events.send(progress.into())
    }

    pub(super) fn count_cached(
        &self,
        tokens: &[TokenId],
        source: Option<&ModelSource>,
    ) -> Result<(), Disconnected> {
        let session = self.sessions.of(source);
        self.events.send(Event::CachedCounted {
            n_tokens: tokens.len(),
            n_cached: session.map_or(0, |session| session.n_cached(tokens)),
        })
    }

    pub(super) fn check_prompt(
        &mut self,
        prompt: Arc<PromptRecord>,
        source: Option<ModelSource>,
    ) -> Result<(), Disconnected> {
        let session = self.sessions.of(source.as_ref());
        let check = match session.map(Session::model) {
            Some(model) => model.check_prompt(&prompt),
            None => PromptCheck::Failed {
                error: not_loaded(source.as_ref()).to_owned(),
            },
        };
        self.events.send(Event::PromptChecked {
            prompt,
            model: source,
            check,
        })
    }

    /// Sets how much memory each step of later generations may use, whatever their model.
    pub(super) fn set_detail(&mut self, n_bytes_per_step: usize) {
        let sessions = self.sessions.iter_mut();
        sessions.for_each(|session| session.set_detail(n_bytes_per_step));
    }

    /// Continues a prompt, which each model of the panes reads once.
    pub(super) fn generate(
        &mut self,
        prompt: impl Fn(&Session) -> Result<Prompt, EngineError>,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        by_model(panes)
            .into_iter()
            .try_for_each(|panes| self.generate_with_one(&prompt, panes, sent_at))
    }

    /// Continues a prompt in panes that use the same model.
    fn generate_with_one(
        &mut self,
        prompt: impl Fn(&Session) -> Result<Prompt, EngineError>,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        let model = model_of(&panes);
        let Some(session) = self.sessions.of_mut(model.as_ref()) else {
            return self.fail(&panes, not_loaded(model.as_ref()));
        };
        let prompt = match prompt(session) {
            Ok(prompt) => prompt,
            Err(error) => return self.fail(&panes, &error.to_string()),
        };
        let mut valid = Vec::new();
        let mut invalid = Vec::new();
        for pane in panes {
            match check(session, &prompt, &pane) {
                Err(error) => invalid.push((pane, error)),
                Ok(()) => valid.push((pane.id, pane.config, pane.continuation)),
            }
        }
        session.generate_from(prompt, valid, sent_at);
        invalid
            .into_iter()
            .try_for_each(|(pane, error)| self.fail(&[pane], &error))
    }

    /// Scores a text, or its first tokens.
    pub(super) fn score_text(
        &mut self,
        text: &str,
        n_first: Option<usize>,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        let given = |session: &Session| session.text(text, n_first).map(GivenText::bare);
        self.score(given, panes, sent_at)
    }

    /// Scores an answer to a message.
    pub(super) fn score_answer(
        &mut self,
        prompt: &PromptText,
        answer: &ChatMessage,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        let given = |session: &Session| session.model().encode_answer(prompt, answer);
        self.score(given, panes, sent_at)
    }

    /// Scores a text, which each model of the panes reads once.
    fn score(
        &mut self,
        text: impl Fn(&Session) -> Result<GivenText, EngineError>,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        by_model(panes)
            .into_iter()
            .try_for_each(|panes| self.score_with_one(&text, panes, sent_at))
    }

    fn score_with_one(
        &mut self,
        text: impl Fn(&Session) -> Result<GivenText, EngineError>,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        let model = model_of(&panes);
        let Some(session) = self.sessions.of_mut(model.as_ref()) else {
            return self.fail(&panes, not_loaded(model.as_ref()));
        };
        let text = match text(session) {
            Ok(text) => text,
            Err(error) => return self.fail(&panes, &error.to_string()),
        };
        let (valid, invalid): (Vec<_>, Vec<_>) = panes
            .into_iter()
            .partition(|pane| pane.config.chain.validate().is_ok());
        let valid = valid.into_iter().map(|pane| (pane.id, pane.config));
        session.score_after_prompt(text, valid, sent_at);
        invalid.into_iter().try_for_each(|pane| {
            let error = pane.config.chain.validate().err();
            let error = error.map(|error| error.to_string());
            self.fail(&[pane], &error.unwrap_or_default())
        })
    }

    pub(super) fn fail(&self, panes: &[PaneRequest], error: &str) -> Result<(), Disconnected> {
        panes
            .iter()
            .try_for_each(|pane| self.events.send(Progress::failed(pane.id, error).into()))
    }

    pub(super) fn stop(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let mut progress = Vec::new();
        let mut sessions = self.sessions.iter_mut();
        let stopped = sessions.any(|session| session.stop(id, &mut progress));
        for progress in progress {
            self.events.send(progress.into())?;
        }
        if stopped {
            let reason = FinishReason::Cancelled;
            self.events.send(Progress::Finished { id, reason }.into())?;
        }
        Ok(())
    }

    pub(super) fn stop_all(&mut self) -> Result<(), Disconnected> {
        self.stop_all_except(&[])
    }

    pub(super) fn stop_all_except(&mut self, kept: &[GenerationId]) -> Result<(), Disconnected> {
        let sessions = || self.sessions.iter();
        let jobs: Vec<GenerationId> = sessions().flat_map(Session::ids_of_pane_jobs).collect();
        let ids: Vec<GenerationId> = sessions().flat_map(Session::ids).collect();
        let mut stopped = ids.into_iter().filter(|id| !kept.contains(id));
        stopped.try_for_each(|id| self.stop(id))?;
        jobs.into_iter().try_for_each(|id| self.stop_job(id))
    }
}

/// Groups requests by their models, in the order of the first request for each.
fn by_model(panes: Vec<PaneRequest>) -> Vec<Vec<PaneRequest>> {
    let mut groups: Vec<Vec<PaneRequest>> = Vec::new();
    for pane in panes {
        let same = |group: &&mut Vec<PaneRequest>| {
            let first = group.first();
            first.is_some_and(|first| first.model == pane.model)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(pane),
            None => groups.push(vec![pane]),
        }
    }
    groups
}

/// Returns the model of panes that share it; `None` for the main one.
fn model_of(panes: &[PaneRequest]) -> Option<ModelSource> {
    panes.first()?.model.clone()
}

const fn not_loaded(model: Option<&ModelSource>) -> &'static str {
    match model {
        None => NO_MODEL,
        Some(_) => "the model of this pane is not loaded; choose it again",
    }
}

/// Checks that a session can generate a pane's text, or returns why not.
fn check(session: &Session, prompt: &Prompt, pane: &PaneRequest) -> Result<(), String> {
    let chain = &pane.config.chain;
    chain.validate().map_err(|error| error.to_string())?;
    if pane.model.is_some() {
        OWN_MODEL.check(chain).map_err(|error| error.to_string())?;
    }
    let text = session.check_continuation(prompt, &pane.continuation);
    text.and_then(|()| session.check_config(prompt, &pane.config))
        .map_err(|error| error.to_string())
}
