//! The settings of one pane.

use serde::{Deserialize, Serialize};

use crate::decoding::filters::{Temperature, TopK, TopP};
use crate::decoding::{ChainConfig, Filter, Selector};
use crate::generation::in_sentence;

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

impl PaneSettings {
    /// The four panes of a new window: greedy, pure sampling, top-k 40, top-p 0.9 at T 0.7.
    pub fn classics() -> [Self; 4] {
        let nucleus = [
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.9 }),
        ];
        [
            ChainConfig::greedy(),
            ChainConfig::sampled([]),
            ChainConfig::sampled([Filter::TopK(TopK { k: 40 })]),
            ChainConfig::sampled(nucleus),
        ]
        .map(Self::from)
    }

    /// Another chain; the name follows it for as long as it is the one that the chain gave it.
    pub fn set_chain(&mut self, chain: ChainConfig) {
        if self.name == default_name(&self.chain) {
            self.name = default_name(&chain);
        }
        self.chain = chain;
    }
}

impl From<ChainConfig> for PaneSettings {
    /// A pane named after its chain, with the seed of the run.
    fn from(chain: ChainConfig) -> Self {
        Self {
            name: default_name(&chain),
            chain,
            seed: None,
        }
    }
}

/// The name of a pane that was given none: "Greedy", "Top-k + top-p", "Temperature".
pub(crate) fn default_name(chain: &ChainConfig) -> String {
    if chain.is_greedy() {
        return "Greedy".to_owned();
    }
    if chain.selector != Selector::Multinomial {
        return chain.selector.name().to_owned();
    }
    let (cutting, reshaping): (Vec<&Filter>, Vec<&Filter>) =
        chain.active().partition(|filter| filter.cuts());
    let telling = if cutting.is_empty() {
        reshaping
    } else {
        cutting
    };
    let names: Vec<&str> = telling.iter().map(|filter| filter.name()).collect();
    match names.as_slice() {
        [] => "Pure sampling".to_owned(),
        [first, others @ ..] => others.iter().fold((*first).to_owned(), |name, other| {
            format!("{name} + {}", in_sentence(other))
        }),
    }
}
