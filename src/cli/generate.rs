//! `quartet generate`: continues a prompt under one or more settings and prints or saves the texts.

use std::path::{Path, PathBuf};

use clap::Args;

use super::compute::ComputeArguments;
use super::console;
use super::count::{N_MAX_TOKENS, count};
use super::exact;
use super::export_style::ExportStyleArguments;
use super::failure::Failure;
use super::files::{
    NewFolder, check_file, export_run, json_file, prepare_export, run_file, write_file,
};
use super::interrupt::Interrupt;
use super::model::{DraftModelArgument, ModelArgument};
use super::outputs::report_error;
use super::pane_models::PaneModelArgument;
use super::pane_run::{Console, Engine, Pane};
use super::panes::pane_settings;
use super::progress::Progress;
use super::prompts::{ChatArguments, messages_from};
use super::replies::{ReplyArguments, Script};
use super::server::ServerArguments;
use super::stopping::StopArguments;
use super::text_input::text_of;
use super::text_output::{TextOutput, error_of};
use super::token_rules::{Sampled, broken_bans, broken_repeats, unknown_tokens};
use crate::decoding::TokenId;
use crate::generation::{FinishReason, Generation, GenerationConfig, Limits, PaneSettings};
use crate::interop::GRAMMAR;
use crate::state::unix_time_secs;

/// The arguments of `quartet generate`.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(super) struct Arguments {
    /// The text to continue; `-` reads it from standard input and drops its final line break
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "messages"
    )]
    prompt: Option<String>,

    /// Answer the last of the messages in this file, as for OpenAI’s API: a JSON list of objects with
    /// role and content, or an object with such a list; `-` reads standard input. If it ends with an
    /// answer, the first --reply is the message to answer
    #[arg(long, value_name = "FILE", group = "chats", conflicts_with_all = ["prompt", "system"])]
    messages: Option<PathBuf>,

    #[command(flatten)]
    chat: ChatArguments,

    #[command(flatten)]
    replies: ReplyArguments,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    #[command(flatten)]
    draft_model: DraftModelArgument,

    #[command(flatten)]
    server: ServerArguments,

    /// The settings of a pane, as described below; repeat for more panes. The default is four
    /// panes: greedy, pure sampling, top-k 40, and top-p 0.9 at temperature 0.7
    #[arg(long = "pane", value_name = "SETTINGS")]
    panes: Vec<String>,

    #[command(flatten)]
    pane_models: PaneModelArgument,

    /// Maximum number of tokens to generate in each pane
    #[arg(long, alias = "tokens")]
    #[arg(value_name = "N", default_value_t = Limits::default().max_new_tokens)]
    #[arg(value_parser = count::<usize>(0..=N_MAX_TOKENS))]
    max_tokens: usize,

    /// The seed of all panes that do not set their own
    #[arg(long, value_name = "N", default_value_t = GenerationConfig::DEFAULT_SEED)]
    seed: u64,

    #[command(flatten)]
    stop: StopArguments,

    /// Print several panes as they are generated, line by line, each line after its pane’s letter,
    /// instead of one after the other. A single pane is always printed token by token
    #[arg(long)]
    stream: bool,

    /// Write the full record to this file; `-` writes it to standard output instead of the texts
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Export the run to this folder, or to an archive if the name ends in .zip, in every format,
    /// with all plots, the X-ray and the tinted texts as PDF, SVG and PNG: the same files as Everything
    /// in the window’s Export menu
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,

    #[command(flatten)]
    style: ExportStyleArguments,

    /// Also report how far the probabilities are from those of a forward pass in f32 over the
    /// dequantized weights, and what other roundings of inputs, other cache formats and other
    /// instruction sets change. Reads the texts once for each, and takes 4 bytes of memory per weight
    #[arg(long, value_name = "WITH", value_parser = ["exact"])]
    #[arg(conflicts_with_all = ["server", "pane_servers", "pane_models"])]
    compare: Option<String>,
}

/// Runs `quartet generate`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let panes = arguments.panes()?;
    let hosts = arguments.server.hosts(panes.len())?;
    arguments.pane_models.check_hosts(&hosts.of_panes)?;
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.check_output_paths().map_err(Failure::run)?;
    let script = arguments.script()?;
    let source = arguments.model.source();
    let compute = arguments.compute;
    let mut console = Console {
        progress: Progress::new(),
        texts: arguments.text_output(panes.len()),
        interrupt: Interrupt::catch(),
    };
    let mut hosts = hosts.open(&panes, &mut console, |panes, console| {
        arguments.engine(panes, console)
    })?;
    let conversation = script.run(&mut hosts, &panes, &mut console);
    let has_failed = conversation.has_failed;
    let generations = conversation.into_texts();
    for turn in generations.iter().flat_map(Generation::turns) {
        report_token_rules(turn);
    }
    console.texts.print_conversations(&generations);
    let printed = console.texts.into_result();
    let output = arguments.output(&generations.iter().collect::<Vec<_>>());
    printed.and(output)?;
    if console.interrupt.is_raised() {
        return Err(Failure::Interrupted);
    }
    if has_failed {
        return Err(Failure::Reported);
    }
    if arguments.compare.is_some() {
        let choice = compute.choice();
        let report = exact::report(&source, choice, &generations, &mut console.progress)?;
        arguments.print_report(&report)?;
    }
    Ok(())
}

