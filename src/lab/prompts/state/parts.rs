//! The parts of a run: each model on this computer and each server answer all tasks, each under their
//! own settings.

use crate::generation::{GenerationId, ModelSource, PaneModel, ServedModel, ServedText};
use crate::lab::open_pane::NewPane;
use crate::lab::prompts::figures::{JudgedPane, TaskResults};
use crate::lab::prompts::{TaskNews, TaskUpdate, TasksPlan, task_seed};
use crate::state::RunStatus;
use crate::worker::{JobReport, ListPlan, ListReport, ListedPrompt, ListedSettings};

/// What one host does for a run.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lab::prompts) struct RunPart {
    pub id: GenerationId,
    /// `None` for the main model.
    pub host: Option<PaneModel>,
    /// Its index among the hosts of the results.
    index: usize,
    /// The indices of the settings under which it answers.
    settings: Vec<usize>,
    /// Whether it has done each task.
    is_done: Vec<bool>,
    /// How long it has worked on those that it has done, in seconds.
    secs: f64,
}

impl RunPart {
    /// Divides a run: what the main model does comes first, and what servers do comes last.
    pub(in crate::lab::prompts) fn all(
        results: &TaskResults,
        mut new_id: impl FnMut() -> GenerationId,
    ) -> Vec<Self> {
        let parts = results.hosts().enumerate().map(|(index, host)| {
            let settings = results.settings().enumerate();
            let own = settings.filter(|(_, settings)| settings.host.as_ref() == host);
            Self {
                id: new_id(),
                host: host.cloned(),
                index,
                settings: own.map(|(index, _)| index).collect(),
                is_done: vec![false; results.tasks().len()],
                secs: 0.0,
            }
        });
        parts.collect()
    }

    /// Returns the server that does it, or `None` for a model on this computer.
    pub(in crate::lab::prompts) fn server(&self) -> Option<&ServedModel> {
        self.host.as_ref()?.served()
    }

    /// Returns what a model on this computer is asked to do.
    pub(in crate::lab::prompts) fn plan(&self, plan: &TasksPlan) -> TasksPlan {
        let all = 0..plan.exact.len();
        TasksPlan {
            elsewhere: all.filter(|index| !self.settings.contains(index)).collect(),
            part: self.index,
            ..plan.clone()
        }
    }

    /// Returns what a server is asked to do.
    pub(in crate::lab::prompts) fn list(&self, plan: &TasksPlan) -> ListPlan {
        let prompts = plan.tasks.iter().enumerate();
        let prompts = prompts.map(|(index, task)| ListedPrompt {
            text: task.prompt.clone(),
            seed: task_seed(plan.seed, index),
        });
        let chains = self.settings.iter();
        let chains = chains.filter_map(|index| plan.drawn.get(*index));
        let settings = chains.map(|chain| ListedSettings {
            chain: chain.clone(),
            n_texts: TasksPlan::n_answers_of(plan.n_answers, chain),
        });
        ListPlan {
            prompts: prompts.collect(),
            settings: settings.collect(),
            limits: plan.limits.clone(),
        }
    }

    /// Returns what a server has reported of a task, and notes in the results what is said about
    /// its settings.
    fn served(&self, report: ListReport, results: &mut TaskResults) -> Option<TaskUpdate> {
        let (task, news) = match report {
            ListReport::Began { model } => {
                for settings in &self.settings {
                    results.note_model(*settings, &model);
                }
                return None;
            }
            ListReport::Noted {
                settings,
                not_applied,
                ..
            } => {
                results.note_not_applied(*self.settings.get(settings)?, not_applied);
                return None;
            }
            ListReport::Written { prompt, text } => {
                let settings = *self.settings.get(text.settings)?;
                (prompt, TaskNews::Served(ServedText { settings, ..text }))
            }
            ListReport::Done { prompt, secs } => (prompt, TaskNews::Done { secs }),
        };
        let part = self.index;
        Some(TaskUpdate { task, part, news })
    }

    /// Returns the updates that end all tasks that it has not done.
    fn failed(&self, error: &str) -> Vec<TaskUpdate> {
        let tasks = self.is_done.iter().enumerate();
        let left = tasks.filter(|(_, is_done)| !**is_done);
        let updates = left.map(|(task, _)| TaskUpdate {
            task,
            part: self.index,
            news: TaskNews::Refused {
                error: error.to_owned(),
            },
        });
        updates.collect()
    }
}

