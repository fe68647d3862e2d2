//! Runs the panes of one run where each belongs, at the same time: on the models of this computer
//! and on servers.

use std::sync::Arc;
use std::time::Duration;

use super::console;
use super::failure::Failure;
use super::pane_run::{Console, Engine, Pane, SIGNAL_PAUSE, Task};
use super::run_record::Record;
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
    /// Returns the panes that run on the same host, with their indices.
    fn panes_on<'a>(&self, server: Option<usize>, panes: &'a [Pane]) -> Vec<(usize, &'a Pane)> {
        let hosted = self.of_panes.iter().zip(panes).enumerate();
        let is_here = |host: &Option<usize>| *host == server;
        let here = hosted.filter(|(_, (host, _))| is_here(host));
        here.map(|(index, (_, pane))| (index, pane)).collect()
    }

    /// Connects to the servers. `open_engine` loads the models of the panes that run on this computer;
    /// it is called only if there are any.
    pub(super) fn open(
        &self,
        panes: &[Pane],
        console: &mut Console,
        open_engine: impl FnOnce(&[Pane], &mut Console) -> Result<Engine, Failure>,
    ) -> Result<OpenHosts, Failure> {
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
        Ok(OpenHosts { runs })
    }

    fn run_on(&self, host: Host, server: Option<usize>, panes: &[Pane]) -> HostRun {
        let indices = self.panes_on(server, panes).into_iter();
        HostRun {
            host,
            indices: indices.map(|(index, _)| index).collect(),
        }
    }
}

/// What a pane of a run does next.
#[derive(Debug)]
pub(super) enum PaneTurn {
    /// It continues or answers a prompt, after the answer before it in its conversation.
    Writes {
        prompt: PromptText,
        previous: Option<Arc<Generation>>,
    },
    /// It keeps its text.
    Stays(Box<Generation>),
}

impl PaneTurn {
    const fn prompt(&self) -> Option<&PromptText> {
        match self {
            Self::Writes { prompt, .. } => Some(prompt),
            Self::Stays(_) => None,
        }
    }
}

/// The hosts of a run, ready to generate.
pub(super) struct OpenHosts {
    runs: Vec<HostRun>,
}

impl OpenHosts {
    /// Runs all panes and returns their records, in the panes’ order. Each pane has a turn.
    pub(super) fn run(
        &mut self,
        turns: Vec<PaneTurn>,
        panes: &[Pane],
        console: &mut Console,
    ) -> Vec<Generation> {
        for run in &mut self.runs {
            run.begin(&turns, panes);
        }
        let numbered = turns.into_iter().zip(panes).enumerate();
        let texts = numbered.filter_map(|(index, (turn, pane))| match turn {
            PaneTurn::Stays(text) => Some(*text),
            PaneTurn::Writes { prompt, previous } => {
                let unread = Arc::new(PromptRecord {
                    text: prompt.text,
                    ..PromptRecord::default()
                });
                let run = self.runs.iter().find(|run| run.indices.contains(&index))?;
                Some(run.host.new_text(pane, &unread).following(previous))
            }
        });
        let record = Record::of(texts.collect());
        collect(&mut self.runs, record, console)
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

    fn send(&mut self, prompt: &PromptText, panes: Vec<(GenerationId, &Pane)>) {
        match self {
            Self::Engine(engine) => {
                let task = Task::Generate(prompt.clone());
                engine.worker.send(task.into_request(panes));
            }
            Self::Server(server) => {
                let request = |(id, pane): (GenerationId, &Pane)| PaneRequest {
                    id,
                    config: pane.config.clone(),
                    model: None,
                    continuation: Continuation::default(),
                };
                server.worker.send(ServerRequest::Generate {
                    prompt: prompt.clone(),
                    panes: panes.into_iter().map(request).collect(),
                });
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
    /// Sends the requests of its panes: one for all with the same prompt.
    fn begin(&mut self, turns: &[PaneTurn], panes: &[Pane]) {
        let mut requests: Vec<(&PromptText, Vec<(GenerationId, &Pane)>)> = Vec::new();
        for index in &self.indices {
            let prompt = turns.get(*index).and_then(PaneTurn::prompt);
            let Some((prompt, pane)) = prompt.zip(panes.get(*index)) else {
                continue;
            };
            let asked = (id_of(*index), pane);
            match requests.iter_mut().find(|(other, _)| *other == prompt) {
                Some((_, panes)) => panes.push(asked),
                None => requests.push((prompt, vec![asked])),
            }
        }
        for (prompt, panes) in requests {
            self.host.send(prompt, panes);
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
fn collect(runs: &mut [HostRun], mut record: Record, console: &mut Console) -> Vec<Generation> {
    let mut stopping = false;
    let wait = if runs.len() > 1 { TURN } else { SIGNAL_PAUSE };
    while record.unfinished().is_some() {
        for run in runs.iter_mut() {
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
    for run in runs {
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
