//! What opens, as the engine decides. The Hub itself knows no architectures.

use serde_json::Value;

use crate::generation::{CheckDepth, Openness, RemoteCheck, RemoteModel};

/// What opens, as the engine decides. By default, everything is unknown.
#[derive(Debug, Clone, Copy)]
pub struct Openable {
    /// Returns whether a folder of safetensors opens, as far as the names of its files and the
    /// Hub's extract of its `config.json` tell.
    pub folder: fn(&RemoteModel, &Value) -> Openness,
    /// Returns whether GGUF files of this `general.architecture` open.
    pub gguf: fn(&str) -> Openness,
    /// Checks a model as far as its files are known.
    pub check: fn(&RemoteModel, CheckDepth) -> RemoteCheck,
}

impl Default for Openable {
    fn default() -> Self {
        Self {
            folder: |_, _| Openness::Unknown,
            gguf: |_| Openness::Unknown,
            check: |_, _| RemoteCheck::Undecided([].into()),
        }
    }
}
