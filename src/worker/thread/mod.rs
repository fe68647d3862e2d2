//! The engine thread: serves requests between forward passes, and reports events.

mod models;

use std::sync::mpsc::Receiver;
use std::time::Instant;

use super::event_sender::{Disconnected, EventSender};
use super::incoming::{IncomingRequests, TimedRequest};
use super::inspection;
use super::pacer::Pacer;
use super::{Event, ModelSource, PaneRequest, Request};
use crate::decoding::ChainConfig;
use crate::engine::{
    Compute, ComputeChoice, DEFAULT_PREFIX_CACHE_BYTES, EngineError, LoadProgress, LoadedModel,
    Progress, Prompt, Session,
};
use crate::generation::{
    CachePlan, CacheUpdate, FinishReason, FitPlan, FitUpdate, FuturesPlan, FuturesUpdate,
    GenerationId, PromptText, PromptToken, SweepPlan, SweepUpdate,
};

pub(super) const NO_MODEL: &str = "no model is loaded; open one first";

/// The state of the engine thread.
pub(super) struct EngineThread<L> {
    pub(super) loader: L,
    /// `None` while no model is loaded.
    pub(super) session: Option<Session>,
    choice: ComputeChoice,
    /// The device of `choice` once it has been opened, with its threads and settings.
    compute: Option<Compute>,
    /// The memory limit of the prompts and texts that sessions keep for reuse.
    n_prefix_cache_bytes: u64,
    pacer: Pacer,
    pub(super) incoming: IncomingRequests,
    pub(super) events: EventSender<Event>,
}

