//! Runs the panes of one run where each belongs, at the same time: on the models of this computer
//! and on servers.

use std::sync::Arc;
use std::time::Duration;

use super::console;
use super::failure::Failure;
use super::pane_run::{Console, Engine, Pane, Record, SIGNAL_PAUSE, Task};
use super::server::connected;
use crate::generation::{
    Continuation, Generation, GenerationId, ModelInfo, PromptRecord, PromptText, TextModels,
    Vocabulary,
};
use crate::worker::{
    Event, PaneRequest, Request, ServerConfig, ServerEvent, ServerRequest, ServerWorker,
};

/// How long one of several hosts is waited for while the others may have events.
const TURN: Duration = Duration::from_millis(5);

/// The maximum number of events that one host hands over before it is the others' turn.
const MAX_EVENTS_PER_TURN: usize = 256;

/// Where the panes of a run are generated.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// The servers, each of them once.
    pub servers: Vec<ServerConfig>,
    /// For each pane, the index of its server, or `None` if it runs on this computer.
    pub of_panes: Vec<Option<usize>>,
}

impl Hosts {
    /// Returns whether all panes run on this computer.
    pub(super) fn is_local(&self) -> bool {
        self.servers.is_empty()
    }

    /// Returns the panes that run on the same host, with their indices.
    fn panes_on<'a>(&self, server: Option<usize>, panes: &'a [Pane]) -> Vec<(usize, &'a Pane)> {
        let hosted = self.of_panes.iter().zip(panes).enumerate();
        let is_here = |host: &Option<usize>| *host == server;
        let here = hosted.filter(|(_, (host, _))| is_here(host));
        here.map(|(index, (_, pane))| (index, pane)).collect()
    }

    /// Runs all panes and returns their records, in the panes’ order. `open_engine` loads the models
    /// of the panes that run on this computer; it is called only if there are any.
    pub(super) fn run(
        &self,
        prompt: &PromptText,
        panes: &[Pane],
        console: &mut Console,
        open_engine: impl FnOnce(&[Pane], &mut Console) -> Result<Engine, Failure>,
    ) -> Result<Vec<Generation>, Failure> {
        let mut runs = Vec::new();
        for (index, config) in self.servers.iter().enumerate() {
            let host = ServerHost::connect(config.clone(), console)?;
            runs.push(self.run_on(Host::Server(host), Some(index), panes));
        }
        let local: Vec<Pane> = self.panes_on(None, panes).into_iter().map(cloned).collect();
        if !local.is_empty() {
            let engine = Box::new(open_engine(&local, console)?);
            runs.push(self.run_on(Host::Engine(engine), None, panes));
        }
        let unread = Arc::new(PromptRecord {
            text: prompt.text.clone(),
            ..PromptRecord::default()
        });
        let mut texts = Vec::new();
        for (index, pane) in panes.iter().enumerate() {
            let run = runs.iter().find(|run| run.indices.contains(&index));
            texts.extend(run.map(|run| run.host.new_text(pane, &unread)));
        }
        let record = Record::of(texts);
        for run in &mut runs {
            run.begin(prompt, panes);
        }
        Ok(collect(runs, record, console))
    }

    fn run_on(&self, host: Host, server: Option<usize>, panes: &[Pane]) -> HostRun {
        let indices = self.panes_on(server, panes).into_iter();
        HostRun {
            host,
            indices: indices.map(|(index, _)| index).collect(),
        }
    }
}

fn cloned((_, pane): (usize, &Pane)) -> Pane {
    pane.clone()
}

/// What generates panes.
enum Host {
    Engine(Box<Engine>),
    Server(ServerHost),
}

/// A connected server.
struct ServerHost {
    worker: ServerWorker,
    model: Arc<ModelInfo>,
    /// The tokens that the server has named so far.
    vocabulary: Arc<Vocabulary>,
}

impl ServerHost {
    fn connect(config: ServerConfig, console: &mut Console) -> Result<Self, Failure> {
        let mut worker = ServerWorker::start(config, || {});
        console.progress.milestone("Connecting to the server");
        let connected = connected(&mut worker, &console.interrupt);
        console.progress.clear();
        let (_, model, _) = connected?;
        Ok(Self {
            worker,
            model,
            vocabulary: Arc::default(),
        })
    }
}

impl Host {
    /// Returns the record of a text before its first token.
    fn new_text(&self, pane: &Pane, unread: &Arc<PromptRecord>) -> Generation {
        match self {
            Self::Engine(engine) => engine.new_text(pane, unread),
            Self::Server(server) => {
                let models = TextModels {
                    model: Arc::clone(&server.model),
                    ..TextModels::default()
                };
                let (name, config) = (pane.name.clone(), pane.config.clone());
                Generation::begin(name, config, Arc::clone(unread), models)
            }
        }
    }
}

