//! How long the next decode step waits, so that people can watch.

use std::time::{Duration, Instant};

/// Keeps a minimum time between two decode steps. It only tracks the time; the engine thread does
/// the waiting.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// Zero at full speed.
    interval: Duration,
    /// When the last step ended.
    last_step_at: Option<Instant>,
}

impl Pacer {
    pub(super) const fn set_interval(&mut self, interval: Duration) {
        self.interval = interval;
    }

    /// Records that a step ended now.
    pub(super) const fn on_step(&mut self, now: Instant) {
        self.last_step_at = Some(now);
    }

    /// Returns how long the next step still has to wait, or `None` if it is due.
    pub(super) fn remaining(&self, now: Instant) -> Option<Duration> {
        let since = now.saturating_duration_since(self.last_step_at?);
        let left = self.interval.saturating_sub(since);
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pacer;

    #[test]
    fn a_step_waits_for_the_rest_of_the_interval_after_the_last_one() {
        let start = Instant::now();
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut pacer = Pacer::default();
        pacer.set_interval(Duration::from_millis(125));
        assert_eq!(
            pacer.remaining(start),
            None,
            "the first step waits for nothing"
        );
        pacer.on_step(start);
        for (now, left) in [(0, Some(125)), (100, Some(25)), (125, None), (500, None)] {
            let left = left.map(Duration::from_millis);
            assert_eq!(pacer.remaining(after(now)), left, "{now} ms later");
        }
        pacer.on_step(after(500));
        assert_eq!(
            pacer.remaining(after(500)),
            Some(Duration::from_millis(125))
        );
        pacer.set_interval(Duration::ZERO);
        assert_eq!(pacer.remaining(after(500)), None, "full speed never waits");
    }
}
