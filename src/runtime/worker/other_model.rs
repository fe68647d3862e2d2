//! Comparing the loaded model with another model, or with itself computed in another way.

use super::event_sender::Disconnected;
use super::loading::{self, LoadOutcome};
use super::thread::{EngineThread, NO_MODEL};
use super::{CacheType, Event, InputBits, ModelSource, Request};
use crate::engine::{Compute, EngineError, LoadProgress, LoadedModel};
use crate::generation::{ComparisonPlan, ComparisonUpdate, GenerationId};

/// A model to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherModel {
    pub source: ModelSource,
    pub way: OtherWay,
}

/// How the other model computes on the CPU, if that differs from the user's choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherWay {
    /// Like the loaded model.
    #[default]
    Same,
    /// In f32 over its dequantized weights, with an f32 cache.
    F32,
    /// With inputs rounded to this many bits.
    Inputs(InputBits),
    /// With the KV cache in this format.
    Cache(CacheType),
}

impl OtherWay {
    fn of(self, base: Compute) -> Compute {
        match self {
            Self::Same => base,
            Self::F32 => base.in_f32(),
            Self::Inputs(inputs) => Compute { inputs, ..base },
            Self::Cache(cache) => Compute { cache, ..base },
        }
    }
}

impl<L> EngineThread<L>
where
    L: FnMut(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>,
{
    /// Loads the other model and queues the comparison.
    pub(super) fn compare_models(
        &mut self,
        id: GenerationId,
        plan: ComparisonPlan,
        other: &OtherModel,
    ) -> Result<(), Disconnected> {
        let queued = if self.sessions.main.is_some() {
            self.load_other(id, other)?
        } else {
            Err(NO_MODEL.to_owned())
        };
        let queued = queued.and_then(|loaded| match (loaded, &mut self.sessions.main) {
            (Some(model), Some(session)) => session
                .compare_models(id, plan, model)
                .map_err(|error| error.to_string())
                .map(|()| true),
            _ => Ok(false),
        });
        let update = match queued {
            Ok(true) => return Ok(()),
            Ok(false) => ComparisonUpdate::Stopped,
            Err(error) => ComparisonUpdate::Failed { error },
        };
        self.events.send(Event::Comparison { id, update })
    }

    /// Returns the model, `None` if the load was cancelled, or why it failed.
    fn load_other(
        &mut self,
        id: GenerationId,
        other: &OtherModel,
    ) -> Result<Result<Option<LoadedModel>, String>, Disconnected> {
        let compute = other.way.of(self.compute()?);
        let loader = |progress: LoadProgress<'_>| (self.loader)(&other.source, &compute, progress);
        let loading = |fraction| {
            let update = ComparisonUpdate::Loading { fraction };
            Event::Comparison { id, update }
        };
        let cancel = &Request::CancelLoading;
        let outcome = loading::load(loader, loading, cancel, (&self.events, &mut self.incoming))?;
        Ok(match outcome {
            LoadOutcome::Loaded(model) => Ok(Some(*model)),
            LoadOutcome::Cancelled => Ok(None),
            LoadOutcome::Failed(error) => Err(error.to_string()),
        })
    }

    /// Stops a comparison.
    pub(super) fn stop_comparison(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.sessions.main.as_mut();
        if session.is_some_and(|session| session.stop_comparison(id)) {
            let update = ComparisonUpdate::Stopped;
            self.events.send(Event::Comparison { id, update })?;
        }
        Ok(())
    }
}
