//! The measurement of the KV cache on screen: the request, its progress and the results so far.

use std::sync::Arc;

use crate::analysis::cache_lab::CacheLab;
use crate::generation::formatting::grouped;
use crate::generation::{CachePlan, CacheStage, CacheUpdate, ModelInfo, PromptText};
use crate::state::jobs::JobRun;
use crate::state::{AppState, Effect, LabTab, RunStatus};
use crate::worker::{GenerationId, JobReport, Request};

/// The default number of tokens to generate.
pub(super) const CACHE_TOKENS: usize = 340;

/// How far a part of a measurement has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheProgress {
    pub stage: CacheStage,
    pub n_done: usize,
    pub n_all: usize,
}

/// A measurement of the KV cache, with its results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheRun {
    id: GenerationId,
    /// `None` until the engine has tokenized the prompt.
    pub lab: Option<CacheLab>,
    pub prompt: PromptText,
    pub model: Arc<ModelInfo>,
    pub status: RunStatus,
    /// `None` until the first pass.
    pub progress: Option<CacheProgress>,
}

impl CacheRun {
    /// "Without the cache, 3 of 24 lengths, about 5 s left", or what was measured.
    pub fn summary(&self) -> String {
        let lab = self.lab.as_ref();
        let (n_done, n_all) = match &self.status {
            RunStatus::Waiting | RunStatus::Running => return self.progress_words(),
            RunStatus::Failed { .. } => return "The measurement failed".to_owned(),
            RunStatus::Complete | RunStatus::Stopped => {
                lab.map_or((0, 0), |lab| (lab.on.len() + 1, lab.facts.n_tokens))
            }
        };
        let (done, all) = (grouped(n_done as f64), grouped(n_all as f64));
        if n_done < n_all {
            format!("stopped after {done} of {all} tokens")
        } else if self.status == RunStatus::Stopped {
            format!("stopped; {all} tokens with the cache")
        } else {
            format!("measured while writing {all} tokens")
        }
    }

    fn progress_words(&self) -> String {
        let Some(CacheProgress {
            stage,
            n_done,
            n_all,
        }) = self.progress
        else {
            return "Waiting for the engine".to_owned();
        };
        let name = stage.name();
        if n_all == 0 {
            return name.to_owned();
        }
        let (done, all) = (grouped(n_done as f64), grouped(n_all as f64));
        let unit = match stage {
            CacheStage::Off | CacheStage::Parallel => "lengths",
            _ => "tokens",
        };
        let left = self.lab.as_ref().and_then(CacheLab::secs_left);
        let left = left.filter(|secs| *secs >= 1.0);
        let left = left.map_or_else(String::new, |secs| format!(", about {secs:.0} s left"));
        format!("{name}, {done} of {all} {unit}{left}")
    }
}

impl JobRun for CacheRun {
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
            Some(CacheUpdate::Started(facts)) => self.lab = Some(CacheLab::new(facts)),
            Some(CacheUpdate::Measured(sample)) => {
                if let Some(lab) = &mut self.lab {
                    lab.add(&sample);
                    self.progress = Some(progress(lab));
                }
            }
            Some(CacheUpdate::Advanced {
                stage,
                n_done,
                n_all,
            }) => {
                self.progress = Some(CacheProgress {
                    stage,
                    n_done,
                    n_all,
                });
            }
            None => {}
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
    }
}

/// Returns the progress: first of the text with the cache, then of the prompts, and finally without
/// the cache.
fn progress(lab: &CacheLab) -> CacheProgress {
    let (stage, n_done, n_all) = if lab.on.len() + 1 < lab.facts.n_tokens {
        (CacheStage::On, lab.on.len() + 1, lab.facts.n_tokens)
    } else if lab.panes.is_none() {
        let n_all = lab.facts.read_lengths.len();
        (CacheStage::Parallel, lab.reads.len(), n_all)
    } else {
        (CacheStage::Off, lab.off.len(), lab.facts.off_lengths.len())
    };
    CacheProgress {
        stage,
        n_done,
        n_all,
    }
}

impl AppState {
    /// Returns why the cache can't be measured now, or `None` if it can.
    pub fn cache_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.models.main.blocking_reason() {
            return Some(reason.to_owned());
        }
        if self.prompt.text.is_empty() {
            return Some("Type a prompt on the Write page first".to_owned());
        }
        self.prompt.refusal(&self.models.main)
    }

    pub(super) fn measure_cache(&mut self) -> Vec<Effect> {
        if self.lab.is_running(LabTab::Cache) || self.cache_blocking_reason().is_some() {
            return Vec::new();
        }
        let Some(model) = self.models.main.ready() else {
            return Vec::new();
        };
        let model = Arc::clone(&model.info);
        let prompt = self.prompt.to_text();
        self.last_id += 1;
        let id = GenerationId(self.last_id);
        self.lab.cache = Some(CacheRun {
            id,
            lab: None,
            prompt: prompt.clone(),
            model,
            status: RunStatus::Waiting,
            progress: None,
        });
        let n_tokens = self.lab.cache_tokens;
        let plan = CachePlan { prompt, n_tokens };
        vec![Effect::Send(Request::run_job(id, plan))]
    }
}
