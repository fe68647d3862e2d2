//! Lessons: the list, the one that is running, and the progress in each.
//!
//! A lesson sets what is on screen aside, shows its own panes, and brings everything back when the
//! learner leaves.

mod acts;
mod again;
mod answers_csv;
mod judge;
mod progress;
mod run;
mod scene;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::answers_csv::answers_csv;
pub use self::judge::Answer;
pub use self::progress::LessonProgress;
pub use self::run::{Again, Guess, LessonPhase, LessonRun};
pub use self::step::StepTexts;

use self::run::SetAside;
use super::{AppState, Command, Effect, ModelStatus, Notice, Page, RunStatus};
use crate::lab::cache::CacheRun;
use crate::lab::{LabCommand, LabTab};
use crate::lessons::{Lesson, LessonProblem, Prediction, Setup, built_in, draft};
use crate::worker::ModelSource;

/// The lessons, and the one that is running.
#[derive(Debug, Clone, PartialEq)]
pub struct Lessons {
    /// All lessons, in the order of the list: those that ship, then those that were opened.
    pub list: Vec<Arc<Lesson>>,
    pub progress: LessonProgress,
    /// The index of the selected row, which is edited in place.
    pub selected: usize,
    run: Option<LessonRun>,
}

/// A user action on lessons.
#[derive(Debug, Clone, PartialEq)]
pub enum LessonCommand {
    /// Start the lesson with this index, or resume it.
    Start(usize),
    /// A lesson file was read: its name and its text.
    Opened(String, Result<String, String>),
    /// Submit the prediction, or go on to the next part.
    Next,
    /// Return to the previous part, which is still on the card.
    Back,
    /// Do what the step asks for.
    ShowMe,
    /// Check whether the task is done, after a setting was edited in place.
    Look,
    /// Mark the token with this number, from 1.
    Mark(usize),
    /// End the lesson without the question that came back.
    SkipAgain,
    /// Leave the lesson and bring back what was on screen.
    Leave,
}

impl Lessons {
    /// Creates the list of lessons, with the first unfinished one selected.
    pub(super) fn new(progress: LessonProgress) -> Self {
        let mut lessons = Self {
            list: built_in().to_vec(),
            progress,
            selected: 0,
            run: None,
        };
        lessons.select_unfinished();
        lessons
    }

    /// Returns the lesson that is running.
    pub const fn run(&self) -> Option<&LessonRun> {
        self.run.as_ref()
    }

    /// Returns the lesson that is running, whose prediction is edited in place.
    pub const fn run_mut(&mut self) -> Option<&mut LessonRun> {
        self.run.as_mut()
    }

    /// Returns the predictions of each lesson, by its id, with those of the running one.
    pub fn predictions(&self) -> BTreeMap<String, Vec<Prediction>> {
        let mut progress = self.progress.clone();
        if let Some(run) = &self.run {
            progress.keep_place(run);
        }
        progress.predictions()
    }

    /// Returns whether the dock stays closed because the learner has not made a prediction yet.
    pub fn hides_evidence(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| run.phase() <= LessonPhase::Predict)
    }

    /// Returns whether the settings of the panes are hidden because the question is about them.
    pub fn hides_settings(&self) -> bool {
        let step = self.run.as_ref().and_then(LessonRun::step);
        self.hides_evidence() && step.is_some_and(|step| step.blind)
    }

    fn select_unfinished(&mut self) {
        let is_unfinished = |lesson: &Arc<Lesson>| self.progress.score_of(&lesson.id).is_none();
        self.selected = self.list.iter().position(is_unfinished).unwrap_or(0);
    }
}

impl AppState {
    pub(super) fn apply_to_lessons(&mut self, command: LessonCommand) -> Vec<Effect> {
        match command {
            LessonCommand::Start(index) => self.start_lesson(index),
            LessonCommand::Opened(name, source) => self.open_lesson(&name, source),
            LessonCommand::Next => self.go_on(),
            LessonCommand::Back => {
                if let Some(run) = self.lessons.run_mut() {
                    run.go_back();
                }
                Vec::new()
            }
            LessonCommand::ShowMe => self.solve_step(),
            // Every command is followed by this check.
            LessonCommand::Look => Vec::new(),
            LessonCommand::Mark(number) => self.mark_token(number),
            LessonCommand::SkipAgain => self.skip_again(),
            LessonCommand::Leave => self.leave_lesson(),
        }
    }

    /// Returns why a lesson can't be taken now, or `None` if it can.
    pub fn lesson_blocked(&self, lesson: &Lesson) -> Option<String> {
        if self.opened.is_some() {
            return Some("Close the opened run first".to_owned());
        }
        if !lesson.any_model && self.model_source != ModelSource::Embedded {
            return Some("This lesson needs the built-in model".to_owned());
        }
        // A lesson waits for a model that is loading.
        let reason = self.model.blocking_reason();
        let is_loading = matches!(self.model, ModelStatus::Loading { .. });
        reason.filter(|_| !is_loading).map(str::to_owned)
    }

    /// Returns why nothing can be generated while a lesson's question is open: the text would be
    /// the answer.
    pub(super) fn question_reason(&self) -> Option<String> {
        let phase = self.lessons.run().map(LessonRun::phase);
        (phase == Some(LessonPhase::Predict)).then(|| "Make your guess first".to_owned())
    }

