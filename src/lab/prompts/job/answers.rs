//! Draws the answers to one task, one group of settings after the other.

use std::time::Instant;

use super::{DONE, refused};
use crate::decoding::{ChainConfig, Need, Refusal};
use crate::engine::{EngineError, Job, JobContext, JobPlan, JobReport, JobUpdate};
use crate::generation::hosts::MANY_TEXTS;
use crate::generation::{GenerationConfig, PaneTextsPlan, SweepPlan, SweepText, SweepUpdate};
use crate::lab::prompts::{TaskNews, TasksPlan, task_seed};

/// Settings whose answers are drawn together, by their indices.
pub(super) struct AnswerGroup {
    way: Way,
    settings: Vec<usize>,
}

/// How the answers of a group are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Answers with the same tokens so far share a row. Their settings have the same grammar, and no
    /// two are guided by different things.
    SharedRows,
    /// Each answer is written as by a pane, because it needs several sequences.
    AsPanes,
}

impl AnswerGroup {
    /// Divides settings into groups. Fails if answers can't be drawn under one of them.
    pub(super) fn all(plan: &TasksPlan) -> Result<Vec<Self>, Refusal> {
        let mut groups: Vec<Self> = Vec::new();
        for (index, chain) in plan.drawn_here() {
            let way = match MANY_TEXTS.lacks(chain) {
                Some(Need::SeveralTexts) => Way::AsPanes,
                _ => Way::SharedRows,
            };
            if way == Way::SharedRows {
                MANY_TEXTS.check(chain)?;
            }
            let known = groups.iter_mut().find(|group| {
                let mut members = group
                    .settings
                    .iter()
                    .filter_map(|index| plan.drawn.get(*index));
                let fits = way == Way::AsPanes || members.all(|other| share_rows(other, chain));
                group.way == way && fits
            });
            match known {
                Some(group) => group.settings.push(index),
                None => groups.push(Self {
                    way,
                    settings: vec![index],
                }),
            }
        }
        Ok(groups)
    }

    /// Starts the job that draws the answers of this group to a task.
    fn start(
        &self,
        task: usize,
        plan: &TasksPlan,
        context: &JobContext<'_>,
    ) -> Result<Option<Box<dyn Job>>, EngineError> {
        let Some(text) = plan.tasks.get(task) else {
            return Ok(None);
        };
        let seed = task_seed(plan.seed, task);
        let started = match self.way {
            Way::SharedRows => SweepPlan {
                prompts: vec![text.prompt.clone()],
                cells: self.chains(plan).cloned().collect(),
                limits: plan.limits.clone(),
                seed,
                n_seeds: plan.n_answers,
                width: SweepPlan::DEFAULT_WIDTH,
            }
            .start(context.model, None),
            Way::AsPanes => {
                let texts = self.texts(plan).into_iter();
                let texts = texts.filter_map(|(settings, index)| {
                    Some(GenerationConfig {
                        chain: plan.drawn.get(settings)?.clone(),
                        seed: seed.wrapping_add(index as u64),
                        limits: plan.limits.clone(),
                    })
                });
                PaneTextsPlan {
                    prompt: text.prompt.clone(),
                    texts: texts.collect(),
                }
                .start(context.model, None)
            }
        };
        started.map(Some)
    }

    fn chains<'a>(&'a self, plan: &'a TasksPlan) -> impl Iterator<Item = &'a ChainConfig> {
        let settings = self.settings.iter();
        settings.filter_map(|index| plan.drawn.get(*index))
    }

    /// Returns the texts that are written as by panes: the settings of each, and the index of its
    /// seed.
    fn texts(&self, plan: &TasksPlan) -> Vec<(usize, usize)> {
        let settings = self.settings.iter().zip(self.chains(plan));
        let texts = settings.flat_map(|(settings, chain)| {
            let n_answers = TasksPlan::n_answers_of(plan.n_answers, chain);
            (0..n_answers).map(|seed| (*settings, seed))
        });
        texts.collect()
    }

    /// Returns a text of the group's job as an answer, or `None` if it repeats the first one:
    /// without chance, all answers of a setting are the same.
    fn answer(&self, text: SweepText, plan: &TasksPlan) -> Option<SweepText> {
        let (cell, seed) = match self.way {
            Way::SharedRows => (*self.settings.get(text.cell)?, text.seed),
            Way::AsPanes => *self.texts(plan).get(text.cell)?,
        };
        let n_answers = TasksPlan::n_answers_of(plan.n_answers, plan.drawn.get(cell)?);
        (seed < n_answers).then_some(SweepText { cell, seed, ..text })
    }
}

/// Returns whether the answers of two settings can share rows.
fn share_rows(one: &ChainConfig, other: &ChainConfig) -> bool {
    let [from, to] = [one, other].map(|chain| chain.guidance.as_ref().map(|it| &it.against));
    one.grammar == other.grammar && (from == to || from.is_none() || to.is_none())
}

/// The answers to a task as they are drawn.
pub(super) struct AnswersJob {
    task: usize,
    /// The index of the group.
    group: usize,
    job: Option<Box<dyn Job>>,
    /// How long this group's passes have taken, in seconds.
    secs: f64,
    /// How many tokens this group's answers have.
    n_tokens: usize,
}

impl AnswersJob {
    pub(super) const fn new(task: usize) -> Self {
        Self {
            task,
            group: 0,
            job: None,
            secs: 0.0,
            n_tokens: 0,
        }
    }

    /// Runs one forward pass. The last news is that the task is done, or refused.
    pub(super) fn advance(
        &mut self,
        plan: &TasksPlan,
        groups: &[AnswerGroup],
        context: &mut JobContext<'_>,
    ) -> Result<Option<TaskNews>, EngineError> {
        let Some(group) = groups.get(self.group) else {
            return Ok(Some(DONE));
        };
        let Some(job) = &mut self.job else {
            match group.start(self.task, plan, context) {
                Ok(job) => self.job = job,
                Err(error) => return Ok(Some(refused(&error))),
            }
            return Ok(None);
        };
        let started_at = Instant::now();
        let update = job.advance(context);
        self.secs += started_at.elapsed().as_secs_f64();
        match update? {
            Some(update) if update.is_end() => Ok(Some(self.end(group, context))),
            Some(JobUpdate::Reported(report)) => Ok(self.answers(group, plan, report)),
            _ => Ok(None),
        }
    }

    /// Returns the answers that are complete.
    fn answers(
        &mut self,
        group: &AnswerGroup,
        plan: &TasksPlan,
        report: JobReport,
    ) -> Option<TaskNews> {
        let Some(SweepUpdate::Advanced { complete, .. }) = report.take() else {
            return None;
        };
        let complete = complete.into_iter();
        let answers: Vec<SweepText> = complete
            .filter_map(|text| group.answer(text, plan))
            .collect();
        self.n_tokens += answers.iter().map(|text| text.tokens.len()).sum::<usize>();
        (!answers.is_empty()).then_some(TaskNews::Answered(answers))
    }

    /// Ends a group. Reports how long its answers took.
    fn end(&mut self, group: &AnswerGroup, context: &mut JobContext<'_>) -> TaskNews {
        if let Some(job) = self.job.take() {
            job.retire(context);
        }
        self.group += 1;
        TaskNews::Timed {
            settings: group.settings.clone(),
            secs_per_token: std::mem::take(&mut self.secs)
                / std::mem::take(&mut self.n_tokens).max(1) as f64,
        }
    }

    /// Frees the sequences.
    pub(super) fn retire(self, context: &mut JobContext<'_>) {
        if let Some(job) = self.job {
            job.retire(context);
        }
    }
}
