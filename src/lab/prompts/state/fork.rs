//! The choice at which right and wrong answers part, as the user looks into it.

use super::{AppState, Effect, TaskView, task_text};
use crate::generation::{GenerationId, PaneModel};
use crate::lab::prompts::figures::{Fork, ForkChoice, TaskResults};
use crate::lab::prompts::{ForkFound, ForkPlan};
use crate::state::RunStatus;
use crate::worker::Request;

/// A choice that the user looks into.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkRun {
    pub(super) id: GenerationId,
    pub(super) view: TaskView,
    at: (usize, usize),
    fork: Fork,
    pub status: RunStatus,
    /// `None` until it was computed.
    pub choice: Option<ForkChoice>,
}

impl ForkRun {
    /// Returns whether it is the choice of this task under these settings. The fork moves while
    /// answers arrive.
    pub fn is_of(&self, view: TaskView, at: (usize, usize), fork: &Fork) -> bool {
        (self.view, self.at, &self.fork) == (view, at, fork)
    }

    /// Adds what was found.
    pub(super) fn add(&mut self, results: &TaskResults, found: ForkFound) {
        self.choice = ForkChoice::of(results, self.at, &self.fork, found);
    }
}

/// Asks the engine for the choice at which the answers to a task part.
pub(super) fn explain_fork(
    state: &mut AppState,
    view: TaskView,
    (task, settings): (usize, usize),
) -> Vec<Effect> {
    let shown = state.lab.prompts.runs.shown(view);
    let found = shown.and_then(|(results, _)| {
        let answers = results.answers(task, settings);
        let seeds = ForkChoice::answers(answers).into_iter();
        let seeds = seeds.filter_map(|index| Some(answers.get(index)?.seed));
        let fork = results.fork(task, settings)?;
        let plan = ForkPlan {
            prompt: task_text(results.tasks().get(task)?, &results.form)
                .ok()?
                .prompt,
            shared: fork.shared.clone(),
            chain: results.settings_at(settings)?.chain.clone(),
            seeds: seeds.collect(),
        };
        let host = results.settings_at(settings)?.host.as_ref();
        Some((fork, plan, host.and_then(PaneModel::local).cloned()))
    });
    let Some((fork, plan, model)) = found else {
        return Vec::new();
    };
    state.last_id += 1;
    let id = GenerationId(state.last_id);
    state.lab.prompts.runs.fork = Some(ForkRun {
        id,
        view,
        at: (task, settings),
        fork,
        status: RunStatus::Waiting,
        choice: None,
    });
    vec![Effect::Send(Request::run_job_on(model, id, plan))]
}
