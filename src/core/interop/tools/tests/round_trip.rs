//! Exported settings produce the same distribution when imported again, unless a note says
//! otherwise.

use super::{config, vocabulary};
use crate::decoding::filters::{
    Dry, DynamicTemperature, EpsilonCutoff, FrequencyPenalty, LogitBias, MinP, NoRepeatNgram,
    PresencePenalty, RepetitionPenalty, Temperature, TokenBias, TopH, TopK, TopNSigma, TopP,
    TypicalP, Window, Xtc,
};
use crate::decoding::testing::token_ids;
use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Selector, TokenId};
use crate::generation::{GenerationConfig, Limits};
use crate::interop::tools::plan::other_draws;
use crate::interop::tools::{Tool, export_settings, import_settings, vllm};

const N_TOKENS: u32 = 8;

/// Reproducible random numbers.
struct Dice {
    seed: u64,
    n_thrown: u64,
}

impl Dice {
    /// A number in [0, 1).
    fn share(&mut self) -> f32 {
        self.n_thrown += 1;
        let coins = Coins {
            seed: self.seed,
            position: self.n_thrown,
        };
        (coins.draw() * 1000.0).floor() as f32 / 1000.0
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.share() * n as f32)
            .floor()
            .to_string()
            .parse()
            .unwrap()
    }

    fn window(&mut self) -> Window {
        [Window::ALL, Window::GENERATED, Window::LAST_64][self.below(3) as usize]
    }

    fn filter(&mut self) -> Filter {
        let window = self.window();
        let (share, token) = (self.share(), TokenId(self.below(N_TOKENS)));
        let penalty = share * 2.0;
        match self.below(15) {
            0 => Filter::TopK(TopK {
                k: self.below(N_TOKENS + 2),
            }),
            1 => Filter::TopP(TopP { p: share }),
            2 => Filter::MinP(MinP { p: share }),
            3 => Filter::Temperature(Temperature {
                temperature: share * 2.0,
            }),
            4 => Filter::DynamicTemperature(DynamicTemperature {
                temperature: 1.0,
                range: share,
                exponent: 1.5,
            }),
            5 => Filter::RepetitionPenalty(RepetitionPenalty {
                penalty: penalty + 0.1,
                window,
            }),
            6 => Filter::FrequencyPenalty(FrequencyPenalty { penalty, window }),
            7 => Filter::PresencePenalty(PresencePenalty { penalty, window }),
            8 => Filter::TopNSigma(TopNSigma { n: share * 3.0 }),
            9 => Filter::Xtc(Xtc {
                probability: 1.0,
                threshold: share / 2.0,
            }),
            10 => Filter::LogitBias(LogitBias {
                biases: vec![TokenBias {
                    token,
                    bias: share * 4.0 - 2.0,
                }],
                banned: vec![TokenId(self.below(N_TOKENS))],
            }),
            11 => Filter::Dry(Dry {
                window,
                breakers: vec![],
                ..Dry::default()
            }),
            13 => Filter::TopH(TopH { h: share }),
            12 => Filter::TypicalP(TypicalP { p: share }),
            _ if share < 0.5 => Filter::NoRepeatNgram(NoRepeatNgram { n: 2, window }),
            _ => Filter::EpsilonCutoff(EpsilonCutoff {
                epsilon: share / 4.0,
            }),
        }
    }

    fn chain(&mut self, tool: Tool) -> ChainConfig {
        let n_filters = self.below(4);
        let filters: Vec<Filter> = (0..n_filters).map(|_| self.filter()).collect();
        let mut chain = ChainConfig::sampled(filters);
        if self.below(4) == 0 {
            chain.selector = Selector::Greedy;
        }
        // Half of the chains use the tool's rules for ties, as after an import.
        if self.below(2) == 0 {
            chain.rules =
                import_settings(&export_settings(tool, &config("greedy"), None).text, None)
                    .unwrap()
                    .chain
                    .rules;
        }
        chain
    }
}

/// The probability that each token is picked.
fn outcome(chain: &ChainConfig, logits: &[f32], history: &[TokenId]) -> Vec<f64> {
    let coins = Coins {
        seed: 3,
        position: 7,
    };
    let left = SamplerChain::new(chain.clone())
        .distribution(logits, History::new(history, 4), coins)
        .unwrap();
    let mut probs = vec![0.0; logits.len()];
    for candidate in &left {
        probs[candidate.token.index()] = candidate.prob;
    }
    if chain.selector == Selector::Greedy {
        let best = left[0].token;
        probs = vec![0.0; logits.len()];
        probs[best.index()] = 1.0;
    }
    probs
}

/// What is always said when a tool's own settings are read back.
fn notes_on(tool: Tool) -> &'static [&'static str] {
    match tool {
        Tool::Vllm => &[vllm::AMBIGUOUS],
        _ => &[],
    }
}

