//! `quartet search`, `quartet download` and `quartet models`: models from the Hugging Face Hub, and
//! those on this computer.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::console;
use super::count::count;
use super::failure::Failure;
use super::interrupt::Interrupt;
use super::progress::Progress;
use crate::generation::formatting::{counted, io_words};
use crate::generation::{ByteSize, listed};
use crate::hub::{
    DownloadControl, DownloadPhase, DownloadProgress, DownloadTarget, Hub, HubError, LocalModel,
    ModelFiles, ModelProgram, Outcome, ProgressThrottle, RECOMMENDED, Repository, local_models,
    models_in_folder,
};
use crate::worker::hub_config;

/// The shortest time between progress lines if standard error is not a terminal.
const LOG_PAUSE: Duration = Duration::from_secs(5);

/// The end of the help text, which describes the environment variables.
const ENVIRONMENT: &str = "Models are stored in ~/.cache/huggingface/hub, which other tools share. \
                           Set HF_HUB_CACHE or HF_HOME to use another folder, HF_TOKEN to access \
                           gated models, HF_ENDPOINT to use another server, and HF_HUB_OFFLINE=1 to \
                           use no network.";

/// The arguments of `quartet search`.
#[derive(Debug, Args)]
#[command(after_help = ENVIRONMENT)]
pub(super) struct SearchArguments {
    /// Words in the model’s name; without words, a few recommended models are listed offline
    #[arg(value_name = "WORDS")]
    words: Vec<String>,

    /// Maximum number of repositories to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = count::<usize>(1..=1_000))]
    limit: usize,

    /// Print one JSON object per repository instead
    #[arg(long)]
    json: bool,
}

/// The arguments of `quartet models`.
#[derive(Debug, Args)]
pub(super) struct ModelsArguments {
    /// Only list the models in this folder
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Print one JSON object per model instead
    #[arg(long)]
    json: bool,
}

/// The arguments of `quartet download`.
#[derive(Debug, Args)]
#[command(after_help = ENVIRONMENT)]
pub(super) struct DownloadArguments {
    /// The repository on the Hub, as OWNER/NAME or `OWNER/NAME:Q8_0`, or the address of its page or of
    /// one of its files
    #[arg(value_name = "OWNER/NAME")]
    repository: String,

