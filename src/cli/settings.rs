//! `quartet settings`: converts a pane's settings to another tool's format and back.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::console;
use super::count::{N_MAX_TOKENS, count};
use super::failure::Failure;
use super::panes::pane_of;
use super::text_input::{MAX_TEXT_BYTES, read_text};
use crate::generation::{GenerationConfig, Limits, PaneSettings};
use crate::interop::GRAMMAR;
use crate::interop::tools::{ImportedSettings, Tool, export_settings, import_settings};

/// The arguments of `quartet settings`.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(super) struct Arguments {
    /// A pane’s settings, as described below
    #[arg(
        long,
        value_name = "SETTINGS",
        requires = "to",
        required_unless_present = "from"
    )]
    pane: Option<String>,

    /// The tool whose format to write
    #[arg(long, value_name = "TOOL", requires = "pane")]
    to: Option<ToolName>,

    /// A file with another tool’s settings (flags, JSON, Python or a Modelfile) to convert to a
    /// pane’s settings; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pane", "to"])]
    from: Option<PathBuf>,

    /// The seed, unless the pane sets its own
    #[arg(long, value_name = "N", default_value_t = GenerationConfig::DEFAULT_SEED, conflicts_with = "from")]
    seed: u64,

    /// Maximum number of tokens to generate
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_new_tokens, conflicts_with = "from")]
    #[arg(value_parser = count::<usize>(0..=N_MAX_TOKENS))]
    max_tokens: usize,

    /// A text that stops generation; repeat for more stop sequences
    #[arg(
        long = "stop",
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "from"
    )]
    stop_strings: Vec<String>,
}

/// A tool, by its name on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ToolName {
    /// Command-line flags of llama.cpp
    #[value(name = "llama.cpp")]
    LlamaCpp,
    /// JSON of a llama-server request
    LlamaServer,
    /// Python call of `generate` in transformers
    Transformers,
    /// Parameters of an Ollama Modelfile
    Ollama,
    /// JSON of a request to an OpenAI-compatible service
    #[value(name = "openai")]
    OpenAi,
    /// JSON of a request to vLLM
    Vllm,
}

impl From<ToolName> for Tool {
    fn from(name: ToolName) -> Self {
        match name {
            ToolName::LlamaCpp => Self::LlamaCpp,
            ToolName::LlamaServer => Self::LlamaServer,
            ToolName::Transformers => Self::Transformers,
            ToolName::Ollama => Self::Ollama,
            ToolName::OpenAi => Self::OpenAi,
            ToolName::Vllm => Self::Vllm,
        }
    }
}

/// Runs the command. The result goes to standard output; each setting that could not be converted
/// gets a line on standard error.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match (&arguments.from, &arguments.pane, arguments.to) {
        (Some(file), ..) => read(file),
        (None, Some(pane), Some(to)) => arguments.write(pane, to.into()),
        (None, ..) => Err(Failure::usage("--pane and --to must be given together")),
    }
}

impl Arguments {
    fn write(&self, description: &str, tool: Tool) -> Result<(), Failure> {
        let pane = pane_of(description)?;
        let config = GenerationConfig {
            chain: pane.chain,
            seed: pane.seed.unwrap_or(self.seed),
            limits: Limits {
                max_new_tokens: self.max_tokens,
                stop_strings: self.stop_strings.clone(),
                ..Limits::default()
            },
        };
        let written = export_settings(tool, &config, None);
        written.notes.iter().for_each(|line| console::note(line));
        console::print(format!("{}\n", written.text.trim_end()).as_bytes())
    }
}

fn read(file: &Path) -> Result<(), Failure> {
    let text = read_text(file, "the settings", MAX_TEXT_BYTES)?;
    let read = import_settings(&text, None).map_err(Failure::run)?;
    let ImportedSettings { chain, seed, .. } = &read;
    let pane = PaneSettings {
        model: None,
        seed: *seed,
        ..PaneSettings::from(chain.clone())
    };
    read.ignored.iter().for_each(|line| console::note(line));
    if let Some(limits) = limits(&read) {
        console::note(&format!("Arguments for `quartet generate`: {limits}"));
    }
    console::print(format!("{pane}\n").as_bytes())
}

/// Formats the limits, which apply to all panes, as arguments of `quartet generate`.
fn limits(read: &ImportedSettings) -> Option<String> {
    let most = read.max_new_tokens.map(|n| format!("--max-tokens {n}"));
    let stops = read.stop_strings.iter().flatten();
    // The equals sign is needed because a text may begin with a hyphen.
    let stops = stops.map(|text| format!("--stop={}", shell_quoted(text)));
    let arguments: Vec<String> = most.into_iter().chain(stops).collect();
    (!arguments.is_empty()).then(|| arguments.join(" "))
}

/// Quotes a text for a shell, so that nothing in it is expanded.
fn shell_quoted(text: &str) -> String {
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    // Plain quotes would keep control characters as they are, so use the escapes of `$'…'`.
    let mut quoted = "$'".to_owned();
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str(r"\n"),
            '\r' => quoted.push_str(r"\r"),
            '\t' => quoted.push_str(r"\t"),
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string can't fail.
                    write!(quoted, r"\{byte:03o}").ok();
                }
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::shell_quoted;

    #[test]
    fn a_shell_reads_a_quoted_text_back_unchanged() {
        for (text, words) in [
            ("User:", "'User:'"),
            ("---", "'---'"),
            ("$(rm x) `y`", "'$(rm x) `y`'"),
            ("it's", r"'it'\''s'"),
            (r"\n", r"'\n'"),
            ("\n\n", r"$'\n\n'"),
            ("'\t\\", r"$'\'\t\\'"),
            ("\u{1b}\u{85}", r"$'\033\302\205'"),
        ] {
            assert_eq!(shell_quoted(text), words);
        }
    }
}
