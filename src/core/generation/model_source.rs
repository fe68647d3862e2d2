//! Where a model comes from, and what writes in a pane.

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

/// What writes in a pane that does not use the model that is open in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaneModel {
    Server(ServedModel),
    /// A model on this computer.
    #[serde(untagged)]
    Local(ModelSource),
}

/// A model that a server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedModel {
    /// The server's address: `http://127.0.0.1:8080`.
    pub address: String,
    /// The name of the model on the server, or `None` for the first one that it lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the server's own sampler chooses the tokens, rather than Quartet's chain.
    #[serde(default)]
    pub own_sampler: bool,
}

impl PaneModel {
    /// Returns where a model on this computer comes from, or `None` for one on a server.
    pub const fn local(&self) -> Option<&ModelSource> {
        match self {
            Self::Local(source) => Some(source),
            Self::Server(_) => None,
        }
    }

    /// Returns the model on a server, or `None` for one on this computer.
    pub const fn served(&self) -> Option<&ServedModel> {
        match self {
            Self::Server(served) => Some(served),
            Self::Local(_) => None,
        }
    }
}

impl From<ModelSource> for PaneModel {
    fn from(source: ModelSource) -> Self {
        Self::Local(source)
    }
}

impl ServedModel {
    /// Returns the server's name without the scheme: "127.0.0.1:8080".
    pub fn host(&self) -> &str {
        let address = self.address.trim();
        let address = address.split_once("://").map_or(address, |(_, host)| host);
        address.split('/').next().unwrap_or(address)
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelSource, PaneModel, ServedModel};

    #[test]
    fn settings_of_earlier_versions_name_models_on_this_computer() {
        let read = |json: &str| serde_json::from_str::<PaneModel>(json).unwrap();
        assert_eq!(read("\"embedded\""), ModelSource::Embedded.into());
        let path = ModelSource::Path("a.gguf".into());
        assert_eq!(read("{\"path\": \"a.gguf\"}"), path.into());
        let served = ServedModel {
            address: "http://127.0.0.1:8080/v1".to_owned(),
            model: None,
            own_sampler: true,
        };
        assert_eq!(served.host(), "127.0.0.1:8080");
        let written = serde_json::to_string(&PaneModel::Server(served.clone())).unwrap();
        assert_eq!(read(&written), PaneModel::Server(served));
    }
}
