//! Runs a loader that can be left while it works.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Event;
use super::inbox::{Gone, Inbox};
use super::thread::Outbox;
use crate::engine::{EngineError, LoadedModel};

/// Why a loader was left. It is thrown through the loader, which knows nothing of requests.
enum Left {
    Cancelled,
    Gone,
}

/// Runs the loader and tells how far it has come; nothing comes back where it was cancelled.
pub(super) fn load(
    loader: impl FnOnce(&mut dyn FnMut(f32)) -> Result<LoadedModel, EngineError>,
    outbox: &Outbox,
    inbox: &mut Inbox,
) -> Result<Option<Result<LoadedModel, EngineError>>, Gone> {
    let mut reported = f32::NEG_INFINITY;
    let mut tell = |fraction: f32| -> Result<(), Left> {
        if inbox.cancels_loading().map_err(|Gone| Left::Gone)? {
            return Err(Left::Cancelled);
        }
        if fraction - reported >= 0.01 {
            reported = fraction;
            let event = Event::ModelLoading { fraction };
            outbox.send(event).map_err(|Gone| Left::Gone)?;
        }
        Ok(())
    };
    let mut tell_or_leave = |fraction| {
        if let Err(left) = tell(fraction) {
            // No hook hears of it: this is no panic, only the way out of the middle of a loader.
            resume_unwind(Box::new(left));
        }
    };
    let work = || {
        tell_or_leave(0.0);
        loader(&mut tell_or_leave)
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(thrown) => match thrown.downcast::<Left>() {
            Ok(left) => match *left {
                Left::Cancelled => Ok(None),
                Left::Gone => Err(Gone),
            },
            Err(panic) => resume_unwind(panic),
        },
    }
}
