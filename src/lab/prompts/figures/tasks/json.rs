//! JSON and JSON Lines: one object per task, ours or that of OpenAI's evals.

use serde_json::{Map, Value};

use super::super::checks::{Check, CheckError, json_mistake};
use super::check_cache::CheckCache;
use super::columns::Columns;
use super::json_path::{Step, locate, locate_char, skip_space, value_at};
use super::messages::{messages, tools};
use super::place::Lines;
use super::{ReadRows, Role, Row, TaskError, TaskMessage, TaskMistake, TaskPrompt};

/// A mistake inside a task.
#[derive(Debug)]
pub(super) struct Fault {
    path: Vec<Step>,
    /// The 1-based character, if the value there is a text.
    column: Option<usize>,
    mistake: TaskMistake,
}

impl Fault {
    pub(super) fn at(path: Vec<Step>, mistake: TaskMistake) -> Self {
        Self {
            path,
            column: None,
            mistake,
        }
    }

    /// Returns the error for a task that starts at a byte of a text.
    fn located(self, text: &str, start: usize) -> TaskError {
        let json = text.get(start..).unwrap_or_default();
        let value = locate(json, &self.path);
        let literal = json.get(value..).unwrap_or_default();
        let inside = match self.column {
            Some(column) if literal.starts_with('"') => locate_char(literal, column),
            _ => 0,
        };
        TaskError::at(text, start + value + inside, self.mistake)
    }
}

/// Reads JSON Lines. Blank lines are skipped.
pub(super) fn read_lines(text: &str, columns: &mut Columns) -> Result<ReadRows, TaskError> {
    let mut reader = Reader::new(text, columns);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            let value = serde_json::from_str(line).map_err(|error| {
                let (byte, reason) = json_mistake(line, &error);
                let byte = byte.min(line.trim_end().len());
                TaskError::at(text, start + byte, TaskMistake::InvalidJson { reason })
            })?;
            reader.push(skip_space(text, start), &value)?;
        }
        start += line.len();
    }
    Ok(reader.finish())
}

/// Reads an array of objects, one after the other.
pub(super) fn read_array(text: &str, columns: &mut Columns) -> Result<ReadRows, TaskError> {
    let at = |byte, reason: &str| {
        let reason = reason.to_owned();
        TaskError::at(text, byte, TaskMistake::InvalidJson { reason })
    };
    let mut reader = Reader::new(text, columns);
    let mut byte = skip_space(text, skip_space(text, 0) + 1);
    let mut is_open = !starts_with(text, byte, ']');
    while is_open {
        let (value, end) = value_at(text, byte).map_err(|error| {
            let (offset, reason) = json_mistake(text.get(byte..).unwrap_or_default(), &error);
            at(byte + offset, &reason)
        })?;
        reader.push(byte, &value)?;
        byte = skip_space(text, end);
        is_open = starts_with(text, byte, ',');
        if is_open {
            byte = skip_space(text, byte + 1);
        } else if !starts_with(text, byte, ']') {
            return Err(at(byte, "a comma or ] is missing"));
        }
    }
    let after = skip_space(text, byte + 1);
    if after < text.len() {
        return Err(at(after, "something follows the end"));
    }
    Ok(reader.finish())
}

fn starts_with(text: &str, byte: usize, c: char) -> bool {
    text.get(byte..).is_some_and(|rest| rest.starts_with(c))
}

