//! The threads' end of the border to the Hub: one finds models, one brings them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};
use std::time::Duration;

use super::inbox::Gone;
use super::thread::message_of;
use super::{DownloadEvent, DownloadRequest};
use crate::hub::{DownloadProgress, Hub, HubConfig, HubError, Order, Outcome, Pace, Wanted};

/// Progress is told no more often than this, unless it enters another stage.
const PAUSE: Duration = Duration::from_millis(100);

/// Where events go.
#[derive(Clone)]
pub(super) struct Mailbox {
    events: SyncSender<DownloadEvent>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Mailbox {
    pub fn new(events: SyncSender<DownloadEvent>, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self { events, wake }
    }

    /// Reports that a thread is missing.
    pub fn report_unstarted(&self, error: &std::io::Error) {
        let message = format!("a thread for the Hub could not be started: {error}");
        // The channel is new and has room.
        self.events
            .try_send(DownloadEvent::Panicked { message })
            .ok();
    }

    /// Reports, and waits while the other side has too much to read.
    fn send(&self, event: DownloadEvent) -> Result<(), Gone> {
        self.events.send(event).map_err(|_closed| Gone)?;
        (self.wake)();
        Ok(())
    }

    /// Works until the other side is gone, or until a fault of ours, which is reported.
    fn guard(&self, work: impl FnOnce() -> Result<(), Gone>) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            let message = message_of(&*panic);
            // Where nobody listens any more, nobody needs to know.
            self.send(DownloadEvent::Panicked { message }).ok();
        }
    }
}

/// The Hub, opened when it is first needed.
struct Access {
    config: HubConfig,
    hub: Option<Hub>,
}

impl Access {
    const fn new(config: HubConfig) -> Self {
        Self { config, hub: None }
    }

    fn hub(&mut self) -> Result<Hub, HubError> {
        match &self.hub {
            Some(hub) => Ok(hub.clone()),
            None => Ok(self.hub.insert(Hub::open(self.config.clone())?).clone()),
        }
    }
}

/// Answers what there is.
pub(super) struct Finder {
    access: Access,
    requests: Receiver<DownloadRequest>,
    waiting: VecDeque<DownloadRequest>,
    mailbox: Mailbox,
}

impl Finder {
    pub const fn new(
        config: HubConfig,
        requests: Receiver<DownloadRequest>,
        mailbox: Mailbox,
    ) -> Self {
        Self {
            access: Access::new(config),
            requests,
            waiting: VecDeque::new(),
            mailbox,
        }
    }

    pub fn run(mut self) {
        let mailbox = self.mailbox.clone();
        mailbox.guard(|| {
            loop {
                let request = match self.waiting.pop_front() {
                    Some(request) => request,
                    None => self.requests.recv().map_err(|_closed| Gone)?,
                };
                if let Some(event) = self.answer(request) {
                    self.mailbox.send(event)?;
                }
            }
        });
    }

