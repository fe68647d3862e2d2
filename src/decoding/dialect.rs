//! How each engine orders and reads the same settings, as data: order, defaults and small print.

use serde::{Deserialize, Serialize};

use super::filters::{
    Dry, DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, LogitBias, MinP,
    NoRepeatNgram, PresencePenalty, RepetitionPenalty, Temperature, TopK, TopNSigma, TopP,
    TypicalP, Window, Xtc,
};
use super::rules::{Equal, Mass, Ties, TopPZero, TypicalRule};
use super::{ChainConfig, Filter, Rules, Stage};

/// An engine whose chain is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// llama.cpp, and llama-server.
    LlamaCpp,
    /// Hugging Face transformers.
    Transformers,
    /// vLLM, its v1 sampler.
    Vllm,
    /// mistral.rs.
    MistralRs,
    /// candle's `LogitsProcessor`.
    Candle,
    /// Ollama.
    Ollama,
    /// Services with the API that `OpenAI` began.
    OpenAi,
}

impl Dialect {
    /// All, in the order of the menu.
    pub const ALL: [Self; 7] = [
        Self::LlamaCpp,
        Self::Transformers,
        Self::Vllm,
        Self::MistralRs,
        Self::Candle,
        Self::Ollama,
        Self::OpenAi,
    ];

    /// Its name as its authors write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Transformers => "Hugging Face transformers",
            Self::Vllm => "vLLM",
            Self::MistralRs => "mistral.rs",
            Self::Candle => "candle",
            Self::Ollama => "Ollama",
            Self::OpenAi => "OpenAI-style",
        }
    }

    /// Its whole chain with its own defaults, stages that are off by default included.
    pub fn chain(self) -> ChainConfig {
        ChainConfig {
            stages: self.filters().into_iter().map(Stage::from).collect(),
            rules: self.rules(),
            dialect: Some(self),
            ..ChainConfig::sampled([])
        }
    }

    /// How it treats the cases on which engines disagree.
    pub fn rules(self) -> Rules {
        let ours = Rules::default();
        match self {
            Self::LlamaCpp | Self::Ollama => Rules {
                typical: TypicalRule::Passed,
                ..ours
            },
            Self::Transformers => Rules {
                min_keep: 1,
                top_k_ties: Ties::All,
                typical: TypicalRule::ReachedWithTies,
                ..ours
            },
            Self::Vllm => Rules {
                top_k_ties: Ties::All,
                ..ours
            },
            Self::MistralRs => Rules {
                min_p_equal: Equal::Cut,
                top_p_zero: TopPZero::Off,
                ..ours
            },
            Self::Candle => Rules {
                top_p_mass: Mass::BeforeCuts,
                top_p_zero: TopPZero::Off,
                ..ours
            },
            Self::OpenAi => ours,
        }
    }

    /// What is different in it from the others, each in a sentence with the reason for another text.
    pub const fn traps(self) -> &'static [&'static str] {
        match self {
            Self::LlamaCpp => &[
                "Temperature comes last, so every cut sees the model's own probabilities",
                "Min-p 0.05, top-p 0.95 and top-k 40 are on unless they are switched off",
                "Penalties look at the last 64 tokens, the prompt's included",
                "Typical-p takes one token more than needed when the sum meets its share exactly, and \
                 acts as a top-p where a token was ruled out before it",
            ],
            Self::Transformers => &[
                "Temperature comes before the cuts, so a high one lets more tokens through",
                "All tokens as likely as the k-th stay, so top-k can keep more than k",
                "Min-p comes after top-p and sees probabilities that temperature has changed",
                "The repetition penalty looks at the whole prompt",
            ],
            Self::Vllm => &[
                "Min-p comes before top-k and top-p, and after temperature",
                "Frequency and presence penalty pass over the prompt; repetition penalty does not",
                "All tokens as likely as the k-th stay, so top-k can keep more than k",
            ],
            Self::MistralRs => &[
                "Min-p comes last, cuts a token exactly at its bar, and is off at 1",
                "A top-p of 0 is off; elsewhere it keeps one token",
                "Frequency and presence penalty pass over the prompt; repetition penalty does not",
            ],
            Self::Candle => &[
                "After top-k, top-p counts the probability that the cut tokens had too, so it keeps \
                 more than elsewhere, and nothing is cut where top-k left less than its share",
                "A top-p of 0 is off; elsewhere it keeps one token",
            ],
            Self::Ollama => &[
                "Top-p is 0.9 and temperature 0.8 unless set otherwise",
                "Penalties look at the last 64 tokens, the prompt's included",
            ],
            Self::OpenAi => &[
                "There is no top-k and no min-p: temperature and top-p are all",
                "Frequency and presence penalty pass over the prompt",
            ],
        }
    }

    /// Its stages in its order, each at its default.
    fn filters(self) -> Vec<Filter> {
        match self {
            Self::LlamaCpp => llama_cpp(0.05, 0.95),
            Self::Ollama => llama_cpp(0.0, 0.9),
            Self::Transformers => vec![
                bias(),
                repetition(Window::ALL),
                Filter::NoRepeatNgram(NoRepeatNgram {
                    n: 0,
                    window: Window::ALL,
                }),
                temperature(1.0),
                top_k(50),
                top_p(1.0),
                min_p(0.0),
                Filter::TypicalP(TypicalP { p: 1.0 }),
                Filter::EpsilonCutoff(EpsilonCutoff { epsilon: 0.0 }),
                Filter::EtaCutoff(EtaCutoff { epsilon: 0.0 }),
            ],
            Self::Vllm => vec![
                bias(),
                repetition(Window::ALL),
                frequency(Window::GENERATED),
                presence(Window::GENERATED),
                temperature(1.0),
                min_p(0.0),
                top_k(0),
                top_p(1.0),
            ],
            Self::MistralRs => vec![
                dry(Window::ALL),
                frequency(Window::GENERATED),
                presence(Window::GENERATED),
                repetition(Window::ALL),
                bias(),
                temperature(1.0),
                top_k(0),
                top_p(1.0),
                min_p(0.0),
            ],
            Self::Candle => vec![
                repetition(Window::LAST_64),
                temperature(1.0),
                top_k(0),
                top_p(1.0),
            ],
            Self::OpenAi => vec![
                bias(),
                frequency(Window::GENERATED),
                presence(Window::GENERATED),
                temperature(1.0),
                top_p(1.0),
            ],
        }
    }
}