/// The parts of a run that have not ended, and how the others have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::lab::prompts) struct RunParts {
    running: Vec<RunPart>,
    has_several: bool,
    /// How the parts have ended so far, the worst of them.
    ended: Option<RunStatus>,
}

impl RunParts {
    pub(in crate::lab::prompts) fn new(parts: Vec<RunPart>) -> Self {
        Self {
            has_several: parts.len() > 1,
            running: parts,
            ended: None,
        }
    }

    /// Returns the ids of the parts that are running.
    pub(in crate::lab::prompts) fn ids(&self) -> Vec<GenerationId> {
        self.running.iter().map(|part| part.id).collect()
    }

    /// Returns the server of a part, or `None` for a model on this computer.
    pub(in crate::lab::prompts) fn server_of(&self, id: GenerationId) -> Option<&ServedModel> {
        let part = self.running.iter().find(|part| part.id == id)?;
        part.server()
    }

    /// Returns the models on this computer that parts need besides the main one.
    pub(super) fn models_of_panes(&self) -> Vec<&ModelSource> {
        let hosts = self.running.iter().filter_map(|part| part.host.as_ref());
        hosts.filter_map(PaneModel::local).collect()
    }

    /// Estimates how many seconds are left from the tasks so far. Models on this computer take
    /// turns, while each server works at the same time. `None` while too little is known.
    pub(super) fn secs_left(&self) -> Option<f64> {
        let mut local = 0.0;
        let mut longest: f64 = 0.0;
        for part in &self.running {
            let n_done = part.is_done.iter().filter(|is_done| **is_done).count();
            if n_done < 2 {
                return None;
            }
            let n_left = part.is_done.len() - n_done;
            let secs = part.secs / n_done as f64 * n_left as f64;
            match part.server() {
                Some(_) => longest = longest.max(secs),
                None => local += secs,
            }
        }
        Some(longest.max(local))
    }

    /// Reads a report of a part. Returns what it says about a task.
    pub(in crate::lab::prompts) fn read(
        &mut self,
        id: GenerationId,
        report: JobReport,
        results: &mut TaskResults,
    ) -> Option<TaskUpdate> {
        let part = self.running.iter_mut().find(|part| part.id == id)?;
        let update = match part.server() {
            None => report.take()?,
            Some(_) => part.served(report.take()?, results)?,
        };
        if let TaskNews::Done { secs } = update.news {
            part.secs += secs;
        }
        if matches!(
            update.news,
            TaskNews::Done { .. } | TaskNews::Refused { .. }
        ) && let Some(is_done) = part.is_done.get_mut(update.task)
        {
            *is_done = true;
        }
        Some(update)
    }

    /// Ends a part. Returns what is missing because of an error, so that the answers of the other
    /// parts still count, and how the run has ended if this was the last part.
    pub(in crate::lab::prompts) fn end(
        &mut self,
        id: GenerationId,
        status: RunStatus,
    ) -> (Vec<TaskUpdate>, Option<RunStatus>) {
        let Some(index) = self.running.iter().position(|part| part.id == id) else {
            return (Vec::new(), None);
        };
        let part = self.running.remove(index);
        let missing = match &status {
            RunStatus::Failed { error } if self.has_several => part.failed(error),
            _ => Vec::new(),
        };
        let worst = self.ended.take().unwrap_or(RunStatus::Complete);
        let is_worse = rank(&status) > rank(&worst);
        self.ended = Some(if is_worse { status } else { worst });
        let ended = self.ended.clone().filter(|_| self.running.is_empty());
        (missing, ended)
    }
}

/// Orders how parts end, the best first.
const fn rank(status: &RunStatus) -> u8 {
    match status {
        RunStatus::Waiting | RunStatus::Running | RunStatus::Complete => 0,
        RunStatus::Stopped => 1,
        RunStatus::Failed { .. } => 2,
    }
}

impl NewPane {
    /// Returns a pane with settings of a run, and the server or other model that answered under them.
    pub(super) fn of(settings: JudgedPane, seed: u64) -> Self {
        Self {
            chain: settings.chain,
            seed,
            model: settings.host,
        }
    }
}