impl<L> EngineThread<L>
where
    L: FnMut(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>,
{
    pub(super) fn new(
        loader: L,
        requests: Receiver<TimedRequest>,
        events: EventSender<Event>,
    ) -> Self {
        Self {
            loader,
            session: None,
            choice: ComputeChoice::default(),
            compute: None,
            n_prefix_cache_bytes: DEFAULT_PREFIX_CACHE_BYTES,
            pacer: Pacer::default(),
            incoming: IncomingRequests::new(requests),
            events,
        }
    }

    /// Serves requests until the window disconnects. A panic is reported as an event.
    pub(super) fn run(mut self) {
        let events = self.events.clone();
        events.run_thread(|message| Event::Panicked { message }, || self.serve_all());
    }

    fn serve_all(&mut self) -> Result<(), Disconnected> {
        loop {
            let has_work = |session: &Session| session.is_busy() || session.has_background_work();
            if !self.session.as_ref().is_some_and(has_work) {
                let request = self.incoming.recv()?;
                self.serve(request)?;
            }
            while let Some(request) = self.incoming.try_recv()? {
                self.serve(request)?;
            }
            if !self.wait_for_pace()? {
                self.advance()?;
            }
        }
    }

    /// Waits until the next decode step is due or a request arrives. Returns whether it waited.
    ///
    /// Only decoding is paced: prompts are prefilled and texts scored at full speed.
    fn wait_for_pace(&mut self) -> Result<bool, Disconnected> {
        let begun_at = Instant::now();
        let session = self.session.as_mut();
        let Some(session) = session.filter(|session| session.only_decodes()) else {
            return Ok(false);
        };
        let Some(left) = self.pacer.remaining(begun_at) else {
            return Ok(false);
        };
        self.incoming.wait(left)?;
        session.exclude(begun_at.elapsed());
        Ok(true)
    }

    fn advance(&mut self) -> Result<(), Disconnected> {
        if let Some(session) = self.session.as_mut().filter(|session| session.is_busy()) {
            let mut progress = Vec::new();
            session.advance(&mut progress);
            let steps = |progress: &Progress| matches!(progress, Progress::Stepped { .. });
            if progress.iter().any(steps) {
                self.pacer.on_step(Instant::now());
            }
            for progress in progress {
                self.events.send(progress.into())?;
            }
        } else if let Some(session) = self.session.as_mut().filter(|s| s.is_drawing_futures()) {
            if let Some((id, update)) = session.advance_futures() {
                self.events.send(Event::Futures { id, update })?;
            }
        } else if let Some(session) = self.session.as_mut().filter(|s| s.is_fitting()) {
            if let Some((id, update)) = session.advance_fit() {
                self.events.send(Event::Fit { id, update })?;
            }
        } else if let Some(session) = self.session.as_mut().filter(|s| s.is_measuring_cache()) {
            if let Some((id, update)) = session.advance_cache() {
                self.events.send(Event::Cache { id, update })?;
            }
        } else if let Some((id, update)) =
            self.session.as_mut().and_then(Session::advance_comparison)
        {
            self.events.send(Event::Comparison { id, update })?;
        } else if let Some((id, update)) = self.session.as_mut().and_then(Session::advance_sweep) {
            self.events.send(Event::Sweep { id, update })?;
        }
        Ok(())
    }

    fn serve(
        &mut self,
        TimedRequest { request, sent_at }: TimedRequest,
    ) -> Result<(), Disconnected> {
        match request {
            Request::LoadModel(source) => self.load(&source),
            Request::LoadSecondModel(source) => self.load_second(source.as_ref()),
            // The load that it was meant for has ended.
            Request::CancelLoading => Ok(()),
            Request::UnloadModel => self.unload(),
            Request::Inspect(path) => self.events.send(inspection::inspect_model(path)),
            Request::SetCompute(choice) => {
                (self.choice, self.compute) = (choice, None);
                Ok(())
            }
            Request::ListDevices => self.events.send(inspection::list_devices()),
            Request::Tokenize { prompt } => self.tokenize(prompt),
            Request::Generate {
                prompt,
                panes,
                n_detail_bytes,
            } => {
                if let Some(session) = &mut self.session {
                    session.set_detail(n_detail_bytes);
                }
                self.generate(|session| session.prompt(prompt), panes, sent_at)
            }
            Request::Continue { prompt, panes } => {
                let prompt = Prompt {
                    text: prompt.text.clone(),
                    chat: prompt.chat.clone(),
                    tokens: prompt.tokens.clone(),
                };
                self.generate(|_| Ok(prompt), panes, sent_at)
            }
            Request::CountCached { tokens } => {
                let session = self.session.as_ref();
                self.events.send(Event::CachedCounted {
                    n_tokens: tokens.len(),
                    n_cached: session.map_or(0, |session| session.n_cached(&tokens)),
                })
            }
            Request::LimitPrefixCache { n_max_bytes } => {
                self.n_prefix_cache_bytes = n_max_bytes;
                if let Some(session) = &mut self.session {
                    session.set_prefix_cache_limit(n_max_bytes);
                }
                Ok(())
            }
            Request::SetPace { interval } => {
                self.pacer.set_interval(interval);
                Ok(())
            }
            Request::DrawFutures { id, plan } => self.draw_futures(id, plan),
            Request::StopFutures(id) => self.stop_futures(id),
            Request::Fit { id, plan } => self.fit(id, plan),
            Request::StopFit(id) => self.stop_fit(id),
            Request::MeasureCache { id, plan } => self.measure_cache(id, plan),
            Request::StopCache(id) => self.stop_cache(id),
            Request::CompareModels { id, plan, other } => self.compare_models(id, plan, &other),
            Request::StopComparison(id) => self.stop_comparison(id),
            Request::Sweep { id, prompts, plan } => self.sweep(id, &prompts, plan),
            Request::StopSweep(id) => self.stop_sweep(id),
            Request::Score {
                text,
                n_first,
                panes,
                n_detail_bytes,
            } => {
                if let Some(session) = &mut self.session {
                    session.set_detail(n_detail_bytes);
                }
                self.score(&text, n_first, panes, sent_at)
            }
            Request::Stop(id) => self.stop(id),
            Request::StopAll => self.stop_all(),
        }
    }

    fn draw_futures(&mut self, id: GenerationId, plan: FuturesPlan) -> Result<(), Disconnected> {
        let valid = plan.config.chain.validate().map_err(|e| e.to_string());
        let queued = valid.and_then(|()| match &mut self.session {
            Some(session) => session.draw_futures(id, plan).map_err(|e| e.to_string()),
            None => Err(NO_MODEL.to_owned()),
        });
        match queued {
            Ok(()) => Ok(()),
            Err(error) => {
                let update = FuturesUpdate::Failed { error };
                self.events.send(Event::Futures { id, update })
            }
        }
    }

    fn stop_futures(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.session.as_mut();
        if session.is_some_and(|session| session.stop_futures(id)) {
            let update = FuturesUpdate::Stopped;
            self.events.send(Event::Futures { id, update })?;
        }
        Ok(())
    }

    fn fit(&mut self, id: GenerationId, plan: FitPlan) -> Result<(), Disconnected> {
        let queued = match (invalid_chain(&plan.chains), &mut self.session) {
            (Some(error), _) => Err(error),
            (None, None) => Err(NO_MODEL.to_owned()),
            (None, Some(session)) => session.fit(id, plan).map_err(|e| e.to_string()),
        };
        match queued {
            Ok(()) => Ok(()),
            Err(error) => {
                let update = FitUpdate::Failed { error };
                self.events.send(Event::Fit { id, update })
            }
        }
    }

    fn stop_fit(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.session.as_mut();
        if session.is_some_and(|session| session.stop_fit(id)) {
            let update = FitUpdate::Stopped;
            self.events.send(Event::Fit { id, update })?;
        }
        Ok(())
    }

    fn measure_cache(&mut self, id: GenerationId, plan: CachePlan) -> Result<(), Disconnected> {
        let queued = match &mut self.session {
            Some(session) => session.measure_cache(id, plan).map_err(|e| e.to_string()),
            None => Err(NO_MODEL.to_owned()),
        };
        match queued {
            Ok(()) => Ok(()),
            Err(error) => {
                let update = CacheUpdate::Failed { error };
                self.events.send(Event::Cache { id, update })
            }
        }
    }

    fn stop_cache(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.session.as_mut();
        if session.is_some_and(|session| session.stop_cache(id)) {
            let update = CacheUpdate::Stopped;
            self.events.send(Event::Cache { id, update })?;
        }
        Ok(())
    }

    fn sweep(
        &mut self,
        id: GenerationId,
        prompts: &[PromptText],
        plan: SweepPlan,
    ) -> Result<(), Disconnected> {
        let queued = match (invalid_chain(&plan.cells), &mut self.session) {
            (Some(error), _) => Err(error),
            (None, None) => Err(NO_MODEL.to_owned()),
            (None, Some(session)) => session.sweep(id, prompts, plan).map_err(|e| e.to_string()),
        };
        match queued {
            Ok(()) => Ok(()),
            Err(error) => {
                let update = SweepUpdate::Failed { error };
                self.events.send(Event::Sweep { id, update })
            }
        }
    }

    fn stop_sweep(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.session.as_mut();
        if session.is_some_and(|session| session.stop_sweep(id)) {
            let update = SweepUpdate::Stopped;
            self.events.send(Event::Sweep { id, update })?;
        }
        Ok(())
    }

    fn tokenize(&self, prompt: PromptText) -> Result<(), Disconnected> {
        let tokens = match self.session.as_ref().map(Session::model) {
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
            None => Err(NO_MODEL.to_owned()),
        };
        self.events.send(Event::Tokenized { prompt, tokens })
    }

    fn generate(
        &mut self,
        prompt: impl FnOnce(&Session) -> Result<Prompt, EngineError>,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        let Some(session) = &mut self.session else {
            return self.fail(&panes, NO_MODEL);
        };
        let prompt = match prompt(session) {
            Ok(prompt) => prompt,
            Err(error) => return self.fail(&panes, &error.to_string()),
        };
        let mut valid = Vec::new();
        let mut invalid = Vec::new();
        for pane in panes {
            let chain = pane.config.chain.validate();
            let text = session.check_continuation(&prompt, &pane.continuation);
            let text = text.and_then(|()| session.check_config(&prompt, &pane.config));
            let error = chain.err().map(|error| error.to_string());
            match error.or_else(|| text.err().map(|error| error.to_string())) {
                Some(error) => invalid.push((pane, error)),
                None => valid.push((pane.id, pane.config, pane.continuation)),
            }
        }
        session.generate_from(prompt, valid, sent_at);
        invalid
            .into_iter()
            .try_for_each(|(pane, error)| self.fail(&[pane], &error))
    }

    fn score(
        &mut self,
        text: &str,
        n_first: Option<usize>,
        panes: Vec<PaneRequest>,
        sent_at: Instant,
    ) -> Result<(), Disconnected> {
        let Some(session) = &mut self.session else {
            return self.fail(&panes, NO_MODEL);
        };
        let text = match session.text(text, n_first) {
            Ok(text) => text,
            Err(error) => return self.fail(&panes, &error.to_string()),
        };
        let (valid, invalid): (Vec<_>, Vec<_>) = panes
            .into_iter()
            .partition(|pane| pane.config.chain.validate().is_ok());
        let valid = valid.into_iter().map(|pane| (pane.id, pane.config));
        session.score(text, valid, sent_at);
        invalid.into_iter().try_for_each(|pane| {
            let error = pane.config.chain.validate().err();
            let error = error.map(|error| error.to_string());
            self.fail(&[pane], &error.unwrap_or_default())
        })
    }

    fn fail(&self, panes: &[PaneRequest], error: &str) -> Result<(), Disconnected> {
        panes
            .iter()
            .try_for_each(|pane| self.events.send(Progress::failed(pane.id, error).into()))
    }

    fn stop(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let mut progress = Vec::new();
        let stopped = self
            .session
            .as_mut()
            .is_some_and(|session| session.stop(id, &mut progress));
        for progress in progress {
            self.events.send(progress.into())?;
        }
        if stopped {
            let reason = FinishReason::Cancelled;
            self.events.send(Progress::Finished { id, reason }.into())?;
        }
        Ok(())
    }

    fn stop_all(&mut self) -> Result<(), Disconnected> {
        let session = self.session.as_ref();
        let futures = session.map(Session::futures_ids).unwrap_or_default();
        let ids = session.map(Session::ids).unwrap_or_default();
        ids.into_iter().try_for_each(|id| self.stop(id))?;
        futures.into_iter().try_for_each(|id| self.stop_futures(id))
    }

    /// Stops everything that uses the model.
    fn stop_everything(&mut self) -> Result<(), Disconnected> {
        self.stop_all()?;
        let session = self.session.as_ref();
        let fits = session.map(Session::fit_ids).unwrap_or_default();
        let caches = session.map(Session::cache_ids).unwrap_or_default();
        let others = session.map(Session::comparison_ids).unwrap_or_default();
        let sweeps = session.map(Session::sweep_ids).unwrap_or_default();
        fits.into_iter().try_for_each(|id| self.stop_fit(id))?;
        caches.into_iter().try_for_each(|id| self.stop_cache(id))?;
        others
            .into_iter()
            .try_for_each(|id| self.stop_comparison(id))?;
        sweeps.into_iter().try_for_each(|id| self.stop_sweep(id))
    }
}

/// Returns why one of these chains can't run, or `None` if all can.
fn invalid_chain(chains: &[ChainConfig]) -> Option<String> {
    let invalid = |chain: &ChainConfig| chain.validate().err().map(|e| e.to_string());
    chains.iter().find_map(invalid)
}
