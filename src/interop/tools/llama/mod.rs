//! llama.cpp's settings, under the names of llama-server's JSON: its flags and Ollama's parameters are
//! the same settings, said in other words.
//!
//! Read from llama.cpp's `common/common.h` (2026, commit 001d906), `common/sampling.cpp` (commit
//! 00efb3e) and `tools/server/server-schema.cpp` (2026, commit 0177c34), and from `api/types.go` and
//! `llm/llama_server.go` of Ollama (August 2026, commit fb30760), which hands its parameters to
//! llama-server.

mod read;
mod write;

pub(super) use self::read::read;
pub(super) use self::write::write;

use super::plan::{Manner, Slot};
use crate::decoding::dialect::Dialect;

/// Which words llama.cpp's settings are said in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// llama.cpp's command line.
    Flags,
    /// The body of a request to llama-server.
    Server,
    /// Ollama's parameters, which are fewer.
    Ollama,
}

/// Every sampler that can be put in another place, in the default order, and its stages.
const SAMPLERS: [(&str, &[Slot]); 9] = [
    ("penalties", PENALTIES),
    ("dry", &[Slot::Dry]),
    ("top_n_sigma", &[Slot::TopNSigma]),
    ("top_k", &[Slot::TopK]),
    ("typ_p", &[Slot::TypicalP]),
    ("top_p", &[Slot::TopP]),
    ("min_p", &[Slot::MinP]),
    ("xtc", &[Slot::Xtc]),
    (
        "temperature",
        &[Slot::Temperature, Slot::DynamicTemperature],
    ),
];

/// The one that picks instead of a plain draw, wherever it is listed.
const ADAPTIVE: &str = "adaptive_p";

const PENALTIES: &[Slot] = &[Slot::Repetition, Slot::Frequency, Slot::Presence];

const STAGES: [Slot; 13] = [
    Slot::Bias,
    Slot::Repetition,
    Slot::Frequency,
    Slot::Presence,
    Slot::Dry,
    Slot::TopNSigma,
    Slot::TopK,
    Slot::TypicalP,
    Slot::TopP,
    Slot::MinP,
    Slot::Xtc,
    Slot::Temperature,
    Slot::DynamicTemperature,
];

const OLLAMA_STAGES: [Slot; 8] = [
    Slot::Repetition,
    Slot::Frequency,
    Slot::Presence,
    Slot::TopK,
    Slot::TypicalP,
    Slot::TopP,
    Slot::MinP,
    Slot::Temperature,
];

/// Ollama's parameters that decide how tokens are chosen. The three of mirostat were taken by older
/// versions only.
pub(super) const OLLAMA_NAMES: [&str; 15] = [
    "seed",
    "num_predict",
    "stop",
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
    "repeat_last_n",
    "temperature",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
];

impl Words {
    /// What the tool is called in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flags => "llama.cpp",
            Self::Server => "llama-server",
            Self::Ollama => "Ollama",
        }
    }

    /// The dialect that they are read in.
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Flags | Self::Server => Dialect::LlamaCpp,
            Self::Ollama => Dialect::Ollama,
        }
    }

    fn manner(self) -> Manner {
        Manner {
            name: self.name(),
            stages: if self == Self::Ollama {
                &OLLAMA_STAGES
            } else {
                &STAGES
            },
            movable: if self == Self::Ollama { &[] } else { &SAMPLERS },
            rules: self.dialect().rules(),
            has_min_keep: self == Self::Server,
        }
    }
}
