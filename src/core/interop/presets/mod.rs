//! Named chains: built-in presets and presets that the user saves.

mod built_in;
pub mod file;
mod own;

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;

pub use built_in::{PresetGroup, built_in};
pub use own::{free_name, save};

/// A built-in preset: a chain, its purpose, and the source of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub purpose: &'static str,
    /// Where its parameters come from; empty if they need no source.
    pub source: &'static str,
    pub chain: ChainConfig,
}

/// A preset that the user saved. Names are unique.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnPreset {
    pub name: String,
    pub chain: ChainConfig,
}
