//! Requests for background work, which the main model does while no pane is busy.

use super::{EngineThread, NO_MODEL};
use crate::decoding::ChainConfig;
use crate::engine::{Compute, EngineError, LoadProgress, LoadedModel};
use crate::generation::{
    CachePlan, CacheUpdate, FitPlan, FitUpdate, FuturesPlan, FuturesUpdate, GenerationId,
    ModelSource, PromptText, SweepPlan, SweepUpdate,
};
use crate::worker::Event;
use crate::worker::event_sender::Disconnected;

impl<L> EngineThread<L>
where
    L: FnMut(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>,
{
    /// Runs one forward pass of the background work that is next.
    pub(super) fn advance_background(&mut self) -> Result<(), Disconnected> {
        let Some(session) = &mut self.sessions.main else {
            return Ok(());
        };
        let event = if session.is_drawing_futures() {
            let update = session.advance_futures();
            update.map(|(id, update)| Event::Futures { id, update })
        } else if session.is_fitting() {
            let update = session.advance_fit();
            update.map(|(id, update)| Event::Fit { id, update })
        } else if session.is_measuring_cache() {
            let update = session.advance_cache();
            update.map(|(id, update)| Event::Cache { id, update })
        } else if let Some((id, update)) = session.advance_comparison() {
            Some(Event::Comparison { id, update })
        } else {
            let update = session.advance_sweep();
            update.map(|(id, update)| Event::Sweep { id, update })
        };
        event.map_or(Ok(()), |event| self.events.send(event))
    }

    pub(super) fn draw_futures(
        &mut self,
        id: GenerationId,
        plan: FuturesPlan,
    ) -> Result<(), Disconnected> {
        let valid = plan.config.chain.validate().map_err(|e| e.to_string());
        let queued = valid.and_then(|()| match &mut self.sessions.main {
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

    pub(super) fn stop_futures(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.sessions.main.as_mut();
        if session.is_some_and(|session| session.stop_futures(id)) {
            let update = FuturesUpdate::Stopped;
            self.events.send(Event::Futures { id, update })?;
        }
        Ok(())
    }

    pub(super) fn fit(&mut self, id: GenerationId, plan: FitPlan) -> Result<(), Disconnected> {
        let queued = match (invalid_chain(&plan.chains), &mut self.sessions.main) {
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

    pub(super) fn stop_fit(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.sessions.main.as_mut();
        if session.is_some_and(|session| session.stop_fit(id)) {
            let update = FitUpdate::Stopped;
            self.events.send(Event::Fit { id, update })?;
        }
        Ok(())
    }

    pub(super) fn measure_cache(
        &mut self,
        id: GenerationId,
        plan: CachePlan,
    ) -> Result<(), Disconnected> {
        let queued = match &mut self.sessions.main {
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

    pub(super) fn stop_cache(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.sessions.main.as_mut();
        if session.is_some_and(|session| session.stop_cache(id)) {
            let update = CacheUpdate::Stopped;
            self.events.send(Event::Cache { id, update })?;
        }
        Ok(())
    }

    pub(super) fn sweep(
        &mut self,
        id: GenerationId,
        prompts: &[PromptText],
        plan: SweepPlan,
    ) -> Result<(), Disconnected> {
        let queued = match (invalid_chain(&plan.cells), &mut self.sessions.main) {
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

    pub(super) fn stop_sweep(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.sessions.main.as_mut();
        if session.is_some_and(|session| session.stop_sweep(id)) {
            let update = SweepUpdate::Stopped;
            self.events.send(Event::Sweep { id, update })?;
        }
        Ok(())
    }
}

/// Returns why one of these chains can't run, or `None` if all can.
fn invalid_chain(chains: &[ChainConfig]) -> Option<String> {
    let invalid = |chain: &ChainConfig| chain.validate().err().map(|e| e.to_string());
    chains.iter().find_map(invalid)
}
