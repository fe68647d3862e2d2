//! `quartet influence`: measures which parts of a prompt mattered.

use std::sync::Arc;

use clap::Args;

use super::figures::{InfluenceResults, bits_words};
use super::picture::influence_drawing;
use super::plan::{InfluencePlan, InfluenceText, InfluenceUpdate, LeftOut};
use super::record::InfluenceRecord;
use crate::cli::compute::ComputeArguments;
use crate::cli::failure::Failure;
use crate::cli::job::run_job;
use crate::cli::model::ModelArgument;
use crate::cli::named_value::parse_by_name;
use crate::cli::pane_run::{Console, Engine};
use crate::cli::report_output::{Output, OutputArguments};
use crate::cli::text_table::aligned;
use crate::generation::PromptText;
use crate::generation::formatting::percent;
use crate::ui::pictures::Look;

/// The arguments of `quartet influence`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The text whose parts are left out
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: String,

    /// A text that follows the prompt: its tokens are compared instead of the next one
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,

    /// What is left out at a time: each token, each word or each sentence
    #[arg(long, value_name = "PART", default_value = LeftOut::default().name())]
    #[arg(value_parser = parse_by_name(LeftOut::ALL, LeftOut::name))]
    leave_out: LeftOut,

    /// Also leave out parts of the text that follows the prompt
    #[arg(long, requires = "text")]
    also_text: bool,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    #[command(flatten)]
    output: OutputArguments,
}

/// The base name of the exported files.
const NAME: &str = "influence";

/// Runs `quartet influence`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.output.check(NAME)?;
    let mut console = Console::quiet();
    let source = arguments.model.source();
    let mut engine = Engine::open(source, arguments.compute, &mut console)?;
    let prompt = PromptText::raw(&arguments.prompt);
    let (text, target) = match arguments.text.clone() {
        Some(text) => (InfluenceText::Continued { prompt, text }, "the text"),
        None => (InfluenceText::Prompt(prompt), "the next token"),
    };
    let plan = InfluencePlan {
        text,
        unit: arguments.leave_out,
        also_written: arguments.also_text,
    };
    let (results, failure) = measure(&mut engine, plan, &mut console);
    if let Some(results) = results.filter(|results| results.known().next().is_some()) {
        let record = InfluenceRecord {
            results: &results,
            model: &engine.info,
            target,
        };
        arguments.output.write(&Output {
            name: NAME,
            report: &report(&results),
            json: &record.json(),
            csv: &record.csv(),
            drawing: &|style| influence_drawing(record, Look::of_command(style)),
        })?;
    }
    failure.map_or(Ok(()), Err)
}

/// Returns what was measured, and why it ended early, if it did.
fn measure(
    engine: &mut Engine,
    plan: InfluencePlan,
    console: &mut Console,
) -> (Option<InfluenceResults>, Option<Failure>) {
    let unit = plan.unit;
    let vocabulary = Arc::clone(&engine.vocabulary);
    let mut measured: Option<InfluenceResults> = None;
    let failure = run_job(plan, engine, console, |update, progress| match update {
        InfluenceUpdate::Started(facts) => {
            measured = Some(InfluenceResults::new(facts, unit, Arc::clone(&vocabulary)));
        }
        update => {
            if let Some(results) = &mut measured {
                results.add(update);
                let (done, all) = (results.known().count(), results.facts.parts.len());
                progress.update(|| format!("{done} of {all} {}s", unit.name()));
            }
        }
    });
    console.progress.clear();
    (measured, failure)
}

/// Returns what was found, and a table with a row for each part.
fn report(results: &InfluenceResults) -> String {
    let mut lines = results.sentences();
    lines.push(String::new());
    let chosen = match results.chosen_text() {
        Some(chosen) if !results.is_of_several() => format!("‘{chosen}’"),
        _ => "bits per token".to_owned(),
    };
    let head = ["without", "moves by, bits", &chosen, "most likely then"];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for (part, influence) in results.known() {
        let likelihood = results.likelihoods(part);
        let top = &influence.top;
        table.push(vec![
            results.part_text(part),
            bits_words(influence.bits),
            likelihood.map_or_else(String::new, |[_, without]| without.words()),
            format!("{} {}", results.token_text(top.token), percent(top.prob)),
        ]);
    }
    if let (Some(whole), Some(likelihood)) = (&results.whole, results.likelihood()) {
        table.push(vec![
            "as it is".to_owned(),
            String::new(),
            likelihood.words(),
            format!(
                "{} {}",
                results.token_text(whole.top.token),
                percent(whole.top.prob)
            ),
        ]);
    }
    lines.extend(aligned(&table));
    lines.push(String::new());
    lines.extend(results.notes());
    lines.join("\n") + "\n"
}
