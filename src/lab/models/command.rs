//! `quartet compare`: what two models, or one model computed in two ways, make of the same text.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::compute::ComputeArguments;
use crate::cli::console;
use crate::cli::count::{N_MAX_TOKENS, count};
use crate::cli::failure::Failure;
use crate::cli::model::{model_parser, named_source};
use crate::cli::named_value::parse_by_name;
use crate::cli::pane_run::Console;
use crate::cli::panes::pane_settings;
use crate::cli::report_output::{Output, OutputArguments};
use crate::cli::text_input::text_of;
use crate::cli::text_table::aligned;
use crate::engine::{Compute, EngineError, LoadedModel, Prompt};
use crate::generation::{GenerationConfig, Limits, PaneSettings, Vocabulary, chain_words};
use crate::interop::GRAMMAR;
use crate::lab::models::{
    ComparedModels, ModelComparison, ModelComparisonRecord, model_comparison_drawing,
};
use crate::ui::pictures::Look;
use crate::worker;
use crate::worker::{CacheType, InputBits};

/// The arguments of `quartet compare`.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(crate) struct Arguments {
    /// The model whose distributions are the reference: a GGUF file, a folder with config.json,
    /// tokenizer.json and safetensors, or the word built-in
    #[arg(value_name = "MODEL_A", value_parser = model_parser())]
    a: PathBuf,

    /// The model to compare with it, which may be the same one computed in a different way
    #[arg(value_name = "MODEL_B", value_parser = model_parser())]
    b: PathBuf,

    /// The text that both read; `-` reads it from standard input. A final line break is dropped
    #[arg(long, value_name = "FILE")]
    text: PathBuf,

    /// Read only the first N tokens of the text, including the first, which is not predicted
    #[arg(long, value_name = "N", value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    first: Option<usize>,

    #[command(flatten)]
    compute: ComputeArguments,

    /// Number format of model B’s KV cache; defaults to --cache
    #[arg(long, value_name = "FORMAT")]
    #[arg(value_parser = parse_by_name(CacheType::ALL, CacheType::name))]
    b_cache: Option<CacheType>,

    /// Bits that model B rounds its inputs to; defaults to --inputs
    #[arg(long, value_name = "BITS")]
    #[arg(value_parser = parse_by_name(InputBits::ALL, InputBits::name))]
    b_inputs: Option<InputBits>,

    /// Compute model A entirely in f32: dequantized weights, exact inputs and an f32 cache
    #[arg(long)]
    a_f32: bool,

    /// Compute model B entirely in f32
    #[arg(long, conflicts_with_all = ["b_cache", "b_inputs"])]
    b_f32: bool,

    /// Settings whose choices to compare, as described below; repeat for more. The default is
    /// greedy, pure sampling, top-k 40, and top-p 0.9 at temperature 0.7
    #[arg(long = "pane", value_name = "SETTINGS")]
    panes: Vec<String>,

    #[command(flatten)]
    output: OutputArguments,
}

/// The base name of the exported files.
const NAME: &str = "comparison";

/// How many of the tokens with the largest divergence the report lists.
const N_LARGEST: usize = 10;

