//! Lists of tasks in files: prompts, and what is expected of their answers.
//!
//! A file is a text here, which somebody else has read; nor does it matter who generates the answers.

mod build;
mod check_cache;
mod columns;
mod csv;
mod error;
mod format;
mod json;
mod json_path;
mod messages;
mod notes;
mod place;
mod template;
#[cfg(test)]
mod tests;

pub use build::TaskBuilder;
pub use error::{TaskError, TaskMistake};
pub use place::Place;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checks::{Check, brief};
use columns::Columns;
use format::Format;

use crate::generation::{ChatMessage, ChatRole, ToolCallName};

/// The maximum size of a file, in bytes.
pub const N_MAX_BYTES: usize = 64 << 20;

/// The maximum number of tasks in a file.
pub const N_MAX_TASKS: usize = 100_000;

/// A file of tasks, whose prompts may still need a template.
#[derive(Debug, Clone)]
pub struct TaskFile {
    pub name: String,
    /// The columns that a template can name.
    pub columns: Vec<String>,
    format: Format,
    rows: Vec<Row>,
    notes: Vec<String>,
}

/// One task as the file has it.
#[derive(Debug, Clone, Default)]
struct Row {
    line: usize,
    /// The text of each column that the row has, by the index of the column.
    values: Vec<(usize, String)>,
    /// The file's own prompt.
    prompt: Option<TaskPrompt>,
    /// The file's own system message, and the column that it is from.
    system: Option<(usize, String)>,
    /// What promptfoo writes around the prompt.
    around: (String, String),
    checks: Vec<Check>,
    /// The assertions that can't be judged.
    not_judged: Vec<String>,
}

impl TaskFile {
    /// Reads the text of a file. The format follows from the name, and from the content if the name
    /// doesn't say it.
    pub fn read(name: &str, text: &str) -> Result<Self, TaskError> {
        if text.len() > N_MAX_BYTES {
            return Err(TaskError::file(TaskMistake::TooLarge));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let format = Format::of(name, text);
        let mut columns = Columns::default();
        let read = match format {
            Format::Csv => csv::read(text, &mut columns)?,
            Format::Json => json::read_array(text, &mut columns)?,
            Format::JsonLines => json::read_lines(text, &mut columns)?,
            Format::Lines => read_lines(text)?,
        };
        if read.rows.is_empty() {
            return Err(TaskError::file(TaskMistake::Empty));
        }
        Ok(Self {
            name: name.to_owned(),
            columns: columns.into_names(),
            format,
            rows: read.rows,
            notes: read.notes,
        })
    }

    pub fn n_tasks(&self) -> usize {
        self.rows.len()
    }

    pub fn format_name(&self) -> &'static str {
        self.format.name()
    }

    /// Returns whether every row brings its own prompt, so that no template is needed.
    pub fn has_prompts(&self) -> bool {
        self.rows.iter().all(|row| row.prompt.is_some())
    }

    /// Makes the tasks. Without a template each row has its own prompt. The checks are those given
    /// here, in which `{column}` stands for the text of a column, and then the file's own.
    pub fn tasks(&self, template: Option<&str>, checks: &[String]) -> Result<TaskList, TaskError> {
        let mut builder = self.builder(template, checks)?;
        builder.advance(self, self.rows.len())?;
        Ok(builder.finish(self))
    }

    /// Begins to make the tasks, as [`Self::tasks`] does. Fails if a column or a check is unknown.
    pub fn builder(
        &self,
        template: Option<&str>,
        checks: &[String],
    ) -> Result<TaskBuilder, TaskError> {
        TaskBuilder::new(self, template, checks)
    }
}

/// What a reader of a format found.
#[derive(Debug, Default)]
struct ReadRows {
    rows: Vec<Row>,
    /// What the file says that isn't followed.
    notes: Vec<String>,
}

