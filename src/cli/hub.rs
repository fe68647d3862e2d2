//! `quartet search`, `quartet download` and `quartet models`: models from the Hugging Face Hub.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;

use super::console;
use super::count::at_least_1;
use super::failure::Failure;
use super::progress::Progress;
use crate::generation::ByteSize;
use crate::hub::{
    DownloadProgress, Hub, HubConfig, HubError, ModelFiles, Order, Outcome, Pace, RECOMMENDED,
    Repository, Stage, Wanted,
};

/// Into a file or another program, progress is told no more often than this.
const LOG_PAUSE: Duration = Duration::from_secs(5);

/// How the Hub is reached.
const ENVIRONMENT: &str = "Models lie in ~/.cache/huggingface/hub, which other tools share. \
                           HF_HUB_CACHE or HF_HOME name another folder, HF_TOKEN the token for \
                           gated models, HF_ENDPOINT another server.";

/// What `quartet search` is given.
#[derive(Debug, Args)]
#[command(after_help = ENVIRONMENT)]
pub(super) struct SearchArguments {
    /// Words of the model's name; without them a few models are recommended, and nobody is asked
    #[arg(value_name = "WORDS")]
    words: Vec<String>,

    /// The most repositories to show
    #[arg(long, value_name = "N", default_value = "10", value_parser = at_least_1)]
    limit: NonZeroUsize,
}

/// What `quartet download` is given.
#[derive(Debug, Args)]
#[command(after_help = ENVIRONMENT)]
pub(super) struct DownloadArguments {
    /// The repository on the Hub, written OWNER/NAME
    #[arg(value_name = "OWNER/NAME")]
    repository: String,

