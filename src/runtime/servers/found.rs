//! What was found at a server's address.

use super::ServerKind;
use crate::generation::{Implementation, ModelInfo, Provenance};

/// A server and the model that it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    pub kind: ServerKind,
    /// Its name in messages: "127.0.0.1:8080".
    pub host: String,
    /// The model's name, as it is shown and recorded: of a path of the server, the file's name.
    pub model: String,
    /// The model's name in requests, as the server spells it. Neither shown nor recorded.
    pub id: String,
    /// The server's version; empty if unknown.
    pub version: String,
    pub architecture: String,
    pub n_params: u64,
    pub quantization: String,
    pub n_vocab: Option<usize>,
    pub n_context: Option<usize>,
    /// How many texts it writes at the same time; `None` if unknown.
    pub n_slots: Option<usize>,
    pub has_chat_template: bool,
    /// Whether Ollama runs the model in its MLX runner, as it does with safetensors.
    pub runs_in_mlx: bool,
    /// The names of the special tokens that begin and end a text; empty if not reported.
    pub begin_name: String,
    pub end_name: String,
}

impl ServerInfo {
    /// Creates the properties that are known before any further request.
    pub fn new(kind: ServerKind, host: &str, id: &str) -> Self {
        Self {
            kind,
            host: host.to_owned(),
            model: model_name(id).to_owned(),
            id: id.to_owned(),
            version: String::new(),
            architecture: String::new(),
            n_params: 0,
            quantization: String::new(),
            n_vocab: None,
            n_context: None,
            n_slots: None,
            has_chat_template: false,
            runs_in_mlx: false,
            begin_name: String::new(),
            end_name: String::new(),
        }
    }

    /// Returns what a run records about it: the kind and the model, but neither address nor key.
    pub fn model_info(&self) -> ModelInfo {
        ModelInfo {
            name: self.model.clone(),
            architecture: self.architecture.clone(),
            implementation: Implementation::Server,
            n_params: self.n_params,
            quantization: self.quantization.clone(),
            formats: Vec::new(),
            device: if self.version.is_empty() {
                self.kind.name().to_owned()
            } else {
                format!("{} {}", self.kind.name(), self.version)
            },
            n_threads: None,
            n_vocab: self.n_vocab.unwrap_or_default(),
            n_context: self.n_context.unwrap_or_default(),
            file: String::new(),
            sha256: String::new(),
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..Provenance::default()
            },
        }
    }

    /// Returns whether the server renders chat messages as prompts.
    pub fn renders_chat(&self) -> bool {
        self.has_chat_template
    }

    /// Returns whether a special token with this name ends a text.
    pub(super) fn is_end(&self, name: &str) -> bool {
        const ENDS: [&str; 9] = [
            "</s>",
            "<|endoftext|>",
            "<|end_of_text|>",
            "<|eot_id|>",
            "<|eom_id|>",
            "<|im_end|>",
            "<|end|>",
            "<end_of_turn>",
            "<eos>",
        ];
        name == self.end_name || ENDS.contains(&name)
    }

    /// Returns sentences about what to expect from this kind of server.
    pub fn remarks(&self) -> Vec<&'static str> {
        self.kind.api().spec().remarks.to_vec()
    }
}

/// Returns a model's name without the folders of the server: the part of a path after its last
/// separator. A name such as `owner/model` is no path.
pub(super) fn model_name(id: &str) -> &str {
    let is_absolute = id.starts_with(['/', '~', '.']) || id.contains('\\');
    let has_drive = id.get(1..3).is_some_and(|rest| rest == ":/");
    let is_file = [".gguf", ".bin", ".safetensors"]
        .iter()
        .any(|extension| id.to_ascii_lowercase().ends_with(extension));
    if is_absolute || has_drive || is_file {
        file_name(id)
    } else {
        id
    }
}

/// Returns the part of a path after its last separator, on whatever system the server runs.
pub(super) fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::model_name;

    #[test]
    fn a_path_of_the_server_is_shown_by_its_file_name() {
        for (id, name) in [
            ("/home/ann/models/story.gguf", "story.gguf"),
            ("C:\\Users\\Ann\\story.gguf", "story.gguf"),
            ("D:/models/story", "story"),
            ("~/models/Llama-3/", "Llama-3"),
            ("./story.bin", "story.bin"),
            ("models/story.GGUF", "story.GGUF"),
            ("meta-llama/Llama-3-8B", "meta-llama/Llama-3-8B"),
            ("hf.co/owner/story:Q4_K_M", "hf.co/owner/story:Q4_K_M"),
            ("gpt-4.1", "gpt-4.1"),
            ("", ""),
        ] {
            assert_eq!(model_name(id), name);
        }
    }
}
