//! The command line: runs the given command, or opens the window.
//!
//! Each command has a file here, with its arguments and a `run` function, and a variant of
//! `Command`.

mod bench;
mod cache;
pub(crate) mod compute;
pub(crate) mod console;
pub(crate) mod count;
mod detect;
mod device;
mod exact;
pub(crate) mod export_style;
pub(crate) mod failure;
pub(crate) mod files;
mod generate;
mod given_answers;
pub(crate) mod hosts;
mod hub;
mod inputs;
mod inspect;
pub(crate) mod interrupt;
pub(crate) mod job;
mod lesson;
mod listen;
pub(crate) mod model;
pub(crate) mod named_value;
pub(crate) mod outputs;
pub(crate) mod pane_models;
pub(crate) mod pane_run;
pub(crate) mod panes;
mod precision;
pub(crate) mod progress;
pub(crate) mod prompts;
mod render_template;
mod replay;
mod replay_json;
mod replay_models;
mod replay_report;
mod replay_set;
mod replayer;
mod replies;
pub(crate) mod report_output;
mod run_record;
mod sample;
mod score;
pub(crate) mod server;
mod settings;
mod shell_help;
pub(crate) mod stopping;
mod system_files;
pub(crate) mod text_input;
mod text_lines;
mod text_output;
pub(crate) mod text_table;
mod token_rules;
pub(crate) mod vary;
mod why;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

use self::failure::Failure;
use crate::export::is_run_name;
use crate::generation::formatting::io_words;
use crate::lab;
use crate::lessons::is_lesson_name;

/// One prompt, four decodings, token by token: a playground that shows how a language model
/// generates text.
#[derive(Debug, Parser)]
#[command(
    name = "quartet",
    version,
    subcommand_precedence_over_arg = true,
    after_help = "Without a command, Quartet opens its window. To open a file that has the name of a \
                  command, write its path: ./generate"
)]
struct Arguments {
    /// What to open in the window: a model (a GGUF file, or a folder with config.json,
    /// tokenizer.json and safetensors), a run file or a lesson file (*.toml)
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print no progress and no notes to standard error, only errors
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Continue a prompt under one or more settings, without a window
    Generate(generate::Arguments),
    /// Measure a model’s prefill and decode speed on this machine
    Bench(bench::Arguments),
    /// Show a model’s properties and memory needs without loading it
    Inspect(inspect::Arguments),
    /// Run a sampler chain over a list of scores, without a model, and show every stage
    Sample(sample::Arguments),
    /// Score a given text: perplexity, the probability of each token, and what the settings cut
    Score(score::Arguments),
    /// Let two models read the same text, and show where their probabilities differ
    Compare(lab::models::command::Arguments),
    /// Look for a watermark in a text, without running a model
    Detect(detect::Arguments),
    /// Continue prompts under many settings and seeds, and compare the texts in maps
    Sweep(lab::sweep::command::Arguments),
    /// Answer a list of prompts under several settings, and say which settings are right most often
    Prompts(lab::prompts::command::Arguments),
    /// Find the settings under which a model would most likely generate given texts
    Fit(lab::fit::command::Arguments),
    /// Measure which parts of a prompt mattered, by leaving out each of them
    Influence(lab::influence::command::Arguments),
    /// Measure what the KV cache costs and saves
    Cache(lab::cache::command::Arguments),
    /// Convert a pane’s settings to or from another tool’s format
    Settings(settings::Arguments),
    /// Explain why a token of an exported run was chosen
    Why(why::Arguments),
    /// List the built-in lessons, check lesson files, or take a lesson without a window
    Lesson(lesson::Arguments),
    /// Answer other programs through a local endpoint, and keep every request as a run
    Listen(listen::Arguments),
    /// Show a server’s kind, model and context, and what it can report
    Server(server::Arguments),
    /// Repeat a recorded run and compare it with its record
    Replay(replay::Arguments),
    /// Find models on the Hugging Face Hub
    Search(hub::SearchArguments),
    /// Download a model from the Hugging Face Hub, or resume a download
    Download(hub::DownloadArguments),
    /// List the models on this computer: downloaded ones, and those of LM Studio, Ollama and llama.cpp
    Models(hub::ModelsArguments),
    /// Print the completions for a shell
    Completions(shell_help::CompletionsArguments),
    /// Print the man page of a command
    Man(shell_help::ManArguments),
    /// Write the man pages, shell completions and icons that packages install
    #[command(hide = true)]
    SystemFiles(system_files::Arguments),
}

