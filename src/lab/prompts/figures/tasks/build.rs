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
enum Given<'a> {
    Filled { spec: &'a str, names: Names },
    Same(Check),
}

/// Makes the tasks of a file. See [`TaskFile::tasks`].
pub(super) fn tasks(
    file: &TaskFile,
    template: Option<&str>,
    checks: &[String],
) -> Result<TaskList, TaskError> {
    let names = match template {
        Some(template) => names(file, template, |column| Place::Template { column })?,
        None => Names::default(),
    };
    let mut cache = CheckCache::default();
    let mut given = Vec::new();
    for (index, spec) in checks.iter().enumerate() {
        given.push(read_given(file, index + 1, spec, &mut cache)?);
    }
    let mut tasks = Vec::with_capacity(file.rows.len());
    for row in &file.rows {
        let prompt = match template {
            Some(template) => from_template(file, row, template, &names)?,
            None => own_prompt(file, row)?,
        };
        let mut checks = Vec::new();
        for given in &given {
            checks.push(match given {
                Given::Same(check) => check.clone(),
                Given::Filled { spec, names } => {
                    let value = values(file, row, names)?;
                    let check = cache.read_filled(spec, &|text| template::filled(text, &value));
                    check.map_err(|error| TaskError::line(row.line, error.into()))?
                }
            });
        }
        checks.extend_from_slice(&row.checks);
        tasks.push(Task {
            line: row.line,
            prompt,
            is_judged: !checks.is_empty() && row.not_judged.is_empty(),
            checks,
        });
    }
    let notes = notes::notes(file, &names, &tasks);
    Ok(TaskList { tasks, notes })
}

/// Reads a check that was given beside the file, counted from 1.
fn read_given<'a>(
    file: &TaskFile,
    check: usize,
    spec: &'a str,
    cache: &mut CheckCache,
) -> Result<Given<'a>, TaskError> {
    let place = |column| Place::Check { check, column };
    let names = names(file, spec, |column| place(Some(column)))?;
    if !names.columns.is_empty() || !names.others.is_empty() {
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
        Some(TaskPrompt::Messages(messages)) => Ok(TaskPrompt::Messages(messages.clone())),
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
