//! How far a download has come, as it is told while it goes on.

use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

use super::patience::Halt;
use super::speed::Speed;

/// What whoever watches a download wants of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Go on.
    GoOn,
    /// Stop, and keep what has come.
    Pause,
    /// Stop, and delete what has not become a whole file.
    Cancel,
}

impl Order {
    /// Stops what is under way, unless it is to go on.
    pub(super) fn go_on(self) -> Result<(), Halt> {
        match self {
            Self::GoOn => Ok(()),
            Self::Pause | Self::Cancel => Err(Halt::Ordered(self)),
        }
    }
}

/// What a download is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// The Hub is being asked what there is.
    Asking,
    /// Bytes are coming.
    Receiving,
    /// Something went wrong, and it will be tried again.
    Waiting {
        /// What went wrong.
        reason: String,
        /// In how many seconds it is tried again.
        seconds: u64,
    },
    /// The checksum is being computed.
    Verifying,
}

/// How often progress is told: when the stage is another, or when nothing was told for long enough.
#[derive(Debug, Clone)]
pub struct Pace {
    pause: Duration,
    told: Option<(Discriminant<Stage>, Instant)>,
}

impl Pace {
    /// So much time is to pass between two times in the same stage.
    pub const fn new(pause: Duration) -> Self {
        Self { pause, told: None }
    }

    /// Whether it is time to tell. What is due counts as told.
    pub fn is_due(&mut self, stage: &Stage) -> bool {
        let stage = discriminant(stage);
        let is_due = self
            .told
            .is_none_or(|(before, at)| before != stage || at.elapsed() >= self.pause);
        if is_due {
            self.told = Some((stage, Instant::now()));
        }
        is_due
    }
}

/// How far a download has come.
#[derive(Debug, Clone, PartialEq)]
pub struct DownloadProgress {
    /// What it is doing.
    pub stage: Stage,
    /// The file that it is at; empty while the Hub is being asked.
    pub file: String,
    /// How many bytes of all its files are here, those of earlier sessions too.
    pub n_bytes: u64,
    /// How many there will be.
    pub n_bytes_total: u64,
    /// How fast they come, smoothed.
    pub bytes_per_second: Option<f64>,
    /// How long the rest will take at this speed.
    pub seconds_left: Option<u64>,
}

/// A download under way: what it tells, and who listens.
pub(super) struct Journey<'a> {
    watch: &'a mut dyn FnMut(&DownloadProgress) -> Order,
    progress: DownloadProgress,
    /// The bytes of the files before the present one.
    n_bytes_before: u64,
    speed: Speed,
    /// When the speed was last measured, and how many bytes there were; nothing while none come.
    measured: Option<(Instant, u64)>,
}

/// As a countdown tells it: the last second is "1".
pub(super) const fn whole_seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1_000) as u64
}

/// The speed is measured over no less than this.
const SPAN: Duration = Duration::from_millis(100);

impl<'a> Journey<'a> {
    pub fn new(watch: &'a mut dyn FnMut(&DownloadProgress) -> Order) -> Self {
        Self {
            watch,
            progress: DownloadProgress {
                stage: Stage::Asking,
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

    /// So much is to come in all, and so much of it is here.
    pub fn plan(&mut self, n_bytes: u64, n_bytes_total: u64) {
        self.progress.n_bytes = n_bytes;
        self.progress.n_bytes_total = n_bytes_total;
    }

    /// The next file, of which so much is here.
    pub fn begin(&mut self, file: &str, n_bytes_before: u64, n_bytes_here: u64) {
        file.clone_into(&mut self.progress.file);
        self.n_bytes_before = n_bytes_before;
        self.progress.n_bytes = n_bytes_before + n_bytes_here;
        self.measured = None;
    }

    /// Tells a stage in which no bytes come.
    pub fn stage(&mut self, stage: Stage) -> Order {
        self.progress.stage = stage;
        self.measured = None;
        (self.watch)(&self.progress)
    }

    /// Tells that so many bytes of the present file are here.
    pub fn received(&mut self, n_bytes_here: u64) -> Order {
        let n_bytes = self.n_bytes_before + n_bytes_here;
        let (measured_at, n_before) = *self.measured.get_or_insert((Instant::now(), n_bytes));
        let span = measured_at.elapsed();
        let progress = &mut self.progress;
        if span >= SPAN {
            // After a break, bytes of a lost piece come a second time.
            self.speed.add(n_bytes.saturating_sub(n_before), span);
            self.measured = Some((Instant::now(), n_bytes));
            let n_left = progress.n_bytes_total.saturating_sub(n_bytes);
            progress.bytes_per_second = self.speed.bytes_per_second();
            progress.seconds_left = self.speed.seconds_for(n_left);
        }
        progress.n_bytes = n_bytes;
        progress.stage = Stage::Receiving;
        (self.watch)(progress)
    }
}
