//! A list of tasks, each answered under the settings of all panes: which settings are right most
//! often, exactly where an answer is short, and with intervals where it isn't.

pub(crate) mod command;
mod document;
pub mod figures;
mod job;
mod page;
mod picture;
mod plan;
mod plot;
mod record;
mod state;
#[cfg(test)]
mod tests;

pub use document::PromptsDocument;
pub use figures::statistics::{Paired, PromptShare, ShareEstimate, differences, is_decided};
pub(super) use page::TAB;
pub use plan::{
    ExactFound, ExactShare, ForkFound, ForkPlan, ReadPrompt, Spelling, TaskNews, TaskText,
    TaskUpdate, TasksPlan, task_seed,
};
pub use record::TasksRecord;
pub use state::{
    EXAMPLES, ForkRun, KeptAnswers, PromptsCommand, PromptsSettings, PromptsTab, StopAt, SweepRun,
    TaskRuns, TaskSource, TaskView, TasksForm, TasksRun,
};
