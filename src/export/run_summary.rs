//! What a list of runs shows, read from run files of any format without reading their steps.

use std::path::Path;

use serde::Deserialize;

use super::{ResultSummary, RunFileError, read_text};
use crate::export::json::{FORMAT_VERSION, N_LETTERS, ParseError};
use crate::generation::formatting::{counted, place_of_letter};
use crate::interop::api::{RecordedRequest, Usage};

/// A run as shown in a list of runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunSummary {
    /// The name that the user gave it.
    pub title: Option<String>,
    /// In seconds since 1970.
    pub finished_at: Option<u64>,
    /// The name of the model, or those of all models: "Quartet Stories + Qwen3 0.6B".
    pub model: String,
    /// The prompt, or the first message of a conversation.
    pub prompt: String,
    pub panes: Vec<PaneSummary>,
    /// How many turns its longest conversation has: 1 if there are none before the texts.
    pub n_turns: usize,
    /// How many tokens the turns before the texts have.
    pub n_earlier_tokens: usize,
    /// Whether a text was interrupted by a crash or by closing the window.
    pub is_interrupted: bool,
    /// The request of another program that it answers.
    pub request: Option<Box<AskedSummary>>,
    /// What the results of an experiment are; `None` for a run.
    pub result: Option<ResultWords>,
}

/// A request of another program, as a list of runs shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedSummary {
    pub request: RecordedRequest,
    pub usage: Usage,
    /// How long the first text took, in seconds.
    pub secs: Option<f64>,
    /// Whether a text was stopped before its end.
    pub is_stopped: bool,
}

/// What the results of an experiment are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultWords {
    /// The key of the experiment: `sweep`.
    pub experiment: String,
    /// "Sweep, 48 cells".
    pub words: String,
}

impl From<ResultSummary> for RunSummary {
    fn from(result: ResultSummary) -> Self {
        Self {
            title: result.title,
            finished_at: Some(result.finished_at),
            model: result.model,
            prompt: result.prompt,
            panes: Vec::new(),
            n_turns: 1,
            n_earlier_tokens: 0,
            is_interrupted: false,
            request: None,
            result: Some(ResultWords {
                experiment: result.experiment,
                words: result.words,
            }),
        }
    }
}

/// A text as shown in a list of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneSummary {
    /// The place of its pane, which determines its letter.
    pub place: usize,
    pub name: String,
    /// Its settings in one line.
    pub settings: String,
    pub seed: u64,
    pub n_tokens: usize,
    pub text: String,
}

impl RunSummary {
    /// Returns the number of tokens in all panes and in the turns before them.
    pub fn n_tokens(&self) -> usize {
        let panes: usize = self.panes.iter().map(|pane| pane.n_tokens).sum();
        panes + self.n_earlier_tokens
    }

    /// Says how many panes there are, and how long their conversation is: "4 panes", "4 panes, 6
    /// turns".
    pub fn panes_words(&self) -> String {
        let panes = counted(self.panes.len(), "pane");
        match self.n_turns {
            0 | 1 => panes,
            n => format!("{panes}, {n} turns"),
        }
    }
}

#[derive(Deserialize)]
struct File {
    format_version: u32,
    title: Option<String>,
    finished_at: Option<u64>,
    request: Option<RecordedRequest>,
    model: Option<Model>,
    prompt: Option<Prompt>,
    #[serde(default)]
    turns: Vec<Turn>,
    panes: Vec<Pane>,
}

#[derive(Deserialize)]
struct Turn {
    text: TurnText,
}

#[derive(Deserialize)]
struct TurnText {
    follows: Option<usize>,
    prompt: Option<Prompt>,
    metrics: Metrics,
}

#[derive(Deserialize)]
struct Model {
    name: String,
}

#[derive(Deserialize)]
struct Prompt {
    text: String,
}

