//! Loads a model on its own thread while another one stays in use.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use super::event_sender::EventSender;
use super::loading::LoadOutcome;
use super::{Event, ModelSource};
use crate::engine::{Compute, EngineError, LoadProgress, LoadedModel};

/// What happened to the model that is loaded while another one stays in use.
#[derive(Debug, Clone, PartialEq)]
pub enum BesideUpdate {
    Loading {
        /// The fraction loaded so far, between 0 and 1.
        fraction: f32,
    },
    /// It takes the place of the model in use: the next event is [`Event::ModelLoaded`].
    Loaded,
    /// It could not be loaded.
    Failed {
        /// Can be shown to the user.
        error: String,
    },
    /// Loading was cancelled.
    Cancelled,
}

/// A load in progress. Dropping it cancels the load, and does not wait for its thread.
pub(super) struct Beside {
    cancelled: Arc<AtomicBool>,
    outcome: Receiver<LoadOutcome>,
    /// The model, once it has been loaded.
    loaded: Option<Box<LoadedModel>>,
}

/// How a load went that has ended without a model.
pub(super) enum BesideEnd {
    Failed { error: String },
    Cancelled,
}

impl Beside {
    /// Starts to load a model. Its progress is sent as events.
    pub(super) fn start<L>(
        loader: Arc<L>,
        source: ModelSource,
        compute: Compute,
        events: EventSender<Event>,
    ) -> io::Result<Self>
    where
        L: Fn(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
            + Send
            + Sync
            + 'static,
    {
        let cancelled = Arc::new(AtomicBool::new(false));
        let is_cancelled = Arc::clone(&cancelled);
        let (sender, outcome) = sync_channel(1);
        let work = move || {
            let mut reported = f32::NEG_INFINITY;
            let mut progress = |fraction: f32| {
                let loading = BesideUpdate::Loading { fraction };
                let is_due = fraction - reported >= 0.01;
                if is_cancelled.load(Ordering::Relaxed)
                    || is_due && events.send(Event::Beside(loading)).is_err()
                {
                    return ControlFlow::Break(());
                }
                if is_due {
                    reported = fraction;
                }
                ControlFlow::Continue(())
            };
            let loaded = match progress(0.0) {
                ControlFlow::Continue(()) => loader(&source, &compute, &mut progress),
                ControlFlow::Break(()) => Ok(None),
            };
            let outcome = match loaded {
                Ok(Some(model)) => LoadOutcome::Loaded(Box::new(model)),
                Ok(None) => LoadOutcome::Cancelled,
                Err(error) => LoadOutcome::Failed(error),
            };
            // If nobody waits for it any more, the model is dropped here.
            sender.send(outcome).ok();
        };
        thread::Builder::new().name("load".to_owned()).spawn(work)?;
        Ok(Self {
            cancelled,
            outcome,
            loaded: None,
        })
    }

    /// Notes whether the load has ended. Returns how, if it has ended without a model.
    pub(super) fn update(&mut self) -> Option<BesideEnd> {
        if self.loaded.is_some() {
            return None;
        }
        match self.outcome.try_recv() {
            Ok(LoadOutcome::Loaded(model)) => {
                self.loaded = Some(model);
                None
            }
            Ok(LoadOutcome::Failed(error)) => Some(BesideEnd::Failed {
                error: error.to_string(),
            }),
            Ok(LoadOutcome::Cancelled) => Some(BesideEnd::Cancelled),
            Err(TryRecvError::Empty) => None,
            // The thread has panicked.
            Err(TryRecvError::Disconnected) => Some(BesideEnd::Failed {
                error: "reading it stopped unexpectedly".to_owned(),
            }),
        }
    }

    /// Returns the model, if it has been loaded.
    pub(super) const fn take_loaded(&mut self) -> Option<Box<LoadedModel>> {
        self.loaded.take()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