/// Runs `quartet compare`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (configs, settings) = arguments.settings()?;
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.output.check(NAME)?;
    let text = text_of(&arguments.text, "the text")?;
    let mut console = Console::quiet();
    let [of_a, of_b] = arguments.computes();
    let mut a = arguments.open("A", &arguments.a, &of_a, &mut console)?;
    let mut b = arguments.open("B", &arguments.b, &of_b, &mut console)?;
    let texts = arguments.read(&text, [&a, &b])?;
    let begun = ModelComparison::new(texts, configs, [&a, &b]);
    let mut comparison = begun.map_err(|error| Failure::usage(error.to_string()))?;
    let models = [&a, &b].map(|model| model.info.clone());
    let mut compared = ComparedModels::new(models, settings, comparison.facts());
    let mut failure = None;
    while failure.is_none() && !comparison.is_done() {
        if console.interrupt.is_raised() {
            failure = Some(Failure::Interrupted);
            break;
        }
        match comparison.advance([&mut a, &mut b]) {
            Ok(tokens) => tokens.into_iter().for_each(|token| compared.add(token)),
            Err(error) => failure = Some(Failure::run(error.to_string())),
        }
        let (n, n_all) = (compared.n_predicted(), compared.n_to_predict());
        console
            .progress
            .update(|| format!("Reading the text, {n} of {n_all} tokens"));
    }
    comparison.close([&mut a, &mut b]);
    console.progress.clear();
    if compared.n_predicted() > 0 {
        let record = ModelComparisonRecord {
            compared: &compared,
            text: &text,
        };
        arguments.output.write(&Output {
            name: NAME,
            report: &report(&compared, &a.vocabulary),
            json: &record.json(),
            csv: &record.csv(),
            drawing: &|style| model_comparison_drawing(record, Look::of_command(style)),
        })?;
    }
    failure.map_or(Ok(()), Err)
}

impl Arguments {
    /// Returns the settings whose choices are compared, and their names.
    fn settings(&self) -> Result<(Vec<GenerationConfig>, Vec<String>), Failure> {
        let panes = pane_settings(&self.panes)?.into_iter();
        let settings = panes.map(|PaneSettings { chain, seed, .. }| {
            let seed = seed.unwrap_or(GenerationConfig::DEFAULT_SEED);
            let words = chain_words(&chain, seed);
            let limits = Limits::default();
            (
                GenerationConfig {
                    chain,
                    seed,
                    limits,
                },
                words,
            )
        });
        Ok(settings.unzip())
    }

    /// Returns how each model computes.
    fn computes(&self) -> [Compute; 2] {
        let choice = self.compute.choice();
        let a = Compute::choose(choice);
        let b = Compute {
            cache: self.b_cache.unwrap_or(choice.cache),
            inputs: self.b_inputs.unwrap_or(choice.inputs),
            ..a.clone()
        };
        [
            if self.a_f32 { a.in_f32() } else { a },
            if self.b_f32 { b.in_f32() } else { b },
        ]
    }

    fn open(
        &self,
        letter: &str,
        path: &Path,
        compute: &Compute,
        console: &mut Console,
    ) -> Result<LoadedModel, Failure> {
        let source = named_source(path);
        let Console {
            progress,
            interrupt,
            ..
        } = console;
        progress.milestone(&format!("Loading model {letter}"));
        let opened = worker::open_on(&source, compute, &mut |fraction| {
            progress.update(|| format!("Loading model {letter}, {:.0} %", 100.0 * fraction));
            if interrupt.is_raised() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        progress.clear();
        let model = opened
            .map_err(|error| Failure::run(error.to_string()))?
            .ok_or(Failure::Interrupted)?;
        self.compute.check(&model.info)?;
        Ok(model)
    }

    /// Tokenizes the text. If it is too long, names the option that shortens it.
    fn read(&self, text: &str, models: [&LoadedModel; 2]) -> Result<[Prompt; 2], Failure> {
        ModelComparison::texts(text, self.first, models).map_err(|error| {
            if let EngineError::TextTooLong { n_max, .. } = error {
                let hint = format!("use --first {n_max} to compare only its beginning");
                console::note(&hint);
            }
            Failure::run(error.to_string())
        })
    }
}

/// Returns the figures, the differences, and the tokens with the largest divergence.
fn report(compared: &ComparedModels, vocabulary: &Vocabulary) -> String {
    let mut lines = compared.names().to_vec();
    lines.push(String::new());
    lines.extend(aligned(&compared.figures()));
    lines.push(String::new());
    lines.extend(compared.sentences());
    lines.extend(compared.choice_sentences(vocabulary));
    if compared.divergences().is_some_and(|all| all.largest > 0.0) {
        lines.push(String::new());
        lines.push("The tokens with the largest divergence, in nats:".to_owned());
        lines.extend(aligned(&compared.largest(N_LARGEST)));
    }
    lines.join("\n") + "\n"
}