#[derive(Deserialize)]
struct Pane {
    /// `None` if it follows from the order of the panes.
    letter: Option<String>,
    name: String,
    /// The index of the turn before it.
    follows: Option<usize>,
    /// `None` if it is the file's model.
    model: Option<Model>,
    settings: Settings,
    #[serde(default)]
    not_applied: Vec<String>,
    text: String,
    finish_reason: Option<String>,
    metrics: Metrics,
    timings: Timings,
}

impl Pane {
    fn place(&self) -> Option<usize> {
        place_of_letter(self.letter.as_deref()?, N_LETTERS)
    }
}

#[derive(Deserialize)]
struct Settings {
    summary: String,
    seed: u64,
}

#[derive(Deserialize)]
struct Metrics {
    n_prompt_tokens: usize,
    n_generated: usize,
    first_token_secs: Option<f64>,
    decode_tokens_per_sec: Option<f64>,
}

impl Metrics {
    /// Returns how long the text took, in seconds.
    fn secs(&self) -> Option<f64> {
        let n_after_first = self.n_generated.saturating_sub(1) as f64;
        let decode = self
            .decode_tokens_per_sec
            .map(|speed| n_after_first / speed);
        Some(self.first_token_secs? + decode.unwrap_or_default())
    }
}

#[derive(Deserialize)]
struct Timings {
    n_prefilled: usize,
}

impl AskedSummary {
    fn of(request: RecordedRequest, panes: &[Pane]) -> Self {
        let first = panes.first();
        let n_prompt = first.map_or(0, |pane| pane.metrics.n_prompt_tokens);
        let n_prefilled = first.map_or(0, |pane| pane.timings.n_prefilled);
        let reasons = panes.iter().map(|pane| pane.finish_reason.as_deref());
        Self {
            request,
            usage: Usage {
                n_prompt,
                n_cached: n_prompt.saturating_sub(n_prefilled),
                n_written: panes.iter().map(|pane| pane.metrics.n_generated).sum(),
            },
            secs: first.and_then(|pane| pane.metrics.secs()),
            is_stopped: reasons.flatten().any(|reason| reason == "cancelled"),
        }
    }
}

/// Reads what a list shows about a run file.
pub fn read_summary(path: &Path) -> Result<RunSummary, RunFileError> {
    Ok(summary_of(&read_text(path)?)?)
}

/// Returns what a list shows about the content of a run file.
pub fn summary_of(bytes: &[u8]) -> Result<RunSummary, ParseError> {
    let mut file: File = serde_json::from_slice(bytes)?;
    match file.format_version {
        FORMAT_VERSION => {}
        version @ ..FORMAT_VERSION => return Err(ParseError::TooOld { version }),
        version => return Err(ParseError::TooNew { version }),
    }
    let mut models: Vec<String> = Vec::new();
    for pane in &file.panes {
        let model = pane.model.as_ref().or(file.model.as_ref());
        let model = model.filter(|model| !models.contains(&model.name));
        models.extend(model.map(|model| model.name.clone()));
    }
    let conversation = Conversation::of(&file);
    let request = file.request.take();
    let request = request.map(|request| Box::new(AskedSummary::of(request, &file.panes)));
    let is_interrupted = |pane: &Pane| pane.finish_reason.as_deref() == Some("interrupted");
    let is_interrupted = file.panes.iter().any(is_interrupted);
    let pane = |(index, pane): (usize, Pane)| PaneSummary {
        place: pane.place().unwrap_or(index),
        name: pane.name,
        settings: match pane.not_applied.join(", ") {
            lacking if lacking.is_empty() => pane.settings.summary,
            lacking => format!("{} (not applied: {lacking})", pane.settings.summary),
        },
        seed: pane.settings.seed,
        n_tokens: pane.metrics.n_generated,
        text: pane.text,
    };
    Ok(RunSummary {
        title: file.title,
        finished_at: file.finished_at,
        model: models.join(" + "),
        prompt: conversation.first_message,
        n_turns: conversation.n_turns,
        n_earlier_tokens: conversation.n_earlier_tokens,
        panes: file.panes.into_iter().enumerate().map(pane).collect(),
        is_interrupted,
        request,
        result: None,
    })
}

