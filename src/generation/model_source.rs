//! Where a model comes from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSource {
    /// The model built into the program.
    Embedded,
    /// A GGUF file, or a folder with `config.json`, `tokenizer.json` and safetensors.
    Path(PathBuf),
}

impl ModelSource {
    /// Returns the file or the folder, or `None` for the built-in model.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Embedded => None,
            Self::Path(path) => Some(path),
        }
    }

    /// Returns what to call a model that has not been read yet.
    pub fn name(&self) -> String {
        let Some(path) = self.path() else {
            return "Quartet Stories".to_owned();
        };
        let name = path.file_stem().or_else(|| path.file_name());
        name.map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        )
    }
}
