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
        match self.poll()? {
            Some(asked) => Ok(asked),
            None => self.requests.recv().map_err(|_closed| Gone),
        }
    }

    /// The next request, if one is there.
    pub fn poll(&mut self) -> Result<Option<Asked>, Gone> {
        while let Some(asked) = self.receive()? {
            self.keep(asked);
        }
        Ok(self.waiting.pop_front())
    }

    /// Whether the loading that is under way was cancelled. What else has come waits.
    pub fn cancels_loading(&mut self) -> Result<bool, Gone> {
        while let Some(asked) = self.receive()? {
            self.keep(asked);
        }
        // All that waits came after the request to load that is being served.
        let cancels = |asked: &Asked| asked.request == Request::CancelLoading;
        let found = self.waiting.iter().position(cancels);
        Ok(found.and_then(|at| self.waiting.remove(at)).is_some())
    }

    /// Of prompts to be split into tokens only the last one is wanted: what follows does not wait for
    /// each letter that was typed.
    fn keep(&mut self, asked: Asked) {
        let splits = |asked: &Asked| matches!(asked.request, Request::Tokenize { .. });
        if splits(&asked) {
            self.waiting.retain(|waiting| !splits(waiting));
        }
        self.waiting.push_back(asked);
    }

    fn receive(&self) -> Result<Option<Asked>, Gone> {
        match self.requests.try_recv() {
            Ok(asked) => Ok(Some(asked)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Instant;

    use super::{Asked, Inbox};
    use crate::worker::Request;

    #[test]
    fn only_the_last_of_several_prompts_is_split() {
        let (sender, receiver) = sync_channel(4);
        let mut inbox = Inbox::new(receiver);
        let split = |prompt: &str| Request::Tokenize {
            prompt: prompt.to_owned().into(),
        };
        let sent = [split("O"), Request::StopAll, split("On"), split("Once")];
        for request in sent {
            let asked_at = Instant::now();
            sender.send(Asked { request, asked_at }).unwrap();
        }
        let served = std::iter::from_fn(|| inbox.poll().unwrap());
        let served: Vec<Request> = served.map(|asked| asked.request).collect();
        assert_eq!(served, [Request::StopAll, split("Once")]);
    }

    #[test]
    fn a_cancel_that_came_together_with_the_request_to_load_is_found() {
        let (sender, receiver) = sync_channel(4);
        let mut inbox = Inbox::new(receiver);
        for request in [
            Request::UnloadModel,
            Request::CancelLoading,
            Request::StopAll,
        ] {
            let asked_at = Instant::now();
            sender.send(Asked { request, asked_at }).unwrap();
        }
        assert_eq!(inbox.poll().unwrap().unwrap().request, Request::UnloadModel);
        assert!(inbox.cancels_loading().unwrap());
        assert!(!inbox.cancels_loading().unwrap());
        assert_eq!(inbox.poll().unwrap().unwrap().request, Request::StopAll);
    }
}
