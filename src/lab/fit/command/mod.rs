//! `quartet fit`: finds the settings under which a model would most likely generate given texts.

mod report;
mod run;

use std::path::PathBuf;

use clap::Args;

use self::report::report;
use crate::cli::compute::ComputeArguments;
use crate::cli::failure::Failure;
use crate::cli::model::{DraftModelArgument, ModelArgument};
use crate::cli::pane_run::{Console, Engine};
use crate::cli::prompts::ChatArguments;
use crate::cli::report_output::{Output, OutputArguments};
use crate::cli::text_input::text_of;
use crate::cli::vary::{axes_of, base_settings};
use crate::decoding::ChainConfig;
use crate::generation::FitText;
use crate::interop::VARY_GRAMMAR;
use crate::lab::fit::{Fit, FitRecord, FitSetup, fit_drawing};
use crate::ui::pictures::Look;

/// The arguments of `quartet fit`.
#[derive(Debug, Args)]
#[command(after_help = VARY_GRAMMAR)]
pub(crate) struct Arguments {
    /// A text to fit; `-` reads it from standard input. Repeat to fit several texts together
    #[arg(long = "text", value_name = "FILE", required = true)]
    texts: Vec<PathBuf>,

    /// The prompt that the texts continue. Without one, the first token of each text is not
    /// predicted
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,

    #[command(flatten)]
    chat: ChatArguments,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    draft_model: DraftModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    /// What to vary, as described below; repeat for a second number. The defaults are temperature
    /// and top-p
    #[arg(long, value_name = "NUMBER")]
    vary: Vec<String>,

    /// The settings that are not varied, as in `quartet generate --help`
    #[arg(long, value_name = "SETTINGS", default_value = "sample")]
    pane: String,

    #[command(flatten)]
    output: OutputArguments,
}

/// The base name of the exported files.
const NAME: &str = "fit";

/// Runs `quartet fit`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let setup = arguments.setup()?;
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.output.check(NAME)?;
    let texts = arguments.texts()?;
    let mut console = Console::quiet();
    let source = arguments.model.source();
    let mut engine = Engine::open(source, arguments.compute, &mut console)?;
    arguments.draft_model.load(&mut engine, &mut console)?;
    let mut fit = Fit::new(setup);
    let failure = run::fit(&mut engine, &mut fit, &texts, &mut console);
    let record = FitRecord {
        fit: &fit,
        model: &engine.info,
        vocabulary: &engine.vocabulary,
    };
    if fit.n_done() > 0 {
        arguments.output.write(&Output {
            name: NAME,
            report: &report(&record),
            json: &record.json(),
            csv: &record.csv(),
            drawing: &|style| fit_drawing(record, None, Look::of_command(style)),
        })?;
    }
    failure.map_or(Ok(()), Err)
}

impl Arguments {
    fn setup(&self) -> Result<FitSetup, Failure> {
        let defaults = ["temp 0.1..1.6/31", "top-p 0.5..1/51"];
        let (rows, columns) = if self.vary.is_empty() {
            axes_of(&defaults, "a fit")?
        } else {
            axes_of(&self.vary, "a fit")?
        };
        let base = base_settings(&self.pane)?;
        let setup = FitSetup {
            base: base.map_or_else(|| ChainConfig::sampled([]), |base| base.chain),
            rows,
            columns,
        };
        let invalid = |error: crate::lab::fit::FitError| Failure::usage(error.to_string());
        setup.validate().map_err(invalid)?;
        Ok(setup)
    }

    fn texts(&self) -> Result<Vec<FitText>, Failure> {
        if self.chat.chat && self.prompt.is_none() {
            return Err(Failure::usage("--chat needs the message: --prompt TEXT"));
        }
        let prompt = self.prompt.as_ref().map(|prompt| self.chat.prompt(prompt));
        let typed = |file: &PathBuf| {
            Ok(FitText::Typed {
                prompt: prompt.clone(),
                text: text_of(file, "the text")?,
            })
        };
        self.texts.iter().map(typed).collect()
    }
}
