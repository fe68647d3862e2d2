//! One call of hf-hub that can be left: it runs on a thread of its own while we listen for its bytes,
//! for the user, and for silence.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use hf_hub::HFResult;
use hf_hub::progress::{DownloadEvent, ProgressEvent, ProgressHandler};

use super::journey::Order;

/// While something is waited for, the user is heard this often.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// What became of a call.
pub(super) enum Attempt<T> {
    /// It came to its end.
    Ended(HFResult<T>),
    /// More came, or was announced, than had been asked for, and it was left.
    TooMuch,
    /// Nothing was heard for too long, and it was left.
    Silent,
    /// It was left because the user wanted something else.
    Left(Order),
    /// It could not even begin, or it fell into a fault.
    Broken,
}

/// How much a call may bring.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    /// How many bytes may come.
    pub n_bytes: u64,
    /// How many bytes the answer may announce. hf-hub makes room for them at once, and some servers
    /// announce the whole file when they send a part.
    pub n_bytes_announced: u64,
}

/// Where hf-hub tells how far a call has come, and learns that nobody waits for it any more.
#[derive(Debug)]
pub(super) struct Ear {
    n_bytes: AtomicU64,
    is_overfull: AtomicBool,
    limits: Limits,
    left: AtomicBool,
}

impl ProgressHandler for Ear {
    fn on_progress(&self, event: &ProgressEvent) {
        let is_overfull = match event {
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
        if is_overfull {
            self.is_overfull.store(true, Ordering::Relaxed);
        }
        if is_overfull || self.left.load(Ordering::Relaxed) {
            // The only way out of the middle of a transfer; dropped on the way, it closes its
            // connection. `attempt` catches it.
            resume_unwind(Box::new("nobody waits for this transfer"));
        }
    }
}

/// Makes a call that may be silent for `silence` at most. `tell` hears again and again how many bytes have come, and says whether to go on.
pub(super) fn attempt<T: Send + 'static>(
    limits: Limits,
    silence: Duration,
    tell: &mut dyn FnMut(u64) -> Order,
    call: impl FnOnce(Arc<Ear>) -> HFResult<T> + Send + 'static,
) -> Attempt<T> {
    let ear = Arc::new(Ear {
        n_bytes: AtomicU64::new(0),
        is_overfull: AtomicBool::new(false),
        limits,
        left: AtomicBool::new(false),
    });
    let (sender, ended) = sync_channel(1);
    let its_ear = ear.clone();
    let spawned = Builder::new().name("hub-call".to_owned()).spawn(move || {
        if let Ok(result) = catch_unwind(AssertUnwindSafe(|| call(its_ear))) {
            // Nobody may be waiting any more.
            sender.send(result).ok();
        }
    });
    if spawned.is_err() {
        return Attempt::Broken;
    }
    let (mut n_bytes, mut heard_at) = (0, Instant::now());
    let attempt = loop {
        match ended.recv_timeout(TICK) {
            Ok(result) => break Attempt::Ended(result),
            Err(RecvTimeoutError::Disconnected) if ear.is_overfull.load(Ordering::Relaxed) => {
                break Attempt::TooMuch;
            }
            Err(RecvTimeoutError::Disconnected) => break Attempt::Broken,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let n_bytes_now = ear.n_bytes.load(Ordering::Relaxed);
        if n_bytes_now != n_bytes {
            (n_bytes, heard_at) = (n_bytes_now, Instant::now());
        }
        match tell(n_bytes) {
            Order::GoOn if heard_at.elapsed() < silence => {}
            Order::GoOn => break Attempt::Silent,
            order => break Attempt::Left(order),
        }
    };
    ear.left.store(true, Ordering::Relaxed);
    attempt
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use super::{Attempt, Limits, Order, attempt};

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn an_answer_comes_through() {
        let attempt = attempt(Limits::default(), LONG, &mut |_| Order::GoOn, |_| Ok(7));
        assert!(matches!(attempt, Attempt::Ended(Ok(7))));
    }

    #[test]
    fn a_call_that_hangs_is_left_at_the_users_word_and_at_the_end_of_patience() {
        let (keep, wait) = sync_channel::<()>(0);
        let hanging = move |_| {
            wait.recv().ok();
            Ok(())
        };
        let left = attempt(Limits::default(), LONG, &mut |_| Order::Cancel, hanging);
        assert!(matches!(left, Attempt::Left(Order::Cancel)));
        drop(keep);

        let (keep, wait) = sync_channel::<()>(0);
        let hanging = move |_| {
            wait.recv().ok();
            Ok(())
        };
        let silent = attempt(
            Limits::default(),
            Duration::ZERO,
            &mut |_| Order::GoOn,
            hanging,
        );
        assert!(matches!(silent, Attempt::Silent));
        drop(keep);
    }
}
