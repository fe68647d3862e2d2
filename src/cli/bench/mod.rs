//! `quartet bench`: measures a model's load time, prefill and decode speed, memory use, and how
//! close they come to the limits of this machine.
//!
//! It drives the engine directly, without the worker thread, so that nothing else affects the
//! figures. Every round measures everything once, because machines heat up and may be shared.

mod bandwidth;
mod branch;
mod decode;
mod figures;
mod fork;
mod futures;
mod memory;
mod model;
mod passage;
mod plan;
mod prefill;
mod report;
mod rounds;
mod strategies;
mod table;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;

use self::model::BenchModel;
use self::plan::{Part, Plan, PlanRequest};
use self::report::Report;
use self::rounds::Bench;
use super::compute::{ComputeArguments, cpu_fallback_note};
use super::console;
use super::count::{N_MAX_TOKENS, count};
use super::failure::Failure;
use super::files::{check_file, json_file, write_file};
use super::model::ModelArgument;
use super::progress::Progress;
use crate::engine::{Compute, Session, Synthetic, memory_with_cache, resident_memory};

/// The arguments of `quartet bench`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    /// Use random weights in the shape of this model instead of a file
    #[arg(long, value_name = "SHAPE", conflicts_with = "model")]
    #[arg(value_parser = PossibleValuesParser::new(Synthetic::shape_names()))]
    synthetic: Option<String>,

    /// The quantization of the random weights, with the same mix of tensor types as in real files
    #[arg(
        long,
        value_name = "TYPE",
        requires = "synthetic",
        default_value = "q8_0"
    )]
    #[arg(value_parser = PossibleValuesParser::new(Synthetic::file_type_names()))]
    quant: String,

    /// Measure only these parts; by default all but futures and strategies
    #[arg(long, value_name = "PART,…", value_delimiter = ',')]
    only: Vec<Part>,

    /// Numbers of panes to decode in one batch, one measurement each
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "1,2,4,8"
    )]
    #[arg(value_parser = count::<usize>(1..=64))]
    panes: Vec<usize>,

    /// Length of the prompt that the panes continue
    #[arg(long, value_name = "N", default_value_t = 128)]
    #[arg(value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    prompt_tokens: usize,

    /// Number of tokens to generate in each pane; the end of text is ignored
    #[arg(long, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = count::<usize>(2..=N_MAX_TOKENS))]
    max_tokens: usize,

    /// Prompt lengths for the prefill measurement; by default 64,128,512,1024, as far as the
    /// model’s context allows
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    #[arg(value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    prefill: Vec<usize>,

    /// Context lengths at which to time a step of one pane; by default 64,512,1024,2048,4096, as
    /// far as the model’s context allows
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    #[arg(value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    context: Vec<usize>,

    /// Measure forward passes only: logits are computed, but tokens are fixed instead of sampled
    #[arg(long)]
    raw: bool,

    /// Number of rounds; the medians are reported
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = count::<usize>(1..=10_000))]
    rounds: usize,

    /// Write the figures to this file; `-` writes them to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The seed of random weights.
const SEED: u64 = 1;

/// Runs `quartet bench`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(path) = json_file(arguments.json.as_deref()) {
        check_file(path).map_err(Failure::run)?;
    }
    let bench_model = bench_model(arguments);
    let mut outline = bench_model.inspect()?;
    outline.memory = memory_with_cache(&outline, arguments.compute.choice().cache);
    let plan = Plan::new(plan_request(arguments), outline.n_context)?;
    let mut progress = Progress::new();
    progress.milestone("Loading the model");
    let before = resident_memory();
    let loading_since = Instant::now();
    let compute = Compute::choose(arguments.compute.choice());
    let model = bench_model.open(&compute, &mut progress);
    let load_secs = loading_since.elapsed().as_secs_f64();
    progress.clear();
    let model = model?;
    arguments.compute.check(&model.info)?;
    if let Some(reason) = compute.device.fallback_reason() {
        console::note(&cpu_fallback_note(reason));
    }
    for warning in arguments.compute.warnings(&model.info) {
        console::note(&warning);
    }
    let info = model.info.clone();
    let mut bench = Bench::new(Session::new(model), plan, outline, before);
    let figures = bench.run(&mut progress);
    progress.clear();
    let report = Report::new(info, load_secs, bench.plan(), figures?);
    print_report(&report, arguments.json.as_deref())
}

fn bench_model(arguments: &Arguments) -> BenchModel {
    let shape = arguments.synthetic.as_ref();
    let synthetic = shape.and_then(|shape| Synthetic::find(shape, &arguments.quant, SEED));
    match synthetic {
        Some(synthetic) => BenchModel::Synthetic(synthetic),
        None => BenchModel::Real(arguments.model.source()),
    }
}

fn plan_request(arguments: &Arguments) -> PlanRequest {
    PlanRequest {
        parts: arguments.only.clone(),
        n_panes: arguments.panes.clone(),
        n_prompt: arguments.prompt_tokens,
        n_new: arguments.max_tokens,
        prefill: arguments.prefill.clone(),
        context: arguments.context.clone(),
        raw: arguments.raw,
        n_threads: arguments.compute.n_threads(),
        n_rounds: arguments.rounds,
    }
}

fn print_report(report: &Report, json: Option<&Path>) -> Result<(), Failure> {
    if json.is_some() && json_file(json).is_none() {
        return console::print(&report.json());
    }
    console::print(report.to_string().as_bytes())?;
    match json_file(json) {
        Some(path) => write_file(path, &report.json()).map_err(Failure::run),
        None => Ok(()),
    }
}
