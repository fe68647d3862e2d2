//! A pane's settings, and the words in which people write them: "top-p 0.9, temp 0.7, seed 7".

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;
use crate::decoding::Filter;
use crate::decoding::filters::{Temperature, TopK, TopP};

/// What makes one pane differ from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaneSettings {
    /// How it is called.
    pub name: String,
    /// How it chooses.
    pub chain: ChainConfig,
    /// Its own seed; nothing where it shares that of the run.
    pub seed: Option<u64>,
}

/// A word of a pane's description that is not understood, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneSpecError {
    /// What is wrong, and what would be right.
    pub message: String,
    /// The bytes of the description that it is about.
    pub span: std::ops::Range<usize>,
}

impl PaneSettings {
    /// The four panes of a new window: greedy, pure sampling, top-k 40, top-p 0.9 at T 0.7.
    pub fn classics() -> [Self; 4] {
        let pane = |name: &str, chain| Self {
            name: name.to_owned(),
            chain,
            seed: None,
        };
        [
            pane("Greedy", ChainConfig::greedy()),
            pane("Pure sampling", ChainConfig::sampled([])),
            pane(
                "Top-k",
                ChainConfig::sampled([Filter::TopK(TopK { k: 40 })]),
            ),
            pane(
                "Top-p",
                ChainConfig::sampled([
                    Filter::Temperature(Temperature { temperature: 0.7 }),
                    Filter::TopP(TopP { p: 0.9 }),
                ]),
            ),
        ]
    }
}
