//! How each engine orders and reads the same settings, as data: order, defaults and rules.
//!
//! This is the only place that states an engine's order and defaults. The tools that read and write
//! an engine's settings take them from here.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::FilterKind::{
    Dry, DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, GreenList, LogitBias,
    MinP, NoRepeatNgram, PresencePenalty, RepetitionPenalty, SynthId, Temperature, ThinkingBudget,
    TopH, TopK, TopNSigma, TopP, TypicalP, Xtc,
};
use super::filters::Window;
use super::rules::{BeamScores, Equal, Mass, Ties, TopPZero, TypicalRule};
use super::{ChainConfig, Filter, FilterKind, Rules, Stage};

/// An engine whose order, defaults and rules a chain can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// llama.cpp, including llama-server.
    LlamaCpp,
    /// Hugging Face transformers.
    Transformers,
    /// vLLM with its v1 sampler.
    Vllm,
    /// mistral.rs, an inference server written in Rust.
    MistralRs,
    /// candle with its `LogitsProcessor`.
    Candle,
    /// Ollama with a GGUF file, which it passes to llama-server since its PR #16031 (2026); read at
    /// commit fb30760 (August 2026).
    Ollama,
    /// Ollama with safetensors, which run in its MLX runner: `x/mlxrunner/sample/sample.go`, at the
    /// same commit.
    OllamaMlx,
    /// Services that speak `OpenAI`'s API.
    OpenAi,
}

impl Dialect {
    /// All dialects, in menu order.
    pub const ALL: [Self; 8] = [
        Self::LlamaCpp,
        Self::Transformers,
        Self::Vllm,
        Self::MistralRs,
        Self::Candle,
        Self::Ollama,
        Self::OllamaMlx,
        Self::OpenAi,
    ];

    /// The name as its authors write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Transformers => "Hugging Face transformers",
            Self::Vllm => "vLLM",
            Self::MistralRs => "mistral.rs",
            Self::Candle => "candle",
            Self::Ollama => "Ollama",
            Self::OllamaMlx => "Ollama (MLX)",
            Self::OpenAi => "OpenAI-style",
        }
    }

    /// The word for it in a `--pane` description.
    pub const fn key(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Transformers => "transformers",
            Self::Vllm => "vllm",
            Self::MistralRs => "mistral.rs",
            Self::Candle => "candle",
            Self::Ollama => "ollama",
            Self::OllamaMlx => "ollama-mlx",
            Self::OpenAi => "openai",
        }
    }

    /// The version whose source was read for its order, defaults and rules.
    pub const fn read_at(self) -> &'static str {
        match self {
            Self::LlamaCpp => "November 2026; its flags at commit 00dc805",
            Self::Transformers => "November 2026; its beam search at 5.24.0",
            Self::Vllm => "2026, commit 00388f6",
            Self::MistralRs => "November 2026",
            Self::Candle => "0.11",
            Self::Ollama | Self::OllamaMlx => "August 2026, commit fb30760",
            Self::OpenAi => "November 2026; its API reference",
        }
    }

    /// Its complete chain at its own defaults, including stages that are off by default.
    pub fn chain(self) -> ChainConfig {
        let filters = self.stages().iter().map(EngineStage::filter);
        ChainConfig {
            stages: filters.map(Stage::from).collect(),
            rules: self.rules(),
            dialect: Some(self),
            ..ChainConfig::sampled([])
        }
    }

    /// The filters that it has, in its order.
    pub fn kinds(self) -> impl Iterator<Item = FilterKind> {
        self.stages().iter().map(|stage| stage.kind)
    }

    /// The filter that it applies at this filter's place by default, or `None` if it has none.
    pub fn default_of(self, kind: FilterKind) -> Option<Filter> {
        let mut stages = self.stages().iter();
        let stage = stages.find(|stage| stage.kind.place() == kind.place())?;
        Some(stage.filter())
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
                beam_scores: BeamScores::LogProbs,
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
            Self::OllamaMlx => Rules {
                top_p_zero: TopPZero::Off,
                ..ours
            },
            Self::OpenAi => ours,
        }
    }

    /// What surprises people who come from another engine, one sentence each.
    pub const fn traps(self) -> &'static [&'static str] {
        match self {
            Self::LlamaCpp => &[
                "Temperature comes last, so every cut sees the model’s own probabilities",
                "Top-k 40, top-p 0.95 and min-p 0.05 are on by default",
                "Penalties look at the last 64 tokens, including the prompt",
                "If the sum equals p exactly, typical-p keeps one more token than needed; if a token \
                 was banned before it, it acts as top-p",
            ],
            Self::Transformers => &[
                "Temperature comes before the cuts, so a high one lets more tokens through",
                "Every token as likely as the k-th stays, so top-k can keep more than k",
                "Top-H comes before top-k, and considers the 100 most likely tokens",
                "Min-p comes after top-p and sees probabilities that temperature has changed",
                "The repetition penalty looks at the whole prompt",
                "In a beam search, penalties and bans act on log-probs, which are not normalized again",
            ],
            Self::Vllm => &[
                "Min-p comes before top-k and top-p, and after temperature",
                "Frequency and presence penalty ignore the prompt; the repetition penalty does not",
                "Every token as likely as the k-th stays, so top-k can keep more than k",
            ],
            Self::MistralRs => &[
                "Min-p comes last, drops a token exactly at its threshold, and is off at 1",
                "A top-p of 0 is off; elsewhere it keeps one token",
                "Frequency and presence penalty ignore the prompt; the repetition penalty does not",
            ],
            Self::Candle => &[
                "After top-k, top-p also counts the probability of the tokens that top-k dropped, so it \
                 keeps more than elsewhere, or everything if top-k left less than p",
                "A top-p of 0 is off; elsewhere it keeps one token",
            ],
            Self::Ollama => &[
                "Top-k 40, top-p 0.9 and temperature 0.8 are on by default",
                "Penalties look at the last 64 tokens, including the prompt",
                "This is the order for GGUF files, which Ollama passes to llama-server since 2026 (read \
                 at commit fb30760); safetensors run in its MLX runner, which orders otherwise",
            ],
            Self::OllamaMlx => &[
                "Top-k comes first, and temperature before top-p and min-p, unlike for GGUF files",
                "A top-p of 0 is off; elsewhere it keeps one token",
                "There is no typical-p, and penalties look at the last 64 tokens, including the prompt",
            ],
            Self::OpenAi => &[
                "There is no top-k and no min-p, only temperature and top-p",
                "Frequency and presence penalty ignore the prompt",
            ],
        }
    }

    const fn stages(self) -> &'static [EngineStage] {
        match self {
            Self::LlamaCpp => &LLAMA_CPP,
            Self::Transformers => TRANSFORMERS,
            Self::Vllm => VLLM,
            Self::MistralRs => MISTRAL_RS,
            Self::Candle => CANDLE,
            Self::Ollama => &OLLAMA,
            Self::OllamaMlx => OLLAMA_MLX,
            Self::OpenAi => OPENAI,
        }
    }
}

