//! A request on its way from the HTTP thread to whoever owns the worker, and the way back.

use std::sync::Arc;

use hyper::body::Bytes;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::client::Client;
use super::limits::MAX_UNREAD_PARTS;
use crate::interop::api::{ApiError, ApiModel, TextRequest};

/// A request that was read and waits to be answered.
pub(super) struct Asked {
    pub client: Client,
    pub request: TextRequest,
    /// The model for which it was read.
    pub model: Arc<ApiModel>,
    pub reply: ReplySender,
}

/// What the HTTP thread gets for a request.
#[derive(Debug)]
pub(super) enum Reply {
    /// The whole response.
    Whole(Result<Value, ApiError>),
    /// A stream begins.
    Begin,
    /// A part of the stream. The stream ends when the sender is dropped.
    Part(Bytes),
}

/// Sends the answer to one request. It counts as open until this is dropped.
pub(super) struct ReplySender {
    sender: Sender<Reply>,
    _permit: OwnedSemaphorePermit,
}

/// Why a program does not get its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotSent {
    ClientLeft,
    ReadsTooSlowly,
}

impl ReplySender {
    /// Creates a sender and the receiver of its answer.
    pub(super) fn new(permit: OwnedSemaphorePermit) -> (Self, Receiver<Reply>) {
        let (sender, receiver) = channel(MAX_UNREAD_PARTS);
        let reply = Self {
            sender,
            _permit: permit,
        };
        (reply, receiver)
    }

    /// Sends without waiting.
    pub(super) fn send(&self, reply: Reply) -> Result<(), NotSent> {
        self.sender.try_send(reply).map_err(|error| match error {
            TrySendError::Closed(_) => NotSent::ClientLeft,
            TrySendError::Full(_) => NotSent::ReadsTooSlowly,
        })
    }

    /// Sends an event of a stream.
    pub(super) fn send_event(&self, data: &Value) -> Result<(), NotSent> {
        self.send(Reply::Part(Bytes::from(format!("data: {data}\n\n"))))
    }

    /// Returns whether nobody is waiting for the answer any longer.
    pub(super) fn is_abandoned(&self) -> bool {
        self.sender.is_closed()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tokio::sync::Semaphore;

    use super::{MAX_UNREAD_PARTS, NotSent, ReplySender};

    #[test]
    fn parts_that_nobody_reads_are_limited_and_the_request_counts_until_its_end() {
        let open = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&open).try_acquire_owned().unwrap();
        let (reply, replies) = ReplySender::new(permit);
        for _ in 0..MAX_UNREAD_PARTS {
            assert_eq!(reply.send_event(&json!({})), Ok(()));
        }
        let sent = reply.send_event(&json!({}));
        assert_eq!(sent, Err(NotSent::ReadsTooSlowly));
        assert!(!reply.is_abandoned());
        drop(replies);
        assert!(reply.is_abandoned());
        assert_eq!(reply.send_event(&json!({})), Err(NotSent::ClientLeft));
        assert_eq!(open.available_permits(), 0);
        drop(reply);
        assert_eq!(open.available_permits(), 1);
    }
}
