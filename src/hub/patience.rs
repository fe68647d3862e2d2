//! Asking again: which failures pass, how long to wait for it, and when to give up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hf_hub::HFResult;

use super::HubError;
use super::attempt::{Attempt, Ear, Limits, TICK, attempt};
use super::client::Hub;
use super::error::Subject;
use super::journey::Order;

/// A server that wants to be left alone for longer than this is not waited for.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// Why a download stops before its end.
#[derive(Debug)]
pub(super) enum Halt {
    /// The user wants it.
    Ordered(Order),
    /// It failed.
    Failed(HubError),
}

impl From<HubError> for Halt {
    fn from(error: HubError) -> Self {
        Self::Failed(error)
    }
}

/// What is heard while something is asked.
pub(super) enum Sign<'a> {
    /// So many bytes of the answer have come.
    Bytes(u64),
    /// It failed, and is asked again after so much time.
    Pause(&'a HubError, Duration),
}

/// How often something is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Persistence {
    /// Not at all: a person waits for the answer and can ask again.
    Once,
    /// While the Hub is to be reached.
    Again,
    /// Also without a network: there was one a moment ago.
    AgainWithoutNetwork,
}

/// What is asked, and how.
#[derive(Debug)]
pub(super) struct Question {
    /// What it is about.
    pub subject: Subject,
    /// How much the answer may bring, beside the JSON of the Hub itself.
    pub limits: Limits,
    /// How often it is asked again.
    pub persistence: Persistence,
}

impl Hub {
    /// Makes a call until it succeeds, can't succeed, or is no longer wanted.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        question: &Question,
        tell: &mut dyn FnMut(&Sign<'_>) -> Order,
        call: impl Fn(Arc<Ear>) -> HFResult<T> + Clone + Send + 'static,
    ) -> Result<T, Halt> {
        let subject = &question.subject;
        let mut n_failed = 0;
        loop {
            let mut tell_bytes = |n_bytes| tell(&Sign::Bytes(n_bytes));
            let error = match attempt(
                question.limits,
                self.config.patience,
                &mut tell_bytes,
                call.clone(),
            ) {
                Attempt::Ended(Ok(answer)) => return Ok(answer),
                Attempt::Ended(Err(error)) => subject.error(&error),
                Attempt::TooMuch => subject.ranges_missing(),
                Attempt::Silent => subject.timed_out(self.config.patience),
                Attempt::Left(order) => return Err(Halt::Ordered(order)),
                Attempt::Broken => subject.broken(),
            };
            let pause = self
                .pause_after(&error, n_failed, question.persistence)
                .filter(|_| n_failed < self.config.n_retries);
            let Some(pause) = pause else {
                return Err(Halt::Failed(error));
            };
            n_failed += 1;
            wait(&error, pause, tell)?;
        }
    }

    /// How long to wait after a failure that may pass.
    fn pause_after(
        &self,
        error: &HubError,
        n_failed: u32,
        persistence: Persistence,
    ) -> Option<Duration> {
        let doubled = self.config.first_pause * 2_u32.saturating_pow(n_failed);
        match (persistence, error) {
            (Persistence::Once, _) => None,
            (_, HubError::RateLimited { seconds: Some(n) }) => {
                Some(Duration::from_secs(*n)).filter(|pause| *pause <= LONGEST_WAIT)
            }
            (_, error) if error.passes() => Some(doubled),
            (Persistence::AgainWithoutNetwork, error) if error.is_no_network() => Some(doubled),
            _ => None,
        }
    }
}

fn wait(
    error: &HubError,
    pause: Duration,
    tell: &mut dyn FnMut(&Sign<'_>) -> Order,
) -> Result<(), Halt> {
    let begun = Instant::now();
    loop {
        let left = pause.saturating_sub(begun.elapsed());
        tell(&Sign::Pause(error, left)).go_on()?;
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(TICK.min(left));
    }
}