impl Arguments {
    /// Starts the engine with the models of the run.
    fn engine(&self, panes: &[Pane], console: &mut Console) -> Result<Engine, Failure> {
        let mut engine = Engine::open(self.model.source(), self.compute, console)?;
        self.draft_model.load(&mut engine, console)?;
        engine.load_pane_models(panes, console)?;
        Ok(engine)
    }

    fn script(&self) -> Result<Script, Failure> {
        let mut replies = self.replies.list()?;
        let prompt = match (&self.messages, self.prompt.as_deref()) {
            (Some(file), _) => messages_from(file, self.chat.kwargs(), &mut replies)?,
            (None, Some("-")) => self.chat.prompt(text_of(Path::new("-"), "the prompt")?),
            (None, prompt) => self.chat.prompt(prompt.unwrap_or_default()),
        };
        Ok(Script { prompt, replies })
    }

    fn panes(&self) -> Result<Vec<Pane>, Failure> {
        let settings = pane_settings(&self.panes)?;
        let limits = self.stop.limits(self.max_tokens);
        let pane = |settings: PaneSettings| Pane {
            model: None,
            name: settings.name,
            config: GenerationConfig {
                chain: settings.chain,
                seed: settings.seed.unwrap_or(self.seed),
                limits: limits.clone(),
            },
        };
        let mut panes: Vec<Pane> = settings.into_iter().map(pane).collect();
        self.pane_models.apply(&self.model.source(), &mut panes)?;
        Ok(panes)
    }

    /// Fails early if the output files can't be written, before the model is loaded.
    fn check_output_paths(&self) -> Result<Option<NewFolder>, String> {
        let export = self.export.as_deref();
        let new = export.map(|path| prepare_export(path, self.panes.len()));
        self.json_file().map_or(Ok(()), check_file)?;
        Ok(new.transpose()?.flatten())
    }

    fn json_file(&self) -> Option<&Path> {
        json_file(self.json.as_deref())
    }

    /// Returns how to print the texts: not at all if the record goes to standard output.
    fn text_output(&self, n_panes: usize) -> TextOutput {
        if self.prints_json() {
            TextOutput::off()
        } else if self.stream {
            TextOutput::streamed(n_panes)
        } else if self.replies.is_any() {
            TextOutput::of_conversations(n_panes)
        } else {
            TextOutput::of_panes(n_panes)
        }
    }

    /// Prints a report after the texts, or to standard error if the record goes to standard output.
    fn print_report(&self, report: &str) -> Result<(), Failure> {
        if self.prints_json() {
            console::note(report);
            return Ok(());
        }
        console::print(format!("\n{report}").as_bytes())
    }

    fn prints_json(&self) -> bool {
        self.json.is_some() && self.json_file().is_none()
    }

    /// Reports failures and writes the record and the files. A failure of one output does not
    /// prevent the others.
    fn output(&self, generations: &[&Generation]) -> Result<(), Failure> {
        let finished_at = unix_time_secs();
        let json = || run_file(generations, finished_at);
        let printed = if self.prints_json() {
            console::print(&json())
        } else {
            Ok(())
        };
        let mut succeeded = report_failures(generations);
        // A run that ended before its first token does not overwrite existing files.
        if !generations.iter().all(|pane| is_aborted(pane)) {
            if let Some(path) = self.json_file() {
                succeeded &= report_error(&write_file(path, &json()));
            }
            if let Some(path) = &self.export {
                succeeded &= report_error(&export_run(path, generations, finished_at, self.style));
            }
        }
        printed.and(if succeeded {
            Ok(())
        } else {
            Err(Failure::Reported)
        })
    }
}

/// Returns whether a pane was stopped or failed before its first token.
pub(super) fn is_aborted(pane: &Generation) -> bool {
    let stopped = matches!(pane.finish, Some(FinishReason::Cancelled));
    pane.steps.is_empty() && (stopped || error_of(pane).is_some())
}

/// Prints a note for biases, bans and repetition rules that had no effect.
fn report_token_rules(pane: &Generation) {
    let (name, chain) = (&pane.name, &pane.config.chain);
    let tokens = &pane.prompt.tokens;
    let written: Vec<TokenId> = pane.steps.iter().map(|step| step.token).collect();
    let all = [&tokens[..], &written].concat();
    let sampled = Sampled {
        tokens: &all,
        n_prompt: tokens.len(),
        n_before: tokens.len(),
    };
    let messages = [
        unknown_tokens(name, chain, pane.model.n_vocab),
        broken_bans(name, chain, written.iter().copied()),
        broken_repeats(name, chain, sampled),
    ];
    for message in messages.into_iter().flatten() {
        console::note(&message);
    }
}

/// Prints why panes failed; a shared reason is printed only once. Returns whether all succeeded.
pub(super) fn report_failures(generations: &[&Generation]) -> bool {
    let failures: Vec<(&str, &str)> = generations
        .iter()
        .filter_map(|pane| Some((pane.name.as_str(), error_of(pane)?)))
        .collect();
    match failures.as_slice() {
        [] => {}
        [(_, first), others @ ..] if others.iter().all(|(_, error)| error == first) => {
            console::error(first);
        }
        failures => {
            for (name, error) in failures {
                console::error(&format!("{name}: {error}"));
            }
        }
    }
    failures.is_empty()
}
