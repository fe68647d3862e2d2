//! Reads lesson files, and reports the line of a mistake.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::act::{Act, TABS, one_of};
use super::condition::Condition;
use super::lesson::{Curve, Lesson, LessonStep, Ring, Setup};
use super::problem::LessonProblem;
use super::questions::{PredictTable, pane};
use super::template::{Template, numbers_in};
use crate::json_words::reader_words;

/// The version of the format.
const FORMAT: i64 = 1;

/// The size of the largest file that is read, in bytes.
pub const MAX_LESSON_BYTES: usize = 256 * 1024;

/// Whether a path has the name of a lesson file: `*.toml`.
pub fn is_lesson_name(path: &std::path::Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

pub(super) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: Spanned<i64>,
    id: Text,
    title: Text,
    summary: Text,
    minutes: Spanned<u32>,
    group: Option<Text>,
    #[serde(default)]
    any_model: bool,
    #[serde(default)]
    bits: bool,
    setup: SetupTable,
    #[serde(rename = "step")]
    steps: Spanned<Vec<StepTable>>,
    ending: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetupTable {
    prompt: Text,
    chat: Option<Spanned<bool>>,
    panes: Spanned<Vec<Text>>,
    #[serde(default = "usual_seed")]
    seed: u64,
    tokens: Spanned<usize>,
    #[serde(default)]
    acts: Vec<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepTable {
    #[serde(default)]
    prepare: Vec<Text>,
    predict: Spanned<PredictTable>,
    #[serde(rename = "do")]
    task: TaskTable,
    see: Text,
    why: Text,
    more: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskTable {
    text: Text,
    ring: Option<Text>,
    check: Spanned<Vec<Text>>,
    solve: Spanned<Vec<Text>>,
}

const fn usual_seed() -> u64 {
    42
}

impl Lesson {
    /// Reads a lesson file.
    pub fn from_toml(source: &str) -> Result<Self, LessonProblem> {
        if source.len() > MAX_LESSON_BYTES {
            return Err(LessonProblem {
                line: 1,
                message: format!(
                    "a lesson file has at most {} KiB, but this one is larger",
                    MAX_LESSON_BYTES / 1024
                ),
            });
        }
        let file: File = toml::from_str(source).map_err(|error| {
            let span = error.span().unwrap_or_default();
            LessonProblem::at(source, &span, reader_words(error.message()))
        })?;
        Reader { source }.lesson(&file)
    }
}

/// Returns the numbers in the setup, which texts may repeat.
fn setup_numbers(table: &SetupTable) -> Vec<String> {
    let texts = table.panes.get_ref().iter().chain(&table.acts);
    let typed = texts.flat_map(|text| numbers_in(text.get_ref()));
    let mut numbers: Vec<String> = typed.map(str::to_owned).collect();
    numbers.push(table.seed.to_string());
    numbers.push(table.tokens.get_ref().to_string());
    numbers.extend(
        numbers_in(table.prompt.get_ref())
            .iter()
            .map(ToString::to_string),
    );
    numbers
}

/// Turns the tables of a file into a lesson.
pub(super) struct Reader<'a> {
    source: &'a str,
}

impl Reader<'_> {
    pub(super) fn problem(&self, span: &Range<usize>, message: impl Into<String>) -> LessonProblem {
        LessonProblem::at(self.source, span, message)
    }

    /// Reads a text with `read`, whose error is reported at its line.
    pub(super) fn read<T>(
        &self,
        text: &Text,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, LessonProblem> {
        read(text.get_ref()).map_err(|message| self.problem(&text.span(), message))
    }

    pub(super) fn read_all<T>(
        &self,
        texts: &[Text],
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<T>, LessonProblem> {
        texts.iter().map(|text| self.read(text, &read)).collect()
    }

    pub(super) fn words(&self, text: &Text) -> Result<String, LessonProblem> {
        self.read(text, |text| {
            let text = text.trim();
            let empty = || "this text is empty".to_owned();
            (!text.is_empty())
                .then(|| text.to_owned())
                .ok_or_else(empty)
        })
    }

    fn lesson(&self, file: &File) -> Result<Lesson, LessonProblem> {
        let format = *file.format.get_ref();
        if format != FORMAT {
            let message = format!("format {format} is unknown; this version reads format {FORMAT}");
            return Err(self.problem(&file.format.span(), message));
        }
        let minutes = *file.minutes.get_ref();
        if !(1..=60).contains(&minutes) {
            return Err(self.problem(&file.minutes.span(), "a lesson takes 1 to 60 minutes"));
        }
        let id = self.read(&file.id, |id| {
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let plain = !id.is_empty() && id.chars().all(is_plain);
            let message = || "an id has only lower-case letters, digits and hyphens".to_owned();
            plain.then(|| id.to_owned()).ok_or_else(message)
        })?;
        if file.steps.get_ref().is_empty() {
            return Err(self.problem(&file.steps.span(), "a lesson needs at least one step"));
        }
        let setup = self.setup(&file.setup)?;
        if let Some(chat) = file
            .setup
            .chat
            .as_ref()
            .filter(|_| setup.chat && !file.any_model)
        {
            let message = "the built-in model has no chat template: set any_model to true";
            return Err(self.problem(&chat.span(), message));
        }
        let setup_numbers = setup_numbers(&file.setup);
        let steps = file
            .steps
            .get_ref()
            .iter()
            .map(|step| self.step(step, &setup, &setup_numbers));
        Ok(Lesson {
            id,
            title: self.words(&file.title)?,
            summary: self.words(&file.summary)?,
            minutes,
            group: file
                .group
                .as_ref()
                .map(|group| self.words(group))
                .transpose()?,
            any_model: file.any_model,
            bits: file.bits,
            steps: steps.collect::<Result<_, _>>()?,
            ending: self.words(&file.ending)?,
            setup,
        })
    }

    fn setup(&self, table: &SetupTable) -> Result<Setup, LessonProblem> {
        let panes = table.panes.get_ref();
        if !(1..=8).contains(&panes.len()) {
            return Err(self.problem(&table.panes.span(), "a lesson has 1 to 8 panes"));
        }
        let tokens = *table.tokens.get_ref();
        if tokens == 0 {
            return Err(self.problem(&table.tokens.span(), "the token limit must be at least 1"));
        }
        Ok(Setup {
            prompt: self.words(&table.prompt)?,
            chat: table.chat.as_ref().is_some_and(|chat| *chat.get_ref()),
            panes: self.read_all(panes, |pane| {
                let settings = pane.parse::<crate::generation::PaneSettings>();
                settings.map_err(|error| error.to_string())
            })?,
            seed: table.seed,
            tokens,
            acts: self.read_all(&table.acts, Act::read)?,
        })
    }

    fn step(
        &self,
        table: &StepTable,
        setup: &Setup,
        setup_numbers: &[String],
    ) -> Result<LessonStep, LessonProblem> {
        let task = &table.task;
        let solve = task.solve.get_ref();
        let mut allowed = setup_numbers.to_vec();
        let acts = solve.iter().chain(&table.prepare);
        let typed = acts.flat_map(|act| numbers_in(act.get_ref()));
        allowed.extend(typed.map(str::to_owned));
        let conditions = task.check.get_ref();
        if conditions.is_empty() {
            return Err(self.problem(&task.check.span(), "a check needs at least one condition"));
        }
        if solve.is_empty() {
            return Err(self.problem(
                &task.solve.span(),
                "a step needs at least one act that solves it",
            ));
        }
        let text = |text: &Text| self.template(text, &allowed);
        Ok(LessonStep {
            prepare: self.read_all(&table.prepare, Act::read)?,
            ask: text(&table.predict.get_ref().ask)?,
            blind: table.predict.get_ref().blind,
            question: self.question(&table.predict, &allowed, setup)?,
            curves: self.curves(table.predict.get_ref())?,
            task: text(&task.text)?,
            ring: task
                .ring
                .as_ref()
                .map(|ring| self.ring(ring, setup))
                .transpose()?,
            check: self.read_all(conditions, Condition::read)?,
            solution: self.read_all(solve, Act::read)?,
            see: self.template(&table.see, &[])?,
            why: text(&table.why)?,
            more: table.more.as_ref().map(text).transpose()?,
        })
    }

    /// Reads a text. Each number in it must be a placeholder or one of the settings of the lesson:
    /// a typed number could make a false claim about the run.
    pub(super) fn template(
        &self,
        text: &Text,
        allowed: &[String],
    ) -> Result<Template, LessonProblem> {
        self.words(text)?;
        self.read(text, |text| {
            let template = Template::read(text)?;
            let typed = template.typed_numbers();
            let is_free = |number: &&&str| !allowed.iter().any(|allowed| allowed == **number);
            match typed.iter().find(is_free) {
                Some(number) => Err(format!(
                    "{number} is neither a placeholder nor a setting of the lesson: use a \
                     placeholder such as {{A.token.1.prob}}"
                )),
                None => Ok(template),
            }
        })
    }

    fn curves(&self, table: &PredictTable) -> Result<Vec<Curve>, LessonProblem> {
        if let Some(third) = table.curves.get(Curve::ALL.len()) {
            return Err(self.problem(&third.span(), "there are at most two curves"));
        }
        self.read_all(&table.curves, curve)
    }

    fn ring(&self, text: &Text, setup: &Setup) -> Result<Ring, LessonProblem> {
        self.read(text, |words| {
            let mut shared = Ring::SHARED
                .iter()
                .filter(|(name, _)| *name == words.trim());
            if let Some((_, ring)) = shared.next() {
                return Ok(*ring);
            }
            match *words.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["settings", word] => Ok(Ring::Settings(pane(word, setup)?)),
                ["text", word] => Ok(Ring::Text(pane(word, setup)?)),
                ["tab", name] => one_of(&TABS, name).map(Ring::Tab),
                _ => Err(format!(
                    "{words:?} is not a control: use {}, settings B, text B or tab x-ray",
                    Ring::SHARED.map(|(name, _)| name).join(", ")
                )),
            }
        })
    }
}

/// Reads the name of a curve.
fn curve(name: &str) -> Result<Curve, String> {
    let name = one_of(&Curve::ALL.map(Curve::name), name)?;
    let mut curves = Curve::ALL.into_iter();
    let found = curves.find(|curve| curve.name() == name);
    found.ok_or_else(|| format!("{name:?} is unknown"))
}
