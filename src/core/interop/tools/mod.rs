//! Converting a pane's settings to the formats of other tools and back. The result means the same
//! there, and whatever can't be expressed is reported.
//!
//! Tools differ in their filter order, defaults and edge cases. Exporting switches off the tool's
//! defaults that the chain does not use, and states the order if the tool allows it. Importing
//! returns the chain that the text means in that tool, in its dialect. Pure functions of text and
//! settings: this module knows nothing about files, the clipboard or windows, and never executes
//! what it reads.

mod beams;
mod biases;
mod breakers;
mod command;
mod detect;
mod differences;
mod drafts;
mod fields;
mod flags;
mod grammar;
mod guidance;
mod llama;
mod modelfile;
mod openai;
mod plan;
mod python;
mod request;
mod strings;
#[cfg(test)]
mod tests;
mod thoughts;
mod transformers;
mod value;
mod vllm;
mod watermark;
mod yaml;

pub use self::breakers::default_breakers;
pub use self::detect::import_settings;
pub use self::differences::Difference;
pub use self::request::{RequestedChain, read_llama_request, read_request};

use self::differences::Written;
use self::llama::Flavor;
use self::value::NamedValues;
use crate::decoding::ChainConfig;
use crate::generation::{GenerationConfig, Vocabulary};

/// A tool whose settings can be exported and imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Command-line flags of llama.cpp's programs.
    LlamaCpp,
    /// The JSON body of a request to llama-server.
    LlamaServer,
    /// A Python call to transformers' `generate`.
    Transformers,
    /// The `PARAMETER` lines of an Ollama Modelfile.
    Ollama,
    /// The JSON body of a request to an OpenAI-compatible service.
    OpenAi,
    /// The JSON body of a request to vLLM, or a call of its `SamplingParams`.
    Vllm,
}

impl Tool {
    /// All tools, in menu order.
    pub const ALL: [Self; 6] = [
        Self::LlamaCpp,
        Self::LlamaServer,
        Self::Transformers,
        Self::Ollama,
        Self::OpenAi,
        Self::Vllm,
    ];

    /// Returns the format's name, as shown in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp flags",
            Self::LlamaServer => "llama-server JSON",
            Self::Transformers => "transformers (Python)",
            Self::Ollama => "Ollama Modelfile",
            Self::OpenAi => "OpenAI JSON",
            Self::Vllm => "vLLM JSON",
        }
    }
}

/// Settings in a tool's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedSettings {
    /// The text to paste. It ends in a line break if it has several lines.
    pub text: String,
    /// What the text does not express or what works differently there, one sentence each.
    pub notes: Vec<String>,
}

/// Settings that were imported from a tool's format.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSettings {
    pub tool: Tool,
    /// The chain that the text means in that tool, with its order, defaults and rules.
    pub chain: ChainConfig,
    /// `None` if the text sets no seed or requests a random one.
    pub seed: Option<u64>,
    /// `None` if the text sets no limit.
    pub max_new_tokens: Option<usize>,
    /// `None` if the text sets no stop sequences.
    pub stop_strings: Option<Vec<String>>,
    /// The settings that were not imported, one sentence each.
    pub ignored: Vec<String>,
}

/// Converts a configuration to a tool's format. The vocabulary is needed for DRY's sequence breakers
/// and the tags of a thinking budget, which are tokens in Quartet and strings in llama.cpp.
pub fn export_settings(
    tool: Tool,
    config: &GenerationConfig,
    vocabulary: Option<&Vocabulary>,
) -> ExportedSettings {
    let (text, notes) = match tool {
        Tool::LlamaCpp => {
            let written = llama::write(Flavor::Flags, config, vocabulary);
            (flags::write(&written.fields), written.notes)
        }
        Tool::LlamaServer => {
            let written = llama::write(Flavor::Server, config, vocabulary);
            (json(&written.fields), written.notes)
        }
        Tool::Transformers => transformers::write(config),
        Tool::Ollama => {
            let written = llama::write(Flavor::Ollama, config, vocabulary);
            (modelfile::write(&written.fields), written.notes)
        }
        Tool::OpenAi => {
            let written = openai::write(openai::Flavor::OpenAi, config);
            (json(&written.fields), written.notes)
        }
        Tool::Vllm => {
            let written = openai::write(openai::Flavor::Vllm, config);
            (json(&written.fields), written.notes)
        }
    };
    ExportedSettings { text, notes }
}

/// A server whose requests state the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFormat {
    LlamaServer,
    Ollama,
    OpenAi,
    Vllm,
}

/// The settings of a request to a server.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSettings {
    /// Fields of llama-server's, OpenAI's or vLLM's JSON, or Ollama's options.
    pub fields: serde_json::Map<String, serde_json::Value>,
    /// Like those of [`ExportedSettings`].
    pub notes: Vec<String>,
    /// What the server's sampler has, but applies otherwise.
    pub differences: Vec<Difference>,
}

/// Converts a configuration to the fields of a request to a server.
pub fn request_settings(format: RequestFormat, config: &GenerationConfig) -> RequestSettings {
    let Written {
        fields,
        notes,
        differences,
    } = match format {
        RequestFormat::LlamaServer => llama::write(Flavor::Server, config, None),
        RequestFormat::Ollama => llama::write(Flavor::Ollama, config, None),
        RequestFormat::OpenAi => openai::write(openai::Flavor::OpenAi, config),
        RequestFormat::Vllm => openai::write(openai::Flavor::Vllm, config),
    };
    let json = |value: value::Value| serde_json::from_str(&value.json()).unwrap_or_default();
    let fields = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), json(value)));
    RequestSettings {
        fields: fields.collect(),
        notes,
        differences,
    }
}

/// Formats a JSON object with one entry per line.
fn json(fields: &NamedValues) -> String {
    let entries: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("  \"{name}\": {}", value.json()))
        .collect();
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}
