//! The threads of one server: one takes requests, and each text has its own, because each waits for
//! its own answers.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::event_sender::{Disconnected, EventSender};
use super::{PaneRequest, ServerEvent, ServerRequest};
use crate::engine::{JobUpdate, Progress};
use crate::generation::formatting::io_words;
use crate::generation::{FinishReason, GenerationId, PromptRecord, PromptText};
use crate::servers::{
    Connection, ListPlan, PaneJob, SampledBy, ServedPrompt, ServerConfig, StopFlag, answer_list,
    not_applied, sampler_notes, write_pane,
};

/// The shortest time between two events with the vocabulary.
const VOCABULARY_INTERVAL: Duration = Duration::from_secs(1);

/// What to continue.
enum Begin {
    Prompt(PromptText),
    Record(Arc<PromptRecord>),
}

/// A pane, and the flag that stops it.
type FlaggedPane = (PaneRequest, StopFlag);

/// The texts of one request, or a list.
struct Group {
    kind: GroupKind,
    panes: Vec<(GenerationId, StopFlag)>,
    /// Raised once all of them are stopped.
    all: StopFlag,
    thread: JoinHandle<()>,
}

/// What a group writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupKind {
    Panes,
    List,
}

/// The thread that takes requests. It never waits for the server itself.
pub(super) struct ServerThread {
    requests: Receiver<ServerRequest>,
    shared: Shared,
    groups: Vec<Group>,
}

/// What the threads of all texts share.
#[derive(Clone)]
struct Shared {
    config: Arc<ServerConfig>,
    /// Locked while it is being opened, so that it is opened once.
    connection: Arc<Mutex<Option<Arc<Connection>>>>,
    events: EventSender<ServerEvent>,
}

