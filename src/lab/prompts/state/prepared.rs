//! The tasks of the form, which are made some at a time: a list can have 100,000.

use std::sync::Arc;

use super::form::{TaskSource, TasksForm, task_text};
use crate::generation::PromptForm;
use crate::lab::prompts::figures::checks::exact_texts;
use crate::lab::prompts::figures::tasks::{Task, TaskBuilder, TaskFile};

const UNFINISHED: &str = "Reading the tasks";

/// The tasks of the form, and the choices that they are made from.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    source: TaskSource,
    typed: String,
    template: String,
    checks: Vec<String>,
    pub(super) file: Result<Arc<TaskFile>, String>,
    tasks: Making,
}

/// How far the tasks are.
#[derive(Debug, Clone)]
enum Making {
    Unfinished(Box<Unfinished>),
    Finished(Result<PreparedTasks, String>),
}

/// Tasks of which some are made.
#[derive(Debug, Clone, Default)]
struct Unfinished {
    builder: TaskBuilder,
    found: Found,
}

/// What is known of the tasks so far.
#[derive(Debug, Clone, Default)]
struct Found {
    n: usize,
    refusal: Option<String>,
    is_judged: bool,
    is_exact: bool,
}

/// Tasks that are ready to be answered.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedTasks {
    pub tasks: Arc<[Task]>,
    /// What the user should know about them.
    pub notes: Vec<String>,
    /// Why one of them can't be answered.
    pub refusal: Option<String>,
    /// Whether any answer is judged.
    pub is_judged: bool,
    /// Whether the right answers to any of them can be listed.
    pub is_exact: bool,
}

impl PartialEq for Prepared {
    /// What was read follows from the choices, unless a file has changed.
    fn eq(&self, other: &Self) -> bool {
        (&self.source, &self.typed, &self.template, &self.checks)
            == (&other.source, &other.typed, &other.template, &other.checks)
            && self.tasks() == other.tasks()
    }
}

impl Prepared {
    /// Begins to make the tasks of a form.
    pub(super) fn begin(form: &TasksForm, file: Result<Arc<TaskFile>, String>) -> Self {
        let unfinished = file.as_ref().map_err(Clone::clone).and_then(|file| {
            let template = Some(&*form.template).filter(|template| !template.is_empty());
            let checks = form.checks.iter().filter(|check| !check.trim().is_empty());
            let checks: Vec<String> = checks.cloned().collect();
            let builder = file
                .builder(template, &checks)
                .map_err(|error| error.to_string())?;
            let found = Found::default();
            Ok(Box::new(Unfinished { builder, found }))
        });
        Self {
            source: form.source.clone(),
            typed: form.typed.clone(),
            template: form.template.clone(),
            checks: form.checks.clone(),
            file,
            tasks: match unfinished {
                Ok(unfinished) => Making::Unfinished(unfinished),
                Err(error) => Making::Finished(Err(error)),
            },
        }
    }

    /// Returns whether these are the tasks of a form.
    pub(super) fn is_of(&self, form: &TasksForm) -> bool {
        self.has_source(form) && self.template == form.template && self.checks == form.checks
    }

    /// Returns whether the form has the list that these tasks came from.
    pub(super) fn has_source(&self, form: &TasksForm) -> bool {
        self.source == form.source && self.typed == form.typed
    }

    /// Makes at most `n` more tasks.
    pub(super) fn advance(&mut self, n: usize) {
        let (Making::Unfinished(unfinished), Ok(file)) = (&mut self.tasks, &self.file) else {
            return;
        };
        match unfinished.builder.advance(file, n) {
            Ok(tasks) => unfinished.found.add(tasks),
            Err(error) => {
                self.tasks = Making::Finished(Err(error.to_string()));
                return;
            }
        }
        if unfinished.found.n >= file.n_tasks() {
            let made = std::mem::take(unfinished.as_mut());
            self.tasks = Making::Finished(Ok(made.finish(file)));
        }
    }

    pub(super) const fn is_unfinished(&self) -> bool {
        matches!(self.tasks, Making::Unfinished(_))
    }

    /// Returns the tasks, or why there are none.
    pub(super) fn tasks(&self) -> Result<&PreparedTasks, &str> {
        match &self.tasks {
            Making::Unfinished(_) => Err(UNFINISHED),
            Making::Finished(tasks) => tasks.as_ref().map_err(String::as_str),
        }
    }
}

impl Unfinished {
    fn finish(self, file: &TaskFile) -> PreparedTasks {
        let list = self.builder.finish(file);
        let found = self.found;
        PreparedTasks {
            tasks: list.tasks.into(),
            notes: list.notes,
            refusal: found.refusal,
            is_judged: found.is_judged,
            is_exact: found.is_exact,
        }
    }
}

impl Found {
    fn add(&mut self, tasks: &[Task]) {
        self.n += tasks.len();
        for task in tasks {
            self.is_judged |= task.is_judged;
            self.is_exact |= task.is_judged && exact_texts(&task.checks).is_some();
            if self.refusal.is_none() {
                self.refusal = task_text(task, &PromptForm::Raw).err();
            }
        }
    }
}