fn llama_cpp(p_of_best: f32, p: f32) -> Vec<Filter> {
    vec![
        bias(),
        repetition(Window::LAST_64),
        frequency(Window::LAST_64),
        presence(Window::LAST_64),
        dry(Window::LAST_64),
        Filter::TopNSigma(TopNSigma { n: 0.0 }),
        top_k(40),
        Filter::TypicalP(TypicalP { p: 1.0 }),
        top_p(p),
        min_p(p_of_best),
        Filter::Xtc(Xtc {
            probability: 0.0,
            threshold: 0.1,
        }),
        Filter::DynamicTemperature(DynamicTemperature {
            temperature: 0.8,
            range: 0.0,
            exponent: 1.0,
        }),
    ]
}

fn bias() -> Filter {
    Filter::LogitBias(LogitBias::default())
}

const fn repetition(window: Window) -> Filter {
    let penalty = 1.0;
    Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
}

const fn frequency(window: Window) -> Filter {
    let penalty = 0.0;
    Filter::FrequencyPenalty(FrequencyPenalty { penalty, window })
}

const fn presence(window: Window) -> Filter {
    let penalty = 0.0;
    Filter::PresencePenalty(PresencePenalty { penalty, window })
}

fn dry(window: Window) -> Filter {
    Filter::Dry(Dry {
        multiplier: 0.0,
        window,
        ..Dry::default()
    })
}

const fn temperature(temperature: f32) -> Filter {
    Filter::Temperature(Temperature { temperature })
}

const fn top_k(k: u32) -> Filter {
    Filter::TopK(TopK { k })
}

const fn top_p(p: f32) -> Filter {
    Filter::TopP(TopP { p })
}

const fn min_p(p: f32) -> Filter {
    Filter::MinP(MinP { p })
}

