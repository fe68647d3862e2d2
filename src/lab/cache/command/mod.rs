//! `quartet cache`: measures what the KV cache costs and saves.

mod report;
mod run;

use clap::Args;

use self::report::report;
use crate::cli::compute::ComputeArguments;
use crate::cli::count::{N_MAX_TOKENS, count};
use crate::cli::failure::Failure;
use crate::cli::model::ModelArgument;
use crate::cli::pane_run::{Console, Engine};
use crate::cli::report_output::{Output, OutputArguments};
use crate::generation::PromptText;
use crate::lab::cache::{CachePlan, CacheRecord, cache_drawing};
use crate::ui::pictures::Look;

/// The arguments of `quartet cache`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The text to continue
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "Once upon a time",
        allow_hyphen_values = true
    )]
    prompt: String,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    /// How many tokens to generate, limited by the model’s context
    #[arg(long, alias = "tokens", value_name = "N", default_value = "340")]
    #[arg(value_parser = count::<u32>(2..=N_MAX_TOKENS))]
    max_tokens: u32,

    #[command(flatten)]
    output: OutputArguments,
}

/// The base name of the exported files.
const NAME: &str = "cache";

/// Runs `quartet cache`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.output.check(NAME)?;
    let mut console = Console::quiet();
    let source = arguments.model.source();
    let mut engine = Engine::open(source, arguments.compute, &mut console)?;
    let plan = CachePlan {
        prompt: PromptText::raw(&arguments.prompt),
        n_tokens: arguments.max_tokens as usize,
    };
    let prompt = plan.prompt.clone();
    let (lab, failure) = run::measure(&mut engine, plan, &mut console);
    if let Some(lab) = lab.filter(|lab| !lab.on.is_empty()) {
        let record = CacheRecord {
            lab: &lab,
            model: &engine.info,
            prompt: &prompt,
        };
        arguments.output.write(&Output {
            name: NAME,
            report: &report(&lab),
            json: &record.json(),
            csv: &record.csv(),
            drawing: &|style| cache_drawing(record, Look::of_command(style)),
        })?;
    }
    failure.map_or(Ok(()), Err)
}