#[test]
fn random_chains_keep_their_distribution_in_a_round_trip() {
    let vocabulary = vocabulary();
    let history = token_ids(&[0, 1, 4, 0, 4, 0, 7]);
    for tool in Tool::ALL {
        let mut n_compared = 0;
        for seed in 0..1500 {
            let mut dice = Dice { seed, n_thrown: 0 };
            let config = GenerationConfig {
                chain: dice.chain(tool),
                seed: 42,
                limits: Limits::default(),
            };
            let written = export_settings(tool, &config, Some(&vocabulary));
            let read = import_settings(&written.text, Some(&vocabulary))
                .unwrap_or_else(|error| panic!("{}\n{error}", written.text));
            assert_eq!(read.tool, tool, "{}", written.text);
            assert_eq!(read.max_new_tokens, Some(200));
            let name = [
                "llama.cpp",
                "llama-server",
                "transformers",
                "Ollama",
                "OpenAI",
                "vLLM",
            ];
            let is_lost =
                |sentence: &String| !name.iter().any(|name| *sentence == other_draws(name, 42));
            if written.notes.iter().any(is_lost) {
                continue;
            }
            n_compared += 1;
            assert_eq!(read.ignored, notes_on(tool), "{}", written.text);
            let logits: Vec<f32> = (0..N_TOKENS).map(|_| dice.share() * 8.0 - 4.0).collect();
            let before = outcome(&config.chain, &logits, &history);
            let after = outcome(&read.chain, &logits, &history);
            for (before, after) in before.iter().zip(&after) {
                assert!(
                    (before - after).abs() < 1e-6,
                    "{}\n{}\n{}",
                    config.chain,
                    written.text,
                    read.chain
                );
            }
        }
        // Make sure that enough chains were compared.
        assert!(n_compared > 250, "{tool:?}: {n_compared}");
    }
}

#[test]
fn a_chain_keeps_its_stages_its_order_and_its_selector() {
    use Tool::{LlamaCpp, LlamaServer, Ollama, OpenAi, Transformers};
    for (tools, description) in [
        (&Tool::ALL[..], "sample"),
        (&Tool::ALL, "greedy"),
        (&Tool::ALL, "temp 0.7"),
        (&[LlamaCpp, LlamaServer], "temp 0.7, top-p 0.9, min-p 0.05"),
        (
            &[LlamaCpp, LlamaServer],
            "xtc 0.5 threshold 0.2, top-nσ 1, dyn-temp 1 range 0.5 exponent 2, dry 1 base 2",
        ),
        (
            &[LlamaCpp, LlamaServer],
            "bias 3 1 ban 4, temp 0.7, mirostat 5 eta 0.2",
        ),
        (&[LlamaCpp, LlamaServer], "temp 2, mirostat-1 3 eta 0.1"),
        (
            &[LlamaCpp, LlamaServer],
            "temp 2, min-p 0.1, adaptive-p 0.4 decay 0.8",
        ),
        (
            &[LlamaCpp, LlamaServer],
            "typical-p 0.9, greedy, dialect llama.cpp",
        ),
        (
            &[LlamaCpp, LlamaServer, Ollama],
            "repeat 1.1 last 32, presence 0.5 last 32, top-k 40, top-p 0.9, temp 0.7",
        ),
        (
            &[Transformers],
            "bias 3 1, repeat 1.1 last all, no-repeat 2 last all, temp 0.7, top-p 0.9, min-p 0.1, epsilon 0.001, eta 0.001",
        ),
        (
            &[Transformers],
            "top-k 5, typical-p 0.9, dialect transformers",
        ),
        (
            &[OpenAi],
            "bias 3 1 ban 4, frequency 1 last all generated, presence -1 last all generated, temp 0.7, top-p 0.9",
        ),
    ] {
        for tool in tools {
            let config = config(description);
            let written = export_settings(*tool, &config, Some(&vocabulary()));
            assert!(written.notes.len() <= 1, "{:?}", written.notes);
            let read = import_settings(&written.text, Some(&vocabulary())).unwrap();
            let active = |chain: &ChainConfig| chain.active().cloned().collect::<Vec<_>>();
            assert_eq!(
                active(&read.chain),
                active(&config.chain),
                "{tool:?} {description}"
            );
            assert_eq!(
                read.chain.selector, config.chain.selector,
                "{tool:?} {description}"
            );
            let draws = config.chain.selector != Selector::Greedy;
            assert_eq!(read.seed, draws.then_some(42), "{tool:?} {description}");
            assert_eq!(read.ignored, notes_on(*tool), "{tool:?} {description}");
        }
    }
}

#[test]
fn stop_sequences_survive_a_round_trip() {
    let stop_strings: Vec<String> = ["\n\n", "User:", "say \"it's\"", "\\n"]
        .map(String::from)
        .to_vec();
    for tool in Tool::ALL {
        let mut config = config("temp 0.7");
        config.limits.stop_strings.clone_from(&stop_strings);
        let text = export_settings(tool, &config, None).text;
        let read = import_settings(&text, None).unwrap();
        assert_eq!(read.stop_strings.as_ref(), Some(&stop_strings), "{text}");
    }
}
