//! `quartet sweep`: continues prompts under many settings and seeds, and compares the texts.

mod output;
mod run;
mod table;

use std::path::PathBuf;

use clap::Args;

use self::run::Swept;
use crate::analysis::futures::WordPattern;
use crate::analysis::sweep::{Keep, Metric, SweepSetup};
use crate::cli::compute::ComputeArguments;
use crate::cli::console;
use crate::cli::count::{N_MAX_TOKENS, count};
use crate::cli::export_style::ExportStyleArguments;
use crate::cli::failure::Failure;
use crate::cli::model::{DraftModelArgument, ModelArgument};
use crate::cli::named_value::parse_by_name;
use crate::cli::pane_run::{Console, Engine};
use crate::cli::prompts::{ChatArguments, prompts_from};
use crate::cli::stopping::StopArguments;
use crate::cli::vary::{axes_of, base_settings};
use crate::decoding::ChainConfig;
use crate::generation::formatting::grouped;
use crate::generation::{GenerationConfig, PromptText, SweepPlan};
use crate::interop::VARY_GRAMMAR;

/// The arguments of `quartet sweep`.
#[derive(Debug, Args)]
#[command(after_help = VARY_GRAMMAR)]
pub(crate) struct Arguments {
    /// The text to continue; repeat for more prompts
    #[arg(
        long = "prompt",
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "prompts"
    )]
    prompt: Vec<String>,

    /// A file with one prompt per line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    prompts: Option<PathBuf>,

    #[command(flatten)]
    chat: ChatArguments,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    draft_model: DraftModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    /// What to vary, as described below; repeat for a second number, which runs from left to right
    #[arg(long, value_name = "NUMBER", required = true)]
    vary: Vec<String>,

    /// The settings that are not varied, as in `quartet generate --help`
    #[arg(long, value_name = "SETTINGS", default_value = "sample")]
    pane: String,

    /// Number of texts per prompt in each cell, each with its own seed
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = count::<usize>(1..=N_MAX_TEXTS))]
    seeds: usize,

    /// The first seed; the others follow it. The seed of --pane takes precedence
    #[arg(long, value_name = "N", default_value_t = GenerationConfig::DEFAULT_SEED)]
    seed: u64,

    /// Maximum number of tokens in each text
    #[arg(long, alias = "tokens", value_name = "N", default_value_t = 64)]
    #[arg(value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    max_tokens: usize,

    #[command(flatten)]
    stop: StopArguments,

    /// Measure how many texts contain this word; /…/ is a regular expression
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    word: Option<String>,

    /// Figures to print as tables; files always contain all of them
    #[arg(
        long,
        value_name = "FIGURE,…",
        value_delimiter = ',',
        default_value = "surprise_bits,distinct_2,similarity"
    )]
    #[arg(value_parser = parse_by_name(Metric::ALL, Metric::key))]
    show: Vec<Metric>,

    /// What to keep of each text, which limits memory use
    #[arg(long, value_name = "WHAT", default_value = Keep::default().key())]
    #[arg(value_parser = parse_by_name(Keep::ALL, Keep::key))]
    keep: Keep,

    /// Maximum number of texts to generate at the same time, which limits the KV cache’s memory
    #[arg(long, value_name = "N", default_value_t = SweepPlan::DEFAULT_WIDTH)]
    #[arg(value_parser = count::<usize>(1..=4_096))]
    width: usize,

    /// Write the settings, figures and texts to this file; `-` writes them to standard output
    /// instead of the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write one row per cell to this file; `-` writes them to standard output instead of the
    /// tables
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Export everything to this folder: the JSON, both tables, and every map as PDF, SVG and PNG
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,

    #[command(flatten)]
    style: ExportStyleArguments,
}

/// The most texts of a sweep. The figures of each take about 200 bytes.
const N_MAX_TEXTS: u64 = 1_000_000;

/// Runs `quartet sweep`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let setup = arguments.setup()?;
    let prompts = arguments.prompts()?;
    check_size(&setup, prompts.len())?;
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.check_output()?;
    if setup.is_greedy() && setup.n_seeds > 1 {
        console::note("These settings toss no coin, so all seeds give the same text");
    }
    if setup.base.drafts.is_some() {
        console::note(
            "A sweep uses no drafts: they change how fast a text is written, not how likely it is",
        );
    }
    let mut console = Console::quiet();
    let source = arguments.model.source();
    let mut engine = Engine::open(source, arguments.compute, &mut console)?;
    arguments.draft_model.load(&mut engine, &mut console)?;
    let is_guided = setup.base.is_guided_by_model();
    let mut swept = Swept::new(setup, prompts, arguments.keep);
    let word = swept.results.set_word(arguments.word.as_deref());
    word.map_err(Failure::usage)?;
    let failure = run::sweep(&mut engine, &mut swept, arguments.width, &mut console);
    let second = engine.second.as_deref().filter(|_| is_guided);
    arguments.output(&swept, (&engine.info, second))?;
    failure.map_or(Ok(()), Err)
}

/// Fails if the sweep has more texts than can be kept.
fn check_size(setup: &SweepSetup, n_prompts: usize) -> Result<(), Failure> {
    let factors = [setup.n_cells(), setup.n_seeds, n_prompts];
    let n_texts = factors.into_iter().fold(1, usize::saturating_mul);
    if n_texts as u64 <= N_MAX_TEXTS {
        return Ok(());
    }
    let [found, most] = [n_texts as f64, N_MAX_TEXTS as f64].map(grouped);
    Err(Failure::usage(format!(
        "a sweep has at most {most} texts, but this one has {found}: vary fewer values, or use \
         fewer seeds or prompts"
    )))
}

impl Arguments {
    fn setup(&self) -> Result<SweepSetup, Failure> {
        let (rows, columns) = axes_of(&self.vary, "a sweep")?;
        let base = base_settings(&self.pane)?;
        let seed = base.as_ref().and_then(|base| base.seed);
        let setup = SweepSetup {
            base: base.map_or_else(|| ChainConfig::sampled([]), |base| base.chain),
            rows,
            columns,
            seed: seed.unwrap_or(self.seed),
            n_seeds: self.seeds,
            limits: self.stop.limits(self.max_tokens),
        };
        if let Some(word) = &self.word {
            WordPattern::parse(word).map_err(Failure::usage)?;
        }
        let invalid = |error: crate::analysis::sweep::SetupError| Failure::usage(error.to_string());
        setup.validate().map_err(invalid)?;
        Ok(setup)
    }

    fn prompts(&self) -> Result<Vec<PromptText>, Failure> {
        let mut texts = self.prompt.clone();
        if let Some(file) = &self.prompts {
            texts.extend(prompts_from(file)?);
        }
        Ok(texts
            .into_iter()
            .map(|text| self.chat.prompt(text))
            .collect())
    }
}