#[cfg(test)]
mod tests {
    use super::{Dialect, min_p, temperature, top_k, top_p};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, TokenId};

    /// The ids that a dialect's rules leave after these stages.
    fn kept(dialect: Dialect, filters: &[Filter], probs: &[f32]) -> Vec<u32> {
        let config = ChainConfig {
            rules: dialect.rules(),
            ..ChainConfig::sampled(filters.to_vec())
        };
        let coins = Coins {
            seed: 0,
            position: 0,
        };
        let left = SamplerChain::new(config)
            .distribution(&logits_of(probs), History::empty(), coins)
            .unwrap();
        let mut ids: Vec<u32> = left.iter().map(|candidate| candidate.token.0).collect();
        ids.sort_unstable();
        ids
    }

    const P: [f32; 4] = [0.4, 0.3, 0.2, 0.1];

    #[test]
    fn defaults_read_as_the_engines_documents_say() {
        for (dialect, expected) in [
            (
                Dialect::LlamaCpp,
                "top-k 40 › top-p 0.95 › min-p 0.05 › T 0.8",
            ),
            (Dialect::Transformers, "top-k 50"),
            (Dialect::Vllm, "T 1"),
            (Dialect::MistralRs, "T 1"),
            (Dialect::Candle, "T 1"),
            (Dialect::Ollama, "top-k 40 › top-p 0.9 › T 0.8"),
            (Dialect::OpenAi, "T 1"),
        ] {
            assert_eq!(dialect.chain().to_string(), expected, "{dialect:?}");
            assert!(dialect.chain().complaint().is_none());
            assert!(!dialect.traps().is_empty());
        }
    }

    #[test]
    fn temperature_stands_last_in_llama_cpp_and_before_the_cuts_elsewhere() {
        for dialect in Dialect::ALL {
            let filters = dialect.filters();
            let place = |wanted: &dyn Fn(&Filter) -> bool| filters.iter().position(wanted);
            let heat =
                place(&|f| matches!(f, Filter::Temperature(_) | Filter::DynamicTemperature(_)));
            let cut = place(&|f| matches!(f, Filter::TopP(_)));
            let llama = matches!(dialect, Dialect::LlamaCpp | Dialect::Ollama);
            assert_eq!(heat > cut, llama, "{dialect:?}");
        }
        // Hot before min-p 0.4 lets the second token through, after it does not.
        let hot = temperature(3.0);
        let p = [0.7, 0.2, 0.1];
        assert_eq!(kept(Dialect::LlamaCpp, &[min_p(0.4), hot.clone()], &p), [0]);
        assert_eq!(
            kept(Dialect::Transformers, &[hot, min_p(0.4)], &p),
            [0, 1, 2]
        );
    }

    #[test]
    fn min_p_stands_before_the_other_cuts_in_vllm_and_after_them_elsewhere() {
        // Min-p first leaves three; of these top-p 0.75 takes two. Top-p first leaves three.
        let p = [0.35, 0.25, 0.2, 0.12, 0.08];
        assert_eq!(kept(Dialect::Vllm, &[min_p(0.5), top_p(0.74)], &p), [0, 1]);
        assert_eq!(
            kept(Dialect::Transformers, &[top_p(0.74), min_p(0.5)], &p),
            [0, 1, 2]
        );
    }

    #[test]
    fn equals_of_the_k_th_stay_in_transformers_and_vllm() {
        let p = [0.4, 0.2, 0.2, 0.2];
        for (dialect, expected) in [
            (Dialect::LlamaCpp, &[0, 1][..]),
            (Dialect::Transformers, &[0, 1, 2, 3]),
            (Dialect::Vllm, &[0, 1, 2, 3]),
            (Dialect::Candle, &[0, 1]),
        ] {
            assert_eq!(kept(dialect, &[top_k(2)], &p), expected, "{dialect:?}");
        }
    }

    #[test]
    fn a_token_exactly_at_the_bar_of_min_p_goes_in_mistral_rs() {
        let p = [0.5, 0.25, 0.25];
        assert_eq!(kept(Dialect::LlamaCpp, &[min_p(0.5)], &p), [0, 1, 2]);
        assert_eq!(kept(Dialect::MistralRs, &[min_p(0.5)], &p), [0]);
        // No token can pass a bar that cuts the best, so the stage does nothing there.
        assert_eq!(kept(Dialect::LlamaCpp, &[min_p(1.0)], &p), [0]);
        assert_eq!(kept(Dialect::MistralRs, &[min_p(1.0)], &p), [0, 1, 2]);
    }

    #[test]
    fn top_p_after_top_k_counts_the_raw_mass_in_candle() {
        let filters = [top_k(3), top_p(0.7)];
        // Of 0.9 that is left: 0.4 / 0.9 + 0.3 / 0.9 reach 0.7; of 1, 0.4 + 0.3 barely do not.
        let p = [0.39, 0.3, 0.21, 0.1];
        assert_eq!(kept(Dialect::LlamaCpp, &filters, &p), [0, 1]);
        assert_eq!(kept(Dialect::Candle, &filters, &p), [0, 1, 2]);
        // Where top-k left less than p, nothing more is cut.
        let filters = [top_k(3), top_p(0.95)];
        assert_eq!(kept(Dialect::Candle, &filters, &P), [0, 1, 2]);
    }

    #[test]
    fn a_top_p_of_zero_is_off_in_candle_and_mistral_rs() {
        assert_eq!(kept(Dialect::LlamaCpp, &[top_p(0.0)], &P), [0]);
        assert_eq!(kept(Dialect::Transformers, &[top_p(0.0)], &P), [0]);
        for dialect in [Dialect::Candle, Dialect::MistralRs] {
            assert_eq!(kept(dialect, &[top_p(0.0)], &P), [0, 1, 2, 3]);
        }
    }

    #[test]
    fn penalties_look_at_what_each_engine_shows_them() {
        let tokens = [TokenId(0), TokenId(1), TokenId(2)];
        let history = History::new(&tokens, 2);
        for (dialect, repetition, frequency) in [
            (Dialect::LlamaCpp, 3, Some(3)),
            (Dialect::Transformers, 3, None),
            (Dialect::Vllm, 3, Some(1)),
            (Dialect::MistralRs, 3, Some(1)),
        ] {
            let filters = dialect.filters();
            let n_seen = filters.iter().find_map(|filter| match filter {
                Filter::RepetitionPenalty(filter) => Some(filter.window.of(history).len()),
                _ => None,
            });
            let n_counted = filters.iter().find_map(|filter| match filter {
                Filter::FrequencyPenalty(filter) => Some(filter.window.of(history).len()),
                _ => None,
            });
            assert_eq!(
                (n_seen, n_counted),
                (Some(repetition), frequency),
                "{dialect:?}"
            );
        }
    }
}
