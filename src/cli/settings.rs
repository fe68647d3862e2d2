//! `quartet settings`: a pane's settings in the words of another tool, and back.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::console;
use super::failure::Failure;
use crate::generation::{GenerationConfig, Limits, PaneSettings};
use crate::interop::GRAMMAR;
use crate::interop::tools::{ReadSettings, Tool, read_settings, write_settings};
use crate::state::Settings;

/// What `quartet settings` is given.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(super) struct Arguments {
    /// A pane's settings, as described below
    #[arg(
        long,
        value_name = "SETTINGS",
        requires = "to",
        required_unless_present = "from"
    )]
    pane: Option<String>,

    /// The tool in whose words they are said
    #[arg(long, value_name = "TOOL", requires = "pane")]
    to: Option<To>,

    /// A file with another tool's settings: flags, JSON, Python or a Modelfile; with `-` they are
    /// read from standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pane", "to"])]
    from: Option<PathBuf>,

    /// What the draws depend on where the pane has no seed of its own
    #[arg(long, value_name = "N", default_value_t = Settings::default().seed, conflicts_with = "from")]
    seed: u64,

    /// The most tokens to write
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_new_tokens, conflicts_with = "from")]
    max_tokens: usize,

    /// A text that ends the writing; can be given several times
    #[arg(
        long = "stop",
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "from"
    )]
    stop_strings: Vec<String>,
}

/// A tool, as it is called on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum To {
    /// Flags of llama.cpp's programs
    #[value(name = "llama.cpp")]
    LlamaCpp,
    /// The JSON of a request to llama-server
    LlamaServer,
    /// A call to transformers' generate, in Python
    Transformers,
    /// Parameters of a Modelfile
    Ollama,
    /// The JSON of a request to a service with OpenAI's API
    #[value(name = "openai")]
    OpenAi,
}

impl From<To> for Tool {
    fn from(to: To) -> Self {
        match to {
            To::LlamaCpp => Self::LlamaCpp,
            To::LlamaServer => Self::LlamaServer,
            To::Transformers => Self::Transformers,
            To::Ollama => Self::Ollama,
            To::OpenAi => Self::OpenAi,
        }
    }
}

/// Runs the command: the answer goes to standard output, and what is lost to standard error, each in
/// a line.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match (&arguments.from, &arguments.pane, arguments.to) {
        (Some(file), ..) => read(file),
        (None, Some(pane), Some(to)) => arguments.write(pane, to.into()),
        (None, ..) => Err(Failure::usage("--pane and --to belong together")),
    }
}

impl Arguments {
    fn write(&self, description: &str, tool: Tool) -> Result<(), Failure> {
        let pane = PaneSettings::from_str(description).map_err(|error| {
            let pointed = error.pointing_into(description);
            Failure::usage(format!("in the pane's settings:\n\n{pointed}"))
        })?;
        let config = GenerationConfig {
            chain: pane.chain,
            seed: pane.seed.unwrap_or(self.seed),
            limits: Limits {
                max_new_tokens: self.max_tokens,
                stop_strings: self.stop_strings.clone(),
                ..Limits::default()
            },
        };
        let written = write_settings(tool, &config, None);
        written.unsaid.iter().for_each(|line| console::note(line));
        console::print(format!("{}\n", written.text.trim_end()).as_bytes())
    }
}

fn read(file: &Path) -> Result<(), Failure> {
    let text = text_of(file)?;
    let read = read_settings(&text, None).map_err(Failure::run)?;
    let ReadSettings { chain, seed, .. } = &read;
    let pane = PaneSettings {
        seed: *seed,
        ..PaneSettings::from(chain.clone())
    };
    read.unread.iter().for_each(|line| console::note(line));
    if let Some(limits) = limits(&read) {
        console::note(&format!("For the whole run: {limits}"));
    }
    console::print(format!("{pane}\n").as_bytes())
}

fn text_of(file: &Path) -> Result<String, Failure> {
    let fails = |error| Failure::run(format!("{} could not be read: {error}", file.display()));
    if file == Path::new("-") {
        let mut text = String::new();
        io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map_err(fails)?;
        return Ok(text);
    }
    std::fs::read_to_string(file).map_err(fails)
}

/// What belongs to the run and not to a pane, as arguments of `quartet generate`.
fn limits(read: &ReadSettings) -> Option<String> {
    let most = read.max_new_tokens.map(|n| format!("--max-tokens {n}"));
    let stops = read.stop_strings.iter().flatten();
    // With an equals sign, since a text may begin with a hyphen.
    let stops = stops.map(|text| format!("--stop={}", quoted(text)));
    let arguments: Vec<String> = most.into_iter().chain(stops).collect();
    (!arguments.is_empty()).then(|| arguments.join(" "))
}

/// The text as a shell reads it back, and nothing in it as a command.
fn quoted(text: &str) -> String {
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    // A line break between usual quotes would be one in the line that is printed, too.
    let mut quoted = "$'".to_owned();
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str(r"\n"),
            '\r' => quoted.push_str(r"\r"),
            '\t' => quoted.push_str(r"\t"),
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string does not fail.
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
    use super::quoted;

    #[test]
    fn a_shell_reads_a_text_back_as_it_is() {
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
            assert_eq!(quoted(text), words);
        }
    }
}
