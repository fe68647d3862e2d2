//! Answers one task after the other: first computes how likely right answers are, then draws answers.
//! Each prompt is read once.

mod answers;
#[cfg(test)]
mod answers_tests;
mod exact;
mod fork;
mod spelling;
#[cfg(test)]
mod tests;
mod tree;

use std::time::Instant;

use self::answers::{AnswerGroup, AnswersJob};
use self::exact::{ExactChains, ExactJob};
use crate::decoding::ChainConfig;
use crate::engine::{EngineError, Job, JobContext, JobPlan, JobPriority, JobUpdate, LoadedModel};
use crate::lab::prompts::{ReadPrompt, TaskNews, TaskUpdate, TasksPlan};

impl JobPlan for TasksPlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Lowest
    }

    fn chains(&self) -> &[ChainConfig] {
        &self.drawn
    }

    /// Fails if answers can't be drawn under one of the settings.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        for (_, chain) in self.drawn_here() {
            // Fails if the model lacks the tags of a thinking budget.
            model.spelled(chain)?;
        }
        Ok(Box::new(TasksJob {
            groups: AnswerGroup::all(self)?,
            chains: ExactChains::new(self, model)?,
            plan: self.clone(),
            task: 0,
            stage: Stage::Beginning,
            secs: 0.0,
        }))
    }
}

/// Nothing more follows about a task. Its time is filled in when it is reported.
const DONE: TaskNews = TaskNews::Done { secs: 0.0 };

/// A running list of tasks.
struct TasksJob {
    plan: TasksPlan,
    groups: Vec<AnswerGroup>,
    chains: ExactChains,
    /// The index of the task.
    task: usize,
    stage: Stage,
    /// How long the passes of this task have taken so far.
    secs: f64,
}

/// What is done with the task.
enum Stage {
    Beginning,
    /// Nothing can be computed under any of the settings.
    Refused,
    Computing(Box<ExactJob>),
    Computed,
    Drawing(AnswersJob),
    Ended,
}

impl TasksJob {
    /// Goes one step further with the task. Returns what there is to report.
    fn pass(&mut self, context: &mut JobContext<'_>) -> Result<Option<TaskNews>, EngineError> {
        match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Beginning => Ok(self.begin(context)),
            Stage::Refused => {
                self.stage = Stage::Computed;
                Ok(Some(TaskNews::Exact(self.chains.nothing())))
            }
            Stage::Computing(job) => self.compute(job, context),
            Stage::Computed => Ok(self.begin_answers()),
            Stage::Drawing(job) => self.draw(job, context),
            Stage::Ended => {
                self.task += 1;
                self.secs = 0.0;
                self.stage = Stage::Beginning;
                Ok(None)
            }
        }
    }

    /// Tokenizes the prompt of the task.
    fn begin(&mut self, context: &mut JobContext<'_>) -> Option<TaskNews> {
        let task = self.plan.tasks.get(self.task)?;
        let prompt = match context.model.prompt(&task.prompt) {
            Ok(prompt) => prompt,
            Err(error) => return Some(refused(&error)),
        };
        let read = ReadPrompt {
            tokens: prompt.tokens,
            rendered: prompt.chat.map_or(prompt.text, |chat| chat.rendered),
        };
        self.stage = if task.right.is_empty() || self.plan.exact.is_empty() {
            Stage::Computed
        } else if self.chains.is_empty() {
            Stage::Refused
        } else {
            let tokens = read.tokens.clone();
            let limits = &self.plan.limits;
            let job = ExactJob::new(tokens, &self.chains, limits, context);
            Stage::Computing(Box::new(job))
        };
        Some(TaskNews::Read(read))
    }

    /// Goes on computing how likely the right answers are.
    fn compute(
        &mut self,
        mut job: Box<ExactJob>,
        context: &mut JobContext<'_>,
    ) -> Result<Option<TaskNews>, EngineError> {
        let task = self.plan.tasks.get(self.task);
        let right = task.map(|task| task.right.as_slice()).unwrap_or_default();
        match job.advance(right, &self.plan.limits, context) {
            Ok(false) => {
                self.stage = Stage::Computing(job);
                Ok(None)
            }
            Ok(true) => {
                self.stage = Stage::Computed;
                Ok(Some(TaskNews::Exact(job.finish(&self.chains, context))))
            }
            Err(error) => {
                job.retire(context);
                Err(error)
            }
        }
    }

    /// Begins to draw the answers.
    fn begin_answers(&mut self) -> Option<TaskNews> {
        if self.plan.drawn.is_empty() || self.plan.n_answers == 0 {
            return Some(DONE);
        }
        self.stage = Stage::Drawing(AnswersJob::new(self.task));
        None
    }

    /// Goes on drawing answers.
    fn draw(
        &mut self,
        mut job: AnswersJob,
        context: &mut JobContext<'_>,
    ) -> Result<Option<TaskNews>, EngineError> {
        match job.advance(&self.plan, &self.groups, context) {
            Ok(Some(last @ (TaskNews::Done { .. } | TaskNews::Refused { .. }))) => Ok(Some(last)),
            Ok(news) => {
                self.stage = Stage::Drawing(job);
                Ok(news)
            }
            Err(error) => {
                job.retire(context);
                Err(error)
            }
        }
    }
}

impl Job for TasksJob {
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        if self.task >= self.plan.tasks.len() {
            return Ok(Some(JobUpdate::Finished));
        }
        let task = self.task;
        let started_at = Instant::now();
        let passed = self.pass(context);
        self.secs += started_at.elapsed().as_secs_f64();
        let news = match passed? {
            Some(TaskNews::Done { .. }) => Some(TaskNews::Done { secs: self.secs }),
            news => news,
        };
        Ok(news.map(|news| {
            let part = self.plan.part;
            JobUpdate::reported(TaskUpdate { task, part, news })
        }))
    }

    fn retire(self: Box<Self>, context: &mut JobContext<'_>) {
        match self.stage {
            Stage::Computing(job) => job.retire(context),
            Stage::Drawing(job) => job.retire(context),
            Stage::Beginning | Stage::Refused | Stage::Computed | Stage::Ended => {}
        }
    }
}

fn refused(error: &EngineError) -> TaskNews {
    TaskNews::Refused {
        error: error.to_string(),
    }
}
