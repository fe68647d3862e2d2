//! What a list of runs shows, read from run files of any format without reading their steps.

use std::path::Path;

use serde::Deserialize;

use super::{ResultSummary, RunFileError, read_text};
use crate::export::json::{FORMAT_VERSION, N_LETTERS, ParseError};
use crate::generation::formatting::place_of_letter;

/// A run as shown in a list of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// The name that the user gave it.
    pub title: Option<String>,
    /// In seconds since 1970.
    pub finished_at: Option<u64>,
    /// The name of the model, or those of all models: "Quartet Stories + Qwen3 0.6B".
    pub model: String,
    pub prompt: String,
    pub panes: Vec<PaneSummary>,
    /// Whether a text was interrupted by a crash or by closing the window.
    pub is_interrupted: bool,
    /// What the results of an experiment are; `None` for a run.
    pub result: Option<ResultWords>,
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
            is_interrupted: false,
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
    /// Returns the number of tokens in all panes.
    pub fn n_tokens(&self) -> usize {
        self.panes.iter().map(|pane| pane.n_tokens).sum()
    }
}

#[derive(Deserialize)]
struct File {
    format_version: u32,
    title: Option<String>,
    finished_at: Option<u64>,
    model: Option<Model>,
    prompt: Option<Prompt>,
    panes: Vec<Pane>,
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
    /// `None` if it is the file's model.
    model: Option<Model>,
    settings: Settings,
    #[serde(default)]
    not_applied: Vec<String>,
    text: String,
    finish_reason: Option<String>,
    metrics: Metrics,
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
    n_generated: usize,
}

/// Reads what a list shows about a run file.
pub fn read_summary(path: &Path) -> Result<RunSummary, RunFileError> {
    let file: File = serde_json::from_slice(&read_text(path)?).map_err(ParseError::from)?;
    match file.format_version {
        FORMAT_VERSION => {}
        version @ ..FORMAT_VERSION => return Err(ParseError::TooOld { version }.into()),
        version => return Err(ParseError::TooNew { version }.into()),
    }
    let mut models: Vec<String> = Vec::new();
    for pane in &file.panes {
        let model = pane.model.as_ref().or(file.model.as_ref());
        let model = model.filter(|model| !models.contains(&model.name));
        models.extend(model.map(|model| model.name.clone()));
    }
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
        prompt: file.prompt.map(|prompt| prompt.text).unwrap_or_default(),
        panes: file.panes.into_iter().enumerate().map(pane).collect(),
        is_interrupted,
        result: None,
    })
}

#[cfg(test)]
mod tests {
    use super::read_summary;
    use crate::export::json::{Form, RunFile, RunHeader};
    use crate::export::write_run;
    use crate::generation::FinishReason;
    use crate::generation::testing::generation;

    #[test]
    fn a_summary_has_what_a_list_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json.gz");
        let run = generation(&[(" the", 0.5), (" fox", 0.25)]);
        let header = RunHeader {
            title: None,
            finished_at: Some(7),
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
        std::sync::Arc::make_mut(&mut other.model).name = "Other".to_owned();
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
