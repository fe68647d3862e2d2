//! `quartet listen`: a local endpoint that answers other programs, and keeps every request as a run.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};

use clap::Args;

use super::compute::ComputeArguments;
use super::console;
use super::failure::Failure;
use super::files::{check_file, create_folder, write_file};
use super::generate::is_aborted;
use super::model::model_parser;
use super::outputs::report_error;
use super::pane_run::{Console, Engine, SIGNAL_PAUSE, model_source};
use super::run_record::finish_summary;
use crate::export::finish_stamp;
use crate::export::json::{self, Form, RunHeader};
use crate::generation::formatting::{counted, one_line};
use crate::generation::{Generation, GenerationId};
use crate::interop::api::{ApiModel, EarlierRequest, RecordedRequest, Usage};
use crate::listen::{
    AnsweredRequest, ListenError, Listener, MAX_OPEN_REQUESTS, MAX_WRITING_TEXTS, Outcome,
};
use crate::state::unix_time_secs;
use crate::worker::{Event, Request, Worker};

/// What programs can ask, and where all of it is explained.
const HELP: &str = r#"Try it:
  curl http://127.0.0.1:8080/v1/completions -d '{"prompt": "Once upon a time", "seed": 7}'

Paths: /health, /v1/models, /v1/chat/completions, /v1/completions; as in llama-server /completion,
  /tokenize, /detokenize, /apply-template, /props

A field that is not supported is an error, and never ignored. Without settings, a request to /v1 draws
from the model’s own probabilities (temperature 1, top_p 1), and one to /completion has llama-server’s
defaults. assets/docs/LISTEN.md lists all fields."#;

/// The arguments of `quartet listen`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors, or the name of a
    /// model on this computer, such as `OWNER/NAME:Q8_0`; by default the built-in model
    #[arg(value_name = "MODEL", value_parser = model_parser())]
    model: Option<PathBuf>,

    /// The port of 127.0.0.1 that programs use; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 8080)]
    port: u16,

    /// The address that programs use. Only this computer’s own is possible
    #[arg(long, value_name = "ADDRESS", default_value = LOOPBACK, value_parser = loopback)]
    host: String,

    /// Keep every request as a run file in this folder, with all evidence. The files hold what the
    /// programs sent
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,

    #[command(flatten)]
    compute: ComputeArguments,
}

const LOOPBACK: &str = "127.0.0.1";

/// Accepts the names of this computer.
fn loopback(host: &str) -> Result<String, String> {
    if [LOOPBACK, "localhost"].contains(&host) {
        return Ok(LOOPBACK.to_owned());
    }
    Err(format!(
        "other computers can’t use the endpoint; it listens on {LOOPBACK} only"
    ))
}

/// Runs `quartet listen`, until a signal ends it.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(folder) = &arguments.keep {
        create_folder(folder).map_err(Failure::run)?;
        check_file(&folder.join("run.json")).map_err(Failure::run)?;
    }
    let mut console = Console::quiet();
    let (bell, rung) = sync_channel(1);
    // A bell that has not been heard yet need not ring twice.
    let ring = move || {
        bell.try_send(()).ok();
    };
    let source = model_source(arguments.model.clone());
    let engine = Engine::open_waking(source, arguments.compute, ring.clone(), &mut console)?;
    let model = ApiModel {
        info: engine.info,
        vocabulary: engine.vocabulary,
        second: engine.second,
        loaded_at: unix_time_secs(),
        tool_calls: engine.tool_calls,
    };
    let name = model.id().to_owned();
    let listener = Listener::open(arguments.port, Some(model), ring)
        .map_err(|error| Failure::run(failure_words(&error)))?;
    let address = listener.address();
    console::print(format!("Listening on http://{address}/v1 with {name}\n").as_bytes())?;
    console::note(&format!(
        "Up to {MAX_WRITING_TEXTS} texts are written at a time, and up to {MAX_OPEN_REQUESTS} requests \
         can be open. Press Ctrl+C to stop"
    ));
    let mut endpoint = Endpoint {
        worker: engine.worker,
        listener,
        rung,
        n_ids: 0,
        log: Log {
            keep: arguments.keep.clone(),
            ..Log::default()
        },
    };
    endpoint.serve(&console)
}

fn failure_words(error: &ListenError) -> String {
    match error {
        ListenError::PortInUse { .. } => format!("{error} with --port"),
        ListenError::Refused { .. } => error.to_string(),
    }
}

/// The endpoint with the worker that writes its texts.
struct Endpoint {
    worker: Worker,
    listener: Listener,
    /// Rings when the worker or the listener has something to do.
    rung: Receiver<()>,
    /// How many ids have been given to texts.
    n_ids: u64,
    log: Log,
}

/// How many events are handled before requests get a turn.
const N_EVENTS: usize = 256;

impl Endpoint {
    /// Answers requests until a signal arrives, and then stops the texts that are being written.
    fn serve(&mut self, console: &Console) -> Result<(), Failure> {
        while !console.interrupt.is_raised() {
            self.advance()?;
        }
        self.worker.send(Request::StopAll);
        loop {
            self.listener.refuse_waiting();
            if self.listener.is_idle() {
                break;
            }
            self.advance()?;
        }
        self.log.list(&self.listener.take_answered())?;
        self.log.end()?;
        Err(Failure::Interrupted)
    }