/// Makes rows of objects.
struct Reader<'a> {
    text: &'a str,
    lines: Lines<'a>,
    columns: &'a mut Columns,
    checks: CheckCache,
    read: ReadRows,
    has_ideal: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, columns: &'a mut Columns) -> Self {
        Self {
            text,
            lines: Lines::new(text),
            columns,
            checks: CheckCache::default(),
            read: ReadRows::default(),
            has_ideal: false,
        }
    }

    fn finish(mut self) -> ReadRows {
        if self.has_ideal {
            let note =
                "‘ideal’ is judged as by ‘Match’ of OpenAI’s evals: the answer starts with it";
            self.read.notes.push(note.to_owned());
        }
        self.read
    }

    /// Adds the task that starts at a byte.
    fn push(&mut self, start: usize, value: &Value) -> Result<(), TaskError> {
        let (line, _) = self.lines.of(start);
        let row = match value.as_object() {
            Some(object) => self.row(line, object),
            None => Err(Fault::at(Vec::new(), TaskMistake::NotAnObject)),
        };
        let row = row.map_err(|fault| fault.located(self.text, start))?;
        self.read.push(row)
    }

    fn row(&mut self, line: usize, object: &Map<String, Value>) -> Result<Row, Fault> {
        let mut row = Row {
            line,
            ..Row::default()
        };
        for (name, value) in object {
            if let Some(text) = scalar(value) {
                let index = self.columns.index(name);
                let index = index.map_err(|mistake| Fault::at(Vec::new(), mistake))?;
                row.values.push((index, text));
            }
        }
        row.prompt = prompt(object)?;
        if let Some(system) = text(object, "system")?
            && !system.trim().is_empty()
        {
            let column = self.columns.find("system").unwrap_or_default();
            add_system(&mut row, column, system)?;
        }
        self.add_expected(&mut row, object.get("expect"))?;
        if let Some(ideal) = object.get("ideal") {
            self.has_ideal = true;
            row.checks.push(ideal_check(ideal)?);
        }
        if object.contains_key("assert") {
            row.not_judged.push("assert".to_owned());
        }
        Ok(row)
    }

    /// Reads `expect`: a check or a list of checks.
    fn add_expected(&mut self, row: &mut Row, expected: Option<&Value>) -> Result<(), Fault> {
        let specs = match expected {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Array(specs)) => specs.as_slice(),
            Some(spec) => std::slice::from_ref(spec),
        };
        for (index, spec) in specs.iter().enumerate() {
            let mut path = vec![Step::Key("expect")];
            if expected.is_some_and(Value::is_array) {
                path.push(Step::Index(index));
            }
            let Some(spec) = spec.as_str() else {
                let field = "expect".to_owned();
                let expected = "a text or a list of texts";
                return Err(Fault::at(path, TaskMistake::WrongType { field, expected }));
            };
            match self.checks.read(spec) {
                Ok(check) => row.checks.push(check),
                Err(CheckError::NotJudged { name }) => row.not_judged.push(name),
                Err(error) => {
                    let column = error.column();
                    let fault = Fault::at(path, error.into());
                    return Err(Fault { column, ..fault });
                }
            }
        }
        Ok(())
    }
}

/// Reads the prompt of a task: `messages`, `prompt`, `question`, or `input` of OpenAI's evals.
fn prompt(object: &Map<String, Value>) -> Result<Option<TaskPrompt>, Fault> {
    let own = text(object, "prompt")?;
    if let Some(list) = object.get("messages") {
        if own.is_some() {
            let (first, second) = ("prompt", "messages");
            let mistake = TaskMistake::TwoOf { first, second };
            return Err(Fault::at(vec![Step::Key(second)], mistake));
        }
        return Ok(Some(TaskPrompt::Messages {
            messages: messages("messages", list)?,
            tools: tools(object)?,
        }));
    }
    let other = |name| object.get(name).and_then(Value::as_str);
    if let Some(text) = own.or_else(|| other("question")).or_else(|| other("input")) {
        return Ok(Some(TaskPrompt::text(text)));
    }
    match object.get("input") {
        Some(list @ Value::Array(_)) => Ok(Some(TaskPrompt::Messages {
            messages: messages("input", list)?,
            tools: Vec::new(),
        })),
        _ => Ok(None),
    }
}

/// Adds a system message, as the first one if the prompt is a list of messages.
fn add_system(row: &mut Row, column: usize, system: &str) -> Result<(), Fault> {
    let content = system.to_owned();
    match &mut row.prompt {
        Some(TaskPrompt::Messages { messages, .. }) => {
            if messages.iter().any(|message| message.role == Role::System) {
                let (first, second) = ("system", "a system message");
                let mistake = TaskMistake::TwoOf { first, second };
                return Err(Fault::at(vec![Step::Key(first)], mistake));
            }
            messages.insert(0, TaskMessage::system(content));
        }
        _ => row.system = Some((column, content)),
    }
    Ok(())
}

/// Returns the check that `ideal` of OpenAI's evals stands for.
///
/// Its class `Match`, the basic one, accepts an answer that starts with one of the texts.
fn ideal_check(ideal: &Value) -> Result<Check, Fault> {
    let path = || vec![Step::Key("ideal")];
    let texts: Option<Vec<String>> = match ideal {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(texts) => {
            let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
            texts.collect()
        }
        _ => None,
    };
    let Some(texts) = texts else {
        let field = "ideal".to_owned();
        let expected = "a text or a list of texts";
        return Err(Fault::at(
            path(),
            TaskMistake::WrongType { field, expected },
        ));
    };
    Check::starts_with_any(&texts).map_err(|error| Fault::at(path(), error.into()))
}

/// Returns a field that must be a text if it is there.
fn text<'a>(object: &'a Map<String, Value>, name: &'static str) -> Result<Option<&'a str>, Fault> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => {
            let field = name.to_owned();
            let expected = "a text";
            let mistake = TaskMistake::WrongType { field, expected };
            Err(Fault::at(vec![Step::Key(name)], mistake))
        }
    }
}

/// Returns the text of a value that a template can name.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Null | Value::Object(_) => None,
    }
}
