//! CSV: its records with their places, and the meaning of its columns.
//!
//! The syntax follows RFC 4180. The separator is a comma, a semicolon or a tab, whichever splits
//! the first line into the most fields. Unlike the csv crate, a quotation mark that is never closed is an error, and
//! the place of every field is known, so that a mistake inside a field has a line and a column.

mod promptfoo;
mod records;

use super::check_cache::CheckCache;
use super::columns::Columns;
use super::place::Lines;
use super::{ReadRows, Row, TaskError, TaskMistake, TaskPrompt};
use promptfoo::Meaning;
use records::{Field, Records, separator};

/// The columns that hold the prompt if no template is given, in this order.
const PROMPT_COLUMNS: &[&str] = &["prompt", "question", "input"];

/// Returns whether the first line of a text has several columns, one of which has a meaning.
pub(super) fn has_known_columns(text: &str) -> bool {
    let Ok(Some(header)) = Records::new(text, separator(text)).next_record() else {
        return false;
    };
    let is_known = |field: &Field<'_>| {
        let name = field.value.trim();
        PROMPT_COLUMNS.contains(&name) || name == "expected" || name.starts_with("__expected")
    };
    header.len() > 1 && header.iter().any(is_known)
}

/// Reads the tasks of a CSV file.
pub(super) fn read(text: &str, columns: &mut Columns) -> Result<ReadRows, TaskError> {
    let at = |(byte, mistake)| TaskError::at(text, byte, mistake);
    let mut records = Records::new(text, separator(text));
    let Some(header) = records.next_record().map_err(at)? else {
        return Ok(ReadRows::default());
    };
    let layout = Layout::read(&header, columns).map_err(at)?;
    let mut read = ReadRows {
        rows: Vec::new(),
        notes: promptfoo::notes(header.iter().map(|field| field.value.trim())),
    };
    let mut lines = Lines::new(text);
    let mut checks = CheckCache::default();
    while let Some(record) = records.next_record().map_err(at)? {
        let start = record.first().map_or(0, |field| field.start);
        let (n_fields, n_columns) = (record.len(), header.len());
        if n_fields != n_columns {
            let mistake = TaskMistake::FieldCount {
                n_fields,
                n_columns,
            };
            return Err(at((start, mistake)));
        }
        if record.iter().any(|field| !field.value.trim().is_empty()) {
            let (line, _) = lines.of(start);
            let row = layout.row(line, &record, columns, &mut checks);
            read.push(row.map_err(at)?)?;
        }
    }
    Ok(read)
}

/// What the columns of a file mean.
#[derive(Debug)]
struct Layout {
    /// The meaning of each field.
    meanings: Vec<Meaning>,
    /// The column with the prompt, if no template is given.
    prompt: Option<usize>,
    /// The column with the system message.
    system: Option<usize>,
}

impl Layout {
    /// Reads the first record. A failure has its byte.
    fn read(header: &[Field<'_>], columns: &mut Columns) -> Result<Self, (usize, TaskMistake)> {
        let is_promptfoo = header
            .iter()
            .any(|field| field.value.trim().starts_with("__"));
        let mut meanings: Vec<Meaning> = Vec::new();
        for field in header {
            let name = field.value.trim();
            let at = |mistake| (field.start, mistake);
            if columns.find(name).is_some() {
                let name = name.to_owned();
                return Err(at(TaskMistake::DuplicateColumn { name }));
            }
            let meaning = Meaning::of(name, is_promptfoo);
            if let Meaning::Variable | Meaning::Expected = meaning {
                columns.index(name).map_err(at)?;
            }
            meanings.push(meaning);
        }
        // In promptfoo, the other columns are variables of a prompt that is elsewhere.
        let n_known = if is_promptfoo {
            1
        } else {
            PROMPT_COLUMNS.len()
        };
        let mut prompts = PROMPT_COLUMNS.iter().take(n_known);
        let system = columns.find("system").filter(|_| !is_promptfoo);
        Ok(Self {
            meanings,
            prompt: prompts.find_map(|name| columns.find(name)),
            system,
        })
    }

    /// Makes a row of a record. A failure has its byte.
    fn row(
        &self,
        line: usize,
        record: &[Field<'_>],
        columns: &Columns,
        checks: &mut CheckCache,
    ) -> Result<Row, (usize, TaskMistake)> {
        let mut row = Row {
            line,
            ..Row::default()
        };
        let fields = || record.iter().zip(&self.meanings);
        for (field, meaning) in fields() {
            match meaning {
                Meaning::Expected | Meaning::Variable => {
                    let index = row.values.len();
                    row.values.push((index, field.value.clone().into_owned()));
                }
                Meaning::Prefix => row.around.0 = field.value.to_string(),
                Meaning::Suffix => row.around.1 = field.value.to_string(),
                Meaning::Assertion | Meaning::Ignored => {}
            }
        }
        for (field, meaning) in fields() {
            let spec = match meaning {
                _ if field.value.trim().is_empty() => continue,
                Meaning::Assertion => promptfoo::assertion(&field.value, &row, columns, checks),
                Meaning::Expected => checks.read(&field.value),
                _ => continue,
            };
            match spec {
                Ok(check) => row.checks.push(check),
                Err(error) => row.not_judged.push(field.not_judged(error)?),
            }
        }
        row.prompt = self
            .prompt
            .and_then(|index| row.value(index))
            .filter(|text| !text.trim().is_empty())
            .map(TaskPrompt::text);
        let system = self
            .system
            .and_then(|index| Some((index, row.value(index)?)));
        row.system = system
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(index, text)| (index, text.to_owned()));
        Ok(row)
    }
}