    /// Returns a lesson file with the window's current setup, as a starting point for a new lesson.
    pub fn lesson_draft(&self) -> String {
        let setup = Setup {
            prompt: self.prompt.clone(),
            panes: self
                .panes
                .iter()
                .map(|pane| pane.settings.clone())
                .collect(),
            seed: self.seed,
            tokens: self.limits.max_new_tokens,
            acts: Vec::new(),
        };
        let tab = self.view.dock_tab.name().to_lowercase();
        let stop = self.limits.stop_strings.first();
        let any_model = self.model_source != ModelSource::Embedded;
        draft(&setup, &tab, stop.map(String::as_str), any_model)
    }

    fn start_lesson(&mut self, index: usize) -> Vec<Effect> {
        let Some(lesson) = self.lessons.list.get(index).cloned() else {
            return Vec::new();
        };
        let mut effects = self.leave_lesson();
        if self.lesson_blocked(&lesson).is_some() {
            return effects;
        }
        self.lessons.selected = index;
        let place = self.lessons.progress.place_of(&lesson);
        let aside = SetAside {
            view: self.view,
            pace: self.pace,
            step_pane: self.step_pane.take(),
            repetition: self.repetition.take(),
            hidden: self.set_aside(&mut effects),
            cache: self.set_cache_aside(&mut effects),
            cache_tokens: self.lab.cache.n_tokens,
        };
        effects.extend(self.set_up(&lesson.setup));
        self.view.dock_open = Some(true);
        self.page = Page::Write;
        self.lessons.run = Some(LessonRun::new(lesson, place, aside));
        effects.extend(self.tokenize_prompt());
        effects
    }

    /// Stops a measurement of the KV cache and takes it off the Lab page.
    fn set_cache_aside(&mut self, effects: &mut Vec<Effect>) -> Option<CacheRun> {
        effects.extend(self.dispatch(Command::Lab(LabCommand::Stop(LabTab::Cache))));
        let mut run = self.lab.cache.run.take()?;
        if run.status.is_running() {
            run.status = RunStatus::Stopped;
        }
        Some(run)
    }

    /// Shows the panes, the prompt and the limits of a lesson.
    fn set_up(&mut self, setup: &Setup) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.prompt.clone_from(&setup.prompt);
        self.prompt_mode = super::PromptMode::Raw;
        self.system.clear();
        self.sends_empty_system = false;
        self.limits = crate::generation::Limits {
            max_new_tokens: setup.tokens,
            ..crate::generation::Limits::default()
        };
        self.seed = setup.seed;
        if self.pace != super::Pace::FullSpeed {
            self.pace = super::Pace::FullSpeed;
            effects.push(self.pace_effect());
        }
        // A task that asks for a tint must not be done already.
        self.view.tint = super::Tint::default();
        self.panes.clear();
        self.add_panes(setup.panes.clone());
        self.start_over();
        effects
    }

    /// Adds a lesson that was opened and starts it, or reports the line with its error.
    fn open_lesson(&mut self, name: &str, source: Result<String, String>) -> Vec<Effect> {
        let lesson = source.and_then(|source| {
            let lesson = Lesson::from_toml(&source);
            lesson.map_err(|LessonProblem { line, message }| format!("Line {line}: {message}"))
        });
        let lesson = match lesson {
            Ok(lesson) => Arc::new(lesson),
            Err(error) => {
                return self.notify(Notice::error(format!("{name} can’t be opened"), error));
            }
        };
        let is_same = |other: &Arc<Lesson>| other.id == lesson.id;
        let list = &mut self.lessons.list;
        let index = list.iter().position(is_same).unwrap_or(list.len());
        match list.get_mut(index) {
            Some(place) => *place = Arc::clone(&lesson),
            None => list.push(Arc::clone(&lesson)),
        }
        if let Some(reason) = self.lesson_blocked(&lesson) {
            self.page = Page::Lessons;
            self.lessons.selected = index;
            return self.notify(Notice::hint(reason));
        }
        self.start_lesson(index)
    }

    /// Leaves the lesson, and brings back what was on screen before it. Its place is kept.
    pub(super) fn leave_lesson(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run.take() else {
            return Vec::new();
        };
        self.lessons.progress.keep_place(&run);
        let mut effects = self.stop_all();
        self.set_cache_aside(&mut effects);
        let aside = run.into_aside();
        self.lab.cache.run = aside.cache;
        self.lab.cache.n_tokens = aside.cache_tokens;
        effects.extend(self.bring_back(aside.hidden));
        self.view = restored_view(aside.view, self.view);
        self.step_pane = aside.step_pane;
        self.repetition = aside.repetition;
        if self.pace != aside.pace {
            self.pace = aside.pace;
            effects.push(self.pace_effect());
        }
        effects
    }
}

/// Returns the view choices from before a lesson, except that those that do not concern the run
/// stay as they are now.
fn restored_view(before: super::ViewChoices, now: super::ViewChoices) -> super::ViewChoices {
    super::ViewChoices {
        theme: now.theme,
        text_size: now.text_size,
        reading_font: now.reading_font,
        reduce_motion: now.reduce_motion,
        knows_tokens: now.knows_tokens,
        ..before
    }
}