impl ServerThread {
    pub(super) fn new(
        config: ServerConfig,
        requests: Receiver<ServerRequest>,
        events: EventSender<ServerEvent>,
    ) -> Self {
        Self {
            requests,
            shared: Shared {
                config: Arc::new(config),
                connection: Arc::default(),
                events,
            },
            groups: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        while let Ok(request) = self.requests.recv() {
            self.groups.retain(|group| !group.thread.is_finished());
            match request {
                ServerRequest::Connect => self.begin(None, Vec::new()),
                ServerRequest::Generate { prompt, panes } => {
                    self.begin(Some(Begin::Prompt(prompt)), panes);
                }
                ServerRequest::Continue { prompt, panes } => {
                    self.begin(Some(Begin::Record(prompt)), panes);
                }
                ServerRequest::AnswerList { id, plan } => self.begin_list(id, plan),
                ServerRequest::Stop(id) => self.stop(|_, other| other == id),
                ServerRequest::StopAll => self.stop(|kind, _| kind == GroupKind::Panes),
            }
        }
        self.stop(|_, _| true);
        // One thread may hold what another waits for, so all are stopped before any is joined.
        self.groups.iter().for_each(|group| group.all.raise());
        for group in self.groups.drain(..) {
            // A panic has already been reported as an event.
            group.thread.join().ok();
        }
    }

    fn stop(&self, is_meant: impl Fn(GroupKind, GenerationId) -> bool) {
        for group in &self.groups {
            let panes = group.panes.iter();
            let meant = panes.filter(|(id, _)| is_meant(group.kind, *id));
            meant.for_each(|(_, stop)| stop.raise());
            if group.panes.iter().all(|(_, stop)| stop.is_raised()) && !group.panes.is_empty() {
                group.all.raise();
            }
        }
    }

    /// Starts the thread of a request.
    fn begin(&mut self, begin: Option<Begin>, panes: Vec<PaneRequest>) {
        let flagged = panes.into_iter().map(|pane| (pane, StopFlag::default()));
        let panes: Vec<FlaggedPane> = flagged.collect();
        let ids = panes.iter().map(|(pane, stop)| (pane.id, stop.clone()));
        let ids: Vec<_> = ids.collect();
        let all = StopFlag::default();
        let (shared, stop) = (self.shared.clone(), all.clone());
        let run = move || shared.run_group(begin, panes, &stop);
        self.spawn(GroupKind::Panes, ids, all, run);
    }

    /// Starts the thread of a list.
    fn begin_list(&mut self, id: GenerationId, plan: Arc<ListPlan>) {
        let all = StopFlag::default();
        let (shared, stop) = (self.shared.clone(), all.clone());
        let ids = vec![(id, all.clone())];
        let run = move || shared.run_list(id, &plan, &stop);
        self.spawn(GroupKind::List, ids, all, run);
    }

    fn spawn(
        &mut self,
        kind: GroupKind,
        panes: Vec<(GenerationId, StopFlag)>,
        all: StopFlag,
        run: impl FnOnce() + Send + 'static,
    ) {
        let spawned = thread::Builder::new()
            .name("server-prompt".to_owned())
            .spawn(run);
        match spawned {
            Ok(thread) => self.groups.push(Group {
                kind,
                panes,
                all,
                thread,
            }),
            Err(error) => {
                let message = format!(
                    "the server’s thread could not be started: {}",
                    io_words(&error)
                );
                // If the receiver is gone, nobody needs to know.
                self.shared
                    .events
                    .send(ServerEvent::Panicked { message })
                    .ok();
            }
        }
    }
}

impl Shared {
    fn run_group(&self, begin: Option<Begin>, panes: Vec<FlaggedPane>, stop: &StopFlag) {
        let panicked = |message| ServerEvent::Panicked { message };
        self.events.run_thread(panicked, || {
            let ids: Vec<GenerationId> = panes.iter().map(|(pane, _)| pane.id).collect();
            let connection = self.connection(stop);
            let prepared = match (&connection, begin) {
                (Ok(Some(connection)), Some(begin)) => served(begin, connection, stop),
                (Ok(_), _) => Ok(None),
                (Err(error), _) => Err(error.clone()),
            };
            match (connection, prepared) {
                (Ok(Some(connection)), Ok(Some(prompt))) => {
                    let started = Progress::Started {
                        ids,
                        prompt: Arc::clone(&prompt.0),
                    };
                    self.events.send(ServerEvent::Progress(started))?;
                    self.write_all(&connection, &prompt, panes)
                }
                (connection, prepared) => {
                    if let Err(error) = connection {
                        self.events.send(ServerEvent::ConnectFailed { error })?;
                    }
                    let reason = match prepared {
                        Err(error) => FinishReason::Failed { error },
                        Ok(_) => FinishReason::Cancelled,
                    };
                    for id in ids {
                        let reason = reason.clone();
                        let finished = Progress::Finished { id, reason };
                        self.events.send(ServerEvent::Progress(finished))?;
                    }
                    Ok(())
                }
            }
        });
    }

    /// Answers a list of prompts.
    fn run_list(&self, id: GenerationId, plan: &ListPlan, stop: &StopFlag) {
        let panicked = |message| ServerEvent::Panicked { message };
        self.events.run_thread(panicked, || {
            let answered = match self.connection(stop) {
                Ok(Some(connection)) => answer_list(&connection, plan, stop, &|report| {
                    let update = JobUpdate::reported(report);
                    if self.events.send(ServerEvent::Job { id, update }).is_err() {
                        stop.raise();
                    }
                }),
                Ok(None) => Ok(()),
                Err(error) => {
                    let failed = ServerEvent::ConnectFailed {
                        error: error.clone(),
                    };
                    self.events.send(failed)?;
                    Err(error)
                }
            };
            let update = match answered {
                Err(error) => JobUpdate::Failed { error },
                Ok(()) if stop.is_raised() => JobUpdate::Stopped,
                Ok(()) => JobUpdate::Finished,
            };
            self.events.send(ServerEvent::Job { id, update })
        });
    }

    /// Returns the open connection, or `None` if it was stopped while opening.
    fn connection(&self, stop: &StopFlag) -> Result<Option<Arc<Connection>>, String> {
        // What it holds is complete or absent, so a panic elsewhere leaves it usable.
        let mut held = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = &*held {
            return Ok(Some(Arc::clone(connection)));
        }
        let opened = Connection::open(&self.config, stop);
        let Some(connection) = opened.map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        let connection = Arc::new(connection);
        *held = Some(Arc::clone(&connection));
        let info = connection.info();
        let connected = ServerEvent::Connected {
            server: Arc::new(info.clone()),
            model: Arc::new(info.model_info()),
            n_probs: connection.n_probs(),
        };
        // If the receiver is gone, the next event finds out.
        self.events.send(connected).ok();
        Ok(Some(connection))
    }

