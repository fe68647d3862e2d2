//! The measurement of the KV cache on screen: the request, its progress and the results so far.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::kept::KeptCache;
use crate::generation::formatting::grouped;
use crate::generation::{ModelInfo, PromptText};
use crate::lab::cache::figures::CacheLab;
use crate::lab::cache::{CachePlan, CacheStage, CacheUpdate};
use crate::lab::{Experiment, Group, LabTab, MadeBy, NoCommand, ResultFacts};
use crate::lessons::CacheTimes;
use crate::state::{AppState, Effect, JobRun, RunStatus};
use crate::worker::{GenerationId, JobReport, Request};

/// The default number of tokens to generate.
const CACHE_TOKENS: usize = 340;

/// The measurement of the KV cache, and the form of the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheTab {
    /// How many tokens the next measurement generates.
    pub n_tokens: usize,
    /// The measurement on screen.
    pub run: Option<CacheRun>,
    /// Whether it is shown as a table.
    pub is_table: bool,
}

impl Default for CacheTab {
    fn default() -> Self {
        Self {
            n_tokens: CACHE_TOKENS,
            run: None,
            is_table: false,
        }
    }
}

/// What the form keeps across restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheSettings {
    #[serde(rename = "cache_tokens")]
    pub n_tokens: usize,
}

impl Default for CacheSettings {
    fn default() -> Self {
        CacheTab::default().settings()
    }
}

impl CacheTab {
    /// Returns the times of the measurement on screen, which lessons read.
    pub fn times(&self) -> Option<&(dyn CacheTimes + 'static)> {
        let lab = self.run.as_ref()?.lab.as_ref()?;
        Some(lab)
    }
}

impl Experiment for CacheTab {
    const NAME: &'static str = "Cache";
    const GROUP: Group = Group::HowItWorks;
    type Command = NoCommand;
    type Settings = CacheSettings;
    type Result = KeptCache;

    fn result(&self) -> Option<(ResultFacts, KeptCache)> {
        self.run.as_ref()?.kept()
    }

    fn show(&mut self, result: KeptCache) -> Result<(), String> {
        self.run = Some(CacheRun::of_kept(result)?);
        Ok(())
    }

    fn made_by(&self) -> Option<MadeBy<'_>> {
        let run = self.run.as_ref()?;
        Some(MadeBy::one(&run.model))
    }

    fn run_again(state: &mut AppState) -> Vec<Effect> {
        let plan = state.lab.cache.run.as_ref().map(CacheRun::plan);
        plan.map_or_else(Vec::new, |plan| begin(state, plan))
    }

    fn run(&self) -> Option<&dyn JobRun> {
        self.run.as_ref().map(|run| run as _)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        self.run.as_mut().map(|run| run as _)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        measure_cache(state)
    }

    fn close(&mut self) {
        self.run = None;
    }

    fn apply(_state: &mut AppState, command: NoCommand) -> Vec<Effect> {
        match command {}
    }

    fn settings(&self) -> CacheSettings {
        let n_tokens = self.n_tokens;
        CacheSettings { n_tokens }
    }

    fn restored(settings: CacheSettings) -> Self {
        Self {
            n_tokens: settings.n_tokens.max(2),
            ..Self::default()
        }
    }
}

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
    /// How many tokens were asked for, which the context may limit.
    n_tokens: usize,
    pub model: Arc<ModelInfo>,
    pub status: RunStatus,
    /// `None` until the first pass.
    pub progress: Option<CacheProgress>,
}

impl CacheRun {
    /// Returns what it measures.
    fn plan(&self) -> CachePlan {
        CachePlan {
            prompt: self.prompt.clone(),
            n_tokens: self.n_tokens,
        }
    }

    /// Creates a measurement that has ended.
    pub(super) const fn ended(
        lab: CacheLab,
        prompt: PromptText,
        model: Arc<ModelInfo>,
        status: RunStatus,
    ) -> Self {
        Self {
            // No job has this id.
            id: GenerationId(0),
            n_tokens: lab.facts.n_tokens,
            lab: Some(lab),
            prompt,
            model,
            status,
            progress: None,
        }
    }

    /// "Without the cache, 3 of 24 lengths, about 5 s left", or what was measured.
    pub fn summary(&self) -> String {
        if self.status.is_running() {
            return self.progress_words();
        }
        self.ended_words(&self.status)
    }

    /// Says what was measured by a run that has ended like this.
    pub(super) fn ended_words(&self, status: &RunStatus) -> String {
        if matches!(status, RunStatus::Failed { .. }) {
            return "The measurement failed".to_owned();
        }
        let lab = self.lab.as_ref();
        let (n_done, n_all) = lab.map_or((0, 0), |lab| (lab.on.len() + 1, lab.facts.n_tokens));
        let (done, all) = (grouped(n_done as f64), grouped(n_all as f64));
        if n_done < n_all {
            format!("stopped after {done} of {all} tokens")
        } else if *status == RunStatus::Stopped {
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

/// Returns why the cache can't be measured now, or `None` if it can.
pub fn cache_blocking_reason(state: &AppState) -> Option<String> {
    if let Some(reason) = state.models.main.blocking_reason() {
        return Some(reason.to_owned());
    }
    if state.prompt.text.is_empty() {
        return Some("Type a prompt on the Write page first".to_owned());
    }
    state.prompt.refusal(&state.models.main)
}

fn measure_cache(state: &mut AppState) -> Vec<Effect> {
    if state.lab.is_running(LabTab::Cache) || cache_blocking_reason(state).is_some() {
        return Vec::new();
    }
    let plan = CachePlan {
        prompt: state.prompt.to_text(),
        n_tokens: state.lab.cache.n_tokens,
    };
    begin(state, plan)
}

/// Runs a measurement with the loaded model.
fn begin(state: &mut AppState, plan: CachePlan) -> Vec<Effect> {
    let Some(model) = state.models.main.ready() else {
        return Vec::new();
    };
    let model = Arc::clone(&model.info);
    state.last_id += 1;
    let id = GenerationId(state.last_id);
    state.lab.cache.run = Some(CacheRun {
        id,
        lab: None,
        prompt: plan.prompt.clone(),
        n_tokens: plan.n_tokens,
        model,
        status: RunStatus::Waiting,
        progress: None,
    });
    vec![Effect::Send(Request::run_job(id, plan))]
}
