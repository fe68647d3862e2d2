//! Loads and frees the models of the engine thread.

use super::{EngineThread, NO_MODEL};
use crate::engine::{Compute, EngineError, LoadProgress, LoadedModel, Session};
use crate::worker::event_sender::Disconnected;
use crate::worker::loading::{self, LoadOutcome};
use crate::worker::{Event, ModelSource};

impl<L> EngineThread<L>
where
    L: FnMut(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>,
{
    pub(super) fn load(&mut self, source: &ModelSource) -> Result<(), Disconnected> {
        self.stop_everything()?;
        let compute = self.compute()?;
        let loader = |progress: LoadProgress<'_>| (self.loader)(source, &compute, progress);
        let loading = |fraction| Event::ModelLoading { fraction };
        let outcome = loading::load(loader, loading, &self.events, &mut self.incoming)?;
        let event = match outcome {
            LoadOutcome::Loaded(model) => {
                let loaded = Event::ModelLoaded {
                    info: model.info.clone(),
                    vocabulary: model.vocabulary.clone(),
                    chat: model.chat_support(),
                    recommended_sampling: model.recommended_sampling.clone(),
                    load_warning: model.load_warning.clone(),
                };
                let mut session = Session::new(*model);
                session.set_prefix_cache_limit(self.n_prefix_cache_bytes);
                self.session = Some(session);
                loaded
            }
            LoadOutcome::Failed(error) => Event::ModelFailed {
                error: error.to_string(),
            },
            LoadOutcome::Cancelled => Event::LoadingCancelled,
        };
        self.events.send(event)
    }

    pub(super) fn load_second(&mut self, source: Option<&ModelSource>) -> Result<(), Disconnected> {
        self.stop_everything()?;
        let second = match source {
            Some(source) if self.session.is_some() => {
                let compute = self.compute()?;
                let loader = |progress: LoadProgress<'_>| (self.loader)(source, &compute, progress);
                let loading = |fraction| Event::SecondModelLoading { fraction };
                match loading::load(loader, loading, &self.events, &mut self.incoming)? {
                    LoadOutcome::Loaded(model) => Ok(Some(*model)),
                    LoadOutcome::Failed(error) => Err(error),
                    LoadOutcome::Cancelled => {
                        return self.events.send(Event::SecondModelCancelled);
                    }
                }
            }
            _ => Ok(None),
        };
        let second = match &mut self.session {
            Some(session) => second
                .and_then(|second| session.set_second(second))
                .map_err(|error| error.to_string()),
            None => Err(NO_MODEL.to_owned()),
        };
        self.events.send(Event::SecondModel(second))
    }

    /// The device and settings for the next model. Opens the device on first use, and reports it if
    /// the CPU is used instead.
    pub(in crate::worker) fn compute(&mut self) -> Result<Compute, Disconnected> {
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
        self.stop_everything()?;
        self.session = None;
        self.events.send(Event::ModelUnloaded)
    }
}
