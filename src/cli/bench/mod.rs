//! `quartet bench`: how fast a model is opened, read into and written with on this machine, what memory
//! it takes, and how near to the machine's limits it comes.
//!
//! It drives the engine itself, without the thread, so that nothing else is in the figures. All that is
//! measured takes turns in each round, because machines grow warm and others share them.

mod bandwidth;
mod decode;
mod figures;
mod fork;
mod memory;
mod passage;
mod plan;
mod prefill;
mod report;
mod rounds;
mod subject;
mod table;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;

use self::plan::{Lengths, Part, Plan};
use self::report::Report;
use self::rounds::Bench;
use self::subject::Subject;
use super::compute::{ComputeArguments, on_the_processor};
use super::console;
use super::failure::Failure;
use super::keep::{check_file, json_file, keep_file};
use super::progress::Progress;
use super::write::source;
use crate::engine::{Compute, Session, Synthetic, memory_with_cache, resident_memory};

/// What `quartet bench` is given.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors; the model inside
    /// the program where none is given
    #[arg(long, value_name = "PATH")]
    model: Option<PathBuf>,

    #[command(flatten)]
    compute: ComputeArguments,

    /// Random weights in the shape of this model instead, made in memory
    #[arg(long, value_name = "SHAPE", conflicts_with = "model")]
    #[arg(value_parser = PossibleValuesParser::new(Synthetic::shape_names()))]
    synthetic: Option<String>,

    /// How random weights are stored, in the mixes of types that files of this name have
    #[arg(
        long,
        value_name = "TYPE",
        requires = "synthetic",
        default_value = "q8_0"
    )]
    #[arg(value_parser = PossibleValuesParser::new(Synthetic::file_type_names()))]
    quant: String,

    /// Measure these parts only; all where it is not given
    #[arg(long, value_name = "PART,…", value_delimiter = ',')]
    only: Vec<Part>,

    /// How many panes write together, one number for each measurement
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "1,2,4,8"
    )]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64))]
    panes: Vec<u64>,

    /// How long the prompt is that panes continue
    #[arg(long, value_name = "N", default_value_t = 128)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    prompt_tokens: u64,

    /// How many tokens each pane writes; ends of text are ignored, so that all write as many
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..))]
    max_tokens: u64,

    /// Lengths of prompts that are only read; 64,128,512,1024 where it is not given, as far as the
    /// model reads
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    prefill: Vec<u64>,

    /// After how many tokens a token of one pane is timed; 64,512,1024,2048,4096 where it is not given,
    /// as far as the model reads
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    context: Vec<u64>,

    /// Only forward passes: logits are computed, but panes write tokens that are fixed before
    #[arg(long)]
    raw: bool,

    /// How often each measurement is made; the medians are told
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,

    /// Keep the figures in this file; with `-` they go to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What random weights are made from.
const SEED: u64 = 1;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(path) = json_file(arguments.json.as_deref()) {
        check_file(path).map_err(Failure::run)?;
    }
    let subject = subject(arguments);
    let mut outline = subject.inspect()?;
    outline.memory = memory_with_cache(&outline, arguments.compute.choice().cache);
    let plan = Plan::new(lengths(arguments), outline.n_context)?;
    let mut progress = Progress::new();
    progress.happened("Loading the model");
    let before = resident_memory();
    let loading_since = Instant::now();
    let compute = Compute::choose(arguments.compute.choice());
    let model = subject.open(&compute, &mut progress);
    let load_secs = loading_since.elapsed().as_secs_f64();
    progress.done();
    let model = model?;
    arguments.compute.check(&model.info)?;
    if let Some(reason) = compute.device.fallback_reason() {
        console::note(&on_the_processor(reason));
    }
    for remark in arguments.compute.remarks(&model.info) {
        console::note(&remark);
    }
    let info = model.info.clone();
    let mut bench = Bench::new(Session::new(model), plan, outline, before);
    let figures = bench.run(&mut progress);
    progress.done();
    let report = Report::new(info, load_secs, bench.plan(), figures?);
    tell(&report, arguments.json.as_deref())
}

fn subject(arguments: &Arguments) -> Subject {
    let shape = arguments.synthetic.as_ref();
    let synthetic = shape.and_then(|shape| Synthetic::find(shape, &arguments.quant, SEED));
    match synthetic {
        Some(synthetic) => Subject::Synthetic(synthetic),
        None => Subject::Real(source(arguments.model.clone())),
    }
}

fn lengths(arguments: &Arguments) -> Lengths {
    let all = |counts: &[u64]| counts.iter().copied().map(to_usize).collect();
    Lengths {
        parts: arguments.only.clone(),
        n_panes: all(&arguments.panes),
        n_prompt: to_usize(arguments.prompt_tokens),
        n_new: to_usize(arguments.max_tokens),
        prefill: all(&arguments.prefill),
        context: all(&arguments.context),
        raw: arguments.raw,
        n_threads: arguments.compute.n_threads(),
        n_rounds: to_usize(arguments.rounds),
    }
}

fn tell(report: &Report, json: Option<&Path>) -> Result<(), Failure> {
    if json.is_some() && json_file(json).is_none() {
        return console::print(&report.json());
    }
    console::print(report.to_string().as_bytes())?;
    match json_file(json) {
        Some(path) => keep_file(path, &report.json()).map_err(Failure::run),
        None => Ok(()),
    }
}

/// A count from the command line; one that does not fit is too large for any model.
fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
