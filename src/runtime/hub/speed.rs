//! Smoothed download speed, so that the remaining time does not jump.

use std::time::Duration;

/// The weight of a measurement falls by a factor of e in this time.
const TIME_CONSTANT: Duration = Duration::from_secs(4);

/// No speed is reported until this much time has been observed.
const MIN_OBSERVED: Duration = Duration::from_millis(300);

/// An exponentially weighted mean of the speed, with the bias correction of Kingma and Ba 2014,
/// "Adam", section 3.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Speed {
    mean: f64,
    weight: f64,
    seen: Duration,
}

impl Speed {
    /// Adds a measurement: `n_bytes` received within this time.
    pub(super) fn add(&mut self, n_bytes: u64, within: Duration) {
        if within.is_zero() {
            return;
        }
        let decay = (-within.as_secs_f64() / TIME_CONSTANT.as_secs_f64()).exp();
        let rate = n_bytes as f64 / within.as_secs_f64();
        self.mean = decay * self.mean + (1.0 - decay) * rate;
        self.weight = decay * self.weight + (1.0 - decay);
        self.seen += within;
    }

    /// Returns the smoothed speed, or `None` if too little time has been observed.
    pub(super) fn bytes_per_second(&self) -> Option<f64> {
        (self.seen >= MIN_OBSERVED).then(|| self.mean / self.weight)
    }

    /// Returns how many seconds `n_bytes` will take, or `None` if the speed is unknown or near
    /// zero.
    pub(super) fn seconds_for(&self, n_bytes: u64) -> Option<u64> {
        let speed = self.bytes_per_second().filter(|speed| *speed >= 1.0)?;
        // The cast saturates.
        #[expect(clippy::cast_sign_loss, reason = "a speed is positive")]
        Some((n_bytes as f64 / speed).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Speed};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_steady_speed_is_exact_from_the_first_report() {
        let mut speed = Speed::default();
        assert_eq!(speed.bytes_per_second(), None);
        for _ in 0..5 {
            speed.add(500, SECOND / 2);
            assert!((speed.bytes_per_second().unwrap() - 1_000.0).abs() < 1e-6);
        }
        assert_eq!(speed.seconds_for(10_000), Some(10));
    }

    #[test]
    fn a_change_in_speed_shows_gradually() {
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
    fn a_stalled_download_has_no_remaining_time() {
        let mut speed = Speed::default();
        speed.add(0, SECOND);
        assert_eq!(speed.seconds_for(1), None);
    }
}
