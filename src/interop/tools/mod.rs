//! A pane's settings in the words of other tools, and back: what is written there means the same
//! there, and what cannot be said is told.
//!
//! Each tool has its own order, defaults and edges. A writer switches off the defaults that the chain
//! does not have and says the order where the tool lets it; a reader gives the chain that the text
//! means in that tool, whose dialect it speaks. Pure functions of text and settings: this module
//! knows no file, no clipboard and no window, and runs nothing that it reads.

mod biases;
mod breakers;
mod fields;
mod flags;
mod llama;
mod modelfile;
mod openai;
mod plan;
mod python;
mod recognise;
mod strings;
#[cfg(test)]
mod tests;
mod transformers;
mod value;

pub use self::breakers::usual_breakers;
pub use self::recognise::read_settings;

use self::llama::Words;
use self::value::Said;
use crate::decoding::ChainConfig;
use crate::generation::{GenerationConfig, Vocabulary};

/// A tool whose settings are written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The command line of llama.cpp's programs.
    LlamaCpp,
    /// The JSON of a request to llama-server.
    LlamaServer,
    /// The Python of a call to transformers' `generate`.
    Transformers,
    /// The parameters of an Ollama Modelfile.
    Ollama,
    /// The JSON of a request to a service with `OpenAI`'s API.
    OpenAi,
}

impl Tool {
    /// All, in the order of the menu.
    pub const ALL: [Self; 5] = [
        Self::LlamaCpp,
        Self::LlamaServer,
        Self::Transformers,
        Self::Ollama,
        Self::OpenAi,
    ];

    /// The words in the menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp flags",
            Self::LlamaServer => "llama-server JSON",
            Self::Transformers => "transformers (Python)",
            Self::Ollama => "Ollama Modelfile",
            Self::OpenAi => "OpenAI JSON",
        }
    }
}

/// Settings in the words of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What is pasted there; it ends in a line break where it has several lines.
    pub text: String,
    /// What it does not say or what is different there, each in a sentence.
    pub unsaid: Vec<String>,
}

/// Settings that were read from the words of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSettings {
    /// The tool whose words they are.
    pub tool: Tool,
    /// The chain that they mean there, in that tool's order, with its defaults and its rules.
    pub chain: ChainConfig,
    /// What the draws depend on; nothing where it is not named or left to chance.
    pub seed: Option<u64>,
    /// The most tokens to write; nothing where it is not named or there is no limit.
    pub max_new_tokens: Option<usize>,
    /// The texts that end the writing; nothing where none is named.
    pub stop_strings: Option<Vec<String>>,
    /// What was met and is not taken over, each in a sentence.
    pub unread: Vec<String>,
}

/// Says a configuration in the words of a tool. The vocabulary is needed where DRY has breakers,
/// which are tokens here and texts there.
pub fn write_settings(
    tool: Tool,
    config: &GenerationConfig,
    vocabulary: Option<&Vocabulary>,
) -> Written {
    let (text, unsaid) = match tool {
        Tool::LlamaCpp => {
            let (said, unsaid) = llama::write(Words::Flags, config, vocabulary);
            (flags::write(&said), unsaid)
        }
        Tool::LlamaServer => {
            let (said, unsaid) = llama::write(Words::Server, config, vocabulary);
            (json(&said), unsaid)
        }
        Tool::Transformers => transformers::write(config),
        Tool::Ollama => {
            let (said, unsaid) = llama::write(Words::Ollama, config, vocabulary);
            (modelfile::write(&said), unsaid)
        }
        Tool::OpenAi => {
            let (said, unsaid) = openai::write(config);
            (json(&said), unsaid)
        }
    };
    Written { text, unsaid }
}

/// An object with one entry in each line.
fn json(said: &Said) -> String {
    let entries: Vec<String> = said
        .iter()
        .map(|(name, value)| format!("  \"{name}\": {}", value.json()))
        .collect();
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}
