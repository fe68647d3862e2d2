//! What an experiment of the Lab defines besides its page.

use std::convert::Infallible;
use std::fmt::Debug;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::generation::ModelInfo;
use crate::state::{AppState, Effect, JobRun};

/// An experiment of the Lab: the contents of its form, its run, and what the user can do with them.
pub trait Experiment: Default {
    /// The label of its tab.
    const NAME: &'static str;

    /// The group of tabs that it belongs to.
    const GROUP: Group;

    /// Whether the history keeps its results.
    const KEEPS_RESULTS: bool = size_of::<Self::Result>() > 0;

    /// Whether its job finds its results. Otherwise they are kept once they are complete.
    const JOB_FINDS_RESULTS: bool = true;

    /// The title of the dialog that chooses a file for it.
    const FILE_TITLE: &'static str = "Choose a file";

    /// What the user can do, besides running and stopping it.
    type Command;

    /// What its form keeps across restarts. Its fields share one JSON object with those of the other
    /// experiments.
    type Settings;

    /// Its results as the history keeps them: [`NoResult`] if it does not.
    type Result: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// Returns what the history keeps of its results, and what it says about them, if there are any.
    fn result(&self) -> Option<(ResultFacts, Self::Result)> {
        None
    }

    /// Shows results that the history kept. Fails, with the reason, if they contradict themselves.
    fn show(&mut self, _result: Self::Result) -> Result<(), String> {
        Ok(())
    }

    /// Returns the models that made the results on screen, if a model is needed to make them again.
    fn made_by(&self) -> Option<MadeBy<'_>> {
        None
    }

    /// Returns why what made the results on screen can't run again now, or `None` if it can as soon as
    /// its models are open.
    fn again_refusal(_state: &AppState) -> Option<String> {
        None
    }

    /// Runs again what made the results on screen: with its texts, its settings and its seeds,
    /// whatever the form says. Its models are open.
    fn run_again(_state: &mut AppState) -> Vec<Effect> {
        Vec::new()
    }

    /// Returns whether it has results that no job has found, and that the history lacks.
    fn has_new_result(&self) -> bool {
        false
    }

    /// Notes that its results are kept now, in seconds since 1970. Returns the time that names their
    /// file: results that take the place of earlier ones keep the time of those.
    fn note_kept(&mut self, now: u64) -> u64 {
        now
    }

    /// Returns its run, if the engine works on one.
    fn run(&self) -> Option<&dyn JobRun> {
        None
    }

    /// Returns the same run, mutably.
    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        None
    }

    /// Runs it as it is set up. Does nothing if that is not possible now.
    fn start(_state: &mut AppState) -> Vec<Effect> {
        Vec::new()
    }

    /// Stops its run. What was found stays.
    fn stop(&mut self) -> Vec<Effect> {
        crate::state::stop_jobs(self.run())
    }

    /// Takes its results off the screen. The form stays as it is.
    fn close(&mut self) {}

    /// Applies one of its commands.
    fn apply(state: &mut AppState, command: Self::Command) -> Vec<Effect>;

    /// Uses a file that the user chose for it.
    fn use_path(&mut self, _path: PathBuf) {}

    /// Uses a text in place of such a file.
    fn use_text(&mut self, _text: String) {}

    /// Computes what its tab shows while `has_time` returns true. Returns whether it is complete.
    fn advance(_state: &mut AppState, _has_time: &mut dyn FnMut() -> bool) -> bool {
        true
    }

    /// Returns what its form keeps across restarts.
    fn settings(&self) -> Self::Settings;

    /// Returns the experiment with this form and no results.
    fn restored(settings: Self::Settings) -> Self;
}

/// What an experiment is for, which groups the tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// It writes many texts.
    WriteMany,
    /// It explains one text.
    ExplainOne,
    /// It shows how the model works.
    HowItWorks,
}

/// The models that made results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MadeBy<'a> {
    pub model: &'a ModelInfo,
    /// The model that guided, if there was one.
    pub second: Option<&'a ModelInfo>,
}

impl<'a> MadeBy<'a> {
    /// Names a model that made results without a second one.
    pub const fn one(model: &'a ModelInfo) -> Self {
        let second = None;
        Self { model, second }
    }
}

/// The command of an experiment that can only be run and stopped.
pub type NoCommand = Infallible;

/// The results of an experiment that the history does not keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoResult {}

/// What the history says about the results of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultFacts {
    /// What they are: "48 cells".
    pub words: String,
    /// The name of the model.
    pub model: String,
    /// The prompt, or the first of several.
    pub prompt: String,
}

/// The settings of an experiment that keeps nothing across restarts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoSettings {}
