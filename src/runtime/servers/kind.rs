//! The kinds of servers, and what each can report.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The program that serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerKind {
    LlamaServer,
    Vllm,
    Ollama,
    /// Anything else with OpenAI's completions API.
    #[serde(rename = "openai")]
    OpenAi,
}

impl ServerKind {
    /// All kinds, in menu order.
    pub const ALL: [Self; 4] = [Self::LlamaServer, Self::Vllm, Self::Ollama, Self::OpenAi];

    /// Returns its name, as shown and recorded.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaServer => "llama-server",
            Self::Vllm => "vLLM",
            Self::Ollama => "Ollama",
            Self::OpenAi => "OpenAI-compatible server",
        }
    }

    /// Returns its name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::LlamaServer => "llama-server",
            Self::Vllm => "vllm",
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
        }
    }

    /// Returns whether it identifies tokens by ids, so that a text is continued token by token.
    pub const fn has_ids(self) -> bool {
        matches!(self, Self::LlamaServer | Self::Vllm)
    }

    /// Returns how many log-probabilities to request by default. llama-server has no limit; the
    /// others refuse more unless they were configured otherwise at startup.
    pub const fn default_n_probs(self) -> usize {
        match self {
            Self::LlamaServer => 128,
            Self::Vllm | Self::Ollama => 20,
            Self::OpenAi => 5,
        }
    }
}

impl FromStr for ServerKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.word() == word).ok_or_else(|| {
            let words = Self::ALL.map(Self::word).join(", ");
            format!("{word:?} is not a kind of server; choose one of {words}")
        })
    }
}
