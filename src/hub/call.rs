//! One cancellable hf-hub call: it runs on its own thread while the caller watches for received
//! bytes, a user request and a timeout.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use hf_hub::HFResult;
use hf_hub::progress::{DownloadEvent, ProgressEvent, ProgressHandler};

use super::progress::DownloadControl;

/// How often a waiting call checks for a user request.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// How a call ended.
pub(super) enum CallOutcome<T> {
    /// hf-hub returned a result.
    Completed(HFResult<T>),
    /// The server sent or announced more bytes than the limits allow.
    TooLarge,
    /// No bytes arrived within the timeout.
    TimedOut,
    /// The user paused or cancelled it.
    Interrupted(DownloadControl),
    /// The thread could not be started, or it panicked.
    Aborted,
}

/// How large a response may be.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    /// The most bytes to receive.
    pub n_bytes: u64,
    /// The largest content length to accept. hf-hub allocates that much up front, and some servers
    /// announce the length of the full file when they send a range.
    pub n_bytes_announced: u64,
}

/// Receives hf-hub's progress and aborts the transfer once the caller has abandoned it.
#[derive(Debug)]
pub(super) struct ProgressListener {
    n_bytes: AtomicU64,
    exceeds_limits: AtomicBool,
    limits: Limits,
    /// Set when the caller has stopped waiting.
    abandoned: AtomicBool,
}

impl ProgressHandler for ProgressListener {
    fn on_progress(&self, event: &ProgressEvent) {
        let exceeds_limits = match event {
            ProgressEvent::Download(DownloadEvent::Start { total_bytes, .. }) => {
                *total_bytes > self.limits.n_bytes_announced
            }
            ProgressEvent::Download(DownloadEvent::Progress { files }) => {
                let counts = files.iter().map(|file| file.bytes_completed);
                let n_bytes = counts.max().unwrap_or(0);
                self.n_bytes.fetch_max(n_bytes, Ordering::Relaxed);
                n_bytes > self.limits.n_bytes
            }
            _ => false,
        };
        if exceeds_limits {
            self.exceeds_limits.store(true, Ordering::Relaxed);
        }
        if exceeds_limits || self.abandoned.load(Ordering::Relaxed) {
            // Unwinding is the only way to stop hf-hub in the middle of a transfer. It drops the
            // connection, and `call_in_background` catches it.
            resume_unwind(Box::new("the transfer was abandoned"));
        }
    }
}

/// Runs `call` on its own thread and gives up if no bytes arrive for `timeout`. While waiting,
/// `observe` is called repeatedly with the number of bytes received and decides whether to go on.
pub(super) fn call_in_background<T: Send + 'static>(
    limits: Limits,
    timeout: Duration,
    observe: &mut dyn FnMut(u64) -> DownloadControl,
    call: impl FnOnce(Arc<ProgressListener>) -> HFResult<T> + Send + 'static,
) -> CallOutcome<T> {
    let listener = Arc::new(ProgressListener {
        n_bytes: AtomicU64::new(0),
        exceeds_limits: AtomicBool::new(false),
        limits,
        abandoned: AtomicBool::new(false),
    });
    let (sender, ended) = sync_channel(1);
    let its_listener = listener.clone();
    let spawned = Builder::new().name("hub-call".to_owned()).spawn(move || {
        if let Ok(result) = catch_unwind(AssertUnwindSafe(|| call(its_listener))) {
            // The receiver is gone if the call was abandoned.
            sender.send(result).ok();
        }
    });
    if spawned.is_err() {
        return CallOutcome::Aborted;
    }
    let (mut n_bytes, mut received_at) = (0, Instant::now());
    let outcome = loop {
        match ended.recv_timeout(TICK) {
            Ok(result) => break CallOutcome::Completed(result),
            Err(RecvTimeoutError::Disconnected)
                if listener.exceeds_limits.load(Ordering::Relaxed) =>
            {
                break CallOutcome::TooLarge;
            }
            Err(RecvTimeoutError::Disconnected) => break CallOutcome::Aborted,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let n_bytes_now = listener.n_bytes.load(Ordering::Relaxed);
        if n_bytes_now != n_bytes {
            (n_bytes, received_at) = (n_bytes_now, Instant::now());
        }
        match observe(n_bytes) {
            DownloadControl::Continue if received_at.elapsed() < timeout => {}
            DownloadControl::Continue => break CallOutcome::TimedOut,
            order => break CallOutcome::Interrupted(order),
        }
    };
    listener.abandoned.store(true, Ordering::Relaxed);
    outcome
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use super::{CallOutcome, DownloadControl, Limits, call_in_background};

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn a_result_is_passed_on() {
        let outcome = call_in_background(
            Limits::default(),
            LONG,
            &mut |_| DownloadControl::Continue,
            |_| Ok(7),
        );
        assert!(matches!(outcome, CallOutcome::Completed(Ok(7))));
    }

    #[test]
    fn a_hanging_call_ends_when_the_user_cancels_or_the_timeout_expires() {
        let (keep, wait) = sync_channel::<()>(0);
        let hanging = move |_| {
            wait.recv().ok();
            Ok(())
        };
        let cancelled = call_in_background(
            Limits::default(),
            LONG,
            &mut |_| DownloadControl::Cancel,
            hanging,
        );
        assert!(matches!(
            cancelled,
            CallOutcome::Interrupted(DownloadControl::Cancel)
        ));
        drop(keep);

        let (keep, wait) = sync_channel::<()>(0);
        let hanging = move |_| {
            wait.recv().ok();
            Ok(())
        };
        let silent = call_in_background(
            Limits::default(),
            Duration::ZERO,
            &mut |_| DownloadControl::Continue,
            hanging,
        );
        assert!(matches!(silent, CallOutcome::TimedOut));
        drop(keep);
    }
}
