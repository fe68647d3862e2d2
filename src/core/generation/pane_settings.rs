//! The settings of one pane.

use serde::{Deserialize, Serialize};

use crate::decoding::filters::{Temperature, TopK, TopP};
use crate::decoding::{ChainConfig, Filter, Selector};
use crate::generation::{PaneModel, in_sentence};

/// What makes one pane differ from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaneSettings {
    pub name: String,
    pub chain: ChainConfig,
    /// This pane's own seed, or `None` to use the run's seed.
    pub seed: Option<u64>,
    /// The model that writes in this pane, or `None` for the one that is open in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<PaneModel>,
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

    /// Replaces the chain. A name that was derived from the old chain is derived anew; a name that
    /// the user chose stays.
    pub fn set_chain(&mut self, chain: ChainConfig) {
        if self.name == default_name(&self.chain) {
            self.name = default_name(&chain);
        }
        self.chain = chain;
    }
}

impl From<ChainConfig> for PaneSettings {
    /// Creates a pane that is named after its chain and uses the run's seed.
    fn from(chain: ChainConfig) -> Self {
        Self {
            name: default_name(&chain),
            chain,
            seed: None,
            model: None,
        }
    }
}

/// "T 0.7, top-p 0.9, seed 42". A chain without randomness needs no seed.
pub fn chain_words(chain: &ChainConfig, seed: u64) -> String {
    let words = PaneSettings::from(chain.clone());
    if chain.needs_seed() {
        format!("{words}, seed {seed}")
    } else {
        words.to_string()
    }
}

/// Derives a pane's name from its chain: "Greedy", "Greedy by T 0", "Greedy with DRY",
/// "Top-k + top-p", "Greedy + guidance".
pub fn default_name(chain: &ChainConfig) -> String {
    let mut name = name_of_stages(chain);
    if let Some(guidance) = &chain.guidance {
        name = format!("{name} + {}", guidance.against.spec().adds);
    }
    match &chain.grammar {
        Some(rule) => format!("{name} + {}", rule.noun()),
        None => name,
    }
}

fn name_of_stages(chain: &ChainConfig) -> String {
    if chain.selector == Selector::Greedy {
        let changes_top = |filter: &&Filter| !filter.preserves_top();
        let changing = chain.active().filter(changes_top);
        let names: Vec<String> = changing.map(|filter| in_sentence(filter.name())).collect();
        return if names.is_empty() {
            "Greedy".to_owned()
        } else {
            format!("Greedy with {}", names.join(" + "))
        };
    }
    let mut active = chain.active();
    if let Some(filter) = active.find(|filter| filter.leaves_one(chain.rules)) {
        return format!("Greedy by {filter}");
    }
    if chain.selector != Selector::Multinomial {
        return chain.selector.name().to_owned();
    }
    let (cutting, reshaping): (Vec<&Filter>, Vec<&Filter>) =
        chain.active().partition(|filter| filter.cuts());
    let named = if cutting.is_empty() {
        reshaping
    } else {
        cutting
    };
    let names: Vec<&str> = named.iter().map(|filter| filter.name()).collect();
    match names.as_slice() {
        [] => "Pure sampling".to_owned(),
        [first, others @ ..] => others.iter().fold((*first).to_owned(), |name, other| {
            format!("{name} + {}", in_sentence(other))
        }),
    }
}
