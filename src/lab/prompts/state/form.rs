//! The form: which tasks, what counts as a right answer, and how many answers to draw.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::examples::EXAMPLES;
use super::prepared::{Prepared, PreparedTasks};
use crate::analysis::sweep::{Axis, Parameter};
use crate::decoding::FilterKind;
use crate::export::read_text_at_most;
use crate::generation::formatting::io_words;
use crate::generation::{ChatSettings, ChatTools, Limits, PromptForm, PromptText};
use crate::lab::prompts::TaskText;
use crate::lab::prompts::figures::checks::{Answer, Check, Verdict, exact_texts};
use crate::lab::prompts::figures::tasks::{
    N_MAX_BYTES, Role, Task, TaskFile, TaskMessage, TaskPrompt,
};
use crate::lab::{AxisForm, SavedAxis};

/// The numbers that the form begins with.
const N_ANSWERS: usize = 5;
const N_TOKENS: usize = 32;

/// How many tasks are made in one frame, so that typing in a template stays quick.
const N_AT_ONCE: usize = 2000;

/// The maximum numbers that the form accepts.
pub(in crate::lab::prompts) const N_MAX_ANSWERS: usize = 256;
pub(in crate::lab::prompts) const N_MAX_TOKENS: usize = 4096;

/// Which tasks to answer, and how. The fields are edited in place.
#[derive(Debug, Clone, PartialEq)]
pub struct TasksForm {
    pub source: TaskSource,
    /// The tasks that were typed or pasted.
    pub typed: String,
    /// What makes a prompt of the columns of a task. Empty for the prompts of the file.
    pub template: String,
    /// What a right answer is, besides what the file says: one check each.
    pub checks: Vec<String>,
    /// How many answers to draw for each task and each pane.
    pub n_answers: usize,
    /// The maximum number of tokens of an answer.
    pub n_tokens: usize,
    pub stop: StopAt,
    /// The number that is varied, and a second one.
    pub axis: AxisForm,
    pub columns: Option<AxisForm>,
    /// Whether answers are drawn at each value, even if their probability can be computed.
    pub draws_values: bool,
    /// A text to try the checks on. `None` unless the user asked for it.
    pub trial: Option<String>,
    prepared: Option<Prepared>,
}

/// Where the tasks come from.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum TaskSource {
    /// They are typed or pasted into the form.
    #[default]
    Typed,
    File(PathBuf),
    /// One of the lists that come with Quartet, by its index.
    Example(usize),
}

/// Where an answer ends, besides the end of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopAt {
    /// At the stop strings of the Write page.
    #[default]
    AsInWrite,
    LineBreak,
    BlankLine,
    /// At a punctuation mark or a line break.
    Punctuation,
}

impl StopAt {
    pub const ALL: [Self; 4] = [
        Self::AsInWrite,
        Self::LineBreak,
        Self::BlankLine,
        Self::Punctuation,
    ];

    /// Returns its label in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsInWrite => "as in Write",
            Self::LineBreak => "line break",
            Self::BlankLine => "blank line",
            Self::Punctuation => "punctuation mark",
        }
    }

    /// Returns its stop strings, or `None` for those of the Write page.
    const fn stop_strings(self) -> Option<&'static [&'static str]> {
        match self {
            Self::AsInWrite => None,
            Self::LineBreak => Some(&["\n"]),
            Self::BlankLine => Some(&["\n\n"]),
            Self::Punctuation => Some(&[".", ",", "!", "?", ";", ":", "\n"]),
        }
    }
}

impl Default for TasksForm {
    fn default() -> Self {
        Self {
            source: TaskSource::Typed,
            typed: String::new(),
            template: String::new(),
            checks: Vec::new(),
            n_answers: N_ANSWERS,
            n_tokens: N_TOKENS,
            stop: StopAt::default(),
            axis: AxisForm {
                parameter: Parameter::Filter(FilterKind::Temperature, 0),
                from: 0.1,
                to: 1.6,
                n_steps: 16,
            },
            columns: None,
            draws_values: false,
            trial: None,
            prepared: None,
        }
    }
}

impl TasksForm {
    /// Makes some of the tasks, if anything that they depend on has changed, and all of them if it is
    /// called often enough. Reads the file again only if another one was chosen.
    pub fn prepare(&mut self) {
        self.prepare_at_most(N_AT_ONCE);
    }

