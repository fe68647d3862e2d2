//! Makes tasks from the rows of a file, a template and checks.

use super::super::checks::Check;
use super::check_cache::CheckCache;
use super::template::{self, Names};
use super::{Place, Row, Task, TaskError, TaskFile, TaskList, TaskMistake, TaskPrompt, notes};

impl Row {
    /// Returns the text of a column.
    pub(super) fn value(&self, column: usize) -> Option<&str> {
        let mut values = self.values.iter();
        let (_, text) = values.find(|(index, _)| *index == column)?;
        Some(text)
    }
}

/// A check that was given beside the file.
#[derive(Debug, Clone)]
enum Given {
    Filled { spec: String, names: Names },
    Same(Check),
}

/// Makes the tasks of a file, some at a time because a list can be long.
#[derive(Debug, Clone, Default)]
pub struct TaskBuilder {
    template: Option<String>,
    names: Names,
    given: Vec<Given>,
    cache: CheckCache,
    tasks: Vec<Task>,
}

impl TaskBuilder {
    /// Begins with the tasks of a file. See [`TaskFile::tasks`].
    pub(super) fn new(
        file: &TaskFile,
        template: Option<&str>,
        checks: &[String],
    ) -> Result<Self, TaskError> {
        let names = match template {
            Some(template) => names(file, template, |column| Place::Template { column })?,
            None => Names::default(),
        };
        let mut cache = CheckCache::default();
        let mut given = Vec::new();
        for (index, spec) in checks.iter().enumerate() {
            given.push(read_given(file, index + 1, spec, &mut cache)?);
        }
        Ok(Self {
            template: template.map(str::to_owned),
            names,
            given,
            cache,
            tasks: Vec::with_capacity(file.rows.len()),
        })
    }

    /// Makes at most `n` more tasks of the same file, and returns them. None are left if there are
    /// fewer.
    pub fn advance(&mut self, file: &TaskFile, n: usize) -> Result<&[Task], TaskError> {
        let first = self.tasks.len();
        for row in file.rows.iter().skip(first).take(n) {
            let task = self.task(file, row)?;
            self.tasks.push(task);
        }
        Ok(self.tasks.get(first..).unwrap_or_default())
    }

    /// Returns the tasks, all of which must have been made.
    pub fn finish(self, file: &TaskFile) -> TaskList {
        TaskList {
            notes: notes::notes(file, &self.names, &self.tasks),
            tasks: self.tasks,
        }
    }

    fn task(&mut self, file: &TaskFile, row: &Row) -> Result<Task, TaskError> {
        let prompt = match &self.template {
            Some(template) => from_template(file, row, template, &self.names)?,
            None => own_prompt(file, row)?,
        };
        let mut checks = Vec::new();
        for given in &self.given {
            checks.push(match given {
                Given::Same(check) => check.clone(),
                Given::Filled { spec, names } => {
                    let value = values(file, row, names)?;
                    let fill = |text: &str| template::filled(text, &value);
                    let check = self.cache.read_filled(spec, &fill);
                    check.map_err(|error| TaskError::line(row.line, error.into()))?
                }
            });
        }
        checks.extend_from_slice(&row.checks);
        Ok(Task {
            line: row.line,
            prompt,
            is_judged: !checks.is_empty() && row.not_judged.is_empty(),
            checks,
        })
    }
}

/// Reads a check that was given beside the file, counted from 1.
fn read_given(
    file: &TaskFile,
    check: usize,
    spec: &str,
    cache: &mut CheckCache,
) -> Result<Given, TaskError> {
    let place = |column| Place::Check { check, column };
    let names = names(file, spec, |column| place(Some(column)))?;
    if !names.columns.is_empty() || !names.others.is_empty() {
        let spec = spec.to_owned();
        return Ok(Given::Filled { spec, names });
    }
    let read = cache.read(spec).map_err(|error| TaskError {
        place: place(error.column()),
        mistake: error.into(),
    });
    Ok(Given::Same(read?))
}

/// Lists what a template or check names.
fn names(
    file: &TaskFile,
    template: &str,
    place: impl Fn(usize) -> Place,
) -> Result<Names, TaskError> {
    template::names(template, &file.columns).map_err(|(name, column)| TaskError {
        place: place(column),
        mistake: TaskMistake::UnknownColumn {
            name,
            columns: file.columns.clone(),
        },
    })
}

/// Returns a row's texts by name. The row must have all columns that are named.
fn values<'a>(
    file: &'a TaskFile,
    row: &'a Row,
    names: &Names,
) -> Result<impl Fn(&str) -> Option<&'a str>, TaskError> {
    if let Some(missing) = names.columns.iter().find(|it| row.value(**it).is_none()) {
        let field = file.columns.get(*missing).cloned().unwrap_or_default();
        return Err(TaskError::line(row.line, TaskMistake::Missing { field }));
    }
    let index = |name: &str| file.columns.iter().position(|column| column == name);
    Ok(move |name: &str| row.value(index(name)?))
}

fn from_template(
    file: &TaskFile,
    row: &Row,
    template: &str,
    names: &Names,
) -> Result<TaskPrompt, TaskError> {
    let text = template::filled(template, &values(file, row, names)?);
    let (prefix, suffix) = &row.around;
    // A system message that is part of the text isn't said twice.
    let system = row.system.as_ref();
    let system = system.filter(|(column, _)| !names.columns.contains(column));
    Ok(TaskPrompt::Text {
        text: format!("{prefix}{text}{suffix}"),
        system: system.map(|(_, system)| system.clone()),
    })
}

fn own_prompt(file: &TaskFile, row: &Row) -> Result<TaskPrompt, TaskError> {
    let (prefix, suffix) = &row.around;
    match &row.prompt {
        Some(messages @ TaskPrompt::Messages { .. }) => Ok(messages.clone()),
        Some(TaskPrompt::Text { text, .. }) => Ok(TaskPrompt::Text {
            text: format!("{prefix}{text}{suffix}"),
            system: row.system.as_ref().map(|(_, system)| system.clone()),
        }),
        None if file.rows.iter().any(|row| row.prompt.is_some()) => {
            Err(TaskError::line(row.line, TaskMistake::NoPrompt))
        }
        None => {
            let columns = file.columns.clone();
            Err(TaskError::file(TaskMistake::TemplateMissing { columns }))
        }
    }
}
