//! An event sender that wakes the receiver.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// The other end of a channel was closed, so the thread should end.
#[derive(Debug)]
pub(super) struct Disconnected;

/// The sending end of a thread's event channel. It wakes the receiver after each event.
pub(super) struct EventSender<E> {
    events: SyncSender<E>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl<E> EventSender<E> {
    pub(super) fn new(events: SyncSender<E>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            events,
            wake: Arc::new(wake),
        }
    }

    /// Sends an event. Blocks while the channel is full.
    pub(super) fn send(&self, event: E) -> Result<(), Disconnected> {
        self.events.send(event).map_err(|_closed| Disconnected)?;
        (self.wake)();
        Ok(())
    }

    /// Sends the first event of a new channel, from the thread that also receives. It must neither
    /// block nor wake the receiver.
    pub(super) fn send_first(&self, event: E) {
        // A new channel has room.
        self.events.try_send(event).ok();
    }

    /// Runs the body of a thread until the receiver disconnects. A panic is sent as an event.
    pub(super) fn run_thread(
        &self,
        panicked: impl FnOnce(String) -> E,
        body: impl FnOnce() -> Result<(), Disconnected>,
    ) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
            // If the receiver is gone, nobody needs to know.
            self.send(panicked(message_of(&*panic))).ok();
        }
    }
}

impl<E> Clone for EventSender<E> {
    fn clone(&self) -> Self {
        Self {
            events: self.events.clone(),
            wake: Arc::clone(&self.wake),
        }
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("the panic has no message")
        .to_owned()
}