    /// Makes all tasks.
    pub fn prepare_all(&mut self) {
        self.prepare_at_most(usize::MAX);
    }

    fn prepare_at_most(&mut self, n: usize) {
        let mut prepared = match self.prepared.take() {
            Some(prepared) if prepared.is_of(self) => prepared,
            Some(earlier) if earlier.has_source(self) => Prepared::begin(self, earlier.file),
            _ => Prepared::begin(self, self.read().map(Arc::new)),
        };
        prepared.advance(n);
        self.prepared = Some(prepared);
    }

    /// Returns whether more calls of [`Self::prepare`] are needed.
    pub fn is_preparing(&self) -> bool {
        self.prepared.as_ref().is_none_or(Prepared::is_unfinished)
    }

    /// Returns how many answers to each task are drawn at each value of what is varied: none if only
    /// probabilities are computed.
    pub fn n_swept_answers(&self) -> usize {
        let is_exact = self.tasks().is_ok_and(|prepared| prepared.is_exact);
        if self.draws_values || !is_exact {
            self.n_answers
        } else {
            0
        }
    }

    /// Returns the values of what is varied, or why there are none.
    pub fn axes(&self) -> Result<(Axis, Option<Axis>), String> {
        let columns = self.columns.as_ref().map(AxisForm::axis).transpose()?;
        Ok((self.axis.axis()?, columns))
    }

    /// Forgets what was read, so that a file is read again.
    pub fn reload(&mut self) {
        self.prepared = None;
    }

    fn read(&self) -> Result<TaskFile, String> {
        if self.source == TaskSource::Typed && self.typed.trim().is_empty() {
            return Err("Type or paste tasks, one per line, or open a file".to_owned());
        }
        let (name, text) = match &self.source {
            TaskSource::Typed => ("tasks".to_owned(), self.typed.clone()),
            TaskSource::File(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                let name = name.to_string_lossy().into_owned();
                let opened = File::open(path).map_err(|error| io_words(&error));
                let text = opened.and_then(|file| read_text_at_most(file, N_MAX_BYTES as u64));
                let text = text.map_err(|reason| format!("‘{name}’ can’t be read: {reason}"))?;
                (name, text)
            }
            TaskSource::Example(index) => {
                let example = EXAMPLES.get(*index).ok_or("This list does not exist")?;
                (example.file.to_owned(), example.text.to_owned())
            }
        };
        TaskFile::read(&name, &text).map_err(|error| error.to_string())
    }

    /// Returns the list as it was read, or why it can't be. `None` until it was prepared.
    pub fn file(&self) -> Option<Result<&TaskFile, &str>> {
        let file = &self.prepared.as_ref()?.file;
        Some(file.as_deref().map_err(String::as_str))
    }

    /// Returns the tasks, or why there are none.
    pub fn tasks(&self) -> Result<&PreparedTasks, &str> {
        let Some(prepared) = &self.prepared else {
            return Err("The list was not read yet");
        };
        prepared.tasks()
    }

    /// Returns the limits of an answer.
    pub fn limits(&self, of_write: &Limits) -> Limits {
        let own = self.stop.stop_strings();
        Limits {
            max_new_tokens: self.n_tokens,
            stop_strings: own.map_or_else(
                || of_write.stop_strings.clone(),
                |stops| stops.iter().map(ToString::to_string).collect(),
            ),
            end_of_text: of_write.end_of_text,
        }
    }

    /// Judges the text that the user tries, by each check of the form. The columns of the first task
    /// fill their places.
    pub fn trial_verdicts(&self) -> Vec<(Check, Verdict)> {
        let (Some(text), Ok(prepared)) = (&self.trial, self.tasks()) else {
            return Vec::new();
        };
        let Some(task) = prepared.tasks.first() else {
            return Vec::new();
        };
        let answer = Answer {
            text,
            is_complete: true,
        };
        let checks = task.checks.iter();
        checks
            .map(|check| (check.clone(), check.judge(answer)))
            .collect()
    }
}

/// Returns a task as the engine sees it, or why it can't be answered. `form` is the form of the
/// window's prompt.
pub(in crate::lab::prompts) fn task_text(
    task: &Task,
    form: &PromptForm,
) -> Result<TaskText, String> {
    let right = if task.is_judged {
        exact_texts(&task.checks).unwrap_or_default()
    } else {
        Vec::new()
    };
    let Some(prompt) = prompt_of(&task.prompt, form) else {
        return Err(format!(
            "Line {}: its last message is not the user’s or a tool’s, or a system message is not the first",
            task.line
        ));
    };
    Ok(TaskText { prompt, right })
}