    /// Writes all texts at the same time.
    fn write_all(
        &self,
        connection: &Connection,
        prompt: &ServedPrompt,
        panes: Vec<FlaggedPane>,
    ) -> Result<(), Disconnected> {
        let n_panes = panes.len();
        thread::scope(|scope| {
            for (pane, stop) in panes {
                let id = pane.id;
                let write = move || self.write(connection, prompt, pane, (stop, n_panes));
                let spawned = thread::Builder::new()
                    .name("server-text".to_owned())
                    .spawn_scoped(scope, write);
                if let Err(error) = spawned {
                    let error = format!(
                        "the text’s thread could not be started: {}",
                        io_words(&error)
                    );
                    let failed = Progress::failed(id, &error);
                    self.events.send(ServerEvent::Progress(failed))?;
                }
            }
            Ok(())
        })
    }

    fn write(
        &self,
        connection: &Connection,
        prompt: &ServedPrompt,
        pane: PaneRequest,
        (stop, n_panes): (StopFlag, usize),
    ) {
        let panicked = |message| ServerEvent::Panicked { message };
        self.events.run_thread(panicked, || {
            let id = pane.id;
            if connection.sampled_by() == SampledBy::Server {
                let notes = sampler_notes(connection, &pane.config);
                let not_applied = not_applied(connection.info(), &pane.config);
                if !notes.is_empty() || !not_applied.is_empty() {
                    let noted = ServerEvent::Noted {
                        id,
                        notes,
                        not_applied,
                    };
                    self.events.send(noted)?;
                }
            }
            // Each text uses its own slot, and so its own KV cache, if there are enough slots.
            let n_slots = connection
                .info()
                .n_slots
                .filter(|n_slots| n_panes <= *n_slots);
            let slot = n_slots.and_then(|n_slots| usize::try_from(id.0).ok()?.checked_rem(n_slots));
            let job = PaneJob {
                id,
                config: pane.config,
                continuation: pane.continuation,
                slot,
            };
            let mut news = VocabularyNews::default();
            let mut report = |progress: Progress| {
                let is_last = matches!(progress, Progress::Finished { .. });
                let vocabulary = news.due(connection, is_last);
                let sent = vocabulary.map_or(Ok(()), |event| self.events.send(event));
                let sent = sent.and_then(|()| self.events.send(ServerEvent::Progress(progress)));
                if sent.is_err() {
                    stop.raise();
                }
            };
            write_pane(connection, prompt, job, &stop, &mut report);
            Ok(())
        });
    }
}

fn served(
    begin: Begin,
    connection: &Connection,
    stop: &StopFlag,
) -> Result<Option<ServedPrompt>, String> {
    match begin {
        Begin::Record(record) => Ok(Some(ServedPrompt(record))),
        Begin::Prompt(prompt) => {
            ServedPrompt::of(&prompt, connection, stop).map_err(|error| error.to_string())
        }
    }
}

/// When the vocabulary was last sent.
#[derive(Default)]
struct VocabularyNews {
    sent_at: Option<Instant>,
    n_sent: usize,
}

impl VocabularyNews {
    /// Returns the vocabulary if it has grown and was not sent a moment ago.
    fn due(&mut self, connection: &Connection, at_once: bool) -> Option<ServerEvent> {
        let n_known = connection.n_known_tokens();
        let is_due = self
            .sent_at
            .is_none_or(|at| at.elapsed() >= VOCABULARY_INTERVAL);
        if n_known == self.n_sent || !(is_due || at_once) {
            return None;
        }
        (self.sent_at, self.n_sent) = (Some(Instant::now()), n_known);
        Some(ServerEvent::Vocabulary(Arc::new(connection.vocabulary())))
    }
}
