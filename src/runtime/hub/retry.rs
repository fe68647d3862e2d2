//! Retries: which failures are transient, how long to wait, and when to give up.

use std::sync::Arc;
use std::time::Duration;

use super::HubError;
use super::call::{CallContext, CallOutcome, ProgressListener, TICK, call_in_background};
use super::client::Hub;
use super::error::Subject;
use super::http::CallError;
use super::progress::DownloadControl;

/// The longest `Retry-After` delay to wait for.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// How many times longer to wait after the Hub has rate-limited requests than after another
/// failure: a minute instead of a second.
const RATE_LIMIT_FACTOR: u32 = 60;

/// Why a call ended without a result.
#[derive(Debug)]
pub(super) enum Interruption {
    /// The user paused or cancelled it.
    Requested(DownloadControl),
    Failed(HubError),
}

impl From<HubError> for Interruption {
    fn from(error: HubError) -> Self {
        Self::Failed(error)
    }
}

/// What is reported while a call is running.
pub(super) enum CallEvent<'a> {
    /// The number of bytes received so far.
    Received(u64),
    /// The call failed and will be retried after this time.
    Retrying(&'a HubError, Duration),
}

/// Which failures are retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryPolicy {
    /// None: the user is waiting and can try again.
    Never,
    /// Transient failures, while the Hub is reachable.
    Transient,
    /// Also a network that is down, because it worked a moment ago.
    TransientOrOffline,
}

/// What a call is about, and how it is made.
#[derive(Debug)]
pub(super) struct CallSpec {
    pub subject: Subject,
    /// How long a server may send nothing.
    pub timeout: Duration,
    pub retry_policy: RetryPolicy,
}

impl Hub {
    /// Repeats a call until it succeeds, fails for good, or the user stops it.
    pub(super) fn call_with_retries<T: Send + 'static, F>(
        &self,
        spec: &CallSpec,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
        call: impl Fn(Arc<ProgressListener>) -> F,
    ) -> Result<T, Interruption>
    where
        F: Future<Output = Result<T, CallError>> + Send + 'static,
    {
        let subject = &spec.subject;
        let mut n_failed = 0;
        loop {
            let mut observe_bytes = |n_bytes| observe(&CallEvent::Received(n_bytes));
            let context = CallContext {
                runtime: &self.runtime,
                timeout: spec.timeout,
            };
            let error = match call_in_background(context, &mut observe_bytes, &call) {
                CallOutcome::Completed(Ok(answer)) => return Ok(answer),
                CallOutcome::Completed(Err(error)) => subject.error(&error),
                CallOutcome::TimedOut => subject.timed_out(spec.timeout),
                CallOutcome::Interrupted(control) => return Err(Interruption::Requested(control)),
                CallOutcome::Aborted => subject.connection_lost(),
            };
            let pause = self
                .pause_after(&error, n_failed, spec.retry_policy)
                .filter(|_| n_failed < self.config.n_retries);
            let Some(pause) = pause else {
                return Err(Interruption::Failed(error));
            };
            n_failed += 1;
            self.wait(&error, pause, observe)?;
        }
    }

    /// Returns how long to wait before the next attempt, or `None` if the failure is final.
    fn pause_after(
        &self,
        error: &HubError,
        n_failed: u32,
        retry_policy: RetryPolicy,
    ) -> Option<Duration> {
        let doubled = self.config.first_retry_delay * 2_u32.saturating_pow(n_failed);
        match (retry_policy, error) {
            (RetryPolicy::Never, _) => None,
            (_, HubError::RateLimited { seconds: Some(n) }) => {
                Some(Duration::from_secs(*n)).filter(|pause| *pause <= LONGEST_WAIT)
            }
            (_, HubError::RateLimited { seconds: None }) => {
                Some((RATE_LIMIT_FACTOR * doubled).min(LONGEST_WAIT))
            }
            (_, error) if error.is_transient() => Some(doubled),
            (RetryPolicy::TransientOrOffline, error) if error.is_offline() => Some(doubled),
            _ => None,
        }
    }

    fn wait(
        &self,
        error: &HubError,
        pause: Duration,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<(), Interruption> {
        let mut left = pause;
        loop {
            observe(&CallEvent::Retrying(error, left)).go_on()?;
            if left.is_zero() {
                return Ok(());
            }
            let tick = TICK.min(left);
            (self.config.sleep)(tick);
            left -= tick;
        }
    }
}
