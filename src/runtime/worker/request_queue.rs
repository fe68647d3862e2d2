//! A non-blocking request queue that buffers while the channel is full.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// The sending end of a channel to a thread. Sending never blocks and loses nothing.
#[derive(Debug)]
pub(super) struct RequestQueue<T> {
    /// `None` once the queue is closed.
    channel: Option<SyncSender<T>>,
    /// Requests that the channel had no room for, oldest first.
    unsent: VecDeque<T>,
}

impl<T> RequestQueue<T> {
    /// Creates a queue whose channel holds up to `n_requests`. Also returns the receiving end of
    /// that channel.
    pub(super) fn new(n_requests: usize) -> (Self, Receiver<T>) {
        let (sender, receiver) = sync_channel(n_requests);
        let queue = Self {
            channel: Some(sender),
            unsent: VecDeque::new(),
        };
        (queue, receiver)
    }

    /// Sends a request, or buffers it if the channel is full. Requests keep their order.
    pub(super) fn send(&mut self, request: T) {
        self.unsent.push_back(request);
        self.flush();
    }

    /// Sends buffered requests until the channel is full.
    pub(super) fn flush(&mut self) {
        while let (Some(channel), Some(request)) = (&self.channel, self.unsent.pop_front()) {
            if let Err(TrySendError::Full(request)) = channel.try_send(request) {
                self.unsent.push_front(request);
                return;
            }
        }
    }

    /// Closes the channel, which tells the thread to end.
    pub(super) fn close(&mut self) {
        self.channel = None;
    }
}
