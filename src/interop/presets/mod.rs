//! Ways to choose that have a name: those that Quartet brings along, those that a model's author
//! advises, and those that the user keeps.

mod built_in;
pub mod file;
mod own;

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;

pub use built_in::{PresetGroup, built_in};
pub use own::{free_name, save};

/// A way to choose, what it is for, and where its numbers come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    /// Its name in the list.
    pub name: &'static str,
    /// What it is for, a sentence.
    pub purpose: &'static str,
    /// Where its numbers come from; empty where it has none that need a reason.
    pub source: &'static str,
    /// How it chooses.
    pub chain: ChainConfig,
}

/// A preset that the user keeps. No two have the same name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnPreset {
    /// What the user calls it.
    pub name: String,
    /// How it chooses.
    pub chain: ChainConfig,
}
