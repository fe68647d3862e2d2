//! The measurement of the KV cache on screen: the request, its progress and the results so far.

use std::sync::Arc;

use crate::analysis::cache_lab::CacheLab;
use crate::generation::formatting::grouped;
use crate::generation::{CachePlan, CacheStage, CacheUpdate, ModelInfo, PromptText};
use crate::state::{AppState, Effect};
use crate::worker::{GenerationId, Request};

/// The default number of tokens to generate.
pub(super) const CACHE_TOKENS: usize = 340;

/// The progress of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheStatus {
    /// Nothing has begun yet.
    Waiting,
    Running {
        stage: CacheStage,
        n_done: usize,
        n_all: usize,
    },
    Complete,
    Stopped,
    Failed {
        error: String,
    },
}

/// A measurement of the KV cache, with its results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheRun {
    id: GenerationId,
    /// `None` until the engine has tokenized the prompt.
    pub lab: Option<CacheLab>,
    pub prompt: PromptText,
    pub model: Arc<ModelInfo>,
    pub status: CacheStatus,
}

impl CacheRun {
    /// Returns whether the measurement is waiting or running.
    pub const fn is_running(&self) -> bool {
        matches!(
            self.status,
            CacheStatus::Waiting | CacheStatus::Running { .. }
        )
    }

    fn update(&mut self, update: CacheUpdate) {
        match update {
            CacheUpdate::Started(facts) => self.lab = Some(CacheLab::new(facts)),
            CacheUpdate::Measured(sample) => {
                if let Some(lab) = &mut self.lab {
                    lab.add(&sample);
                    self.status = progress(lab);
                }
            }
            CacheUpdate::Advanced {
                stage,
                n_done,
                n_all,
            } => {
                self.status = CacheStatus::Running {
                    stage,
                    n_done,
                    n_all,
                };
            }
            CacheUpdate::Finished => self.status = CacheStatus::Complete,
            CacheUpdate::Stopped => self.status = CacheStatus::Stopped,
            CacheUpdate::Failed { error } => self.status = CacheStatus::Failed { error },
        }
    }

    /// "Without the cache, 3 of 24 lengths, about 5 s left", or what was measured.
    pub fn summary(&self) -> String {
        let (n_done, n_all) = match &self.status {
            CacheStatus::Waiting => return "Waiting for the engine".to_owned(),
            CacheStatus::Failed { .. } => return "The measurement failed".to_owned(),
            CacheStatus::Running {
                stage,
                n_done,
                n_all,
            } => {
                let (done, all) = (grouped(*n_done as f64), grouped(*n_all as f64));
                let unit = match stage {
                    CacheStage::Off | CacheStage::Parallel => "lengths",
                    _ => "tokens",
                };
                let name = stage.name();
                if *n_all == 0 {
                    return name.to_owned();
                }
                let left = self.lab.as_ref().and_then(CacheLab::secs_left);
                let left = left.filter(|secs| *secs >= 1.0);
                let left =
                    left.map_or_else(String::new, |secs| format!(", about {secs:.0} s left"));
                return format!("{name}, {done} of {all} {unit}{left}");
            }
            CacheStatus::Complete | CacheStatus::Stopped => {
                let lab = self.lab.as_ref();
                lab.map_or((0, 0), |lab| (lab.on.len() + 1, lab.facts.n_tokens))
            }
        };
        let (done, all) = (grouped(n_done as f64), grouped(n_all as f64));
        if n_done < n_all {
            format!("stopped after {done} of {all} tokens")
        } else if self.status == CacheStatus::Stopped {
            format!("stopped; {all} tokens with the cache")
        } else {
            format!("measured while writing {all} tokens")
        }
    }
}

/// Returns the progress: first of the text with the cache, then of the prompts, and finally without
/// the cache.
fn progress(lab: &CacheLab) -> CacheStatus {
    let (stage, n_done, n_all) = if lab.on.len() + 1 < lab.facts.n_tokens {
        (CacheStage::On, lab.on.len() + 1, lab.facts.n_tokens)
    } else if lab.panes.is_none() {
        let n_all = lab.facts.read_lengths.len();
        (CacheStage::Parallel, lab.reads.len(), n_all)
    } else {
        (CacheStage::Off, lab.off.len(), lab.facts.off_lengths.len())
    };
    CacheStatus::Running {
        stage,
        n_done,
        n_all,
    }
}

impl AppState {
    /// Returns why the cache can't be measured now, or `None` if it can.
    pub fn cache_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.model.blocking_reason() {
            return Some(reason.to_owned());
        }
        if self.prompt.is_empty() {
            return Some("Type a prompt on the Write page first".to_owned());
        }
        self.prompt_refusal()
    }

    pub(super) fn measure_cache(&mut self) -> Vec<Effect> {
        if self.lab.is_measuring_cache() || self.cache_blocking_reason().is_some() {
            return Vec::new();
        }
        let Some(model) = self.model.ready() else {
            return Vec::new();
        };
        let model = Arc::clone(&model.info);
        let prompt = self.prompt_text();
        self.last_id += 1;
        let id = GenerationId(self.last_id);
        self.lab.cache = Some(CacheRun {
            id,
            lab: None,
            prompt: prompt.clone(),
            model,
            status: CacheStatus::Waiting,
        });
        let n_tokens = self.lab.cache_tokens;
        let plan = CachePlan { prompt, n_tokens };
        vec![Effect::Send(Request::MeasureCache { id, plan })]
    }

    pub(super) fn stop_cache(&self) -> Vec<Effect> {
        let running = self.lab.cache.as_ref().filter(|run| run.is_running());
        let stop = |run: &CacheRun| Effect::Send(Request::StopCache(run.id));
        running.map(stop).into_iter().collect()
    }

    pub(in crate::state) fn on_cache(&mut self, id: GenerationId, update: CacheUpdate) {
        if let Some(run) = self.lab.cache.as_mut().filter(|run| run.id == id) {
            run.update(update);
        }
    }

    /// Marks the measurement as failed after the engine has died.
    pub(in crate::state) fn fail_cache(&mut self, error: &str) {
        if let Some(run) = self.lab.cache.as_mut().filter(|run| run.is_running()) {
            let error = error.to_owned();
            run.update(CacheUpdate::Failed { error });
        }
    }
}
