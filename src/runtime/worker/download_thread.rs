//! The Hub threads: one searches and lists models, the other downloads them.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use super::event_sender::{Disconnected, EventSender};
use super::{DownloadEvent, DownloadRequest};
use crate::hub::{
    DownloadControl, DownloadFailure, DownloadProgress, DownloadTarget, Hub, HubConfig, HubError,
    Outcome, ProgressThrottle,
};

/// The shortest time between two progress events of the same stage.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The Hub, opened on first use.
struct LazyHub {
    config: HubConfig,
    hub: Option<Hub>,
}

impl LazyHub {
    const fn new(config: HubConfig) -> Self {
        Self { config, hub: None }
    }

    fn open(&mut self) -> Result<Hub, HubError> {
        match &self.hub {
            Some(hub) => Ok(hub.clone()),
            None => Ok(self.hub.insert(Hub::open(self.config.clone())?).clone()),
        }
    }
}

/// Searches the Hub, and lists the files of a repository and the models in the cache.
pub(super) struct Finder {
    hub: LazyHub,
    requests: Receiver<DownloadRequest>,
    /// Requests that arrived while another was being answered, oldest first.
    waiting: VecDeque<DownloadRequest>,
    events: EventSender<DownloadEvent>,
}

impl Finder {
    pub(super) const fn new(
        config: HubConfig,
        requests: Receiver<DownloadRequest>,
        events: EventSender<DownloadEvent>,
    ) -> Self {
        Self {
            hub: LazyHub::new(config),
            requests,
            waiting: VecDeque::new(),
            events,
        }
    }

    pub(super) fn run(mut self) {
        let events = self.events.clone();
        let panicked = |message| DownloadEvent::Panicked { message };
        events.run_thread(panicked, || {
            loop {
                let request = match self.waiting.pop_front() {
                    Some(request) => request,
                    None => self.requests.recv().map_err(|_closed| Disconnected)?,
                };
                if let Some(event) = self.answer(request) {
                    self.events.send(event)?;
                }
            }
        });
    }

    /// Returns the answer, or `None` if a newer request superseded this one or the window
    /// disconnected.
    fn answer(&mut self, request: DownloadRequest) -> Option<DownloadEvent> {
        let hub = self.hub.open();
        let (waiting, requests) = (&mut self.waiting, &self.requests);
        let current = request.clone();
        let mut keep_going = move || {
            loop {
                match requests.try_recv() {
                    Ok(request) => waiting.push_back(request),
                    Err(TryRecvError::Disconnected) => return false,
                    Err(TryRecvError::Empty) => break,
                }
            }
            !waiting.iter().any(|newer| supersedes(newer, &current))
        };
        match request {
            DownloadRequest::Search { query, n_max } => {
                let found = hub.and_then(|hub| hub.search(&query, n_max, &mut keep_going));
                Some(DownloadEvent::Found {
                    query,
                    repositories: to_answer(found)?,
                })
            }
            DownloadRequest::Files { repository } => {
                let found = hub.and_then(|hub| hub.files(&repository, &mut keep_going));
                Some(DownloadEvent::FilesListed {
                    repository,
                    found: to_answer(found)?,
                })
            }
            DownloadRequest::Cached => {
                let kept = hub
                    .as_ref()
                    .map_or_else(|_| Vec::new(), Hub::partial_downloads);
                let models = hub.and_then(|hub| hub.cached_models());
                Some(DownloadEvent::CachedListed {
                    models: models.map_err(|error| error.to_string()),
                    kept,
                })
            }
            _ => None,
        }
    }
}

/// Returns whether a newer request makes the answer to an older one pointless.
fn supersedes(newer: &DownloadRequest, older: &DownloadRequest) -> bool {
    use DownloadRequest::{Files, Search};
    matches!(
        (newer, older),
        (Search { .. }, Search { .. } | Files { .. }) | (Files { .. }, Files { .. })
    )
}

/// Converts a result to what an event carries. Returns `None` if the request was cancelled.
fn to_answer<T>(result: Result<Option<T>, HubError>) -> Option<Result<T, String>> {
    result.map_err(|error| error.to_string()).transpose()
}

/// Downloads models, one after another.
pub(super) struct Downloader {
    hub: LazyHub,
    queue: DownloadQueue,
    events: EventSender<DownloadEvent>,
}

/// The pending downloads, and the requests that change them.
struct DownloadQueue {
    requests: Receiver<DownloadRequest>,
    /// Downloads that have not been started, oldest first. The current download is not among them.
    waiting: VecDeque<DownloadTarget>,
    /// Downloads that were paused or cancelled while they were not running, yet to be reported.
    withdrawn: Vec<Withdrawn>,
}

/// A download that was paused or cancelled while it was not running.
enum Withdrawn {
    Paused(DownloadTarget),
    Cancelled(DownloadTarget),
}

impl DownloadQueue {
    /// Handles the requests that have arrived. Returns what they mean for the current download. It
    /// is paused if the window disconnects.
    fn poll(&mut self, current: Option<&DownloadTarget>) -> DownloadControl {
        loop {
            match self.requests.try_recv() {
                Ok(request) => match self.handle(request, current) {
                    DownloadControl::Continue => {}
                    order => return order,
                },
                Err(TryRecvError::Empty) => return DownloadControl::Continue,
                Err(TryRecvError::Disconnected) => return DownloadControl::Pause,
            }
        }
    }

