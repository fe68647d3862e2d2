//! Writing the text of a map from the history again, because the map needs its evidence.

use std::sync::Arc;

use super::{MapSource, StabilityRun};
use crate::generation::formatting::grouped;
use crate::generation::{Generation, GenerationId, PromptRecord, Step};
use crate::lab::stability::plan::REWRITTEN;
use crate::lab::stability::{RewritePlan, RewriteUpdate};
use crate::state::{JobRun, ReadyModel, RunStatus, capitalize};
use crate::worker::JobReport;

/// A text that is written again, as far as it has come.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rewriting {
    id: GenerationId,
    status: RunStatus,
    model: ReadyModel,
    prompt: PromptRecord,
    steps: Vec<Step>,
}

impl StabilityRun {
    /// Returns why its text can't be written again, or `None` if it can.
    pub(super) fn again_refusal(&self) -> Option<String> {
        let refusal = REWRITTEN.check(&self.text.config.chain).err()?;
        Some(capitalize(&refusal.to_string()))
    }

    /// Begins to write its text again with the model that wrote it. Returns the plan, in which a step
    /// records at most `n_max_bytes` besides the head of its distribution.
    pub(super) fn begin_again(
        &mut self,
        id: GenerationId,
        model: ReadyModel,
        n_max_bytes: usize,
    ) -> RewritePlan {
        self.rewriting = Some(Rewriting {
            id,
            status: RunStatus::Waiting,
            model,
            prompt: PromptRecord::default(),
            steps: Vec::new(),
        });
        let steps = self.text.steps.iter();
        RewritePlan {
            prompt: self.text.prompt(),
            tokens: steps.map(|(token, _)| *token).collect(),
            config: self.text.config.clone(),
            n_detail_bytes: self.text.n_detail_bytes.min(n_max_bytes),
        }
    }

    /// "Writing the text again, 12 of 200 tokens".
    pub fn rewriting_words(&self) -> String {
        let n_done = self.rewriting.as_ref();
        let n_done = n_done.map_or(0, |rewriting| rewriting.steps.len());
        let [done, all] = [n_done, self.text.steps.len()].map(|n| grouped(n as f64));
        format!("Writing the text again, {done} of {all} tokens")
    }

    /// Returns the share of the text that was written again, from 0 to 1.
    pub fn rewritten_share(&self) -> f32 {
        let n_done = self.rewriting.as_ref();
        let n_done = n_done.map_or(0, |rewriting| rewriting.steps.len());
        n_done as f32 / self.text.steps.len().max(1) as f32
    }

    /// Takes the map of the text that was written again, which is computed from its evidence.
    fn map_again(&mut self, rewriting: Rewriting) {
        let text = Generation {
            vocabulary: rewriting.model.vocabulary,
            prompt: Arc::new(rewriting.prompt),
            steps: rewriting.steps.into(),
            ..self.text.without_steps()
        };
        let source = MapSource { pane: None, text };
        let again = Self::of(source, self.text.place, self.axes, self.held_step());
        if let Some(again) = again {
            *self = again;
        }
    }
}

impl JobRun for StabilityRun {
    /// A map itself is computed from the record, without a job.
    fn status(&self) -> &RunStatus {
        let rewriting = self.rewriting.as_ref();
        rewriting.map_or(&RunStatus::Complete, |rewriting| &rewriting.status)
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        let rewriting = self.rewriting.iter();
        let running = rewriting.filter(|rewriting| rewriting.status.is_running());
        running.map(|rewriting| rewriting.id).collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        let Some(rewriting) = &mut self.rewriting else {
            return;
        };
        rewriting.status.begin();
        match report.take() {
            Some(RewriteUpdate::Started(prompt)) => rewriting.prompt = *prompt,
            Some(RewriteUpdate::Stepped(step)) => rewriting.steps.push(*step),
            None => {}
        }
    }

    /// Maps the text once all of it was written again. Otherwise the map stays.
    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        match (self.rewriting.take(), status) {
            (Some(rewriting), RunStatus::Complete) => self.map_again(rewriting),
            (Some(rewriting), status @ RunStatus::Failed { .. }) => {
                self.rewriting = Some(Rewriting {
                    status,
                    ..rewriting
                });
            }
            _ => {}
        }
    }
}