/// A stage of an engine's chain, off unless a default switches it on.
struct EngineStage {
    kind: FilterKind,
    /// The default of its first number; `None` is neutral.
    value: Option<f32>,
    /// The window, for a filter that looks back.
    window: Option<Window>,
}

const fn stage(kind: FilterKind) -> EngineStage {
    EngineStage {
        kind,
        value: None,
        window: None,
    }
}

impl EngineStage {
    const fn at(self, value: f32) -> Self {
        Self {
            value: Some(value),
            ..self
        }
    }

    const fn over(self, window: Window) -> Self {
        Self {
            window: Some(window),
            ..self
        }
    }

    fn filter(&self) -> Filter {
        let spec = self.kind.spec();
        let mut filter = spec.neutral();
        if let (Some(value), Some(param)) = (self.value, spec.params.first()) {
            param.set(&mut filter, f64::from(value));
        }
        if let (Some(engines), Some(window)) = (self.window, filter.window_mut()) {
            *window = engines;
        }
        filter
    }
}

const LLAMA_CPP: [EngineStage; 13] = llama_cpp(0.95, 0.05);

/// Ollama passes its parameters to llama-server.
const OLLAMA: [EngineStage; 13] = llama_cpp(0.9, 0.0);

const OLLAMA_MLX: &[EngineStage] = &[
    stage(RepetitionPenalty).over(Window::LAST_64),
    stage(PresencePenalty).over(Window::LAST_64),
    stage(FrequencyPenalty).over(Window::LAST_64),
    stage(TopK).at(40.0),
    stage(Temperature).at(0.8),
    stage(TopP).at(0.9),
    stage(MinP),
];

const fn llama_cpp(top_p: f32, min_p: f32) -> [EngineStage; 13] {
    [
        stage(ThinkingBudget),
        stage(LogitBias),
        stage(RepetitionPenalty).over(Window::LAST_64),
        stage(FrequencyPenalty).over(Window::LAST_64),
        stage(PresencePenalty).over(Window::LAST_64),
        stage(Dry).over(Window::LAST_64),
        stage(TopNSigma),
        stage(TopK).at(40.0),
        stage(TypicalP),
        stage(TopP).at(top_p),
        stage(MinP).at(min_p),
        stage(Xtc),
        stage(DynamicTemperature).at(0.8),
    ]
}

const TRANSFORMERS: &[EngineStage] = &[
    stage(LogitBias),
    stage(RepetitionPenalty).over(Window::ALL),
    stage(NoRepeatNgram).over(Window::ALL),
    stage(Temperature),
    stage(TopH),
    stage(TopK).at(50.0),
    stage(TopP),
    stage(MinP),
    stage(TypicalP),
    stage(EpsilonCutoff),
    stage(EtaCutoff),
    stage(GreenList),
    stage(SynthId),
];

const VLLM: &[EngineStage] = &[
    stage(LogitBias),
    stage(RepetitionPenalty).over(Window::ALL),
    stage(FrequencyPenalty).over(Window::GENERATED),
    stage(PresencePenalty).over(Window::GENERATED),
    stage(ThinkingBudget),
    stage(Temperature),
    stage(MinP),
    stage(TopK),
    stage(TopP),
];

const MISTRAL_RS: &[EngineStage] = &[
    stage(Dry).over(Window::ALL),
    stage(FrequencyPenalty).over(Window::GENERATED),
    stage(PresencePenalty).over(Window::GENERATED),
    stage(RepetitionPenalty).over(Window::ALL),
    stage(LogitBias),
    stage(Temperature),
    stage(TopK),
    stage(TopP),
    stage(MinP),
];

const CANDLE: &[EngineStage] = &[
    stage(RepetitionPenalty).over(Window::LAST_64),
    stage(Temperature),
    stage(TopK),
    stage(TopP),
];

const OPENAI: &[EngineStage] = &[
    stage(LogitBias),
    stage(FrequencyPenalty).over(Window::GENERATED),
    stage(PresencePenalty).over(Window::GENERATED),
    stage(Temperature),
    stage(TopP),
];