/// The turns of a file in short.
struct Conversation {
    first_message: String,
    n_turns: usize,
    n_earlier_tokens: usize,
}

impl Conversation {
    fn of(file: &File) -> Self {
        // A turn only follows earlier ones.
        let mut begun: Vec<Begun> = Vec::new();
        for (index, turn) in file.turns.iter().enumerate() {
            let before = turn.text.follows.and_then(|before| begun.get(before));
            let (first, n_turns) = before.map_or((index, 1), |b| (b.first, b.n_turns + 1));
            begun.push(Begun { first, n_turns });
        }
        let before = |pane: &Pane| pane.follows.and_then(|before| begun.get(before));
        let first = file.panes.first().and_then(before);
        let first = first.and_then(|first| file.turns.get(first.first));
        let own = first.and_then(|first| first.text.prompt.as_ref());
        let lengths = file.panes.iter().filter_map(before).map(|b| b.n_turns + 1);
        let tokens = file.turns.iter().map(|turn| turn.text.metrics.n_generated);
        Self {
            first_message: own
                .or(file.prompt.as_ref())
                .map(|prompt| prompt.text.clone())
                .unwrap_or_default(),
            n_turns: lengths.max().unwrap_or(1),
            n_earlier_tokens: tokens.sum(),
        }
    }
}

/// A conversation up to a turn.
#[derive(Clone, Copy)]
struct Begun {
    /// The index of its first turn.
    first: usize,
    n_turns: usize,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::read_summary;
    use crate::export::json::{Form, RunFile, RunHeader};
    use crate::export::write_run;
    use crate::generation::FinishReason;
    use crate::generation::testing::generation;

    #[test]
    fn the_summary_of_a_conversation_counts_its_turns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json.gz");
        let first = generation(&[(" the", 0.5), (" fox", 0.25)]);
        let mut last = first.clone().following(Some(Arc::new(first.clone())));
        "Why?".clone_into(&mut Arc::make_mut(&mut last.prompt).text);
        let run = RunFile {
            panes: vec![last, first],
            ..RunFile::default()
        };
        write_run(&path, &run, Form::default()).unwrap();
        let summary = read_summary(&path).unwrap();
        assert_eq!(summary.panes_words(), "2 panes, 2 turns");
        assert_eq!(summary.n_tokens(), 6);
        assert_eq!(summary.prompt, "Once there was");
    }

    #[test]
    fn a_summary_has_what_a_list_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json.gz");
        let run = generation(&[(" the", 0.5), (" fox", 0.25)]);
        let header = RunHeader {
            finished_at: Some(7),
            ..RunHeader::default()
        };
        let run = RunFile {
            header,
            panes: vec![run.clone(), run],
            ..RunFile::default()
        };
        write_run(&path, &run, Form::default()).unwrap();
        let summary = read_summary(&path).unwrap();
        assert_eq!((summary.finished_at, summary.n_tokens()), (Some(7), 4));
        assert_eq!(summary.prompt, "Once there was");
        assert_eq!(summary.panes[1].text, " the fox");
        assert_eq!(summary.panes[1].settings, "T 0.7");
        let mut other = generation(&[(" the", 0.5)]);
        Arc::make_mut(&mut other.model).name = "Other".to_owned();
        assert!(!summary.is_interrupted);
        let mut stopped = run.clone();
        stopped.panes[1].finish = Some(FinishReason::Interrupted);
        write_run(&path, &stopped, Form::default()).unwrap();
        assert!(read_summary(&path).unwrap().is_interrupted);
        let two = RunFile {
            panes: vec![run.panes[0].clone(), other.clone(), other],
            ..RunFile::default()
        };
        write_run(&path, &two, Form::default()).unwrap();
        assert_eq!(read_summary(&path).unwrap().model, "Test + Other");
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let first = read_summary(&golden.join("export.json")).unwrap();
        assert_eq!((first.panes.len(), first.n_tokens()), (2, 8));
    }
}