    /// Which of its models: a file name, a quantization, or `safetensors` for the folder
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

/// Prints the matching repositories, whether they open, and the sizes of their models.
pub(super) fn search(arguments: &SearchArguments) -> Result<(), Failure> {
    if arguments.words.is_empty() {
        if !arguments.json {
            return console::print(recommendations().as_bytes());
        }
        return RECOMMENDED.iter().try_for_each(|model| {
            console::print_json_line(&json!({
                "repository": model.repository,
                "name": model.name,
                "file": model.file,
                "quantization": model.quantization,
                "n_bytes": model.n_bytes(),
                "license": model.license,
                "why": model.why,
            }))
        });
    }
    let print = |repository: &Repository| {
        if arguments.json {
            console::print_json_line(&repository_json(repository))
        } else {
            console::print(entry(repository).as_bytes())
        }
    };
    let hub = open()?;
    let query = arguments.words.join(" ");
    let found = hub.search(&query, arguments.limit, &mut || true);
    let found = found.map_err(fail)?.unwrap_or_default();
    if found.is_empty() {
        return Err(Failure::run(format!(
            "no model on the Hub matches {query:?}"
        )));
    }
    for repository in found {
        if repository.openness.is_refused() {
            print(&repository)?;
            continue;
        }
        // If the sizes can't be fetched, the repository is shown without them.
        let sized = hub.files(&repository.name, &mut || true).ok().flatten();
        print(&sized.unwrap_or(repository))?;
    }
    Ok(())
}

/// Downloads a model and prints its path. Ctrl+C pauses the download and keeps what has arrived.
pub(super) fn download(arguments: &DownloadArguments) -> Result<(), Failure> {
    let wanted = arguments.target()?;
    let mut reporter = DownloadReporter::new();
    let interrupt = Interrupt::catch();
    let outcome = open()?.download(&wanted, &mut |progress| {
        reporter.report(progress);
        if interrupt.is_raised() {
            DownloadControl::Pause
        } else {
            DownloadControl::Continue
        }
    });
    reporter.progress.clear();
    match outcome {
        Ok(Outcome::Done { path }) => console::print(format!("{}\n", path.display()).as_bytes()),
        Ok(Outcome::Paused { n_bytes_kept }) => {
            console::note(&kept(n_bytes_kept));
            Err(Failure::Interrupted)
        }
        Ok(Outcome::Cancelled) => Err(Failure::Interrupted),
        Err(failure) if failure.n_bytes_kept == 0 || is_usage_error(&failure.error) => {
            Err(fail(failure.error))
        }
        Err(failure) => Err(Failure::run(format!(
            "{failure}\n{}",
            kept(failure.n_bytes_kept)
        ))),
    }
}

impl DownloadArguments {
    fn target(&self) -> Result<DownloadTarget, Failure> {
        let text = &self.repository;
        let named = DownloadTarget::parse(text).unwrap_or_else(|| DownloadTarget {
            repository: text.clone(),
            file: None,
        });
        match (named.file, &self.file) {
            (Some(named), Some(file)) if named != *file => Err(Failure::usage(format!(
                "{text} names {named}, but --file names {file}; leave out one of them"
            ))),
            (file, other) => Ok(DownloadTarget {
                repository: named.repository,
                file: file.or_else(|| other.clone()),
            }),
        }
    }
}

/// Formats how much an unfinished download has left on disk.
fn kept(n_bytes: u64) -> String {
    format!(
        "{} downloaded so far; run the same command to resume",
        ByteSize(n_bytes)
    )
}

/// Prints the models on this computer, by the program that keeps them.
pub(super) fn models(arguments: &ModelsArguments) -> Result<(), Failure> {
    let found = match &arguments.folder {
        Some(folder) => models_in_folder(folder).map_err(|error| {
            let (reason, folder) = (io_words(&error), folder.display());
            Failure::run(format!("could not read the folder: {reason}\n{folder}"))
        })?,
        None => local_models(None),
    };
    if found.models.is_empty() {
        console::note(&match &arguments.folder {
            Some(folder) => format!("no models in {}", folder.display()),
            None => {
                "no models in the Hugging Face cache, LM Studio, Ollama or llama.cpp".to_owned()
            }
        });
    }
    if found.is_partial {
        console::note("note: some folders were left out, because there are too many files");
    }
    if arguments.json {
        let mut models = found.models.iter();
        return models.try_for_each(|model| console::print_json_line(&local_json(model)));
    }
    console::print(local_page(&found.models).as_bytes())
}

/// Formats a paragraph for each folder: its program, and two lines for each of its models.
fn local_page(models: &[LocalModel]) -> String {
    let mut page = String::new();
    let mut last = None;
    for model in models {
        let place = Some((model.program, &model.folder));
        if place != last {
            let gap = if last.is_some() { "\n" } else { "" };
            let (program, folder) = (model.program.name(), &model.folder_words);
            // Writing to a string can't fail.
            writeln!(page, "{gap}{program}  {folder}").ok();
            last = place;
        }
        let mut facts = facts(&model.model);
        if !model.also_in.is_empty() {
            let others: Vec<&str> = model.also_in.iter().map(|it| it.name()).collect();
            facts = format!("{facts} · also in {}", listed(&others));
        }
        let (name, path) = (&model.name, model.path.display());
        writeln!(page, "  {name}  {facts}\n    {path}").ok();
    }
    page
}

fn local_json(local: &LocalModel) -> Value {
    let is_cached = local.program == ModelProgram::HuggingFace;
    let also_in: Vec<&str> = local.also_in.iter().map(|it| it.name()).collect();
    json!({
        "program": local.program.name(),
        "folder": local.folder,
        "name": local.name,
        "repository": is_cached.then_some(&local.name),
        "path": local.path,
        "n_params": local.n_params,
        "also_in": also_in,
        "model": model_json(&local.model),
    })
}

fn open() -> Result<Hub, Failure> {
    Hub::open(hub_config()).map_err(fail)
}

fn fail(error: HubError) -> Failure {
    match error {
        error if is_usage_error(&error) => Failure::usage(error.to_string()),
        error => Failure::run(error.to_string()),
    }
}

/// Returns whether the arguments themselves are at fault.
const fn is_usage_error(error: &HubError) -> bool {
    matches!(
        error,
        HubError::NameMalformed { .. } | HubError::ChoiceNeeded { .. }
    )
}

fn recommendations() -> String {
    let mut page = String::new();
    for model in RECOMMENDED {
        // Writing to a string can't fail.
        writeln!(
            page,
            "{}  {} · {} · {}\n    {}\n    quartet download {} --file {}",
            model.name,
            model.quantization,
            ByteSize(model.n_bytes()),
            model.license,
            model.why,
            model.repository,
            model.file,
        )
        .ok();
    }
    page
}

/// Formats one repository, with a line for each of its models.
fn entry(repository: &Repository) -> String {
    let mut line = repository.name.clone();
    let mut add = |fact: &str| {
        line.push_str(if line.len() == repository.name.len() {
            "  "
        } else {
            " · "
        });
        line.push_str(fact);
    };
    add(&repository.openness.to_string());
    add(&counted(repository.n_downloads as usize, "download"));
    add(&counted(repository.n_likes as usize, "like"));
    add(repository.license.as_deref().unwrap_or("unknown license"));
    if repository.is_gated {
        add("gated");
    }
    if let Some(date) = repository.changed_at.as_ref().and_then(|at| at.get(..10)) {
        add(&format!("updated {date}"));
    }
    let is_open = |model: &&ModelFiles| !model.openness.is_refused();
    for model in repository.models.iter().filter(is_open) {
        let file = model.file().unwrap_or("the folder");
        // Writing to a string can't fail.
        write!(line, "\n    {file}  {}", facts(model)).ok();
    }
    line.push('\n');
    line
}

fn repository_json(repository: &Repository) -> Value {
    let models = repository.models.iter().map(model_json);
    json!({
        "repository": repository.name,
        "opens": !repository.openness.is_refused(),
        "openness": repository.openness.to_string(),
        "n_downloads": repository.n_downloads,
        "n_likes": repository.n_likes,
        "license": repository.license,
        "is_gated": repository.is_gated,
        "changed_at": repository.changed_at,
        "n_params": repository.n_params,
        "base_models": repository.base_models,
        "models": models.collect::<Vec<_>>(),
    })
}

fn model_json(model: &ModelFiles) -> Value {
    json!({
        "kind": model.kind(),
        "n_bytes": model.n_bytes,
        "files": model.paths,
        "opens": !model.openness.is_refused(),
    })
}

/// Formats the quantization and the size.
fn facts(model: &ModelFiles) -> String {
    let kind = model.kind();
    match model.n_bytes {
        Some(n_bytes) => format!("{kind} · {}", ByteSize(n_bytes)),
        None => kind.to_owned(),
    }
}

/// Shows download progress: a single updating line on a terminal, otherwise a new line every few
/// seconds.
struct DownloadReporter {
    progress: Progress,
    is_terminal: bool,
    pace: ProgressThrottle,
}

impl DownloadReporter {
    fn new() -> Self {
        Self {
            progress: Progress::new(),
            is_terminal: io::stderr().is_terminal() || console::is_quiet(),
            pace: ProgressThrottle::new(LOG_PAUSE),
        }
    }

