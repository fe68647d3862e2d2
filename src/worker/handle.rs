//! The window's end of the border: sends requests, takes events, ends the thread.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::inbox::Asked;
use super::lane::Lane;
use super::thread::{Engine, Outbox};
use super::{Event, ModelSource, Request};
use crate::engine::{Compute, EngineError, LoadProgress, LoadedModel};

/// How many events wait before the engine does. A step with its evidence is a few kilobytes.
const N_EVENTS: usize = 512;

/// How many requests wait in the channel. The engine takes them out between two forward passes.
const N_REQUESTS: usize = 256;

/// The engine's thread. Dropped, it ends the thread after the pass that is running.
#[derive(Debug)]
pub struct Worker {
    requests: Lane<Asked>,
    events: Option<Receiver<Event>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the engine's thread, with no model yet. It calls `wake` after each event.
    pub fn start(wake: impl Fn() + Send + 'static) -> Self {
        Self::with_compute_loader(super::open_on, wake)
    }

    /// The same with another way to come by a model. `loader` is given a place to report the part
    /// that is done, which also says whether to go on; it gives no model where it was called off.
    pub fn with_loader<L>(mut loader: L, wake: impl Fn() + Send + 'static) -> Self
    where
        L: FnMut(&ModelSource, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
            + Send
            + 'static,
    {
        let loader = move |source: &ModelSource, _: &Compute, progress: LoadProgress<'_>| {
            loader(source, progress)
        };
        Self::with_compute_loader(loader, wake)
    }

    fn with_compute_loader<L>(loader: L, wake: impl Fn() + Send + 'static) -> Self
    where
        L: FnMut(
                &ModelSource,
                &Compute,
                LoadProgress<'_>,
            ) -> Result<Option<LoadedModel>, EngineError>
            + Send
            + 'static,
    {
        let (requests, asked) = Lane::new(N_REQUESTS);
        let (reports, events) = sync_channel(N_EVENTS);
        let outbox = Outbox::new(reports.clone(), wake);
        let spawned = thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || Engine::new(loader, asked, outbox).run());
        let thread = match spawned {
            Ok(thread) => Some(thread),
            Err(error) => {
                let message = format!("the engine's thread could not be started: {error}");
                // The channel is new and has room.
                reports.try_send(Event::Panicked { message }).ok();
                None
            }
        };
        Self {
            requests,
            events: Some(events),
            thread,
        }
    }

    /// Asks for something. Never waits; requests are served in the order in which they were sent.
    /// The times of a generation count from here.
    pub fn send(&mut self, request: Request) {
        let asked_at = Instant::now();
        self.requests.send(Asked { request, asked_at });
    }

    /// The events that have come, at most `n_max` of them.
    pub fn drain(&mut self, n_max: usize) -> Vec<Event> {
        self.requests.flush();
        let events = self.events.iter().flat_map(Receiver::try_iter);
        events.take(n_max).collect()
    }

    /// Waits for the next event; nothing when the thread has ended.
    pub fn wait(&mut self) -> Option<Event> {
        self.requests.flush();
        self.events.as_ref()?.recv().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both channels are closed first: a thread that waits at either of them goes on and ends.
        self.requests.close();
        self.events = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been reported as an event.
            thread.join().ok();
        }
    }
}
