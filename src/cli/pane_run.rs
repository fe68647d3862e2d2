//! Runs panes on the engine's thread, prints their texts and collects their records.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::compute::{ComputeArguments, cpu_fallback_note};
use super::console;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::pane_models::OtherModel;
use super::progress::Progress;
use super::run_record::Record;
use super::text_output::TextOutput;
use crate::decoding::ChainConfig;
use crate::generation::{
    ChatMessage, Continuation, Generation, GenerationConfig, GenerationId, ModelInfo, PromptRecord,
    PromptText, TextModels, ToolCallForm, Vocabulary,
};
use crate::worker::{ComputeChoice, Event, ModelSource, PaneRequest, Request, Worker};

/// How often a run checks for signals while no events arrive.
pub(crate) const SIGNAL_PAUSE: Duration = Duration::from_millis(50);

/// What a run prints while it lasts, and the signals that end it early.
#[derive(Debug)]
pub(crate) struct Console {
    pub progress: Progress,
    pub texts: TextOutput,
    pub interrupt: Interrupt,
}

impl Console {
    /// Shows progress only, and catches signals.
    pub(crate) fn quiet() -> Self {
        Self {
            progress: Progress::new(),
            texts: TextOutput::off(),
            interrupt: Interrupt::catch(),
        }
    }
}

/// A pane to run.
#[derive(Debug, Clone)]
pub(crate) struct Pane {
    pub name: String,
    pub config: GenerationConfig,
    /// Its own model, if it does not use the run's.
    pub model: Option<ModelSource>,
}

/// What the panes of a run do.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    /// Continue a prompt.
    Generate(PromptText),
    /// Score a text, or its first tokens.
    Score {
        text: String,
        n_first: Option<usize>,
    },
    /// Score an answer to a message.
    ScoreAnswer {
        prompt: PromptText,
        answer: ChatMessage,
    },
}

/// Returns the source of the model given on the command line, by default the built-in one.
pub(crate) fn model_source(model: Option<PathBuf>) -> ModelSource {
    model.map_or(ModelSource::Embedded, ModelSource::Path)
}

/// The engine's thread with a loaded model.
pub(crate) struct Engine {
    pub worker: Worker,
    pub info: Arc<ModelInfo>,
    /// The second model, if there is one.
    pub second: Option<Arc<ModelInfo>>,
    pub vocabulary: Arc<Vocabulary>,
    /// How its chat template lets it write tool calls, if it names a form that is read.
    pub tool_calls: Option<ToolCallForm>,
    /// The models that panes use besides this one.
    pub others: Vec<OtherModel>,
}

impl Engine {
    /// Starts the thread and loads a model.
    pub(crate) fn load(
        source: ModelSource,
        choice: ComputeChoice,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        Self::load_waking(source, choice, || {}, console)
    }

    /// Like [`Self::load`], but `wake` is called on the thread after each of its events.
    fn load_waking(
        source: ModelSource,
        choice: ComputeChoice,
        wake: impl Fn() + Send + Sync + 'static,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let mut worker = Worker::start(wake);
        worker.send(Request::SetCompute(choice));
        worker.send(Request::LoadModel(source));
        let loaded = loaded(&mut worker, console)?;
        console.progress.clear();
        Ok(Self {
            worker,
            info: loaded.info,
            second: loaded.second,
            vocabulary: loaded.vocabulary,
            tool_calls: loaded.tool_calls,
            others: Vec::new(),
        })
    }

    /// Starts the thread and loads a model. Prints a warning for each argument that the model does
    /// not honor, and fails if it runs on a different device than requested.
    pub(crate) fn open(
        source: ModelSource,
        compute: ComputeArguments,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        Self::open_waking(source, compute, || {}, console)
    }

    /// Like [`Self::open`], but `wake` is called on the thread after each of its events.
    pub(crate) fn open_waking(
        source: ModelSource,
        compute: ComputeArguments,
        wake: impl Fn() + Send + Sync + 'static,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let engine = Self::load_waking(source, compute.choice(), wake, console)?;
        compute.check(&engine.info)?;
        for warning in compute.warnings(&engine.info) {
            console::note(&warning);
        }
        Ok(engine)
    }

    /// Loads the model that drafts or guides.
    pub(crate) fn load_second(
        &mut self,
        path: PathBuf,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let source = ModelSource::Path(path);
        self.worker.send(Request::LoadSecondModel(Some(source)));
        let Console {
            progress,
            interrupt,
            ..
        } = console;
        progress.milestone("Loading the second model");
        let outcome = loop {
            if interrupt.is_raised() {
                break Err(Failure::Interrupted);
            }
            match self.worker.wait_at_most(SIGNAL_PAUSE) {
                Some(Some(Event::SecondModelLoading { fraction })) => progress.update(|| {
                    let percent = 100.0 * fraction;
                    format!("Loading the second model, {percent:.0} %")
                }),
                Some(Some(Event::SecondModel(Ok(second)))) => {
                    self.second = second;
                    break Ok(());
                }
                Some(Some(Event::SecondModel(Err(error)))) => break Err(Failure::run(error)),
                Some(_) => {}
                None => break Err(Failure::run("the engine stopped unexpectedly")),
            }
        };
        progress.clear();
        outcome
    }

