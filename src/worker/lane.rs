//! The window's way to a thread: a channel that is never waited for, and what it has no room for yet.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// The way to a thread.
#[derive(Debug)]
pub(super) struct Lane<T> {
    requests: Option<SyncSender<T>>,
    unsent: VecDeque<T>,
}

impl<T> Lane<T> {
    /// A lane in whose channel so many requests can wait, and where they arrive.
    pub fn new(n_requests: usize) -> (Self, Receiver<T>) {
        let (sender, requests) = sync_channel(n_requests);
        let lane = Self {
            requests: Some(sender),
            unsent: VecDeque::new(),
        };
        (lane, requests)
    }

    /// Sends a request after those before it. Never waits.
    pub fn send(&mut self, request: T) {
        self.unsent.push_back(request);
        self.flush();
    }

    /// Sends as much as there is room for; the rest goes with the next call.
    pub fn flush(&mut self) {
        while let (Some(requests), Some(request)) = (&self.requests, self.unsent.pop_front()) {
            if let Err(TrySendError::Full(request)) = requests.try_send(request) {
                self.unsent.push_front(request);
                return;
            }
        }
    }

    /// Lets the thread know that nothing more will come.
    pub fn close(&mut self) {
        self.requests = None;
    }
}
