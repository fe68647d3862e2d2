//! The presets that Quartet brings along, as data.

use super::Preset;
use crate::analysis::dialects::short_name;
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{Dry, MinP, Temperature, TopK, TopP, Window};
use crate::decoding::{ChainConfig, Filter, Selector};

/// Presets that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct PresetGroup {
    /// What they have in common.
    pub title: &'static str,
    /// The presets, in the order of the list.
    pub presets: Vec<Preset>,
}

/// All presets that need no model, in the order of the list.
pub fn built_in() -> Vec<PresetGroup> {
    vec![
        PresetGroup {
            title: "The four classics",
            presets: classics(),
        },
        PresetGroup {
            title: "For a purpose",
            presets: purposes(),
        },
        PresetGroup {
            title: "As each engine starts",
            presets: Dialect::ALL.map(engine).into(),
        },
    ]
}

fn classics() -> Vec<Preset> {
    vec![
        Preset {
            name: "Greedy",
            purpose: "Takes the most likely token, always. The same text every time.",
            source: "",
            chain: ChainConfig::greedy(),
        },
        Preset {
            name: "Pure sampling",
            purpose: "Draws from all tokens, just as the model weighs them.",
            source: "",
            chain: ChainConfig::sampled([]),
        },
        Preset {
            name: "Top-k",
            purpose: "Draws from the 40 most likely tokens, be the model sure or not.",
            source: "40 as in llama.cpp",
            chain: ChainConfig::sampled([Filter::TopK(TopK { k: 40 })]),
        },
        Preset {
            name: "Top-p",
            purpose: "Sharpens, then draws from the fewest tokens that hold 90 %.",
            source: "The method: Holtzman et al. 2019, arXiv 1904.09751",
            chain: ChainConfig::sampled([temperature(0.7), Filter::TopP(TopP { p: 0.9 })]),
        },
    ]
}

fn purposes() -> Vec<Preset> {
    let dry = Filter::Dry(Dry {
        multiplier: 0.8,
        base: 1.75,
        allowed_length: 2,
        window: Window::ALL,
        breakers: Vec::new(),
    });
    vec![
        Preset {
            name: "Deterministic",
            purpose: "The same text every time, and no going round in circles: what would lengthen \
                      a repetition is held back before the top token is taken.",
            source: "DRY 0.8, 1.75, 2 as its author recommends: llama.cpp pull request 9702",
            chain: ChainConfig {
                selector: Selector::Greedy,
                ..ChainConfig::sampled([dry])
            },
        },
        Preset {
            name: "Creative",
            purpose: "Surprising and still readable: a high temperature, from which min-p takes \
                      what is far below the best.",
            source: "From Nguyen et al. 2024, arXiv 2407.01082",
            chain: ChainConfig::sampled([temperature(1.5), Filter::MinP(MinP { p: 0.1 })]),
        },
        Preset {
            name: "Code",
            purpose: "For programs that should be right at the first try: close to the most likely, \
                      with a little room.",
            source: "From Chen et al. 2021, arXiv 2107.03374",
            chain: ChainConfig::sampled([temperature(0.2), Filter::TopP(TopP { p: 0.95 })]),
        },
    ]
}

fn engine(dialect: Dialect) -> Preset {
    let purpose = match dialect {
        Dialect::LlamaCpp => "llama.cpp and llama-server when nothing is set.",
        Dialect::Transformers => "transformers when it draws and nothing else is set.",
        Dialect::Vllm => "vLLM when nothing is set and the model advises nothing.",
        Dialect::MistralRs => "mistral.rs when nothing is set and the model advises nothing.",
        Dialect::Candle => "candle's own sampler at temperature 1; its examples set more.",
        Dialect::Ollama => "Ollama when the model file sets nothing.",
        Dialect::OpenAi => "Services with the API that OpenAI began, when nothing is set.",
    };
    Preset {
        name: short_name(dialect),
        purpose,
        source: "Its defaults, as of November 2026",
        chain: dialect.chain(),
    }
}

const fn temperature(temperature: f32) -> Filter {
    Filter::Temperature(Temperature { temperature })
}

#[cfg(test)]
mod tests {
    use super::built_in;
    use crate::analysis::dialects::departure;
    use crate::decoding::dialect::Dialect;
    use crate::generation::PaneSettings;

    #[test]
    fn every_preset_has_a_name_of_its_own_a_purpose_and_a_chain_that_runs() {
        let mut names = Vec::new();
        for preset in built_in().into_iter().flat_map(|group| group.presets) {
            assert!(preset.purpose.ends_with('.'), "{}", preset.name);
            assert_eq!(preset.chain.validate(), Ok(()), "{}", preset.name);
            assert_eq!(departure(&preset.chain), None, "{}", preset.name);
            names.push(preset.name);
        }
        let n_names = names.len();
        assert_eq!(n_names, 4 + 3 + Dialect::ALL.len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names);
    }

    #[test]
    fn the_classics_are_those_of_a_new_window() {
        let chains: Vec<_> = built_in()
            .swap_remove(0)
            .presets
            .into_iter()
            .map(|preset| preset.chain)
            .collect();
        assert_eq!(chains, PaneSettings::classics().map(|pane| pane.chain));
    }
}
