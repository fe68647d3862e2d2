//! `quartet generate`: continues a prompt under one or more settings, and prints or keeps the texts.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::compute::ComputeArguments;
use super::console;
use super::failure::Failure;
use super::keep::{check_file, check_folder, json_file, keep_file, keep_folder, make_folder};
use super::panes::pane_settings;
use super::progress::Progress;
use super::token_rules::{broken_bans, unknown_tokens};
use super::write::{Pane, ending, source, write};
use crate::export::{ExportFormat, render};
use crate::generation::{
    EndOfText, FinishReason, Generation, GenerationConfig, Limits, PaneSettings, PromptText,
};
use crate::interop::GRAMMAR;
use crate::state::{MAX_PANES, Settings};

/// What `quartet generate` is given.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(super) struct Arguments {
    /// The text to continue; with `-` it is read from standard input, without its last line break
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: String,

    /// Let the model answer the prompt: it is put into the model's chat template
    #[arg(long)]
    chat: bool,

    /// How the model is to behave in a chat
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "chat"
    )]
    system: Option<String>,

    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors; the model inside
    /// the program where none is given
    #[arg(long, value_name = "PATH")]
    model: Option<PathBuf>,

    #[command(flatten)]
    compute: ComputeArguments,

    /// How a pane chooses its tokens, as described below; once for each pane. Without it, four panes
    /// are written: greedy, pure sampling, top-k 40, and top-p 0.9 at temperature 0.7
    #[arg(long = "pane", value_name = "SETTINGS")]
    panes: Vec<String>,

    /// The most tokens to write in each pane
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_new_tokens)]
    max_tokens: usize,

    /// What the draws of all panes depend on that have no seed of their own
    #[arg(long, value_name = "N", default_value_t = Settings::default().seed)]
    seed: u64,

    /// A text that ends the writing; can be given several times
    #[arg(long = "stop", value_name = "TEXT", allow_hyphen_values = true)]
    stop_strings: Vec<String>,

    /// Write on after the tokens with which the model ends a text
    #[arg(long)]
    ignore_eos: bool,

    /// Keep everything that was recorded in this file; with `-` it goes to standard output, and the
    /// texts do not
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Keep the run in this folder: as JSON, Markdown and CSV, and its plots as SVG and PNG
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let panes = arguments.panes()?;
    arguments.check_targets().map_err(Failure::run)?;
    let prompt = arguments.prompt()?;
    let source = source(arguments.model.clone());
    let compute = arguments.compute;
    let generations = write(source, compute, &prompt, panes, &mut Progress::new())?;
    for pane in &generations {
        tell_token_rules(pane);
    }
    arguments.keep(&generations.iter().collect::<Vec<_>>())
}

impl Arguments {
    fn prompt(&self) -> Result<PromptText, Failure> {
        let text = match self.prompt.as_str() {
            "-" => prompt_from(io::stdin().lock())?,
            prompt => prompt.to_owned(),
        };
        Ok(if self.chat {
            PromptText::chat(text, self.system.as_deref().unwrap_or_default())
        } else {
            PromptText::raw(text)
        })
    }

    fn panes(&self) -> Result<Vec<Pane>, Failure> {
        let settings = pane_settings(&self.panes)?;
        let end_of_text = if self.ignore_eos {
            EndOfText::Ignored
        } else {
            EndOfText::Stops
        };
        let limits = Limits {
            max_new_tokens: self.max_tokens,
            stop_strings: self.stop_strings.clone(),
            end_of_text,
        };
        let pane = |settings: PaneSettings| Pane {
            name: settings.name,
            config: GenerationConfig {
                chain: settings.chain,
                seed: settings.seed.unwrap_or(self.seed),
                limits: limits.clone(),
            },
        };
        Ok(settings.into_iter().map(pane).collect())
    }

