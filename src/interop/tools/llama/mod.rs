//! llama.cpp's settings, by their names in llama-server's JSON. llama.cpp's flags and Ollama's
//! parameters are the same settings in other formats.
//!
//! Sources: llama.cpp's `common/common.h` (2026, commit 001d906), `common/sampling.cpp` (commit
//! 00efb3e) and `tools/server/server-schema.cpp` (2026, commit 0177c34); `api/types.go` and
//! `llm/llama_server.go` of Ollama (August 2026, commit fb30760), which passes its parameters on to
//! llama-server.

mod read;
mod write;

pub(super) use self::read::read;
pub(super) use self::write::write;

use super::plan::{Manner, Slot};
use crate::decoding::dialect::Dialect;

/// The flavor of llama.cpp's settings: which tool reads or writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// llama.cpp's command line.
    Flags,
    /// The body of a request to llama-server.
    Server,
    /// Ollama's parameters, which are a subset.
    Ollama,
}

/// Every sampler that can be reordered and its stages, in the default order.
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

/// The sampler that replaces the final draw, wherever it is listed.
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

/// Ollama's sampling parameters. Only older versions accept the three of mirostat.
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
    /// Returns the tool's name for use in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flags => "llama.cpp",
            Self::Server => "llama-server",
            Self::Ollama => "Ollama",
        }
    }

    /// Returns the dialect of imported chains.
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
