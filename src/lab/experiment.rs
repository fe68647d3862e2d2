//! What an experiment of the Lab defines besides its page.

use std::convert::Infallible;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::state::{AppState, Effect, JobRun};

/// An experiment of the Lab: the contents of its form, its run, and what the user can do with them.
pub trait Experiment: Default {
    /// The label of its tab.
    const NAME: &'static str;

    /// The title of the dialog that chooses a file for it.
    const FILE_TITLE: &'static str = "Choose a file";

    /// What the user can do, besides running and stopping it.
    type Command;

    /// What its form keeps across restarts. Its fields share one JSON object with those of the other
    /// experiments.
    type Settings;

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

    /// Applies one of its commands.
    fn apply(state: &mut AppState, command: Self::Command) -> Vec<Effect>;

    /// Uses a file that the user chose for it.
    fn use_path(&mut self, _path: PathBuf) {}

    /// Computes what its tab shows while `has_time` returns true. Returns whether it is complete.
    fn advance(_state: &mut AppState, _has_time: &mut dyn FnMut() -> bool) -> bool {
        true
    }

    /// Returns what its form keeps across restarts.
    fn settings(&self) -> Self::Settings;

    /// Returns the experiment with this form and no results.
    fn restored(settings: Self::Settings) -> Self;
}

/// The command of an experiment that can only be run and stopped.
pub type NoCommand = Infallible;

/// The settings of an experiment that keeps nothing across restarts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoSettings {}
