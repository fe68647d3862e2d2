//! Download progress: what is reported, how often, and how the watcher responds.

use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

use super::retry::Interruption;
use super::speed::Speed;

/// How a download's watcher wants it to proceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownloadControl {
    Continue,
    /// Stop and keep the partial files.
    Pause,
    /// Stop and delete the partial files.
    Cancel,
}

impl DownloadControl {
    /// Turns a request to stop into an error, for use with `?`.
    pub(super) fn go_on(self) -> Result<(), Interruption> {
        match self {
            Self::Continue => Ok(()),
            Self::Pause | Self::Cancel => Err(Interruption::Requested(self)),
        }
    }
}

/// What a download is currently doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadPhase {
    /// Asking the Hub for the list of files.
    Asking,
    /// Receiving bytes.
    Receiving,
    /// Waiting to retry after an error.
    Waiting {
        /// The error message.
        reason: String,
        /// Seconds until the next attempt.
        seconds: u64,
    },
    /// Verifying the checksum.
    Verifying,
}

/// Limits how often progress is reported: on every new stage, and at most once per interval within
/// the same stage.
#[derive(Debug, Clone)]
pub struct ProgressThrottle {
    pause: Duration,
    last_report: Option<(Discriminant<DownloadPhase>, Instant)>,
}

impl ProgressThrottle {
    /// Reports at most once per `pause` within the same stage.
    pub const fn new(pause: Duration) -> Self {
        Self {
            pause,
            last_report: None,
        }
    }

    /// Returns whether a report is due, and if so counts it as made.
    pub fn is_due(&mut self, stage: &DownloadPhase) -> bool {
        let stage = discriminant(stage);
        let is_due = self
            .last_report
            .is_none_or(|(before, at)| before != stage || at.elapsed() >= self.pause);
        if is_due {
            self.last_report = Some((stage, Instant::now()));
        }
        is_due
    }
}

/// How much of a download is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct DownloadProgress {
    pub stage: DownloadPhase,
    /// The current file's path in the repository; empty until the list of files is known.
    pub file: String,
    /// Bytes on disk, over all files, including those from earlier sessions.
    pub n_bytes: u64,
    pub n_bytes_total: u64,
    /// The smoothed download speed; `None` until it has been measured.
    pub bytes_per_second: Option<f64>,
    /// The estimated time for the rest at this speed.
    pub seconds_left: Option<u64>,
}

/// Tracks a download's progress and reports it to the watcher.
pub(super) struct ProgressReporter<'a> {
    watch: &'a mut dyn FnMut(&DownloadProgress) -> DownloadControl,
    progress: DownloadProgress,
    /// Bytes on disk of all files but the current one.
    n_bytes_before: u64,
    speed: Speed,
    /// When the speed was last measured, and the byte count then; `None` while no bytes arrive.
    measured: Option<(Instant, u64)>,
}

/// Rounds up to seconds for a countdown, so that the last second is shown as 1.
pub(super) const fn whole_seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1_000) as u64
}

/// The shortest time span over which the speed is measured.
const MIN_SPAN: Duration = Duration::from_millis(100);

impl<'a> ProgressReporter<'a> {
    pub(super) fn new(watch: &'a mut dyn FnMut(&DownloadProgress) -> DownloadControl) -> Self {
        Self {
            watch,
            progress: DownloadProgress {
                stage: DownloadPhase::Asking,
                file: String::new(),
                n_bytes: 0,
                n_bytes_total: 0,
                bytes_per_second: None,
                seconds_left: None,
            },
            n_bytes_before: 0,
            speed: Speed::default(),
            measured: None,
        }
    }

    /// Sets the bytes on disk and the total.
    pub(super) fn plan(&mut self, n_bytes: u64, n_bytes_total: u64) {
        self.progress.n_bytes = n_bytes;
        self.progress.n_bytes_total = n_bytes_total;
    }

    /// Starts the next file, of which `n_bytes_here` are already on disk.
    pub(super) fn begin(&mut self, file: &str, n_bytes_before: u64, n_bytes_here: u64) {
        file.clone_into(&mut self.progress.file);
        self.n_bytes_before = n_bytes_before;
        self.progress.n_bytes = n_bytes_before + n_bytes_here;
        self.measured = None;
    }

    /// Reports a stage in which no bytes arrive.
    pub(super) fn stage(&mut self, stage: DownloadPhase) -> DownloadControl {
        self.progress.stage = stage;
        self.measured = None;
        (self.watch)(&self.progress)
    }

    /// Reports how many bytes of the current file are on disk.
    pub(super) fn received(&mut self, n_bytes_here: u64) -> DownloadControl {
        let n_bytes = self.n_bytes_before + n_bytes_here;
        let (measured_at, n_before) = *self.measured.get_or_insert((Instant::now(), n_bytes));
        let span = measured_at.elapsed();
        let progress = &mut self.progress;
        if span >= MIN_SPAN {
            // After a lost connection, the count falls back to the start of the range.
            self.speed.add(n_bytes.saturating_sub(n_before), span);
            self.measured = Some((Instant::now(), n_bytes));
            let n_left = progress.n_bytes_total.saturating_sub(n_bytes);
            progress.bytes_per_second = self.speed.bytes_per_second();
            progress.seconds_left = self.speed.seconds_for(n_left);
        }
        progress.n_bytes = n_bytes;
        progress.stage = DownloadPhase::Receiving;
        (self.watch)(progress)
    }
}
