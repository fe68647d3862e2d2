//! Experiments as the session and the worker see them: a plan starts a job, the job advances one
//! forward pass at a time, and its reports have types that only the experiment knows.

use std::any::Any;
use std::fmt::{Debug, Display};
use std::ops::Deref;
use std::sync::Arc;

use super::prefill::Prefill;
use super::prefix_cache::PrefixCache;
use super::{EngineError, LoadedModel, SequenceId};
use crate::decoding::{ChainConfig, TokenId};

/// A value of an experiment that passes through code that doesn't know its type.
pub trait JobData: Any + Debug + Send + Sync {
    /// Returns the value as its own type sees it.
    fn as_any(&self) -> &dyn Any;

    /// Turns the shared value into one that can be downcast.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;

    /// Returns whether the other value has the same type and is equal.
    fn is_equal(&self, other: &dyn Any) -> bool;
}

impl<T: Any + Debug + PartialEq + Send + Sync> JobData for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
}

/// What an experiment asks the engine to do.
pub trait JobPlan: JobData {
    /// Which of several queued jobs goes first.
    fn priority(&self) -> JobPriority;

    /// Whether stopping all panes stops the job, too.
    fn stops_with_panes(&self) -> bool {
        false
    }

    /// The chains that must be valid before the job starts.
    fn chains(&self) -> &[ChainConfig] {
        &[]
    }

    /// Checks the plan against the model, tokenizes its texts, and returns the job. `other` is the
    /// model that was loaded for it, if the request named one.
    fn start(
        &self,
        model: &LoadedModel,
        other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError>;
}

/// Which of the queued jobs runs. Jobs of the same priority run in the order of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobPriority {
    /// Short texts that the user waits for.
    Highest,
    High,
    Normal,
    Low,
    /// Many texts, which may take hours.
    Lowest,
}

/// Work that waits while any pane is busy.
pub trait Job: Send {
    /// Runs one forward pass, or computes for a short time. Returns what happened, or `None` if
    /// there is nothing to report yet. A job that has finished or failed is retired.
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError>;

    /// Frees the sequences, at the end or when the job is stopped.
    fn retire(self: Box<Self>, context: &mut JobContext<'_>);
}

/// What a job works with.
pub struct JobContext<'a> {
    /// The model of the session.
    pub model: &'a mut LoadedModel,
    /// The KV caches of prompts and texts that later requests may continue.
    pub(super) prefix_cache: &'a mut PrefixCache,
    /// What the last job left for the next of its kind. There is room for one value, because it may
    /// be large.
    pub(super) kept: &'a mut Option<Box<dyn Any + Send>>,
}

impl JobContext<'_> {
    /// Returns what the last job left, if it has this type, and drops it otherwise.
    pub(super) fn take_kept<T: Any>(&mut self) -> Option<T> {
        let kept = self.kept.take()?.downcast::<T>().ok()?;
        Some(*kept)
    }

    /// Starts reading a prompt, which must not be empty. What the cache holds of it is not read
    /// again.
    pub fn open_prompt(&mut self, tokens: Vec<TokenId>) -> ReadingPrompt {
        ReadingPrompt(Prefill::prompt(
            tokens,
            self.prefix_cache,
            &mut *self.model.lm,
        ))
    }
}

/// A prompt that a job reads, with the logits after it.
#[derive(Debug)]
pub struct ReadingPrompt(Prefill);

impl ReadingPrompt {
    /// Returns whether all of it was read.
    pub fn is_read(&self) -> bool {
        self.0.is_done()
    }

    /// Reads the next chunk.
    pub fn read_chunk(&mut self, context: &mut JobContext<'_>) -> Result<(), EngineError> {
        self.0.read_chunk(&mut *context.model.lm)
    }

    /// Returns the sequence that holds what was read. Only forks of it may be continued.
    pub const fn sequence(&self) -> SequenceId {
        self.0.sequence()
    }

    /// Returns all tokens of the prompt.
    pub fn tokens(&self) -> &[TokenId] {
        self.0.tokens()
    }

