//! The requests that have come and are not served yet, in their order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Instant;

use super::Request;

/// A request, and when it was made.
#[derive(Debug)]
pub(super) struct Asked {
    pub request: Request,
    pub asked_at: Instant,
}

/// Nobody listens any more: the thread ends.
#[derive(Debug)]
pub(super) struct Gone;

/// Where requests come in. What was looked at while something else could not be left alone waits here.
pub(super) struct Inbox {
    requests: Receiver<Asked>,
    waiting: VecDeque<Asked>,
}

impl Inbox {
    pub const fn new(requests: Receiver<Asked>) -> Self {
        Self {
            requests,
            waiting: VecDeque::new(),
        }
    }

    /// The next request; waits for it.
    pub fn next(&mut self) -> Result<Asked, Gone> {
        match self.waiting.pop_front() {
            Some(asked) => Ok(asked),
            None => self.requests.recv().map_err(|_closed| Gone),
        }
    }

    /// The next request, if one is there.
    pub fn poll(&mut self) -> Result<Option<Asked>, Gone> {
        match self.waiting.pop_front() {
            Some(asked) => Ok(Some(asked)),
            None => self.receive(),
        }
    }

    /// Whether the loading that is under way was cancelled. What else has come waits.
    pub fn cancels_loading(&mut self) -> Result<bool, Gone> {
        while let Some(asked) = self.receive()? {
            if asked.request == Request::CancelLoading {
                return Ok(true);
            }
            self.waiting.push_back(asked);
        }
        Ok(false)
    }

    fn receive(&self) -> Result<Option<Asked>, Gone> {
        match self.requests.try_recv() {
            Ok(asked) => Ok(Some(asked)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Gone),
        }
    }
}
