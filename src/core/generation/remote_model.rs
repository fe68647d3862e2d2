//! A model that is not on this computer: its files, as far as they are known, and whether it opens.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A file that is not on this computer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteFile {
    /// The size of the whole file.
    pub n_bytes: u64,
    /// The first bytes of the file, as far as they are known.
    pub start: Arc<Vec<u8>>,
}

/// A model that is not on this computer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteModel {
    /// The name of its repository, such as "Qwen/Qwen3-0.6B-GGUF".
    pub repository: String,
    /// The path of its GGUF file (the first one if it is split), or `None` for safetensors.
    pub gguf: Option<String>,
    /// All files of the repository, by path.
    pub files: BTreeMap<String, RemoteFile>,
}

/// How much of a model is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// Its configuration, for which a few kilobytes are enough.
    Configuration,
    /// Everything that can be checked without the values of its weights: its configuration, its
    /// tokenizer, and the names, shapes and types of its tensors.
    Headers,
}

/// The answer to whether a model opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteCheck {
    Opens {
        /// Whether only the text part of a model opens that also reads images or sound.
        text_only: bool,
    },
    /// It depends on more bytes: each of these files must be known up to this many bytes.
    Undecided(BTreeMap<String, u64>),
    /// It does not open, for this reason, which can be shown to the user.
    Refused(String),
}

/// Whether a model opens, as far as is known without downloading it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Openness {
    #[default]
    Unknown,
    Opens,
    /// The text part of a model that also reads images or sound opens.
    OpensAsTextOnly,
    NotYet {
        /// What it is that does not open, as a phrase or a sentence.
        reason: String,
    },
}

impl fmt::Display for Openness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("not known to open"),
            Self::Opens => f.write_str("opens"),
            Self::OpensAsTextOnly => f.write_str("opens as text only"),
            Self::NotYet { reason } => write!(f, "not yet: {reason}"),
        }
    }
}

impl Openness {
    /// Returns whether the model certainly does not open.
    pub const fn is_refused(&self) -> bool {
        matches!(self, Self::NotYet { .. })
    }
}
