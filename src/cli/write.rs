//! Lets the engine's thread write panes, and collects the record of each.

use std::path::PathBuf;
use std::sync::Arc;

use super::compute::{ComputeArguments, on_the_processor};
use super::console;
use super::failure::Failure;
use super::progress::Progress;
use crate::generation::{
    FinishReason, Generation, GenerationConfig, GenerationId, ModelInfo, PromptRecord, PromptText,
    Vocabulary,
};
use crate::worker::{self, Event, ModelSource, PaneRequest, Request, Worker};

/// A pane to be written.
#[derive(Debug, Clone)]
pub(super) struct Pane {
    /// How it is called.
    pub name: String,
    /// How it writes.
    pub config: GenerationConfig,
}

/// Where a model that was named on the command line comes from.
pub(super) fn source(model: Option<PathBuf>) -> ModelSource {
    model.map_or(ModelSource::Embedded, ModelSource::Path)
}

/// Writes the panes together. What was written before something failed is kept, and says why it
/// ended.
pub(super) fn write(
    source: ModelSource,
    compute: ComputeArguments,
    prompt: &PromptText,
    panes: Vec<Pane>,
    progress: &mut Progress,
) -> Result<Vec<Generation>, Failure> {
    let mut worker = Worker::start(|| {});
    worker.send(Request::ComputeWith(compute.choice()));
    worker.send(Request::LoadModel(source));
    let (info, vocabulary) = loaded(&mut worker, progress)?;
    if let Err(refusal) = compute.check(&info) {
        progress.done();
        return Err(refusal);
    }
    for remark in compute.remarks(&info) {
        progress.done();
        console::note(&remark);
    }
    // Times count from here, so that the model is there.
    worker.send(Request::Generate {
        prompt: prompt.clone(),
        panes: (0..)
            .map(GenerationId)
            .zip(&panes)
            .map(|(id, pane)| PaneRequest {
                id,
                config: pane.config.clone(),
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
    record.give_up("the engine stopped unexpectedly");
    progress.done();
    Ok(record.generations)
}

fn loaded(
    worker: &mut Worker,
    progress: &mut Progress,
) -> Result<(Arc<ModelInfo>, Arc<Vocabulary>), Failure> {
    progress.happened("Loading the model");
    loop {
        match worker.wait() {
            Some(Event::ModelLoading { fraction }) => progress.going_on(|| {
                let percent = 100.0 * fraction;
                format!("Loading the model, {percent:.0} %")
            }),
            Some(Event::ModelLoaded {
                info, vocabulary, ..
            }) => return Ok((info, vocabulary)),
            Some(Event::DeviceMissing { reason, .. }) => {
                progress.done();
                console::note(&on_the_processor(&reason));
            }
            Some(Event::ModelFailed { error }) => {
                progress.done();
                return Err(Failure::run(error));
            }
            Some(Event::Panicked { message }) => {
                progress.done();
                let sentence = format!("the engine stopped unexpectedly: {message}");
                return Err(Failure::run(sentence));
            }
            Some(_) => {}
            None => {
                progress.done();
                return Err(Failure::run("the engine stopped unexpectedly"));
            }
        }
    }
}

/// What is known of each pane; its id is its place.
struct Record {
    generations: Vec<Generation>,
}

impl Record {
    /// Something as long as a pane has not ended.
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
            }) => {
                progress.going_on(|| format!("Reading the prompt, {n_read} of {n_tokens} tokens"))
            }
            Event::Progress(worker::Progress::Started { ids, prompt }) => {
                progress.happened(&format!("Read the prompt, {} tokens", prompt.tokens.len()));
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
                progress.going_on(|| self.how_far());
            }
            Event::Progress(worker::Progress::Finished { id, reason }) => {
                if let Some(pane) = self.pane(id) {
                    let failed = matches!(reason, FinishReason::Failed { .. });
                    pane.finish = Some(reason);
                    // A failure is told in the end, with the others.
                    if !failed {
                        progress.happened(&format!("{}: {}", pane.name, ending(pane)));
                    }
                }
            }
            Event::Panicked { message } => {
                self.give_up(&format!("the engine stopped unexpectedly: {message}"));
            }
            Event::ModelLoading { .. }
            | Event::ModelLoaded { .. }
            | Event::ModelFailed { .. }
            | Event::LoadingCancelled
            | Event::ModelUnloaded
            | Event::Inspected { .. }
            | Event::DevicesListed(_)
            | Event::DeviceMissing { .. }
            | Event::Tokenized { .. } => {}
        }
    }

    fn how_far(&self) -> String {
        let steps = self.generations.iter().map(|pane| pane.steps.len());
        let most = self
            .generations
            .iter()
            .map(|pane| pane.config.limits.max_new_tokens)
            .fold(0, usize::saturating_add);
        let n_steps = steps.sum::<usize>();
        format!("Writing, {n_steps} of at most {most} tokens")
    }

    fn give_up(&mut self, error: &str) {
        for pane in &mut self.generations {
            pane.finish.get_or_insert_with(|| FinishReason::Failed {
                error: error.to_owned(),
            });
        }
    }
}

/// Why and after how much a pane ended: "End of text, 152 tokens".
pub(super) fn ending(pane: &Generation) -> String {
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
