//! The threads that connect the window to its servers.

use std::thread;

use crate::generation::ServedModel;
use crate::worker::{ServerConfig, ServerEvent, ServerRequest, ServerWorker};

/// The threads for all servers that were contacted.
#[derive(Debug, Default)]
pub(super) struct ServerWorkers {
    workers: Vec<(ServedModel, ServerWorker)>,
}

impl ServerWorkers {
    /// Starts the threads for a server. They call `wake` after each event.
    pub(super) fn start(
        &mut self,
        served: ServedModel,
        config: ServerConfig,
        wake: impl Fn() + Send + Sync + 'static,
    ) {
        self.end(&served);
        let worker = ServerWorker::start(config, wake);
        self.workers.push((served, worker));
    }

    /// Sends a request to a server whose threads were started.
    pub(super) fn send(&mut self, served: &ServedModel, request: ServerRequest) {
        let mut workers = self.workers.iter_mut();
        if let Some((_, worker)) = workers.find(|(other, _)| other == served) {
            worker.send(request);
        }
    }

    /// Ends the threads for a server without waiting for them.
    pub(super) fn end(&mut self, served: &ServedModel) {
        let Some(at) = self.workers.iter().position(|(other, _)| other == served) else {
            return;
        };
        let (_, old) = self.workers.swap_remove(at);
        let cleanup = thread::Builder::new().name("server-end".to_owned());
        // If no thread can be started, the old ones are joined here.
        cleanup.spawn(move || drop(old)).ok();
    }

    /// Returns the events that the threads have reported, at most `n_max` per server, and whether
    /// more may be waiting.
    pub(super) fn drain(&mut self, n_max: usize) -> (Vec<(ServedModel, ServerEvent)>, bool) {
        let (mut events, mut any_left) = (Vec::new(), false);
        for (served, worker) in &mut self.workers {
            let drained = worker.drain(n_max);
            any_left |= drained.len() == n_max;
            events.extend(drained.into_iter().map(|event| (served.clone(), event)));
        }
        (events, any_left)
    }
}
