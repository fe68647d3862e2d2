//! The sweep on screen: its setup, its results so far, and its progress.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::analysis::sweep::{Cell, Keep, SweepProgress, SweepResults, SweepSetup};
use crate::decoding::TokenId;
use crate::generation::formatting::grouped;
use crate::generation::{ModelInfo, PromptText, SweepUpdate, Vocabulary};
use crate::lab::ResultFacts;
use crate::state::JobRun;
use crate::state::{ReadyModel, RunStatus};
use crate::worker::{GenerationId, JobReport};

/// A sweep and its results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRun {
    id: GenerationId,
    pub results: SweepResults,
    pub prompts: Vec<PromptText>,
    pub prompt_tokens: Vec<Vec<TokenId>>,
    pub model: Arc<ModelInfo>,
    /// The model that guides, if the settings use guidance.
    pub second_model: Option<Arc<ModelInfo>>,
    vocabulary: Arc<Vocabulary>,
    pub progress: SweepProgress,
    pub status: RunStatus,
}

/// What a sweep is asked to do.
#[derive(Debug, Clone)]
pub(super) struct AskedSweep {
    pub setup: SweepSetup,
    pub prompts: Vec<PromptText>,
    pub keep: Keep,
}

/// A sweep as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptSweep {
    setup: SweepSetup,
    keep: Keep,
    cells: Vec<Cell>,
    prompts: Vec<PromptText>,
    prompt_tokens: Vec<Vec<TokenId>>,
    model: ModelInfo,
    second_model: Option<ModelInfo>,
    progress: SweepProgress,
    status: RunStatus,
}

impl SweepRun {
    /// Returns what it was asked to do.
    pub(super) fn asked(&self) -> AskedSweep {
        AskedSweep {
            setup: self.results.setup.clone(),
            prompts: self.prompts.clone(),
            keep: self.results.keep(),
        }
    }

    /// Returns what the history says about it.
    pub(super) fn facts(&self) -> ResultFacts {
        ResultFacts {
            words: self.done_words(),
            model: self.model.name.clone(),
            prompt: self
                .prompts
                .first()
                .map(|prompt| prompt.text.clone())
                .unwrap_or_default(),
        }
    }

    /// Returns what the history keeps of it.
    pub(super) fn kept(&self) -> KeptSweep {
        KeptSweep {
            setup: self.results.setup.clone(),
            keep: self.results.keep(),
            cells: self.results.cells().to_vec(),
            prompts: self.prompts.clone(),
            prompt_tokens: self.prompt_tokens.clone(),
            model: ModelInfo::clone(&self.model),
            second_model: self.second_model.as_deref().cloned(),
            progress: self.progress,
            status: self.status.ended(),
        }
    }

    /// Returns a sweep that the history has kept. Fails if it contradicts itself.
    pub(super) fn of_kept(kept: KeptSweep) -> Result<Self, String> {
        let n_prompts = kept.prompts.len();
        kept.setup.validate().map_err(|error| error.to_string())?;
        Ok(Self {
            id: GenerationId(0),
            results: SweepResults::of_cells(kept.setup, n_prompts, kept.keep, kept.cells)?,
            prompts: kept.prompts,
            prompt_tokens: kept.prompt_tokens,
            model: Arc::new(kept.model),
            second_model: kept.second_model.map(Arc::new),
            // No text is added to it.
            vocabulary: Arc::default(),
            progress: kept.progress,
            status: kept.status.ended(),
        })
    }

    pub(super) fn new(
        id: GenerationId,
        asked: AskedSweep,
        model: &ReadyModel,
        second_model: Option<Arc<ModelInfo>>,
    ) -> Self {
        let AskedSweep {
            setup,
            prompts,
            keep,
        } = asked;
        let n_texts = setup.n_cells() * setup.n_seeds * prompts.len();
        let progress = SweepProgress::new(n_texts, setup.limits.max_new_tokens);
        Self {
            id,
            results: SweepResults::new(setup, prompts.len(), keep),
            prompts,
            prompt_tokens: Vec::new(),
            model: Arc::clone(&model.info),
            second_model,
            vocabulary: Arc::clone(&model.vocabulary),
            progress,
            status: RunStatus::Waiting,
        }
    }

    /// "29 of 48 cells", or "29 of 96 texts" if there are several prompts.
    pub fn done_words(&self) -> String {
        if self.prompts.len() > 1 {
            let (done, all) = (self.progress.n_complete, self.progress.n_texts);
            return format!("{} of {} texts", grouped(done as f64), grouped(all as f64));
        }
        let (done, all) = (self.results.n_complete_cells(), self.results.cells().len());
        if done == all {
            format!("{all} cells")
        } else {
            format!("{done} of {all} cells")
        }
    }

    /// "about 5 s left", once the speed is known.
    pub fn left_words(&self) -> Option<String> {
        let secs = self.progress.secs_left()?;
        Some(if secs < 90.0 {
            format!("about {:.0} s left", secs.max(1.0))
        } else {
            format!("about {:.0} min left", secs / 60.0)
        })
    }

    /// "48 cells in 12.1 s", with the reason if it ended early.
    pub fn summary(&self) -> String {
        let done = self.done_words();
        match &self.status {
            RunStatus::Waiting | RunStatus::Running => done,
            RunStatus::Complete => format!("{done} in {:.1} s", self.progress.secs),
            RunStatus::Stopped => format!("Stopped after {done}"),
            RunStatus::Failed { .. } => format!("Failed after {done}"),
        }
    }
}

impl JobRun for SweepRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        let running = self.status.is_running().then_some(self.id);
        running.into_iter().collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        self.status.begin();
        match report.take() {
            Some(SweepUpdate::Started { prompts }) => self.prompt_tokens = prompts,
            Some(SweepUpdate::Advanced {
                n_tokens,
                secs,
                complete,
            }) => {
                self.progress.advance(n_tokens, secs, &complete);
                for text in complete {
                    self.results.add(text, &self.vocabulary);
                }
            }
            None => {}
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
        self.results.end();
    }
}