    /// Handles what has happened, or waits for something to happen.
    fn advance(&mut self) -> Result<(), Failure> {
        let n_ids = &mut self.n_ids;
        let requests = self.listener.requests(|| {
            *n_ids += 1;
            GenerationId(*n_ids)
        });
        for request in requests {
            self.worker.send(request);
        }
        let events = self.worker.drain(N_EVENTS);
        let n_events = events.len();
        for event in events {
            match event {
                Event::Progress(progress) => {
                    self.listener.note(&progress);
                }
                Event::Panicked { message } => {
                    let error = format!("the engine stopped unexpectedly: {message}");
                    self.listener.fail(&error);
                    self.log.list(&self.listener.take_answered())?;
                    return Err(Failure::run(error));
                }
                _ => {}
            }
        }
        self.log.list(&self.listener.take_answered())?;
        if n_events == 0 {
            // Signals ring no bell.
            self.rung.recv_timeout(SIGNAL_PAUSE).ok();
        }
        Ok(())
    }
}

/// Prints a line for each request, and keeps the runs.
#[derive(Debug, Default)]
struct Log {
    keep: Option<PathBuf>,
    n_kept: usize,
    /// The last line without its time, if it was a refusal, and how often it was repeated.
    refusal: Option<(String, usize)>,
}

impl Log {
    fn list(&mut self, answered: &[AnsweredRequest]) -> Result<(), Failure> {
        answered.iter().try_for_each(|one| self.list_one(one))
    }

    fn list_one(&mut self, answered: &AnsweredRequest) -> Result<(), Failure> {
        let AnsweredRequest { client, notes, .. } = answered;
        let program = client.user_agent.as_deref().unwrap_or("unnamed program");
        let asked = match answered.asked.as_str() {
            "" => client.target.clone(),
            asked => format!("{:?}", one_line(asked, 48)),
        };
        let words = [vec![outcome_words(&answered.outcome)], notes.clone()].concat();
        let mut line = format!("{program}  {asked}  {}", words.join("; "));
        if let Outcome::Refused(_) = &answered.outcome {
            if let Some((last, n_more)) = &mut self.refusal
                && *last == line
            {
                *n_more += 1;
                return Ok(());
            }
            self.end()?;
            self.refusal = Some((line.clone(), 0));
        } else {
            self.end()?;
        }
        if let Outcome::Written { texts, request } = &answered.outcome
            && let Some(name) = self.keep(texts, request)
        {
            line.push_str("  ");
            line.push_str(&name);
        }
        let time = finish_stamp(client.asked_at).unwrap_or_default();
        let line = console::escape_control(&format!("{time}  {line}"));
        console::print(format!("{}\n", line.replace('\n', " ")).as_bytes())
    }

    /// Says how often the last refusal was repeated.
    fn end(&mut self) -> Result<(), Failure> {
        match self.refusal.take() {
            Some((_, n_more)) if n_more > 0 => {
                let times = counted(n_more, "more time");
                console::print(format!("  {times}\n").as_bytes())
            }
            _ => Ok(()),
        }
    }

    /// Writes the run to the folder, if runs are kept. Returns the name of its file.
    fn keep(&mut self, texts: &[Generation], request: &RecordedRequest) -> Option<String> {
        let folder = self.keep.clone()?;
        if texts.iter().all(is_aborted) {
            return None;
        }
        let time = finish_stamp(request.asked_at).unwrap_or_default();
        let time = time.replace(':', "-");
        let (name, path) = loop {
            self.n_kept += 1;
            let name = format!("{time}-{:04}.json", self.n_kept);
            let path = folder.join(&name);
            if !path.exists() {
                break (name, path);
            }
        };
        let texts: Vec<&Generation> = texts.iter().collect();
        let header = RunHeader {
            finished_at: Some(unix_time_secs()),
            request: Some(request.clone()),
            ..RunHeader::default()
        };
        let run = json::write(&header, &texts, Form::default());
        let written = write_file(&path, &run);
        report_error(&written).then_some(name)
    }
}

/// "End of text, 84 tokens; 31 of 40 tokens reused".
fn outcome_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused(error) => format!("refused ({}): {error}", error.status),
        Outcome::LeftWaiting => "the program left before its turn".to_owned(),
        Outcome::Written { texts, request } => {
            let texts: Vec<&Generation> = texts.iter().collect();
            let finishes = texts.iter().map(|text| match &request.undelivered {
                Some(_) => counted(text.steps.len(), "token"),
                None => finish_summary(text),
            });
            let finishes: Vec<String> = finishes.collect();
            let parts = [
                Some(finishes.join(" | ")),
                Usage::of(&texts).reuse_words(),
                (request.earlier.as_ref()).and_then(EarlierRequest::broke_words),
                request.undelivered.clone(),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            parts.join("; ")
        }
    }
}
