//! How long a server may take before it gets on: a limit on time without progress, whatever else it
//! sends meanwhile.

use std::time::{Duration, Instant};

/// How many bytes of one large response count as progress.
const N_PROGRESS_BYTES: usize = 64 << 10;

/// Waits for progress: a token of a stream, the whole of a short response, or another 64 KiB of a long
/// one. Comments, blanks and empty events are none.
#[derive(Debug)]
pub(super) struct Patience {
    limit: Duration,
    until: Instant,
    n_bytes: usize,
}

impl Patience {
    pub(super) fn new(limit: Duration, now: Instant) -> Self {
        Self {
            limit,
            until: now + limit,
            n_bytes: 0,
        }
    }

    pub(super) const fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns whether the limit has passed without progress.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }

    /// Starts over, after progress.
    pub(super) fn renew(&mut self, now: Instant) {
        self.until = now + self.limit;
        self.n_bytes = 0;
    }

    /// Counts bytes of a response that is no stream.
    pub(super) fn count(&mut self, n_bytes: usize, now: Instant) {
        self.n_bytes += n_bytes;
        if self.n_bytes >= N_PROGRESS_BYTES {
            self.renew(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, N_PROGRESS_BYTES, Patience};

    #[test]
    fn only_progress_renews_it() {
        let begin = Instant::now();
        let at = |secs| begin + Duration::from_secs(secs);
        let mut patience = Patience::new(Duration::from_secs(10), begin);
        // A server that drips a byte every second.
        for secs in 1..10 {
            patience.count(1, at(secs));
            assert!(!patience.is_over(at(secs)));
        }
        assert!(patience.is_over(at(10)));
        patience.renew(at(9));
        assert!(!patience.is_over(at(18)) && patience.is_over(at(19)));
        patience.count(N_PROGRESS_BYTES, at(15));
        assert!(!patience.is_over(at(24)) && patience.is_over(at(25)));
    }
}