impl ReadRows {
    fn push(&mut self, row: Row) -> Result<(), TaskError> {
        if self.rows.len() == N_MAX_TASKS {
            return Err(TaskError::line(row.line, TaskMistake::TooManyTasks));
        }
        self.rows.push(row);
        Ok(())
    }
}

/// Reads one prompt per line. Blank lines are skipped, and the others are kept as they are.
fn read_lines(text: &str) -> Result<ReadRows, TaskError> {
    let mut read = ReadRows::default();
    for (index, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            read.push(Row {
                line: index + 1,
                prompt: Some(TaskPrompt::text(line)),
                ..Row::default()
            })?;
        }
    }
    Ok(read)
}

/// The tasks of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskList {
    pub tasks: Vec<Task>,
    /// What isn't judged or isn't followed, each in a sentence.
    pub notes: Vec<String>,
}

/// A prompt, and what makes an answer right.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The line at which the task begins.
    pub line: usize,
    pub prompt: TaskPrompt,
    /// The checks that must all hold.
    pub checks: Vec<Check>,
    /// Whether there are checks, and no assertion that can't be judged.
    pub is_judged: bool,
}

impl Task {
    /// Returns the prompt in one line: its text, or the last message of the user.
    pub fn prompt_words(&self) -> String {
        match &self.prompt {
            TaskPrompt::Text { text, .. } => words(text),
            TaskPrompt::Messages { messages, .. } => {
                let mut users = messages.iter().rev();
                let last = users.find(|message| message.role == Role::User);
                words(last.or(messages.last()).map_or("", |last| &last.content))
            }
        }
    }

    /// Returns what is expected in one line: the answer, or the checks.
    pub fn expected_words(&self) -> String {
        let expected = self.checks.iter().map(|check| match check.exact_texts() {
            Some(_) => check.value(),
            None => check.spec(),
        });
        words(&expected.collect::<Vec<String>>().join("; "))
    }
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskPrompt {
    Messages {
        messages: Vec<TaskMessage>,
        /// The tools that the template describes to the model, in the form of OpenAI's API.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<Value>,
    },
    Text {
        text: String,
        /// Becomes the system message if the prompt is a chat.
        system: Option<String>,
    },
}

impl TaskPrompt {
    fn text(text: &str) -> Self {
        Self::Text {
            text: text.to_owned(),
            system: None,
        }
    }
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMessage {
    pub role: Role,
    pub content: String,
    /// What the model thought before it said this, without tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The tools that the model called with this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Value>,
    /// Which call a tool's message is the result of.
    #[serde(flatten)]
    pub call: ToolCallName,
}

impl TaskMessage {
    fn system(content: String) -> Self {
        Self {
            role: Role::System,
            content,
            thinking: None,
            tool_calls: Vec::new(),
            call: ToolCallName::default(),
        }
    }

    /// Returns it as a message of a chat, or `None` if it is the system's.
    pub fn chat_message(&self) -> Option<ChatMessage> {
        Some(ChatMessage {
            role: self.role.of_chat()?,
            content: self.content.clone(),
            thinking: self.thinking.clone(),
            tool_calls: self.tool_calls.clone(),
            call: self.call.clone(),
        })
    }
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    Assistant,
    System,
    Tool,
    User,
}

impl Role {
    /// Returns its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
            Self::User => "user",
        }
    }

    /// Returns it as a role of a chat's messages, which don't include the system's.
    pub const fn of_chat(self) -> Option<ChatRole> {
        match self {
            Self::Assistant => Some(ChatRole::Assistant),
            Self::System => None,
            Self::Tool => Some(ChatRole::Tool),
            Self::User => Some(ChatRole::User),
        }
    }
}

/// Returns a text in one line, shortened if it is long.
fn words(text: &str) -> String {
    // A line of the window shows fewer words, and a text may have megabytes.
    let words: Vec<&str> = text.split_whitespace().take(100).collect();
    brief(&words.join(" "))
}