/// Returns the prompt of a task, or `None` if its messages can't be answered. Messages are answered with
/// the chat template even if the window's prompt is not a message.
fn prompt_of(prompt: &TaskPrompt, form: &PromptForm) -> Option<PromptText> {
    let settings = match form {
        PromptForm::Chat(settings) => Some(settings.clone()),
        PromptForm::Raw => None,
    };
    let (messages, tools, settings) = match (prompt, settings) {
        (TaskPrompt::Text { text, .. }, None) => return Some(PromptText::raw(text)),
        (TaskPrompt::Text { text, system }, Some(settings)) => {
            let settings = ChatSettings {
                system: system.clone().or(settings.system),
                tools: ChatTools {
                    answered_call: None,
                    ..settings.tools
                },
                ..settings
            };
            return Some(PromptText::chat_with(text, settings));
        }
        (TaskPrompt::Messages { messages, tools }, settings) => {
            (messages.as_slice(), tools, settings)
        }
    };
    let (system, messages) = match messages {
        [system, rest @ ..] if system.role == Role::System => (Some(&system.content), rest),
        messages => (None, messages),
    };
    let (last, earlier) = messages.split_last()?;
    let answered_call = (last.role == Role::Tool).then(|| last.call.clone());
    if last.role != Role::User && answered_call.is_none() {
        return None;
    }
    let own = settings.unwrap_or_default();
    let settings = ChatSettings {
        system: system.cloned(),
        history: earlier
            .iter()
            .map(TaskMessage::chat_message)
            .collect::<Option<_>>()?,
        tools: ChatTools {
            definitions: if tools.is_empty() {
                own.tools.definitions
            } else {
                tools.clone()
            },
            answered_call,
        },
        kwargs: own.kwargs,
    };
    Some(PromptText::chat_with(&last.content, settings))
}

/// What the form keeps across restarts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptsSettings {
    #[serde(rename = "batch_prompts")]
    typed: String,
    #[serde(rename = "task_file")]
    file: Option<PathBuf>,
    #[serde(rename = "task_template")]
    template: String,
    #[serde(rename = "task_checks")]
    checks: Vec<String>,
    #[serde(rename = "task_answers")]
    n_answers: usize,
    #[serde(rename = "task_tokens")]
    n_tokens: usize,
    #[serde(rename = "task_stop")]
    stop: StopAt,
    #[serde(rename = "task_axis")]
    axis: SavedAxis,
    #[serde(rename = "task_columns")]
    columns: Option<SavedAxis>,
    #[serde(rename = "task_draws_values")]
    draws_values: bool,
}

impl Default for PromptsSettings {
    fn default() -> Self {
        (&TasksForm::default()).into()
    }
}

impl From<&TasksForm> for PromptsSettings {
    fn from(form: &TasksForm) -> Self {
        Self {
            typed: form.typed.clone(),
            file: match &form.source {
                TaskSource::File(path) => Some(path.clone()),
                TaskSource::Typed | TaskSource::Example(_) => None,
            },
            template: form.template.clone(),
            checks: form.checks.clone(),
            n_answers: form.n_answers,
            n_tokens: form.n_tokens,
            stop: form.stop,
            axis: (&form.axis).into(),
            columns: form.columns.as_ref().map(SavedAxis::from),
            draws_values: form.draws_values,
        }
    }
}

impl PromptsSettings {
    /// Returns the form. Numbers that are out of range, as in a damaged file, are clamped.
    pub(super) fn form(self) -> TasksForm {
        let usual = TasksForm::default();
        TasksForm {
            source: self.file.map_or(TaskSource::Typed, TaskSource::File),
            typed: self.typed,
            template: self.template,
            checks: self.checks,
            n_answers: self.n_answers.clamp(1, N_MAX_ANSWERS),
            n_tokens: self.n_tokens.clamp(1, N_MAX_TOKENS),
            stop: self.stop,
            axis: self.axis.form().unwrap_or(usual.axis),
            columns: SavedAxis::optional_form(self.columns, None),
            draws_values: self.draws_values,
            trial: None,
            prepared: None,
        }
    }
}
