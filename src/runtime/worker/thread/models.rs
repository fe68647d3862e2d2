//! Loads and unloads the models of the engine thread.

use std::sync::Arc;
use std::time::Instant;

use super::{EngineThread, NO_MODEL};
use crate::engine::{Compute, EngineError, LoadProgress, LoadedModel, Session};
use crate::generation::formatting::io_words;
use crate::worker::beside::{Beside, BesideEnd};
use crate::worker::event_sender::Disconnected;
use crate::worker::loading::{self, LoadOutcome};
use crate::worker::{BesideUpdate, Event, ModelSource, PaneModelUpdate, Request};

impl<L> EngineThread<L>
where
    L: Fn(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
        + Send
        + Sync
        + 'static,
{
    pub(super) fn load(&mut self, source: &ModelSource) -> Result<(), Disconnected> {
        self.cancel_beside()?;
        self.stop_everything()?;
        let compute = self.compute()?;
        let loader = |progress: LoadProgress<'_>| (self.loader)(source, &compute, progress);
        let loading = |fraction| Event::ModelLoading { fraction };
        let cancel = &Request::CancelLoading;
        let outcome = loading::load(loader, loading, cancel, (&self.events, &mut self.incoming))?;
        let event = match outcome {
            LoadOutcome::Loaded(model) => self.use_main(*model),
            LoadOutcome::Failed(error) => Event::ModelFailed {
                error: error.to_string(),
            },
            LoadOutcome::Cancelled => Event::LoadingCancelled,
        };
        self.events.send(event)
    }

    /// Puts a model in place of the main one. Returns the event that says so.
    fn use_main(&mut self, model: LoadedModel) -> Event {
        let loaded = Event::ModelLoaded {
            info: model.info.clone(),
            vocabulary: model.vocabulary.clone(),
            chat: model.chat_support(),
            recommended_sampling: model.recommended_sampling.clone(),
            load_warning: model.load_warning.clone(),
            second: model.second().map(|second| Arc::clone(&second.info)),
        };
        self.sessions.main = Some(Session::new(model));
        self.sessions.share_prefix_cache(self.n_prefix_cache_bytes);
        loaded
    }

    /// Starts to load a model while the main one stays in use.
    pub(super) fn load_beside(&mut self, source: ModelSource) -> Result<(), Disconnected> {
        self.cancel_beside()?;
        let compute = self.compute()?;
        let (loader, events) = (Arc::clone(&self.loader), self.events.clone());
        match Beside::start(loader, source, compute, events) {
            Ok(beside) => {
                self.beside = Some(beside);
                Ok(())
            }
            Err(error) => {
                let error = io_words(&error);
                self.events
                    .send(Event::Beside(BesideUpdate::Failed { error }))
            }
        }
    }

    /// Cancels the load of a model beside the main one, if there is one.
    pub(super) fn cancel_beside(&mut self) -> Result<(), Disconnected> {
        match self.beside.take() {
            Some(_) => self.events.send(Event::Beside(BesideUpdate::Cancelled)),
            None => Ok(()),
        }
    }

    /// Puts the model that was loaded beside the main one in its place, unless something is being
    /// written, and reports if it could not be loaded.
    pub(super) fn follow_beside(&mut self) -> Result<(), Disconnected> {
        let Some(beside) = &mut self.beside else {
            return Ok(());
        };
        if let Some(end) = beside.update() {
            self.beside = None;
            return self.events.send(Event::Beside(match end {
                BesideEnd::Failed { error } => BesideUpdate::Failed { error },
                BesideEnd::Cancelled => BesideUpdate::Cancelled,
            }));
        }
        if self.has_work() {
            return Ok(());
        }
        let Some(model) = self.beside.as_mut().and_then(Beside::take_loaded) else {
            return Ok(());
        };
        self.beside = None;
        let loaded = self.use_main(*model);
        self.events.send(Event::Beside(BesideUpdate::Loaded))?;
        self.events.send(loaded)
    }

    pub(super) fn load_second(&mut self, source: Option<&ModelSource>) -> Result<(), Disconnected> {
        self.stop_everything()?;
        let second = match source {
            Some(source) if self.sessions.main.is_some() => {
                let compute = self.compute()?;
                let loader = |progress: LoadProgress<'_>| (self.loader)(source, &compute, progress);
                let loading = |fraction| Event::SecondModelLoading { fraction };
                let cancel = &Request::CancelLoading;
                match loading::load(loader, loading, cancel, (&self.events, &mut self.incoming))? {
                    LoadOutcome::Loaded(model) => Ok(Some(*model)),
                    LoadOutcome::Failed(error) => Err(error),
                    LoadOutcome::Cancelled => {
                        return self.events.send(Event::SecondModelCancelled);
                    }
                }
            }
            Some(_) | None => Ok(None),
        };
        let second = match &mut self.sessions.main {
            Some(session) => second
                .and_then(|second| session.set_second(second))
                .map_err(|error| error.to_string()),
            None => Err(NO_MODEL.to_owned()),
        };
        self.events.send(Event::SecondModel(second))
    }

    /// Loads a model for panes. Texts pause meanwhile, and resume whatever the outcome.
    pub(super) fn load_pane_model(&mut self, source: ModelSource) -> Result<(), Disconnected> {
        let begun_at = Instant::now();
        let compute = self.compute()?;
        let loader = |progress: LoadProgress<'_>| (self.loader)(&source, &compute, progress);
        let loading = |fraction| Event::PaneModel {
            source: source.clone(),
            update: PaneModelUpdate::Loading { fraction },
        };
        let cancel = &Request::UnloadPaneModel(source.clone());
        let outcome = loading::load(loader, loading, cancel, (&self.events, &mut self.incoming))?;
        self.exclude_since(begun_at);
        let update = match outcome {
            LoadOutcome::Loaded(mut model) => {
                model.own_second = None;
                let loaded = PaneModelUpdate::Loaded {
                    info: model.info.clone(),
                    vocabulary: model.vocabulary.clone(),
                    chat: model.chat_support(),
                    recommended_sampling: model.recommended_sampling.clone(),
                    load_warning: model.load_warning.clone(),
                };
                self.stop_pane_model(&source)?;
                self.sessions.insert(source.clone(), Session::new(*model));
                self.sessions.share_prefix_cache(self.n_prefix_cache_bytes);
                loaded
            }
            LoadOutcome::Failed(error) => PaneModelUpdate::Failed {
                error: error.to_string(),
            },
            LoadOutcome::Cancelled => PaneModelUpdate::Cancelled,
        };
        self.events.send(Event::PaneModel { source, update })
    }

    /// Unloads the model of panes. A late request to cancel loading it does the same.
    pub(super) fn unload_pane_model(&mut self, source: ModelSource) -> Result<(), Disconnected> {
        self.stop_pane_model(&source)?;
        if self.sessions.remove(&source) {
            self.sessions.share_prefix_cache(self.n_prefix_cache_bytes);
        }
        let update = PaneModelUpdate::Unloaded;
        self.events.send(Event::PaneModel { source, update })
    }

    /// Stops everything that uses the model of panes.
    fn stop_pane_model(&mut self, source: &ModelSource) -> Result<(), Disconnected> {
        let session = self.sessions.of(Some(source));
        let ids = session.map(Session::ids).unwrap_or_default();
        let jobs = session.map(Session::job_ids).unwrap_or_default();
        ids.into_iter().try_for_each(|id| self.stop(id))?;
        jobs.into_iter().try_for_each(|id| self.stop_job(id))
    }

    /// Returns the device and settings for the next model. Opens the device on first use, and
    /// reports it if the CPU is used instead.
    pub(super) fn compute(&mut self) -> Result<Compute, Disconnected> {
        if let Some(compute) = &self.compute {
            return Ok(compute.clone());
        }
        let compute = Compute::choose(self.choice);
        if let Some(reason) = compute.device.fallback_reason() {
            self.events.send(Event::DeviceUnavailable {
                name: self.choice.device.name(),
                reason: reason.to_owned(),
            })?;
        }
        self.compute = Some(compute.clone());
        Ok(compute)
    }

    pub(super) fn unload(&mut self) -> Result<(), Disconnected> {
        self.cancel_beside()?;
        self.stop_everything()?;
        self.sessions.main = None;
        self.events.send(Event::ModelUnloaded)
    }
}