    /// Fails where files could not be kept in the end, before time goes into what is to be in them.
    fn check_targets(&self) -> Result<(), String> {
        if let Some(folder) = &self.export {
            let n_panes = self.panes.len();
            if n_panes > MAX_PANES {
                return Err(format!(
                    "pictures have letters and colours for {MAX_PANES} panes; {n_panes} were given"
                ));
            }
            make_folder(folder)?;
            check_folder(folder)?;
        }
        self.json_file().map_or(Ok(()), check_file)
    }

    fn json_file(&self) -> Option<&Path> {
        json_file(self.json.as_deref())
    }

    /// Prints the texts and writes the files; what becomes of the ones does not keep the others.
    fn keep(&self, generations: &[&Generation]) -> Result<(), Failure> {
        let json = || render(ExportFormat::Json, generations);
        let json_printed = self.json.is_some() && self.json_file().is_none();
        let printed = if json_printed {
            console::print(&json())
        } else {
            console::print(texts(generations).as_bytes())
        };
        let mut all_well = tell_failures(generations);
        if !all_well && generations.iter().all(|pane| pane.steps.is_empty()) {
            // A run without a word takes no file's place.
            return printed.and(Err(Failure::Told));
        }
        if let Some(path) = self.json_file() {
            all_well &= told(&keep_file(path, &json()));
        }
        if let Some(folder) = &self.export {
            all_well &= told(&keep_folder(folder, generations));
        }
        printed.and(if all_well { Ok(()) } else { Err(Failure::Told) })
    }
}

fn prompt_from(mut input: impl Read) -> Result<String, Failure> {
    let mut prompt = String::new();
    input
        .read_to_string(&mut prompt)
        .map_err(|error| Failure::run(format!("standard input could not be read: {error}")))?;
    let n_kept = prompt.strip_suffix('\n').unwrap_or(&prompt);
    Ok(n_kept.strip_suffix('\r').unwrap_or(n_kept).to_owned())
}

/// Each text that was begun, under the name of its pane and the words that ask for the same again.
fn texts(generations: &[&Generation]) -> String {
    let mut page = String::new();
    let written = |pane: &&&Generation| !pane.steps.is_empty() || error_of(pane).is_none();
    for pane in generations.iter().filter(written) {
        let mut settings = PaneSettings::from(pane.config.chain.clone());
        let mut active = settings.chain.active();
        let by_chance = active.any(|filter| filter.is_random());
        if by_chance || !settings.chain.is_greedy() {
            settings.seed = Some(pane.config.seed);
        }
        // Writing to a string does not fail.
        writeln!(page, "{} ({settings})", pane.name).ok();
        writeln!(page, "{}", pane.text()).ok();
        writeln!(page, "[{}]\n", ending(pane)).ok();
    }
    page
}

/// Tells of biases and bans that do nothing or did not hold.
fn tell_token_rules(pane: &Generation) {
    let (name, chain) = (&pane.name, &pane.config.chain);
    let drawn = pane.steps.iter().map(|step| step.token);
    let sentences = [
        unknown_tokens(name, chain, pane.model.n_vocab),
        broken_bans(name, chain, drawn),
    ];
    for sentence in sentences.into_iter().flatten() {
        console::note(&sentence);
    }
}

/// Tells why panes failed; a reason that they share, once. Gives whether none did.
fn tell_failures(generations: &[&Generation]) -> bool {
    let failures: Vec<(&str, &str)> = generations
        .iter()
        .filter_map(|pane| Some((pane.name.as_str(), error_of(pane)?)))
        .collect();
    match failures.as_slice() {
        [] => {}
        [(_, first), others @ ..] if others.iter().all(|(_, error)| error == first) => {
            console::complain(first);
        }
        failures => {
            for (name, error) in failures {
                console::complain(&format!("{name}: {error}"));
            }
        }
    }
    failures.is_empty()
}

fn error_of(pane: &Generation) -> Option<&str> {
    match &pane.finish {
        Some(FinishReason::Failed { error }) => Some(error),
        _ => None,
    }
}

/// Tells what went wrong. Gives whether nothing did.
fn told(outcome: &Result<(), String>) -> bool {
    if let Err(sentence) = outcome {
        console::complain(sentence);
    }
    outcome.is_ok()
}
