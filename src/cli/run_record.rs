//! The records of a run's panes while they are written, and what is printed about them.

use super::pane_run::Console;
use crate::analysis::DraftPasses;
use crate::generation::{FinishReason, Generation, GenerationId};
use crate::worker::{self, Event, Recorder};

/// The records so far. A pane's index is its generation id.
pub(crate) struct Record {
    panes: Vec<Recorder>,
}

impl Record {
    /// Begins with the records of these panes before their first tokens.
    pub(crate) fn of(texts: Vec<Generation>) -> Self {
        let numbered = (0..).map(GenerationId).zip(texts);
        Self {
            panes: numbered.map(|(id, text)| Recorder { id, text }).collect(),
        }
    }

    /// Returns the records.
    pub(crate) fn into_texts(self) -> Vec<Generation> {
        self.panes.into_iter().map(|pane| pane.text).collect()
    }

    /// Returns `Some` while any pane is still running.
    pub(crate) fn unfinished(&self) -> Option<()> {
        let mut finishes = self.panes.iter().map(|pane| &pane.text.finish);
        finishes.any(Option::is_none).then_some(())
    }

    /// Returns whether this pane is still running.
    pub(crate) fn is_unfinished(&self, id: GenerationId) -> bool {
        let pane = self.panes.get(place_of(id));
        pane.is_some_and(|pane| pane.text.finish.is_none())
    }

    /// Records which settings of a text its server lacks or applies otherwise.
    pub(crate) fn note_not_applied(&mut self, id: GenerationId, not_applied: Vec<String>) {
        if let Some(pane) = self.panes.get_mut(place_of(id)) {
            pane.text.not_applied = not_applied;
        }
    }

    pub(crate) fn note(&mut self, event: Event, console: &mut Console) {
        match event {
            Event::Progress(progress) => {
                for pane in &mut self.panes {
                    pane.note(&progress);
                }
                self.report(&progress, console);
            }
            Event::Panicked { message } => {
                let error = format!("the engine stopped unexpectedly: {message}");
                self.fail_unfinished(&error, console);
            }
            Event::ModelLoading { .. }
            | Event::ModelLoaded { .. }
            | Event::ModelFailed { .. }
            | Event::LoadingCancelled
            | Event::Beside(_)
            | Event::ModelUnloaded
            | Event::SecondModel(_)
            | Event::SecondModelLoading { .. }
            | Event::SecondModelCancelled
            | Event::PaneModel { .. }
            | Event::Inspected { .. }
            | Event::DevicesListed(_)
            | Event::DeviceUnavailable { .. }
            | Event::Tokenized { .. }
            | Event::PromptChecked { .. }
            | Event::CachedCounted { .. }
            | Event::Job { .. } => {}
        }
    }

    /// Shows what happened.
    fn report(&self, happened: &worker::Progress, console: &mut Console) {
        let Console {
            progress, texts, ..
        } = console;
        let pane = |id: GenerationId| self.panes.get(place_of(id)).map(|pane| &pane.text);
        match happened {
            worker::Progress::Prefilling {
                n_read, n_tokens, ..
            } => progress.update(|| format!("Prefill, {n_read} of {n_tokens} prompt tokens")),
            worker::Progress::Started { prompt, .. } => {
                // A scored text has no prompt to prefill.
                if prompt.n_prefilled > 0 {
                    let n_tokens = prompt.tokens.len();
                    progress.milestone(&format!("Prefill done, {n_tokens} prompt tokens"));
                }
            }
            worker::Progress::Stepped { id, .. } => {
                if let Some(pane) = pane(*id) {
                    if texts.is_live() {
                        progress.hide();
                    }
                    texts.stepped(place_of(*id), pane);
                }
                progress.update(|| self.progress_line());
            }
            worker::Progress::Compared { .. } => {}
            worker::Progress::Finished { id, reason } => {
                if let Some(pane) = pane(*id) {
                    // Failures are reported together at the end.
                    if !matches!(reason, FinishReason::Failed { .. }) {
                        progress.milestone(&format!("{}: {}", pane.name, finish_summary(pane)));
                    }
                    progress.clear();
                    texts.finished(place_of(*id), pane);
                }
            }
        }
    }

    fn progress_line(&self) -> String {
        let texts = || self.panes.iter().map(|pane| &pane.text);
        let n_steps: usize = texts().map(|text| text.steps.len()).sum();
        let most = texts()
            .map(|text| text.config.limits.max_new_tokens)
            .fold(0, usize::saturating_add);
        format!("Generating, {n_steps} of at most {most} tokens")
    }

    pub(crate) fn fail_unfinished(&mut self, error: &str, console: &mut Console) {
        for id in (0..).map(GenerationId).take(self.panes.len()) {
            self.fail(id, error, console);
        }
    }

    /// Ends this pane with an error, unless it has finished.
    pub(crate) fn fail(&mut self, id: GenerationId, error: &str, console: &mut Console) {
        let place = place_of(id);
        let text = self.panes.get_mut(place).map(|pane| &mut pane.text);
        if let Some(text) = text.filter(|text| text.finish.is_none()) {
            text.end(FinishReason::failed(error));
            console.progress.clear();
            console.texts.finished(place, text);
        }
    }
}

/// Returns the index of a pane in the run.
fn place_of(id: GenerationId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}

/// Formats why a pane finished and after how many tokens: "End of text, 152 tokens".
pub(crate) fn finish_summary(pane: &Generation) -> String {
    let reason = pane.finish_words().unwrap_or_default();
    let tokens = match pane.steps.len() {
        0 => return reason,
        1 => format!("{reason}, 1 token"),
        n => format!("{reason}, {n} tokens"),
    };
    let unreported = pane.unreported_words();
    let tokens = unreported.map_or_else(|| tokens.clone(), |words| format!("{tokens}; {words}"));
    match DraftPasses::of(pane) {
        Some(passes) => format!(
            "{tokens} in {} forward passes, {}",
            passes.passes.len(),
            passes.words()
        ),
        None => tokens,
    }
}
