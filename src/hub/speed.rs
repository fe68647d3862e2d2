//! How fast bytes come, smoothed, so that the time left does not jump.

use std::time::Duration;

/// The past counts less by a factor e after this time.
const MEMORY: Duration = Duration::from_secs(4);

/// No speed is told before this much has been seen.
const LEAST: Duration = Duration::from_millis(300);

/// A smoothed speed: an exponentially weighted mean over time, corrected for its beginning from
/// nothing (Kingma and Ba 2014, "Adam", section 3, for the correction).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Speed {
    mean: f64,
    weight: f64,
    seen: Duration,
}

impl Speed {
    /// So many bytes came within this time.
    pub fn add(&mut self, n_bytes: u64, within: Duration) {
        if within.is_zero() {
            return;
        }
        let kept = (-within.as_secs_f64() / MEMORY.as_secs_f64()).exp();
        let rate = n_bytes as f64 / within.as_secs_f64();
        self.mean = kept * self.mean + (1.0 - kept) * rate;
        self.weight = kept * self.weight + (1.0 - kept);
        self.seen += within;
    }

    /// Bytes a second, once there is something to tell.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (self.seen >= LEAST).then(|| self.mean / self.weight)
    }

    /// How many seconds this many bytes will take.
    pub fn seconds_for(&self, n_bytes: u64) -> Option<u64> {
        let speed = self.bytes_per_second().filter(|speed| *speed >= 1.0)?;
        // A float saturates when it becomes a whole number.
        #[expect(clippy::cast_sign_loss, reason = "a speed is positive")]
        Some((n_bytes as f64 / speed).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Speed};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_steady_speed_is_told_from_the_beginning() {
        let mut speed = Speed::default();
        assert_eq!(speed.bytes_per_second(), None);
        for _ in 0..5 {
            speed.add(500, SECOND / 2);
            assert!((speed.bytes_per_second().unwrap() - 1_000.0).abs() < 1e-6);
        }
        assert_eq!(speed.seconds_for(10_000), Some(10));
    }

    #[test]
    fn a_change_shows_slowly_and_then_in_full() {
        let mut speed = Speed::default();
        speed.add(1_000, SECOND);
        speed.add(3_000, SECOND);
        let after_one = speed.bytes_per_second().unwrap();
        assert!(after_one > 1_000.0 && after_one < 3_000.0);
        for _ in 0..40 {
            speed.add(3_000, SECOND);
        }
        assert!((speed.bytes_per_second().unwrap() - 3_000.0).abs() < 1.0);
    }

    #[test]
    fn nothing_coming_has_no_end() {
        let mut speed = Speed::default();
        speed.add(0, SECOND);
        assert_eq!(speed.seconds_for(1), None);
    }
}
