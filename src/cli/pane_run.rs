//! Runs panes on the engine's thread and collects their records.

use std::path::PathBuf;
use std::sync::Arc;

use super::compute::{ComputeArguments, cpu_fallback_note};
use super::console;
use super::failure::Failure;
use super::progress::Progress;
use crate::generation::{
    Continuation, FinishReason, Generation, GenerationConfig, GenerationId, ModelInfo,
    PromptRecord, PromptText, Vocabulary,
};
use crate::worker::{self, Event, ModelSource, PaneRequest, Request, Worker};

/// A pane to run.
#[derive(Debug, Clone)]
pub(super) struct Pane {
    pub name: String,
    pub config: GenerationConfig,
}

/// Returns the source of the model given on the command line, by default the built-in one.
pub(super) fn model_source(model: Option<PathBuf>) -> ModelSource {
    model.map_or(ModelSource::Embedded, ModelSource::Path)
}

/// Generates all panes together and returns their records. If generation fails, the records keep
/// the tokens generated so far and the reason.
pub(super) fn run_panes(
    source: ModelSource,
    compute: ComputeArguments,
    prompt: &PromptText,
    panes: Vec<Pane>,
    progress: &mut Progress,
) -> Result<Vec<Generation>, Failure> {
    let mut worker = Worker::start(|| {});
    worker.send(Request::SetCompute(compute.choice()));
    worker.send(Request::LoadModel(source));
    let (info, vocabulary) = loaded(&mut worker, progress)?;
    if let Err(refusal) = compute.check(&info) {
        progress.clear();
        return Err(refusal);
    }
    for warning in compute.warnings(&info) {
        progress.clear();
        console::note(&warning);
    }
    // The model is loaded before the request, because the record's times start here.
    worker.send(Request::Generate {
        prompt: prompt.clone(),
        panes: (0..)
            .map(GenerationId)
            .zip(&panes)
            .map(|(id, pane)| PaneRequest {
                id,
                config: pane.config.clone(),
                continuation: Continuation::default(),
            })
            .collect(),
    });
    let prompt = Arc::new(PromptRecord {
        text: prompt.text.clone(),
        ..PromptRecord::default()
    });
    let generations = panes.into_iter().map(|pane| Generation {
        name: pane.name,
        config: pane.config,
        model: Arc::clone(&info),
        vocabulary: Arc::clone(&vocabulary),
        prompt: Arc::clone(&prompt),
        steps: Vec::new(),
        finish: None,
    });
    let mut record = Record {
        generations: generations.collect(),
    };
    while let Some(event) = record.unfinished().and_then(|()| worker.wait()) {
        record.note(event, progress);
    }
    record.fail_unfinished("the engine stopped unexpectedly");
    progress.clear();
    Ok(record.generations)
}

fn loaded(
    worker: &mut Worker,
    progress: &mut Progress,
) -> Result<(Arc<ModelInfo>, Arc<Vocabulary>), Failure> {
    progress.milestone("Loading the model");
    loop {
        match worker.wait() {
            Some(Event::ModelLoading { fraction }) => progress.update(|| {
                let percent = 100.0 * fraction;
                format!("Loading the model, {percent:.0} %")
            }),
            Some(Event::ModelLoaded {
                info, vocabulary, ..
            }) => return Ok((info, vocabulary)),
            Some(Event::DeviceUnavailable { reason, .. }) => {
                progress.clear();
                console::note(&cpu_fallback_note(&reason));
            }
            Some(Event::ModelFailed { error }) => {
                progress.clear();
                return Err(Failure::run(error));
            }
            Some(Event::Panicked { message }) => {
                progress.clear();
                let message = format!("the engine stopped unexpectedly: {message}");
                return Err(Failure::run(message));
            }
            Some(_) => {}
            None => {
                progress.clear();
                return Err(Failure::run("the engine stopped unexpectedly"));
            }
        }
    }
}

/// The records so far. A pane's index is its generation id.
struct Record {
    generations: Vec<Generation>,
}

impl Record {
    /// Returns `Some` while any pane is still running.
    fn unfinished(&self) -> Option<()> {
        let mut finishes = self.generations.iter().map(|pane| &pane.finish);
        finishes.any(Option::is_none).then_some(())
    }

    fn pane(&mut self, id: GenerationId) -> Option<&mut Generation> {
        self.generations.get_mut(usize::try_from(id.0).ok()?)
    }

    fn note(&mut self, event: Event, progress: &mut Progress) {
        match event {
            Event::Progress(worker::Progress::Prefilling {
                n_read, n_tokens, ..
            }) => progress.update(|| format!("Prefill, {n_read} of {n_tokens} prompt tokens")),
            Event::Progress(worker::Progress::Started { ids, prompt }) => {
                progress.milestone(&format!(
                    "Prefill done, {} prompt tokens",
                    prompt.tokens.len()
                ));
                for id in ids {
                    if let Some(pane) = self.pane(id) {
                        pane.prompt = Arc::clone(&prompt);
                    }
                }
            }
            Event::Progress(worker::Progress::Stepped { id, step }) => {
                if let Some(pane) = self.pane(id) {
                    pane.steps.push(*step);
                }
                progress.update(|| self.progress_line());
            }
            Event::Progress(worker::Progress::Finished { id, reason }) => {
                if let Some(pane) = self.pane(id) {
                    let failed = matches!(reason, FinishReason::Failed { .. });
                    pane.finish = Some(reason);
                    // Failures are reported together at the end.
                    if !failed {
                        progress.milestone(&format!("{}: {}", pane.name, finish_summary(pane)));
                    }
                }
            }
            Event::Panicked { message } => {
                self.fail_unfinished(&format!("the engine stopped unexpectedly: {message}"));
            }
            Event::ModelLoading { .. }
            | Event::ModelLoaded { .. }
            | Event::ModelFailed { .. }
            | Event::LoadingCancelled
            | Event::ModelUnloaded
            | Event::Inspected { .. }
            | Event::DevicesListed(_)
            | Event::DeviceUnavailable { .. }
            | Event::Tokenized { .. } => {}
        }
    }

    fn progress_line(&self) -> String {
        let steps = self.generations.iter().map(|pane| pane.steps.len());
        let most = self
            .generations
            .iter()
            .map(|pane| pane.config.limits.max_new_tokens)
            .fold(0, usize::saturating_add);
        let n_steps = steps.sum::<usize>();
        format!("Generating, {n_steps} of at most {most} tokens")
    }

    fn fail_unfinished(&mut self, error: &str) {
        for pane in &mut self.generations {
            pane.finish.get_or_insert_with(|| FinishReason::Failed {
                error: error.to_owned(),
            });
        }
    }
}

/// Formats why a pane finished and after how many tokens: "End of text, 152 tokens".
pub(super) fn finish_summary(pane: &Generation) -> String {
    let reason = pane
        .finish
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    match pane.steps.len() {
        0 => reason,
        1 => format!("{reason}, 1 token"),
        n => format!("{reason}, {n} tokens"),
    }
}