    /// The answer, unless a newer question of the same kind, or the end, has overtaken it.
    fn answer(&mut self, request: DownloadRequest) -> Option<DownloadEvent> {
        let hub = self.access.hub();
        let (waiting, requests) = (&mut self.waiting, &self.requests);
        let asked = request.clone();
        let mut go_on = move || {
            loop {
                match requests.try_recv() {
                    Ok(request) => waiting.push_back(request),
                    Err(TryRecvError::Disconnected) => return false,
                    Err(TryRecvError::Empty) => break,
                }
            }
            !waiting.iter().any(|newer| overtakes(newer, &asked))
        };
        match request {
            DownloadRequest::Search { query, n_max } => {
                let found = hub.and_then(|hub| hub.search(&query, n_max, &mut go_on));
                Some(DownloadEvent::Found {
                    query,
                    repositories: told(found)?,
                })
            }
            DownloadRequest::Files { repository } => {
                let found = hub.and_then(|hub| hub.files(&repository, &mut go_on));
                Some(DownloadEvent::FilesListed {
                    repository,
                    found: told(found)?,
                })
            }
            DownloadRequest::Cached => {
                let kept = hub
                    .as_ref()
                    .map_or_else(|_| Vec::new(), Hub::kept_downloads);
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

/// Whether nobody waits for the older answer once the newer question is put.
fn overtakes(newer: &DownloadRequest, older: &DownloadRequest) -> bool {
    use DownloadRequest::{Files, Search};
    matches!(
        (newer, older),
        (Search { .. }, Search { .. } | Files { .. }) | (Files { .. }, Files { .. })
    )
}

/// An answer as it is told; nothing where nobody waits for it any more.
fn told<T>(answer: Result<Option<T>, HubError>) -> Option<Result<T, String>> {
    answer.map_err(|error| error.to_string()).transpose()
}

/// Brings models, one after the other.
pub(super) struct Carrier {
    access: Access,
    desk: Desk,
    mailbox: Mailbox,
}

/// What is to be brought, and what is said about it meanwhile.
struct Desk {
    requests: Receiver<DownloadRequest>,
    waiting: VecDeque<Wanted>,
    /// What was paused or cancelled without being under way.
    called_off: Vec<CalledOff>,
}

enum CalledOff {
    Paused(Wanted),
    Cancelled(Wanted),
}

impl Desk {
    /// Takes the requests that have come, and says what they mean for what is under way. The end of
    /// the program is a pause.
    fn look(&mut self, under_way: Option<&Wanted>) -> Order {
        loop {
            match self.requests.try_recv() {
                Ok(request) => match self.take(request, under_way) {
                    Order::GoOn => {}
                    order => return order,
                },
                Err(TryRecvError::Empty) => return Order::GoOn,
                Err(TryRecvError::Disconnected) => return Order::Pause,
            }
        }
    }

    fn take(&mut self, request: DownloadRequest, under_way: Option<&Wanted>) -> Order {
        let is_under_way = |wanted: &Wanted| under_way == Some(wanted);
        match request {
            DownloadRequest::Download(wanted)
                if !is_under_way(&wanted) && !self.waiting.contains(&wanted) =>
            {
                self.waiting.push_back(wanted);
            }
            DownloadRequest::Pause(wanted) if is_under_way(&wanted) => return Order::Pause,
            DownloadRequest::Pause(wanted) if self.withdraw(&wanted) => {
                self.called_off.push(CalledOff::Paused(wanted));
            }
            DownloadRequest::Cancel(wanted) if is_under_way(&wanted) => return Order::Cancel,
            DownloadRequest::Cancel(wanted) => {
                self.withdraw(&wanted);
                self.called_off.push(CalledOff::Cancelled(wanted));
            }
            _ => {}
        }
        Order::GoOn
    }

    fn withdraw(&mut self, wanted: &Wanted) -> bool {
        let n_before = self.waiting.len();
        self.waiting.retain(|waiting| waiting != wanted);
        self.waiting.len() < n_before
    }

    /// Does and tells what was called off. Where no Hub could be opened, nothing has come.
    fn settle(&mut self, hub: Option<&Hub>, mailbox: &Mailbox) -> Result<(), Gone> {
        let n_bytes_kept = |wanted: &Wanted| hub.map_or(0, |hub| hub.n_bytes_kept(wanted));
        let discard = |wanted: &Wanted| hub.map_or(Ok(()), |hub| hub.discard(wanted));
        for called_off in self.called_off.drain(..) {
            mailbox.send(match called_off {
                CalledOff::Paused(wanted) => DownloadEvent::Paused {
                    n_bytes_kept: n_bytes_kept(&wanted),
                    wanted,
                },
                CalledOff::Cancelled(wanted) => match discard(&wanted) {
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

impl Carrier {
    pub const fn new(
        config: HubConfig,
        requests: Receiver<DownloadRequest>,
        mailbox: Mailbox,
    ) -> Self {
        Self {
            access: Access::new(config),
            desk: Desk {
                requests,
                waiting: VecDeque::new(),
                called_off: Vec::new(),
            },
            mailbox,
        }
    }

    pub fn run(mut self) {
        let mailbox = self.mailbox.clone();
        mailbox.guard(|| {
            loop {
                if let Some(wanted) = self.desk.waiting.pop_front() {
                    self.bring(wanted)?;
                } else {
                    let request = self.desk.requests.recv().map_err(|_closed| Gone)?;
                    self.desk.take(request, None);
                }
                // Why it could not be opened was told with the download that needed it.
                let hub = self.access.hub().ok();
                self.desk.settle(hub.as_ref(), &self.mailbox)?;
            }
        });
    }

    fn bring(&mut self, wanted: Wanted) -> Result<(), Gone> {
        let hub = match self.access.hub() {
            Ok(hub) => hub,
            Err(error) => {
                return self.mailbox.send(DownloadEvent::Failed {
                    wanted,
                    reason: error.to_string(),
                    n_bytes_kept: 0,
                });
            }
        };
        let (mailbox, desk) = (&self.mailbox, &mut self.desk);
        let mut pace = Pace::new(PAUSE);
        let mut watch = |progress: &DownloadProgress| {
            if pace.is_due(&progress.stage) {
                let event = DownloadEvent::Progress {
                    wanted: wanted.clone(),
                    progress: progress.clone(),
                };
                if mailbox.send(event).is_err() {
                    return Order::Pause;
                }
            }
            let order = desk.look(Some(&wanted));
            match desk.settle(Some(&hub), mailbox) {
                Ok(()) => order,
                Err(Gone) => Order::Pause,
            }
        };
        let outcome = hub.download(&wanted, &mut watch);
        self.mailbox.send(match outcome {
            Ok(Outcome::Done { path }) => DownloadEvent::Done { wanted, path },
            Ok(Outcome::Paused { n_bytes_kept }) => DownloadEvent::Paused {
                wanted,
                n_bytes_kept,
            },
            Ok(Outcome::Cancelled) => DownloadEvent::Cancelled { wanted },
            Err(failure) => DownloadEvent::Failed {
                wanted,
                reason: failure.to_string(),
                n_bytes_kept: failure.n_bytes_kept,
            },
        })
    }
}
