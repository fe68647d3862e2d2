//! The built-in presets, as data.

use super::Preset;
use crate::analysis::dialects::short_name;
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{Dry, GreenList, MinP, Temperature, TopK, TopP, Window};
use crate::decoding::selector::GumbelMark;
use crate::decoding::{ChainConfig, Filter, Selector};

/// A titled group of built-in presets.
#[derive(Debug, Clone, PartialEq)]
pub struct PresetGroup {
    pub title: &'static str,
    /// In menu order.
    pub presets: Vec<Preset>,
}

/// Returns the presets that do not depend on a model, in menu order.
pub fn built_in() -> Vec<PresetGroup> {
    vec![
        PresetGroup {
            title: "Classics",
            presets: classics(),
        },
        PresetGroup {
            title: "By use case",
            presets: purposes(),
        },
        PresetGroup {
            title: "Engine defaults",
            presets: Dialect::ALL.map(engine).into(),
        },
    ]
}

fn classics() -> Vec<Preset> {
    vec![
        Preset {
            name: "Greedy",
            purpose: "Always takes the most likely token. The same text every time.",
            source: "",
            chain: ChainConfig::greedy(),
        },
        Preset {
            name: "Pure sampling",
            purpose: "Samples from all tokens with the model’s own probabilities.",
            source: "",
            chain: ChainConfig::sampled([]),
        },
        Preset {
            name: "Top-k",
            purpose: "Samples from the 40 most likely tokens, however sure the model is.",
            source: "k = 40 is llama.cpp’s default",
            chain: ChainConfig::sampled([Filter::TopK(TopK { k: 40 })]),
        },
        Preset {
            name: "Top-p",
            purpose: "Sharpens the distribution, then samples from its nucleus: the fewest tokens \
                      that hold 90 % of the probability.",
            source: "Method: Holtzman et al. 2019, arXiv 1904.09751",
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
            purpose: "The same text every time, without loops: DRY penalizes tokens that would \
                      extend a repetition, then the top token is taken.",
            source: "DRY 0.8, 1.75, 2 as recommended by its author: llama.cpp pull request 9702",
            chain: ChainConfig {
                selector: Selector::Greedy,
                ..ChainConfig::sampled([dry])
            },
        },
        Preset {
            name: "Creative",
            purpose: "Surprising but readable: a high temperature after which min-p removes tokens \
                      far less likely than the top one.",
            source: "From Nguyen et al. 2024, arXiv 2407.01082",
            chain: ChainConfig::sampled([temperature(1.5), Filter::MinP(MinP { p: 0.1 })]),
        },
        Preset {
            name: "Code",
            purpose: "For code that should be right on the first try: stays close to the most \
                      likely tokens, with a little variation.",
            source: "From Chen et al. 2021, arXiv 2107.03374",
            chain: ChainConfig::sampled([temperature(0.2), Filter::TopP(TopP { p: 0.95 })]),
        },
        Preset {
            name: "Watermarked",
            purpose: "Pure sampling with a watermark in the draw, which its key reveals and which \
                      changes no probability on average.",
            source: "From Aaronson 2022; the numbers are those of vLLM’s GumbelWatermarker",
            chain: ChainConfig {
                selector: Selector::GumbelMark(GumbelMark { key: 42, window: 4 }),
                ..ChainConfig::sampled([])
            },
        },
        Preset {
            name: "Green list",
            purpose: "Pure sampling with a watermark in the logits, which its key reveals: a quarter \
                      of the tokens become more likely, depending on the token before.",
            source: "From Kirchenbauer et al. 2023, arXiv 2301.10226; the tokens are those of \
                     transformers’ WatermarkingConfig",
            chain: ChainConfig::sampled([Filter::GreenList(GreenList {
                bias: 2.0,
                ratio: 0.25,
                key: 42,
                window: 1,
            })]),
        },
    ]
}

fn engine(dialect: Dialect) -> Preset {
    let purpose = match dialect {
        Dialect::LlamaCpp => "The defaults of llama.cpp and llama-server.",
        Dialect::Transformers => "The defaults of transformers with do_sample=True.",
        Dialect::Vllm => "The defaults of vLLM, unless the model recommends others.",
        Dialect::MistralRs => "The defaults of mistral.rs, unless the model recommends others.",
        Dialect::Candle => "candle’s LogitsProcessor at temperature 1; its examples set more.",
        Dialect::Ollama => {
            "The defaults of Ollama for GGUF files, unless the Modelfile sets others."
        }
        Dialect::OllamaMlx => {
            "The defaults of Ollama for safetensors, unless the Modelfile sets others."
        }
        Dialect::OpenAi => "The defaults of services with an OpenAI-compatible API.",
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
    fn every_preset_has_a_unique_name_a_purpose_and_a_valid_chain() {
        let mut names = Vec::new();
        for preset in built_in().into_iter().flat_map(|group| group.presets) {
            assert!(preset.purpose.ends_with('.'), "{}", preset.name);
            assert_eq!(preset.chain.validate(), Ok(()), "{}", preset.name);
            assert_eq!(departure(&preset.chain), None, "{}", preset.name);
            names.push(preset.name);
        }
        let n_names = names.len();
        assert_eq!(n_names, 4 + 5 + Dialect::ALL.len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names);
    }

    #[test]
    fn the_classics_are_the_panes_of_a_new_window() {
        let chains: Vec<_> = built_in()
            .swap_remove(0)
            .presets
            .into_iter()
            .map(|preset| preset.chain)
            .collect();
        assert_eq!(chains, PaneSettings::classics().map(|pane| pane.chain));
    }
}
