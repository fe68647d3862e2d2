//! The engine thread's receiving end: requests that have arrived and wait to be served.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::Request;
use super::event_sender::Disconnected;

/// A request and the moment at which it was sent.
#[derive(Debug)]
pub(super) struct TimedRequest {
    pub request: Request,
    pub sent_at: Instant,
}

/// Receives requests. Those that arrive while another is being served are buffered.
pub(super) struct IncomingRequests {
    channel: Receiver<TimedRequest>,
    /// Requests taken from the channel but not served yet, oldest first. At most one of them asks
    /// to tokenize a prompt.
    waiting: VecDeque<TimedRequest>,
}

impl IncomingRequests {
    pub(super) const fn new(channel: Receiver<TimedRequest>) -> Self {
        Self {
            channel,
            waiting: VecDeque::new(),
        }
    }

    /// Returns the next request. Blocks until there is one.
    pub(super) fn recv(&mut self) -> Result<TimedRequest, Disconnected> {
        match self.try_recv()? {
            Some(request) => Ok(request),
            None => self.channel.recv().map_err(|_closed| Disconnected),
        }
    }

    /// Returns the next request, or `None` if none has arrived.
    pub(super) fn try_recv(&mut self) -> Result<Option<TimedRequest>, Disconnected> {
        self.buffer_arrived()?;
        Ok(self.waiting.pop_front())
    }

    /// Waits until a request arrives, but no longer than `timeout`.
    pub(super) fn wait(&mut self, timeout: Duration) -> Result<(), Disconnected> {
        if !self.waiting.is_empty() {
            return Ok(());
        }
        match self.channel.recv_timeout(timeout) {
            Ok(request) => self.buffer(request),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Disconnected),
        }
        Ok(())
    }

    /// Removes a waiting request that cancels the load in progress. Returns whether there was one.
    pub(super) fn take_cancellation(&mut self, cancel: &Request) -> Result<bool, Disconnected> {
        self.buffer_arrived()?;
        // All waiting requests are newer than the request to load that is being served.
        let cancels = |waiting: &TimedRequest| waiting.request == *cancel;
        let index = self.waiting.iter().position(cancels);
        Ok(index.and_then(|index| self.waiting.remove(index)).is_some())
    }

    /// Moves all requests that have arrived into the buffer.
    fn buffer_arrived(&mut self) -> Result<(), Disconnected> {
        loop {
            match self.channel.try_recv() {
                Ok(request) => self.buffer(request),
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err(Disconnected),
            }
        }
    }

    /// Appends a request. A new prompt to tokenize replaces a waiting one, so that fast typing does
    /// not pile up work.
    fn buffer(&mut self, request: TimedRequest) {
        let tokenizes =
            |request: &TimedRequest| matches!(request.request, Request::Tokenize { .. });
        if tokenizes(&request) {
            self.waiting.retain(|waiting| !tokenizes(waiting));
        }
        self.waiting.push_back(request);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Instant;

    use super::{IncomingRequests, TimedRequest};
    use crate::worker::Request;

    #[test]
    fn only_the_last_of_several_prompts_is_tokenized() {
        let (sender, receiver) = sync_channel(4);
        let mut incoming = IncomingRequests::new(receiver);
        let tokenize = |prompt: &str| Request::Tokenize {
            prompt: prompt.to_owned().into(),
            model: None,
        };
        let sent = [
            tokenize("O"),
            Request::StopAll,
            tokenize("On"),
            tokenize("Once"),
        ];
        for request in sent {
            let sent_at = Instant::now();
            sender.send(TimedRequest { request, sent_at }).unwrap();
        }
        let served = std::iter::from_fn(|| incoming.try_recv().unwrap());
        let served: Vec<Request> = served.map(|timed| timed.request).collect();
        assert_eq!(served, [Request::StopAll, tokenize("Once")]);
    }

    #[test]
    fn a_cancellation_among_other_waiting_requests_is_found() {
        let (sender, receiver) = sync_channel(4);
        let mut incoming = IncomingRequests::new(receiver);
        for request in [
            Request::UnloadModel,
            Request::CancelLoading,
            Request::StopAll,
        ] {
            let sent_at = Instant::now();
            sender.send(TimedRequest { request, sent_at }).unwrap();
        }
        assert_eq!(
            incoming.try_recv().unwrap().unwrap().request,
            Request::UnloadModel
        );
        let cancel = Request::CancelLoading;
        assert!(incoming.take_cancellation(&cancel).unwrap());
        assert!(!incoming.take_cancellation(&cancel).unwrap());
        assert_eq!(
            incoming.try_recv().unwrap().unwrap().request,
            Request::StopAll
        );
    }
}
