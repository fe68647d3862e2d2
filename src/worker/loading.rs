//! Runs a loader that can be called off while it works.

use std::ops::ControlFlow;

use super::Event;
use super::inbox::{Gone, Inbox};
use super::thread::Outbox;
use crate::engine::{EngineError, LoadProgress, LoadedModel};

/// Runs the loader and tells how far it has come; nothing comes back where it was called off.
pub(super) fn load(
    loader: impl FnOnce(LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>,
    outbox: &Outbox,
    inbox: &mut Inbox,
) -> Result<Option<Result<LoadedModel, EngineError>>, Gone> {
    let mut reported = f32::NEG_INFINITY;
    let mut tell = |fraction: f32| -> Result<ControlFlow<()>, Gone> {
        if inbox.cancels_loading()? {
            return Ok(ControlFlow::Break(()));
        }
        if fraction - reported >= 0.01 {
            reported = fraction;
            outbox.send(Event::ModelLoading { fraction })?;
        }
        Ok(ControlFlow::Continue(()))
    };
    let mut listened_to = Ok(());
    let mut progress = |fraction| {
        tell(fraction).unwrap_or_else(|gone| {
            listened_to = Err(gone);
            ControlFlow::Break(())
        })
    };
    let loaded = match progress(0.0) {
        ControlFlow::Continue(()) => loader(&mut progress),
        ControlFlow::Break(()) => Ok(None),
    };
    listened_to?;
    Ok(loaded.transpose())
}
