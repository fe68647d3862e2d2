//! The handle to the threads of one server: sends requests, receives events, ends the threads.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::event_sender::EventSender;
use super::request_queue::RequestQueue;
use super::server_thread::ServerThread;
use super::{ServerEvent, ServerRequest};
use crate::generation::formatting::io_words;
use crate::servers::ServerConfig;

/// How many events the channel holds before the threads block.
const N_EVENTS: usize = 512;

/// How many requests the channel holds.
const N_REQUESTS: usize = 64;

/// A handle to the threads of one server: one for the requests, one for each text. Dropping it
/// closes all connections.
#[derive(Debug)]
pub struct ServerWorker {
    requests: RequestQueue<ServerRequest>,
    /// `None` only while the handle is being dropped.
    events: Option<Receiver<ServerEvent>>,
    /// `None` if the thread could not be started.
    thread: Option<JoinHandle<()>>,
}

impl ServerWorker {
    /// Starts the thread, which contacts the server only once it gets a request. It calls `wake`
    /// after each event.
    pub fn start(config: ServerConfig, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (requests, incoming) = RequestQueue::new(N_REQUESTS);
        let (sender, events) = sync_channel(N_EVENTS);
        let sender = EventSender::new(sender, wake);
        let thread_sender = sender.clone();
        let spawned = thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || ServerThread::new(config, incoming, thread_sender).run());
        let thread = match spawned {
            Ok(thread) => Some(thread),
            Err(error) => {
                let message = format!(
                    "the server’s thread could not be started: {}",
                    io_words(&error)
                );
                sender.send_first(ServerEvent::Panicked { message });
                None
            }
        };
        Self {
            requests,
            events: Some(events),
            thread,
        }
    }

    /// Sends a request without blocking.
    pub fn send(&mut self, request: ServerRequest) {
        self.requests.send(request);
    }

    /// Returns the events that have arrived, at most `n_max` of them.
    pub fn drain(&mut self, n_max: usize) -> Vec<ServerEvent> {
        self.requests.flush();
        let events = self.events.iter().flat_map(Receiver::try_iter);
        events.take(n_max).collect()
    }

    /// Waits for the next event, but at most this long. Returns `None` if the thread has ended, and
    /// `Some(None)` if no event has arrived.
    pub fn wait_at_most(&mut self, limit: Duration) -> Option<Option<ServerEvent>> {
        self.requests.flush();
        match self.events.as_ref()?.recv_timeout(limit) {
            Ok(event) => Some(Some(event)),
            Err(RecvTimeoutError::Timeout) => Some(None),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}

impl Drop for ServerWorker {
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
