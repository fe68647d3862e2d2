//! `quartet fit`: finds the settings under which a model would most likely generate given texts.

mod report;
mod run;

use std::path::{Path, PathBuf};

use clap::Args;

use self::report::report;
use super::compute::ComputeArguments;
use super::console;
use super::failure::Failure;
use super::files::{check_file, create_folder, json_file, write_file};
use super::generate::report_error;
use super::interrupt::Interrupt;
use super::model::ModelArgument;
use super::pane_run::{Console, Engine};
use super::panes::pane_settings;
use super::progress::Progress;
use super::score::text_of;
use super::text_output::TextOutput;
use crate::analysis::fit::{Fit, FitSetup};
use crate::analysis::sweep::Axis;
use crate::decoding::ChainConfig;
use crate::export::{FitRecord, write_folder};
use crate::generation::{FitText, PromptText};
use crate::interop::{VARY_GRAMMAR, parse_axis};
use crate::state::{PictureFormat, PictureStyle};
use crate::ui::pictures::{Palette, encode, fit_drawing};

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

    /// Write all settings and likelihoods to this file; `-` writes them to standard output instead
    /// of the report
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write one row per setting to this file; `-` writes them to standard output instead of the
    /// report
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Export everything to this folder: the JSON, the table, and the picture as SVG and PNG
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,
}

/// Renders a fit as the content of a file.
type Render = fn(&FitRecord<'_>) -> Vec<u8>;

/// Runs `quartet fit`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let setup = arguments.setup()?;
    arguments.check_output()?;
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
        arguments.output(&record)?;
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

    /// Fails early if the output files can't be written, before the model is loaded.
    fn check_output(&self) -> Result<(), Failure> {
        let to_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
        if to_stdout(&self.json) && to_stdout(&self.csv) {
            let message = "--json and --csv can't both write to standard output";
            return Err(Failure::usage(message));
        }
        if let Some(folder) = &self.export {
            create_folder(folder).map_err(Failure::run)?;
            check_file(&folder.join("fit.json")).map_err(Failure::run)?;
        }
        for path in [&self.json, &self.csv].into_iter().flatten() {
            if let Some(file) = json_file(Some(path)) {
                check_file(file).map_err(Failure::run)?;
            }
        }
        Ok(())
    }

    /// Prints the report and writes the files. A failure of one output does not prevent the others.
    fn output(&self, record: &FitRecord<'_>) -> Result<(), Failure> {
        let mut succeeded = true;
        let mut printed = Ok(());
        let mut prints_report = true;
        let renders: [(_, Render); 2] = [
            (&self.json, |record| record.json()),
            (&self.csv, |record| record.csv()),
        ];
        for (path, render) in renders {
            let Some(path) = path else { continue };
            if let Some(file) = json_file(Some(path)) {
                succeeded &= report_error(&write_file(file, &render(record)));
            } else {
                printed = console::print(&render(record));
                prints_report = false;
            }
        }
        if prints_report {
            printed = console::print(report(record).as_bytes());
        }
        if let Some(folder) = &self.export {
            succeeded &= report_error(&export(folder, record));
        }
        printed.and(if succeeded {
            Ok(())
        } else {
            Err(Failure::Reported)
        })
    }
}

/// Writes the record, the table and the picture: all files or none.
fn export(folder: &Path, record: &FitRecord<'_>) -> Result<(), String> {
    let mut files = vec![
        ("fit.json".to_owned(), record.json()),
        ("fit.csv".to_owned(), record.csv()),
    ];
    let style = PictureStyle::default();
    let drawing = fit_drawing(*record, None, Palette::Light, style);
    for format in PictureFormat::ALL {
        let bytes = encode(&drawing, format, style).map_err(|error| error.to_string())?;
        files.push((format!("fit.{}", format.extension()), bytes));
    }
    create_folder(folder)?;
    write_folder(folder, &files)
        .map_err(|error| format!("could not export the fit: {error}\n{}", folder.display()))
}
