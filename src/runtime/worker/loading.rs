//! Runs a loader, reports its progress and cancels it on request.

use std::ops::ControlFlow;

use super::event_sender::{Disconnected, EventSender};
use super::incoming::IncomingRequests;
use super::{Event, Request};
use crate::engine::{EngineError, LoadProgress, LoadedModel};

/// How a load ended.
pub(super) enum LoadOutcome {
    Loaded(Box<LoadedModel>),
    Failed(EngineError),
    Cancelled,
}

/// Runs the loader and reports its progress in steps of 1 % or more, as events that `loading`
/// creates. Stops once the request to cancel arrives.
pub(super) fn load(
    loader: impl FnOnce(LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>,
    loading: impl Fn(f32) -> Event,
    cancel: &Request,
    (events, incoming): (&EventSender<Event>, &mut IncomingRequests),
) -> Result<LoadOutcome, Disconnected> {
    let mut reported = f32::NEG_INFINITY;
    let mut report = |fraction: f32| -> Result<ControlFlow<()>, Disconnected> {
        if incoming.take_cancellation(cancel)? {
            return Ok(ControlFlow::Break(()));
        }
        if fraction - reported >= 0.01 {
            reported = fraction;
            events.send(loading(fraction))?;
        }
        Ok(ControlFlow::Continue(()))
    };
    let mut connection = Ok(());
    let mut progress = |fraction| {
        report(fraction).unwrap_or_else(|disconnected| {
            connection = Err(disconnected);
            ControlFlow::Break(())
        })
    };
    let loaded = match progress(0.0) {
        ControlFlow::Continue(()) => loader(&mut progress),
        ControlFlow::Break(()) => Ok(None),
    };
    connection?;
    Ok(match loaded {
        Ok(Some(model)) => LoadOutcome::Loaded(Box::new(model)),
        Ok(None) => LoadOutcome::Cancelled,
        Err(error) => LoadOutcome::Failed(error),
    })
}
