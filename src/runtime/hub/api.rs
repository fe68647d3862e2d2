//! The responses of the Hub's API, as far as Quartet reads them.

use serde::Deserialize;

/// A model repository.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelInfo {
    /// The name, such as "Qwen/Qwen3-0.6B-GGUF".
    pub id: String,
    /// The commit that the response describes.
    pub sha: Option<String>,
    /// The files. Their sizes and checksums are given on request only.
    pub siblings: Option<Vec<Sibling>>,
    pub downloads: Option<u64>,
    pub likes: Option<u64>,
    /// `false`, "auto" or "manual".
    pub gated: Option<serde_json::Value>,
    pub last_modified: Option<String>,
    #[serde(rename = "pipeline_tag")]
    pub pipeline_tag: Option<String>,
    pub tags: Option<Vec<String>>,
    /// The metadata of the model card. Its schema varies by library.
    pub card_data: Option<serde_json::Value>,
    #[serde(rename = "library_name")]
    pub library_name: Option<serde_json::Value>,
    /// The Hub's extract of `config.json`: `architectures`, `model_type`, `quantization_config`.
    pub config: Option<serde_json::Value>,
    /// The Hub's extract of a GGUF file's metadata: `architecture`, and `total`, its parameters.
    pub gguf: Option<serde_json::Value>,
    /// The number of parameters of each type, and their `total`.
    pub safetensors: Option<serde_json::Value>,
}

/// A file of a repository.
#[derive(Debug, Deserialize)]
pub(super) struct Sibling {
    pub rfilename: String,
    pub size: Option<u64>,
    pub lfs: Option<Lfs>,
}

/// How a large file is stored.
#[derive(Debug, Deserialize)]
pub(super) struct Lfs {
    pub sha256: Option<String>,
}

/// A file or folder at a commit.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum TreeEntry {
    File {
        path: String,
        size: u64,
        /// The git hash, which for a large file is that of its LFS pointer.
        oid: String,
        lfs: Option<serde::de::IgnoredAny>,
    },
    #[serde(other)]
    Other,
}
