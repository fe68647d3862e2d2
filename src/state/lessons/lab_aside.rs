//! The experiments of the Lab that lessons use: what was there before, and what a lesson shows.

use crate::lab::cache::CacheRun;
use crate::lab::prompts::PromptsTab;
use crate::lab::{Experiment, Lab, LabSettings, LabTab};
use crate::state::{Effect, RunStatus};

/// The measurement of the KV cache, the length of the next one, and the tasks with their answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LabAside {
    cache: Option<CacheRun>,
    cache_tokens: usize,
    prompts: PromptsTab,
}

impl LabAside {
    /// Stops what is running and takes it off the Lab page.
    pub(super) fn of(lab: &mut Lab, effects: &mut Vec<Effect>) -> Self {
        stop(lab, effects);
        let mut cache = lab.cache.run.take();
        let mut prompts = std::mem::take(&mut lab.prompts);
        let cache_status = cache.as_mut().map(|run| &mut run.status);
        let table_status = prompts.runs.table.as_mut().map(|run| &mut run.status);
        let curve_status = prompts.runs.sweep.as_mut().map(|run| &mut run.status);
        let all = [cache_status, table_status, curve_status];
        // The engine's answer would not find the run.
        for status in all.into_iter().flatten().filter(|it| it.is_running()) {
            *status = RunStatus::Stopped;
        }
        Self {
            cache,
            cache_tokens: lab.cache.n_tokens,
            prompts,
        }
    }

    /// Puts it back in place of what the lesson left.
    pub(super) fn bring_back(self, lab: &mut Lab, effects: &mut Vec<Effect>) {
        stop(lab, effects);
        lab.cache.run = self.cache;
        lab.cache.n_tokens = self.cache_tokens;
        lab.prompts = self.prompts;
    }

    /// Replaces the choices of the lesson with those from before it.
    pub(super) fn restore_settings(&self, settings: &mut LabSettings) {
        settings.cache.n_tokens = self.cache_tokens;
        settings.prompts = Experiment::settings(&self.prompts);
    }
}

/// Shows the tasks of a list that comes with Quartet, ready for a curve over temperature.
pub(super) fn show_tasks(lab: &mut Lab, list: &str) {
    lab.tab = LabTab::Prompts;
    lab.prompts.prepare_curve_of(list);
}

/// Takes the tasks off the page, with their answers.
pub(super) fn clear_tasks(lab: &mut Lab, effects: &mut Vec<Effect>) {
    effects.extend(Experiment::stop(&mut lab.prompts));
    lab.prompts = PromptsTab::default();
}

/// Stops the experiments that lessons use.
fn stop(lab: &mut Lab, effects: &mut Vec<Effect>) {
    effects.extend(Experiment::stop(&mut lab.cache));
    effects.extend(Experiment::stop(&mut lab.prompts));
}