    /// Returns the logits after the prompt. Empty until it was read.
    pub fn logits(&self) -> &[f32] {
        self.0.last_logits().map_or(&[], |(logits, _)| logits)
    }

    /// Keeps the prompt in the cache.
    pub fn keep(self, context: &mut JobContext<'_>) {
        let cached = self.0.into_cached();
        context.prefix_cache.keep(cached, &mut *context.model.lm);
    }
}

/// What happened to a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobUpdate {
    /// The other model that the job needs is being loaded.
    Loading {
        /// The fraction loaded so far, between 0 and 1.
        fraction: f32,
    },
    /// The job has come further.
    Reported(JobReport),
    /// The job has done everything.
    Finished,
    /// The job was stopped. What it has reported stays.
    Stopped,
    /// The job can't begin or can't go on. What it has reported stays.
    Failed {
        /// Can be shown to the user.
        error: String,
    },
}

impl JobUpdate {
    /// Reports a value of the experiment.
    pub fn reported(value: impl JobData) -> Self {
        Self::Reported(JobReport(Arc::new(value)))
    }

    /// Reports that the job ended because of an error.
    pub fn failed(error: impl Display) -> Self {
        let error = error.to_string();
        Self::Failed { error }
    }

    /// Returns whether no more updates follow.
    pub const fn is_end(&self) -> bool {
        match self {
            Self::Loading { .. } | Self::Reported(_) => false,
            Self::Finished | Self::Stopped | Self::Failed { .. } => true,
        }
    }

    /// Returns the value that was reported, if there is one of this type.
    pub fn report<T: Any>(&self) -> Option<&T> {
        match self {
            Self::Reported(report) => report.get(),
            _ => None,
        }
    }
}

/// What a job has found, in the type of its experiment.
#[derive(Debug, Clone)]
pub struct JobReport(Arc<dyn JobData>);

impl JobReport {
    /// Returns the value if it has this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        (*self.0).as_any().downcast_ref()
    }

    /// Takes the value out if it has this type.
    pub fn take<T: Any + Clone + Send + Sync>(self) -> Option<T> {
        let value = self.0.into_any().downcast::<T>().ok()?;
        Some(Arc::unwrap_or_clone(value))
    }
}

impl PartialEq for JobReport {
    fn eq(&self, other: &Self) -> bool {
        (*self.0).is_equal((*other.0).as_any())
    }
}

/// A plan of any experiment.
#[derive(Debug, Clone)]
pub struct AnyPlan(Arc<dyn JobPlan>);

impl AnyPlan {
    /// Boxes a plan.
    pub fn new(plan: impl JobPlan) -> Self {
        Self(Arc::new(plan))
    }

    /// Returns the plan if it has this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        (*self.0).as_any().downcast_ref()
    }
}

impl Deref for AnyPlan {
    type Target = dyn JobPlan;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for AnyPlan {
    fn eq(&self, other: &Self) -> bool {
        (*self.0).is_equal((*other.0).as_any())
    }
}

#[cfg(test)]
mod tests {
    use super::{JobReport, JobUpdate};
    use crate::generation::{DrawnFutures, FitUpdate};

    #[test]
    fn reports_are_equal_if_their_types_and_values_are() {
        let reading = |n_read| FitUpdate::Reading {
            n_read,
            n_tokens: 9,
        };
        let one = JobUpdate::reported(reading(1));
        assert_eq!(one, one.clone());
        assert_eq!(one, JobUpdate::reported(reading(1)));
        assert_ne!(one, JobUpdate::reported(reading(2)));
        assert_ne!(one, JobUpdate::reported(DrawnFutures(Vec::new())));
        assert_ne!(one, JobUpdate::Finished);
    }

    #[test]
    fn a_report_is_taken_only_as_what_it_is() {
        let JobUpdate::Reported(report) = JobUpdate::reported(DrawnFutures(Vec::new())) else {
            panic!("not a report");
        };
        assert_eq!(report.get::<FitUpdate>(), None);
        assert_eq!(JobReport::take::<FitUpdate>(report.clone()), None);
        assert_eq!(report.take(), Some(DrawnFutures(Vec::new())));
    }
}