    /// Which of its models: a file's name, its quantisation, or `safetensors` for the whole folder
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

/// Shows what there is on the Hub, with sizes.
pub(super) fn search(arguments: &SearchArguments) -> Result<(), Failure> {
    if arguments.words.is_empty() {
        return console::print(recommendations().as_bytes());
    }
    let hub = open()?;
    let query = arguments.words.join(" ");
    let found = hub.search(&query, arguments.limit.get(), &mut || true);
    let found = found.map_err(fail)?.unwrap_or_default();
    if found.is_empty() {
        return Err(Failure::run(format!(
            "no model that Quartet can open is called {query:?}"
        )));
    }
    for repository in found {
        // A repository that does not tell its sizes is shown without them.
        let sized = hub.files(&repository.name, &mut || true).ok().flatten();
        console::print(entry(&sized.unwrap_or(repository)).as_bytes())?;
    }
    Ok(())
}

/// Brings a model into the cache and prints its path.
pub(super) fn download(arguments: &DownloadArguments) -> Result<(), Failure> {
    let wanted = Wanted {
        repository: arguments.repository.clone(),
        file: arguments.file.clone(),
    };
    let mut teller = Teller::new();
    let outcome = open()?.download(&wanted, &mut |progress| {
        teller.tell(progress);
        Order::GoOn
    });
    teller.line.done();
    match outcome {
        Ok(Outcome::Done { path }) => console::print(format!("{}\n", path.display()).as_bytes()),
        Ok(Outcome::Paused { .. } | Outcome::Cancelled) => Ok(()),
        Err(failure) if failure.n_bytes_kept == 0 || is_of_arguments(&failure.error) => {
            Err(fail(failure.error))
        }
        Err(failure) => Err(Failure::run(format!(
            "{failure}\n{} are kept; the same command goes on from there",
            ByteSize(failure.n_bytes_kept)
        ))),
    }
}

/// Shows the models that are on this computer.
pub(super) fn models() -> Result<(), Failure> {
    let hub = open()?;
    let models = hub.cached_models().map_err(fail)?;
    if models.is_empty() {
        console::note(&format!("no models in {}", hub.cache_folder().display()));
    }
    let mut page = String::new();
    for cached in models {
        let (name, facts) = (&cached.repository, facts(&cached.model));
        // Writing to a string does not fail.
        writeln!(page, "{name}  {facts}\n    {}", cached.path.display()).ok();
    }
    console::print(page.as_bytes())
}

fn open() -> Result<Hub, Failure> {
    Hub::open(HubConfig::default()).map_err(fail)
}

fn fail(error: HubError) -> Failure {
    match error {
        error if is_of_arguments(&error) => Failure::usage(error.to_string()),
        error => Failure::run(error.to_string()),
    }
}

/// Whether only other arguments can help.
const fn is_of_arguments(error: &HubError) -> bool {
    matches!(
        error,
        HubError::NameMalformed { .. } | HubError::ChoiceNeeded { .. }
    )
}

fn recommendations() -> String {
    let mut page = String::new();
    for model in RECOMMENDED {
        // Writing to a string does not fail.
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

/// One repository, and a line for each of its models.
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
    add(&format!("{} downloads", repository.n_downloads));
    add(&format!("{} likes", repository.n_likes));
    add(repository.license.as_deref().unwrap_or("licence unknown"));
    if repository.is_gated {
        add("gated");
    }
    if let Some(date) = repository.changed_at.as_ref().and_then(|at| at.get(..10)) {
        add(&format!("changed {date}"));
    }
    for model in &repository.models {
        let file = model.file().unwrap_or("the folder");
        // Writing to a string does not fail.
        write!(line, "\n    {file}  {}", facts(model)).ok();
    }
    line.push('\n');
    line
}

/// How the weights are rounded, and the size.
fn facts(model: &ModelFiles) -> String {
    let kind = model.kind();
    match model.n_bytes {
        Some(n_bytes) => format!("{kind} · {}", ByteSize(n_bytes)),
        None => kind.to_owned(),
    }
}

/// Tells how far a download has come: on a terminal in a line that changes, elsewhere in a line every
/// few seconds.
struct Teller {
    line: Progress,
    is_terminal: bool,
    pace: Pace,
}

impl Teller {
    fn new() -> Self {
        Self {
            line: Progress::new(),
            is_terminal: io::stderr().is_terminal(),
            pace: Pace::new(LOG_PAUSE),
        }
    }

    fn tell(&mut self, progress: &DownloadProgress) {
        if self.is_terminal {
            self.line.going_on(|| sentence(progress));
        } else if self.pace.is_due(&progress.stage) {
            console::note(&sentence(progress));
        }
    }
}

fn sentence(progress: &DownloadProgress) -> String {
    let file = progress.file.rsplit('/').next().unwrap_or_default();
    match &progress.stage {
        Stage::Asking => "Asking the Hub".to_owned(),
        Stage::Waiting { reason, seconds } => {
            let reason = reason.lines().next().unwrap_or_default();
            format!("{reason}; trying again in {seconds} s")
        }
        Stage::Verifying => format!("Checking {file}"),
        Stage::Receiving => {
            let (here, all) = (progress.n_bytes, progress.n_bytes_total);
            let mut sentence = format!("{file}  {}", ByteSize(here).of(ByteSize(all)));
            if let Some(speed) = progress.bytes_per_second {
                // Writing to a string does not fail.
                write!(sentence, "  {:.1} MB/s", speed / 1e6).ok();
            }
            if let Some(seconds) = progress.seconds_left {
                write!(sentence, "  {} left", time_words(seconds)).ok();
            }
            sentence
        }
    }
}

/// "about 16 s", "about 3 min"
fn time_words(seconds: u64) -> String {
    match seconds {
        0..120 => format!("about {seconds} s"),
        120..7_200 => format!("about {} min", seconds.div_ceil(60)),
        _ => format!("about {} h", seconds.div_ceil(3_600)),
    }
}

#[cfg(test)]
mod tests {
    use super::{DownloadProgress, Stage, sentence};

    #[test]
    fn progress_is_one_plain_line() {
        let progress = |stage| DownloadProgress {
            stage,
            file: "Q8_0/fox-Q8_0.gguf".to_owned(),
            n_bytes: 291_000_000,
            n_bytes_total: 484_000_000,
            bytes_per_second: Some(12.4e6),
            seconds_left: Some(16),
        };
        let waiting = Stage::Waiting {
            reason: "the connection to hub.example broke off".to_owned(),
            seconds: 2,
        };
        for (stage, line) in [
            (Stage::Asking, "Asking the Hub"),
            (
                Stage::Receiving,
                "fox-Q8_0.gguf  291 of 484 MB  12.4 MB/s  about 16 s left",
            ),
            (
                waiting,
                "the connection to hub.example broke off; trying again in 2 s",
            ),
            (Stage::Verifying, "Checking fox-Q8_0.gguf"),
        ] {
            assert_eq!(sentence(&progress(stage)), line);
        }
    }
}