    fn report(&mut self, progress: &DownloadProgress) {
        if self.is_terminal {
            self.progress.update(|| progress_line(progress));
        } else if self.pace.is_due(&progress.stage) {
            console::note(&progress_line(progress));
        }
    }
}

fn progress_line(progress: &DownloadProgress) -> String {
    let file = progress.file.rsplit('/').next().unwrap_or_default();
    match &progress.stage {
        DownloadPhase::Asking => "Contacting the Hub".to_owned(),
        DownloadPhase::Waiting { reason, seconds } => {
            let reason = reason.lines().next().unwrap_or_default();
            format!("{reason}; retrying in {seconds} s")
        }
        DownloadPhase::Verifying => format!("Verifying {file}"),
        DownloadPhase::Receiving => {
            let (here, all) = (progress.n_bytes, progress.n_bytes_total);
            let mut line = format!("{file}  {}", ByteSize(here).of(ByteSize(all)));
            if let Some(speed) = progress.bytes_per_second {
                // Writing to a string can't fail.
                write!(line, "  {:.1} MB/s", speed / 1e6).ok();
            }
            if let Some(seconds) = progress.seconds_left {
                write!(line, "  {} left", approximate_time(seconds)).ok();
            }
            line
        }
    }
}

/// Formats a duration as "about 16 s" or "about 3 min".
fn approximate_time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("about {seconds} s"),
        120..7_200 => format!("about {} min", seconds.div_ceil(60)),
        _ => format!("about {} h", seconds.div_ceil(3_600)),
    }
}

#[cfg(test)]
mod tests {
    use super::{DownloadPhase, DownloadProgress, progress_line};

    #[test]
    fn progress_is_a_single_line() {
        let progress = |stage| DownloadProgress {
            stage,
            file: "Q8_0/fox-Q8_0.gguf".to_owned(),
            n_bytes: 291_000_000,
            n_bytes_total: 484_000_000,
            bytes_per_second: Some(12.4e6),
            seconds_left: Some(16),
        };
        let waiting = DownloadPhase::Waiting {
            reason: "the connection to hub.example was lost".to_owned(),
            seconds: 2,
        };
        for (stage, line) in [
            (DownloadPhase::Asking, "Contacting the Hub"),
            (
                DownloadPhase::Receiving,
                "fox-Q8_0.gguf  291 of 484 MB  12.4 MB/s  about 16 s left",
            ),
            (
                waiting,
                "the connection to hub.example was lost; retrying in 2 s",
            ),
            (DownloadPhase::Verifying, "Verifying fox-Q8_0.gguf"),
        ] {
            assert_eq!(progress_line(&progress(stage)), line);
        }
    }
}