/// A host with its panes.
struct HostRun {
    host: Host,
    /// The indices of its panes in the run, which are their generation ids.
    indices: Vec<usize>,
}

/// Whether a host has more to report.
enum Turn {
    Waiting,
    /// It has ended, with the reason.
    Ended(String),
}

impl HostRun {
    fn begin(&mut self, prompt: &PromptText, panes: &[Pane]) {
        let own = self.indices.iter();
        let own = own.filter_map(|index| Some((id_of(*index), panes.get(*index)?)));
        match &mut self.host {
            Host::Engine(engine) => {
                let task = Task::Generate(prompt.clone());
                engine.worker.send(task.into_request(own));
            }
            Host::Server(server) => {
                let request = |(id, pane): (GenerationId, &Pane)| PaneRequest {
                    id,
                    config: pane.config.clone(),
                    model: None,
                    continuation: Continuation::default(),
                };
                server.worker.send(ServerRequest::Generate {
                    prompt: prompt.clone(),
                    panes: own.map(request).collect(),
                });
            }
        }
    }

    fn stop(&mut self) {
        match &mut self.host {
            Host::Engine(engine) => engine.worker.send(Request::StopAll),
            Host::Server(server) => server.worker.send(ServerRequest::StopAll),
        }
    }

    fn is_running(&self, record: &Record) -> bool {
        let mut indices = self.indices.iter();
        indices.any(|index| record.is_unfinished(id_of(*index)))
    }

    /// Notes what the host has to report, after waiting at most this long for the first event.
    fn turn(&mut self, wait: Duration, record: &mut Record, console: &mut Console) -> Turn {
        let mut wait = wait;
        for _ in 0..MAX_EVENTS_PER_TURN {
            let message = match &mut self.host {
                Host::Engine(engine) => match engine.worker.wait_at_most(wait) {
                    Some(Some(Event::Panicked { message })) => {
                        Some(format!("the engine stopped unexpectedly: {message}"))
                    }
                    Some(Some(event)) => {
                        record.note(event, console);
                        None
                    }
                    Some(None) => return Turn::Waiting,
                    None => Some("the engine stopped unexpectedly".to_owned()),
                },
                Host::Server(server) => match server.worker.wait_at_most(wait) {
                    Some(Some(ServerEvent::Panicked { message })) => {
                        Some(format!("Quartet failed unexpectedly: {message}"))
                    }
                    Some(Some(event)) => {
                        server.note(event, record, console);
                        None
                    }
                    Some(None) => return Turn::Waiting,
                    None => Some("the connection ended unexpectedly".to_owned()),
                },
            };
            if let Some(message) = message {
                return Turn::Ended(message);
            }
            wait = Duration::ZERO;
        }
        Turn::Waiting
    }
}

impl ServerHost {
    fn note(&mut self, event: ServerEvent, record: &mut Record, console: &mut Console) {
        match event {
            ServerEvent::Progress(progress) => record.note(Event::Progress(progress), console),
            ServerEvent::Vocabulary(known) => self.vocabulary = known,
            ServerEvent::Noted {
                id,
                notes,
                not_applied,
            } => {
                console.progress.clear();
                record.note_not_applied(id, not_applied);
                for note in &notes {
                    console::note(note);
                }
            }
            ServerEvent::Job { .. }
            | ServerEvent::Panicked { .. }
            | ServerEvent::Connected { .. }
            | ServerEvent::ConnectFailed { .. } => {}
        }
    }
}

/// Lets the hosts take turns until all texts have ended, and returns the texts.
fn collect(mut runs: Vec<HostRun>, mut record: Record, console: &mut Console) -> Vec<Generation> {
    let mut stopping = false;
    let wait = if runs.len() > 1 { TURN } else { SIGNAL_PAUSE };
    while record.unfinished().is_some() {
        for run in &mut runs {
            if !run.is_running(&record) {
                continue;
            }
            if let Turn::Ended(reason) = run.turn(wait, &mut record, console) {
                for index in &run.indices {
                    record.fail(id_of(*index), &reason, console);
                }
            }
        }
        if console.interrupt.is_raised() && !stopping {
            runs.iter_mut().for_each(HostRun::stop);
            stopping = true;
        }
    }
    console.progress.clear();
    let mut texts = record.into_texts();
    for run in &runs {
        if let Host::Server(server) = &run.host {
            for index in &run.indices {
                if let Some(text) = texts.get_mut(*index) {
                    text.vocabulary = Arc::clone(&server.vocabulary);
                }
            }
        }
    }
    texts
}

/// Returns the id of the pane at this index.
const fn id_of(index: usize) -> GenerationId {
    GenerationId(index as u64)
}
