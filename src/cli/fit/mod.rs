//! `quartet fit`: finds the settings under which a model would most likely generate given texts.

mod report;
mod run;

use std::path::PathBuf;

use clap::Args;

use self::report::report;
use super::compute::ComputeArguments;
use super::console;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::model::ModelArgument;
use super::pane_run::{Console, Engine};
use super::panes::pane_settings;
use super::progress::Progress;
use super::report_output::{Output, OutputArguments};
use super::score::text_of;
use super::text_output::TextOutput;
use crate::analysis::fit::{Fit, FitSetup};
use crate::analysis::sweep::Axis;
use crate::decoding::ChainConfig;
use crate::export::FitRecord;
use crate::generation::{FitText, PromptText};
use crate::interop::{VARY_GRAMMAR, parse_axis};
use crate::ui::pictures::{Palette, fit_drawing};

/// The arguments of `quartet fit`.
#[derive(Debug, Args)]
#[command(after_help = VARY_GRAMMAR)]
pub(super) struct Arguments {
    /// A text to fit; `-` reads it from standard input. Repeat to fit several texts together
    #[arg(long = "text", value_name = "FILE", required = true)]
    texts: Vec<PathBuf>,

    /// The prompt that the texts continue. Without one, the first token of a text only begins it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,

    /// The texts answer the prompt, which goes through the model's chat template
    #[arg(long, requires = "prompt")]
    chat: bool,

    /// The system message of the chat
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "chat"
    )]
    system: Option<String>,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    /// What to vary, as described below; repeat for a second number. The default is temperature and
    /// top-p
    #[arg(long, value_name = "NUMBER")]
    vary: Vec<String>,

    /// The settings that are not varied, as in `quartet generate --help`
    #[arg(long, value_name = "SETTINGS", default_value = "sample")]
    pane: String,

    #[command(flatten)]
    output: OutputArguments,
}

/// The name of the files in a folder.
const NAME: &str = "fit";

/// Runs `quartet fit`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let setup = arguments.setup()?;
    arguments.output.check(NAME)?;
    let texts = arguments.texts()?;
    let mut console = Console {
        progress: Progress::new(),
        texts: TextOutput::off(),
        interrupt: Interrupt::catch(),
    };
    let source = arguments.model.source();
    let mut engine = Engine::load(source, arguments.compute.choice(), &mut console)?;
    arguments.compute.check(&engine.info)?;
    for warning in arguments.compute.warnings(&engine.info) {
        console::note(&warning);
    }
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
            drawing: &|style| fit_drawing(record, None, Palette::Light, style),
        })?;
    }
    failure.map_or(Ok(()), Err)
}

impl Arguments {
    fn setup(&self) -> Result<FitSetup, Failure> {
        if self.vary.len() > 2 {
            let n = self.vary.len();
            return Err(Failure::usage(format!(
                "a fit varies one or two numbers, but {n} were given"
            )));
        }
        let axis = |description: &str| {
            parse_axis(description).map_err(|error| {
                let pointed = error.pointing_into(description);
                Failure::usage(format!("can't vary this:\n\n{pointed}"))
            })
        };
        let usual = ["temp 0.1..1.6/31", "top-p 0.5..1/51"];
        let vary: Vec<&str> = if self.vary.is_empty() {
            usual.to_vec()
        } else {
            self.vary.iter().map(String::as_str).collect()
        };
        let axes: Result<Vec<Axis>, Failure> = vary.into_iter().map(axis).collect();
        let mut axes = axes?.into_iter();
        let Some(rows) = axes.next() else {
            return Err(Failure::usage("choose a number to vary with --vary"));
        };
        let base = pane_settings(std::slice::from_ref(&self.pane))?;
        let base = base.into_iter().next();
        let setup = FitSetup {
            base: base.map_or_else(|| ChainConfig::sampled([]), |base| base.chain),
            rows,
            columns: axes.next(),
        };
        let invalid = |error: crate::analysis::fit::FitError| Failure::usage(error.to_string());
        setup.validate().map_err(invalid)?;
        Ok(setup)
    }

    fn texts(&self) -> Result<Vec<FitText>, Failure> {
        let prompt = self.prompt.as_ref().map(|prompt| {
            if self.chat {
                PromptText::chat(prompt, self.system.as_deref().unwrap_or_default())
            } else {
                PromptText::raw(prompt)
            }
        });
        let typed = |file: &PathBuf| {
            Ok(FitText::Typed {
                prompt: prompt.clone(),
                text: text_of(file)?,
            })
        };
        self.texts.iter().map(typed).collect()
    }
}
