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

use super::plan::{Manner, spelled_stages};
use crate::decoding::FilterKind;
use crate::decoding::dialect::Dialect;

/// The flavor of llama.cpp's settings: which tool reads or writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    /// llama.cpp's command line.
    Flags,
    /// The body of a request to llama-server.
    Server,
    /// Ollama's parameters, which are a subset.
    Ollama,
}

/// A sampler of `--samplers`, by its name, with the filters that it stands for.
pub(super) type Sampler = (&'static str, Vec<FilterKind>);

/// Returns every sampler that can be put in another place, in the default order.
fn samplers() -> Vec<Sampler> {
    let mut samplers: Vec<Sampler> = Vec::new();
    for kind in spelled_stages(Dialect::LlamaCpp) {
        let Some(name) = kind.spec().llama_samplers.first() else {
            continue;
        };
        match samplers.last_mut() {
            Some((last, kinds)) if last == name => kinds.push(kind),
            _ => samplers.push((name, vec![kind])),
        }
    }
    samplers
}

/// The sampler that replaces the final draw, wherever it is listed.
const ADAPTIVE: &str = "adaptive_p";

/// The filters that share one window.
const PENALTIES: [FilterKind; 3] = [
    FilterKind::RepetitionPenalty,
    FilterKind::FrequencyPenalty,
    FilterKind::PresencePenalty,
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

impl Flavor {
    /// Returns the tool's name for use in a sentence.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Flags => "llama.cpp",
            Self::Server => "llama-server",
            Self::Ollama => "Ollama",
        }
    }

    /// Returns the dialect of imported chains.
    pub(super) const fn dialect(self) -> Dialect {
        match self {
            Self::Flags | Self::Server => Dialect::LlamaCpp,
            Self::Ollama => Dialect::Ollama,
        }
    }

    fn manner(self, dialect: Option<Dialect>) -> Manner {
        if self == Self::Ollama && dialect == Some(Dialect::OllamaMlx) {
            return Manner {
                stages: Dialect::OllamaMlx.kinds().collect(),
                ..Manner::of(self.name(), Dialect::OllamaMlx)
            };
        }
        let movable = match self {
            Self::Ollama => Vec::new(),
            _ => samplers().into_iter().map(|(_, kinds)| kinds).collect(),
        };
        Manner {
            movable,
            has_min_keep: self == Self::Server,
            drafts: self != Self::Ollama,
            ..Manner::of(self.name(), self.dialect())
        }
    }
}