/// Runs the program with its command-line arguments. The exit code is 0 on success, 1 if something
/// failed, 2 if the arguments were invalid, and 128 plus the number of the signal that ended it.
pub fn run() -> ExitCode {
    if render_template::is_requested() {
        return render_template::run();
    }
    render_template::use_this_program();
    let arguments = Arguments::parse();
    if let (Some(file), Some(_)) = (&arguments.file, &arguments.command) {
        let error = format!(
            "{} is before a command, which takes no file there",
            file.display()
        );
        Arguments::command()
            .error(ErrorKind::ArgumentConflict, error)
            .exit();
    }
    if arguments.quiet {
        console::be_quiet();
    }
    let outcome = match arguments.command {
        Some(Command::Generate(arguments)) => generate::run(&arguments),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Inspect(arguments)) => inspect::run(&arguments),
        Some(Command::Sample(arguments)) => sample::run(&arguments),
        Some(Command::Score(arguments)) => score::run(&arguments),
        Some(Command::Compare(arguments)) => lab::models::command::run(&arguments),
        Some(Command::Detect(arguments)) => detect::run(&arguments),
        Some(Command::Sweep(arguments)) => lab::sweep::command::run(&arguments),
        Some(Command::Prompts(arguments)) => lab::prompts::command::run(&arguments),
        Some(Command::Fit(arguments)) => lab::fit::command::run(&arguments),
        Some(Command::Influence(arguments)) => lab::influence::command::run(&arguments),
        Some(Command::Cache(arguments)) => lab::cache::command::run(&arguments),
        Some(Command::Settings(arguments)) => settings::run(&arguments),
        Some(Command::Why(arguments)) => why::run(&arguments),
        Some(Command::Lesson(arguments)) => lesson::run(&arguments),
        Some(Command::Listen(arguments)) => listen::run(&arguments),
        Some(Command::Server(arguments)) => server::run(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::Search(arguments)) => hub::search(&arguments),
        Some(Command::Download(arguments)) => hub::download(&arguments),
        Some(Command::Models(arguments)) => hub::models(&arguments),
        Some(Command::Completions(arguments)) => shell_help::completions(&arguments),
        Some(Command::Man(arguments)) => shell_help::man(&arguments),
        Some(Command::SystemFiles(arguments)) => system_files::run(&arguments),
        None => open_window(arguments.file),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn open_window(file: Option<PathBuf>) -> Result<(), Failure> {
    let file = file.map(|path| absolute_path(&path)).transpose()?;
    let (document, model) = match file {
        Some(path) if is_run_name(&path) || is_lesson_name(&path) => (Some(path), None),
        model => (None, model),
    };
    crate::app::run(model, document).map_err(Failure::run)
}

/// Returns the absolute path, so that the model is found again from another folder.
fn absolute_path(path: &Path) -> Result<PathBuf, Failure> {
    if !path.exists() {
        let path = path.display();
        return Err(Failure::run(format!("no such file or folder: {path}")));
    }
    let unknown = |error| {
        let reason = io_words(&error);
        Failure::run(format!("could not determine the current folder: {reason}"))
    };
    std::path::absolute(path).map_err(unknown)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Arguments, Command};

    #[test]
    fn the_argument_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// Collects what the help of a command and of its subcommands says.
    fn collect_help(command: &clap::Command, texts: &mut Vec<String>) {
        let about = [command.get_about(), command.get_long_about()];
        let after = [command.get_after_help(), command.get_after_long_help()];
        let arguments = command.get_arguments();
        let arguments = arguments.flat_map(|it| [it.get_help(), it.get_long_help()]);
        let all = about.into_iter().chain(after).chain(arguments).flatten();
        texts.extend(all.map(ToString::to_string));
        for command in command.get_subcommands() {
            collect_help(command, texts);
        }
    }

    #[test]
    fn apostrophes_in_the_help_are_typographic() {
        let mut texts = Vec::new();
        collect_help(&Arguments::command(), &mut texts);
        assert!(texts.iter().any(|text| text.contains("model’s prefill")));
        for text in texts {
            let chars: Vec<char> = text.chars().collect();
            let is_straight = |three: &[char]| {
                matches!(three, [before, '\'', after]
                    if before.is_ascii_alphabetic() && after.is_ascii_lowercase())
            };
            assert!(!chars.windows(3).any(is_straight), "{text}");
            assert!(!text.contains(['“', '”']), "{text}");
        }
    }

    #[test]
    fn any_command_can_be_quiet() {
        for words in [
            &["quartet", "generate", "--quiet", "--prompt", "Once"][..],
            &["quartet", "models", "--quiet"],
            &["quartet", "--quiet", "generate", "--prompt", "Once"],
        ] {
            assert!(Arguments::try_parse_from(words).unwrap().quiet, "{words:?}");
        }
    }

    #[test]
    fn a_text_may_begin_with_a_hyphen() {
        let texts = ["--prompt", "- one", "--stop", "---", "--stop=--"];
        let chat = ["--chat", "--system", "-- Be kind"];
        let words = [&["quartet", "generate"], &texts[..], &chat].concat();
        assert!(Arguments::try_parse_from(words).is_ok());
        let settings = ["quartet", "settings", "--pane", "greedy", "--to", "ollama"];
        let words = [&settings[..], &["--stop", "---"]].concat();
        assert!(Arguments::try_parse_from(words).is_ok());
    }

    #[test]
    fn a_word_is_a_command_and_a_path_is_a_model() {
        let parse = |words: &[&str]| Arguments::try_parse_from(words).unwrap();
        assert!(parse(&["quartet"]).command.is_none());
        let generate = parse(&["quartet", "generate", "--prompt", "Once"]);
        assert!(matches!(generate.command, Some(Command::Generate(_))));
        for path in ["./generate", "model.gguf", "a folder"] {
            let arguments = parse(&["quartet", path]);
            assert!(arguments.command.is_none());
            assert_eq!(arguments.file.unwrap().to_str(), Some(path));
        }
    }
}
