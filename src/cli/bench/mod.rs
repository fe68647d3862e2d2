//! `quartet bench`: how fast a model is opened, read into and written with on this machine.
//!
//! It drives the engine itself, without the thread, so that nothing else is in the figures. The
//! numbers of panes take turns in each round, because machines grow warm and others share them.

mod measure;
mod report;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use self::measure::Lengths;
use self::report::Report;
use super::compute::ComputeArguments;
use super::console;
use super::failure::Failure;
use super::keep::keep_file;
use super::progress::Progress;
use super::write::source;
use crate::engine::Session;
use crate::worker;

/// What `quartet bench` is given.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors; the model inside
    /// the program where none is given
    #[arg(long, value_name = "PATH")]
    model: Option<PathBuf>,

    #[command(flatten)]
    compute: ComputeArguments,

    /// How many panes write together, one number for each measurement
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "1,2,4,8"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64))]
    panes: Vec<u64>,

    /// How long the prompt is
    #[arg(long, value_name = "N", default_value_t = 128)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    prompt_tokens: u64,

    /// How many tokens each pane writes; ends of text are ignored, so that all write as many
    #[arg(long, value_name = "N", default_value_t = 128)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..))]
    max_tokens: u64,

    /// How often each measurement is made; the medians are told
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,

    /// Keep the figures in this file; with `-` they go to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut progress = Progress::new();
    progress.happened("Loading the model");
    let loading_since = Instant::now();
    let source = source(arguments.model.clone());
    let to_the_end = &mut |_| ControlFlow::Continue(());
    let model = worker::open(&source, arguments.compute.choice(), to_the_end)
        .map_err(|error| Failure::run(error.to_string()))?
        .ok_or_else(|| Failure::run("the model was not loaded to the end"))?;
    if let Some(remark) = arguments.compute.remark(&model.info) {
        progress.done();
        console::note(&remark);
    }
    let load_secs = loading_since.elapsed().as_secs_f64();

    let lengths = Lengths {
        n_prompt: to_usize(arguments.prompt_tokens),
        n_new: to_usize(arguments.max_tokens),
    };
    let n_context = model.lm.n_context();
    if lengths.n_prompt.saturating_add(lengths.n_new) > n_context.saturating_add(1) {
        return Err(Failure::usage(format!(
            "{} prompt tokens and {} new ones are more than the {n_context} that this model reads",
            lengths.n_prompt, lengths.n_new
        )));
    }
    let info = model.info.clone();
    let mut session = Session::new(model);
    let n_panes: Vec<usize> = arguments.panes.iter().copied().map(to_usize).collect();
    let n_rounds = to_usize(arguments.rounds);
    let samples = measure::rounds(&n_panes, n_rounds, lengths, &mut session, &mut progress)?;
    let report = Report::new(&info, load_secs, n_rounds, lengths, &samples);
    tell(&report, arguments.json.as_deref())
}

fn tell(report: &Report, json: Option<&Path>) -> Result<(), Failure> {
    match json {
        Some(path) if path == Path::new("-") => console::print(&report.json()),
        Some(path) => {
            console::print(report.to_string().as_bytes())?;
            keep_file(path, &report.json()).map_err(Failure::run)
        }
        None => console::print(report.to_string().as_bytes()),
    }
}

/// A count from the command line; one that does not fit is too large for any model.
fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