    /// Returns the record of a text before its first token.
    pub(crate) fn new_text(&self, pane: &Pane, prompt: &Arc<PromptRecord>) -> Generation {
        let (info, vocabulary) = self.model_of(pane.model.as_ref());
        let second = self.second.clone();
        let models = TextModels {
            model: Arc::clone(info),
            second_model: second.filter(|_| pane.model.is_none()),
            vocabulary: Arc::clone(vocabulary),
        };
        let (name, config) = (pane.name.clone(), pane.config.clone());
        Generation::begin_here(name, config, Arc::clone(prompt), models)
    }

    /// Returns the second model if these settings use it.
    pub(crate) fn second_for(&self, chain: &ChainConfig) -> Option<Arc<ModelInfo>> {
        self.second.clone().filter(|_| chain.needs_second_model())
    }

    /// Sends the requests and collects what they generate. A pane's id in the requests is its index
    /// in `generations`.
    pub(crate) fn run(
        &mut self,
        requests: Vec<Request>,
        generations: Vec<Generation>,
        console: &mut Console,
    ) -> Vec<Generation> {
        for request in requests {
            self.worker.send(request);
        }
        let mut record = Record::of(generations);
        let mut stopping = false;
        while let Some(event) = record
            .unfinished()
            .and_then(|()| self.worker.wait_at_most(SIGNAL_PAUSE))
        {
            if let Some(event) = event {
                record.note(event, console);
            }
            if console.interrupt.is_raised() && !stopping {
                self.worker.send(Request::StopAll);
                stopping = true;
            }
        }
        record.fail_unfinished("the engine stopped unexpectedly", console);
        console.progress.clear();
        record.into_texts()
    }
}

impl Engine {
    /// Runs all panes together and returns their records. If the run fails or a signal arrives, the
    /// records keep the tokens so far and the reason.
    pub(crate) fn run_task(
        &mut self,
        task: Task,
        panes: &[Pane],
        console: &mut Console,
    ) -> Vec<Generation> {
        // The model is loaded before the request, because the record's times start here.
        let prompt = task.prompt();
        let numbered = (0..).map(GenerationId).zip(panes);
        let request = task.into_request(numbered);
        let generations = panes.iter().map(|pane| self.new_text(pane, &prompt));
        let generations = generations.collect();
        self.run(vec![request], generations, console)
    }
}

impl Task {
    /// Returns the prompt that the records have until the engine reports its own.
    fn prompt(&self) -> Arc<PromptRecord> {
        let text = match self {
            Self::Generate(prompt) | Self::ScoreAnswer { prompt, .. } => prompt.text.clone(),
            Self::Score { .. } => String::new(),
        };
        Arc::new(PromptRecord {
            text,
            ..PromptRecord::default()
        })
    }

    /// Returns the request for these panes.
    pub(crate) fn into_request<'a>(
        self,
        panes: impl IntoIterator<Item = (GenerationId, &'a Pane)>,
    ) -> Request {
        let request = |(id, pane): (GenerationId, &Pane)| PaneRequest {
            id,
            config: pane.config.clone(),
            model: pane.model.clone(),
            continuation: Continuation::default(),
        };
        let panes = panes.into_iter().map(request).collect();
        // Files keep only the head of each distribution.
        let n_detail_bytes = 0;
        match self {
            Self::Generate(prompt) => Request::Generate {
                prompt,
                panes,
                n_detail_bytes,
            },
            Self::ScoreAnswer { prompt, answer } => Request::ScoreAnswer {
                prompt,
                answer,
                panes,
                n_detail_bytes,
            },
            Self::Score { text, n_first } => Request::Score {
                text,
                n_first,
                panes,
                n_detail_bytes,
            },
        }
    }
}

/// A model that was loaded, with the second model that comes with it.
struct Loaded {
    info: Arc<ModelInfo>,
    vocabulary: Arc<Vocabulary>,
    tool_calls: Option<ToolCallForm>,
    second: Option<Arc<ModelInfo>>,
}

fn loaded(worker: &mut Worker, console: &mut Console) -> Result<Loaded, Failure> {
    let Console {
        progress,
        interrupt,
        ..
    } = console;
    progress.milestone("Loading the model");
    let failure = loop {
        if interrupt.is_raised() {
            break Failure::Interrupted;
        }
        match worker.wait_at_most(SIGNAL_PAUSE) {
            Some(Some(Event::ModelLoading { fraction })) => progress.update(|| {
                let percent = 100.0 * fraction;
                format!("Loading the model, {percent:.0} %")
            }),
            Some(Some(Event::ModelLoaded {
                info,
                vocabulary,
                chat,
                second,
                load_warning,
                ..
            })) => {
                progress.clear();
                warn(load_warning.as_deref());
                return Ok(Loaded {
                    info,
                    vocabulary,
                    tool_calls: chat.tool_calls(),
                    second,
                });
            }
            Some(Some(Event::DeviceUnavailable { reason, .. })) => {
                progress.clear();
                console::note(&cpu_fallback_note(&reason));
            }
            Some(Some(Event::ModelFailed { error })) => break Failure::run(error),
            Some(Some(Event::Panicked { message })) => {
                break Failure::run(format!("the engine stopped unexpectedly: {message}"));
            }
            Some(_) => {}
            None => break Failure::run("the engine stopped unexpectedly"),
        }
    };
    progress.clear();
    Err(failure)
}

/// Prints what could not be read of a model, and where its files contradict each other.
pub(crate) fn warn(load_warning: Option<&str>) {
    for warning in load_warning.into_iter().flat_map(str::lines) {
        console::note(&format!("warning: {warning}"));
    }
}
