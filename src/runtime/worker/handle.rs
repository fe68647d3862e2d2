//! The window's handle to the engine thread: sends requests, receives events, ends the thread.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::event_sender::EventSender;
use super::incoming::TimedRequest;
use super::request_queue::RequestQueue;
use super::thread::EngineThread;
use super::{Event, ModelSource, Request};
use crate::engine::{Compute, EngineError, LoadProgress, LoadedModel};
use crate::generation::formatting::io_words;

/// How many events the channel holds before the engine blocks. A step with its evidence takes a few
/// kilobytes.
const N_EVENTS: usize = 512;

/// How many requests the channel holds. The engine empties it between forward passes.
const N_REQUESTS: usize = 256;

/// A handle to the engine thread. Dropping it ends the thread after the current forward pass.
#[derive(Debug)]
pub struct Worker {
    requests: RequestQueue<TimedRequest>,
    /// `None` only while the worker is being dropped.
    events: Option<Receiver<Event>>,
    /// `None` if the thread could not be started.
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the engine thread, without a model. It calls `wake` after each event.
    pub fn start(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self::with_compute_loader(super::open_on, wake)
    }

    /// Like [`Self::start`], but with a custom loader. The loader reports its progress through the
    /// callback, and returns `Ok(None)` if the callback cancels the load.
    pub fn with_loader<L>(loader: L, wake: impl Fn() + Send + Sync + 'static) -> Self
    where
        L: FnMut(&ModelSource, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
            + Send
            + 'static,
    {
        let loader = Mutex::new(loader);
        let loader = move |source: &ModelSource, _: &Compute, progress: LoadProgress<'_>| {
            let mut loader = loader.lock().unwrap_or_else(PoisonError::into_inner);
            loader(source, progress)
        };
        Self::with_compute_loader(loader, wake)
    }

    fn with_compute_loader<L>(loader: L, wake: impl Fn() + Send + Sync + 'static) -> Self
    where
        L: Fn(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
            + Send
            + Sync
            + 'static,
    {
        let (requests, incoming) = RequestQueue::new(N_REQUESTS);
        let (sender, events) = sync_channel(N_EVENTS);
        let sender = EventSender::new(sender, wake);
        let thread_sender = sender.clone();
        let spawned = thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || EngineThread::new(loader, incoming, thread_sender).run());
        let thread = match spawned {
            Ok(thread) => Some(thread),
            Err(error) => {
                let message = format!(
                    "the engine thread could not be started: {}",
                    io_words(&error)
                );
                sender.send_first(Event::Panicked { message });
                None
            }
        };
        Self {
            requests,
            events: Some(events),
            thread,
        }
    }

    /// Sends a request without blocking. Requests are served in order. The step times of a
    /// generation count from this call.
    pub fn send(&mut self, request: Request) {
        let sent_at = Instant::now();
        self.requests.send(TimedRequest { request, sent_at });
    }

    /// Returns the events that have arrived, at most `n_max` of them.
    pub fn drain(&mut self, n_max: usize) -> Vec<Event> {
        self.requests.flush();
        let events = self.events.iter().flat_map(Receiver::try_iter);
        events.take(n_max).collect()
    }

    /// Waits for the next event. Returns `None` if the thread has ended.
    pub fn wait(&mut self) -> Option<Event> {
        self.requests.flush();
        self.events.as_ref()?.recv().ok()
    }

    /// Waits for the next event, but at most this long. Returns `None` if the thread has ended, and
    /// `Some(None)` if no event has arrived.
    pub fn wait_at_most(&mut self, limit: Duration) -> Option<Option<Event>> {
        self.requests.flush();
        match self.events.as_ref()?.recv_timeout(limit) {
            Ok(event) => Some(Some(event)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing both channels first unblocks a thread that waits on either of them.
        self.requests.close();
        self.events = None;
        if let Some(thread) = self.thread.take() {
            // A panic has already been reported as an event.
            thread.join().ok();
        }
    }
}
