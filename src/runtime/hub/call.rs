//! One cancellable call: it runs in a task while the caller watches for received bytes, a user
//! request and a timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::http::CallError;
use super::progress::DownloadControl;

/// How often a waiting call checks for a user request.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// How a call ended.
pub(super) enum CallOutcome<T> {
    /// The call returned a result.
    Completed(Result<T, CallError>),
    /// No bytes arrived within the timeout.
    TimedOut,
    /// The user paused or cancelled it.
    Interrupted(DownloadControl),
    /// The task panicked.
    Aborted,
}

/// Receives the progress of a call.
#[derive(Debug, Default)]
pub(super) struct ProgressListener {
    n_bytes: AtomicU64,
}

impl ProgressListener {
    /// Records how many bytes of a response have arrived.
    pub(super) fn received(&self, n_bytes: u64) {
        self.n_bytes.fetch_max(n_bytes, Ordering::Relaxed);
    }
}

/// How a call is run.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallContext<'a> {
    pub runtime: &'a Runtime,
    /// How long a server may send nothing.
    pub timeout: Duration,
}

/// Runs `call` in a task and gives up if no bytes arrive within the timeout. While waiting,
/// `observe` is called repeatedly with the number of bytes received and decides whether to
/// continue. Giving up closes the connection.
pub(super) fn call_in_background<T: Send + 'static, F>(
    context: CallContext<'_>,
    observe: &mut dyn FnMut(u64) -> DownloadControl,
    call: impl FnOnce(Arc<ProgressListener>) -> F,
) -> CallOutcome<T>
where
    F: Future<Output = Result<T, CallError>> + Send + 'static,
{
    let listener = Arc::new(ProgressListener::default());
    let (sender, ended) = sync_channel(1);
    let call = call(listener.clone());
    let task = context.runtime.spawn(async move {
        // The receiver is gone if the call was abandoned.
        sender.send(call.await).ok();
    });
    let (mut n_bytes, mut received_at) = (0, Instant::now());
    let outcome = loop {
        match ended.recv_timeout(TICK) {
            Ok(result) => break CallOutcome::Completed(result),
            Err(RecvTimeoutError::Disconnected) => break CallOutcome::Aborted,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let n_bytes_now = listener.n_bytes.load(Ordering::Relaxed);
        if n_bytes_now != n_bytes {
            (n_bytes, received_at) = (n_bytes_now, Instant::now());
        }
        match observe(n_bytes) {
            DownloadControl::Continue if received_at.elapsed() < context.timeout => {}
            DownloadControl::Continue => break CallOutcome::TimedOut,
            control => break CallOutcome::Interrupted(control),
        }
    };
    task.abort();
    outcome
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};

    use super::{CallContext, CallOutcome, DownloadControl, call_in_background};

    const LONG: Duration = Duration::from_mins(1);

    fn runtime() -> Runtime {
        Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap()
    }

    fn context(runtime: &Runtime, timeout: Duration) -> CallContext<'_> {
        CallContext { runtime, timeout }
    }

    #[test]
    fn a_result_is_passed_on() {
        let runtime = runtime();
        let mut observe = |_| DownloadControl::Continue;
        let outcome = call_in_background(context(&runtime, LONG), &mut observe, async |_| Ok(7));
        assert!(matches!(outcome, CallOutcome::Completed(Ok(7))));
    }

    #[test]
    fn a_panic_is_not_a_result() {
        let runtime = runtime();
        let mut observe = |_| DownloadControl::Continue;
        let call = async |_| -> Result<(), _> { std::panic::resume_unwind(Box::new("")) };
        let outcome = call_in_background(context(&runtime, LONG), &mut observe, call);
        assert!(matches!(outcome, CallOutcome::Aborted));
    }

    #[test]
    fn a_hanging_call_ends_when_the_user_cancels_or_the_timeout_expires() {
        let runtime = runtime();
        for (timeout, control) in [
            (LONG, DownloadControl::Cancel),
            (Duration::ZERO, DownloadControl::Continue),
        ] {
            let held = Arc::new(());
            let its = held.clone();
            let outcome = call_in_background(
                context(&runtime, timeout),
                &mut |_| control,
                async move |_| {
                    pending::<()>().await;
                    drop(its);
                    Ok(())
                },
            );
            match outcome {
                CallOutcome::Interrupted(DownloadControl::Cancel) => assert_eq!(timeout, LONG),
                CallOutcome::TimedOut => assert_eq!(timeout, Duration::ZERO),
                _ => panic!("the call did not end as expected"),
            }
            // What the call held, such as a connection, is freed.
            while Arc::strong_count(&held) > 1 {
                std::thread::yield_now();
            }
        }
    }
}