    fn handle(
        &mut self,
        request: DownloadRequest,
        current: Option<&DownloadTarget>,
    ) -> DownloadControl {
        let is_current = |wanted: &DownloadTarget| current == Some(wanted);
        match request {
            DownloadRequest::Download(wanted)
                if !is_current(&wanted) && !self.waiting.contains(&wanted) =>
            {
                self.waiting.push_back(wanted);
            }
            DownloadRequest::Pause(wanted) if is_current(&wanted) => return DownloadControl::Pause,
            DownloadRequest::Pause(wanted) if self.withdraw(&wanted) => {
                self.withdrawn.push(Withdrawn::Paused(wanted));
            }
            DownloadRequest::Cancel(wanted) if is_current(&wanted) => {
                return DownloadControl::Cancel;
            }
            DownloadRequest::Cancel(wanted) => {
                self.withdraw(&wanted);
                self.withdrawn.push(Withdrawn::Cancelled(wanted));
            }
            _ => {}
        }
        DownloadControl::Continue
    }

    /// Removes a download that has not been started. Returns whether it was present.
    fn withdraw(&mut self, wanted: &DownloadTarget) -> bool {
        let n_before = self.waiting.len();
        self.waiting.retain(|waiting| waiting != wanted);
        self.waiting.len() < n_before
    }

    /// Deletes the partial files of cancelled downloads, and reports all withdrawn downloads. If
    /// the Hub could not be opened, there are no partial files.
    fn settle_withdrawn(
        &mut self,
        hub: Option<&Hub>,
        events: &EventSender<DownloadEvent>,
    ) -> Result<(), Disconnected> {
        let n_bytes_kept = |wanted: &DownloadTarget| hub.map_or(0, |hub| hub.n_bytes_kept(wanted));
        let discard = |wanted: &DownloadTarget| hub.map_or(Ok(()), |hub| hub.discard(wanted));
        for withdrawn in self.withdrawn.drain(..) {
            events.send(match withdrawn {
                Withdrawn::Paused(wanted) => DownloadEvent::Paused {
                    n_bytes_kept: n_bytes_kept(&wanted),
                    wanted,
                },
                Withdrawn::Cancelled(wanted) => match discard(&wanted) {
                    Ok(()) => DownloadEvent::Cancelled { wanted },
                    Err(error) => DownloadEvent::Failed {
                        reason: error.to_string(),
                        n_bytes_kept: n_bytes_kept(&wanted),
                        wanted,
                    },
                },
            })?;
        }
        Ok(())
    }
}

impl Downloader {
    pub(super) const fn new(
        config: HubConfig,
        requests: Receiver<DownloadRequest>,
        events: EventSender<DownloadEvent>,
    ) -> Self {
        Self {
            hub: LazyHub::new(config),
            queue: DownloadQueue {
                requests,
                waiting: VecDeque::new(),
                withdrawn: Vec::new(),
            },
            events,
        }
    }

    pub(super) fn run(mut self) {
        let events = self.events.clone();
        let panicked = |message| DownloadEvent::Panicked { message };
        events.run_thread(panicked, || {
            loop {
                if let Some(wanted) = self.queue.waiting.pop_front() {
                    self.download(wanted)?;
                } else {
                    let request = self.queue.requests.recv().map_err(|_closed| Disconnected)?;
                    self.queue.handle(request, None);
                }
                // An error has already been reported by the download that needed the Hub.
                let hub = self.hub.open().ok();
                self.queue.settle_withdrawn(hub.as_ref(), &self.events)?;
            }
        });
    }

    fn download(&mut self, wanted: DownloadTarget) -> Result<(), Disconnected> {
        let hub = match self.hub.open() {
            Ok(hub) => hub,
            Err(error) => {
                return self.events.send(DownloadEvent::Failed {
                    wanted,
                    reason: error.to_string(),
                    n_bytes_kept: 0,
                });
            }
        };
        let (events, queue) = (&self.events, &mut self.queue);
        let mut pace = ProgressThrottle::new(PROGRESS_INTERVAL);
        let mut on_progress = |progress: &DownloadProgress| {
            if pace.is_due(&progress.stage) {
                let event = DownloadEvent::Progress {
                    wanted: wanted.clone(),
                    progress: progress.clone(),
                };
                if events.send(event).is_err() {
                    return DownloadControl::Pause;
                }
            }
            let order = queue.poll(Some(&wanted));
            match queue.settle_withdrawn(Some(&hub), events) {
                Ok(()) => order,
                Err(Disconnected) => DownloadControl::Pause,
            }
        };
        let outcome = hub.download(&wanted, &mut on_progress);
        self.events.send(match outcome {
            Ok(Outcome::Done { path }) => DownloadEvent::Done { wanted, path },
            Ok(Outcome::Paused { n_bytes_kept }) => DownloadEvent::Paused {
                wanted,
                n_bytes_kept,
            },
            Ok(Outcome::Cancelled) => DownloadEvent::Cancelled { wanted },
            Err(DownloadFailure {
                error: HubError::Unopenable { reason },
                ..
            }) => DownloadEvent::Refused { wanted, reason },
            Err(failure) => DownloadEvent::Failed {
                wanted,
                reason: failure.to_string(),
                n_bytes_kept: failure.n_bytes_kept,
            },
        })
    }
}
