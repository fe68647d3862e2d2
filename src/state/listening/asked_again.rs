//! Asking requests again: which answers the loaded model would give differently now.
//!
//! The requests are answered one after the other, beside whatever the panes do.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::replay::{TextReplay, logit_gap, replay_of};
use crate::export::json::RunFile;
use crate::generation::formatting::{counted, quoted};
use crate::generation::{FinishReason, Generation, Piece, PromptForm, PromptText, TextModels};
use crate::interop::api::ApiModel;
use crate::state::{AppState, Effect, RunRequest};
use crate::worker::{PaneRequest, Progress, Recorder, Request};

/// The requests that are asked again, and what came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskedAgain {
    /// The files of the runs that wait, the next one last.
    left: Vec<String>,
    current: Option<Repeated>,
    n_all: usize,
    /// How the new answers compare, by the files of the runs.
    results: BTreeMap<String, AnswerAgain>,
}

/// A new answer, compared with the one that a program got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerAgain {
    pub is_same: bool,
    /// "Same 84 tokens", "Token 12 is ‘fox’, was ‘dog’". Can be shown as it is.
    pub words: String,
}

/// A request that is being answered again.
#[derive(Debug, Clone, PartialEq)]
struct Repeated {
    file: String,
    then: Vec<Generation>,
    now: Vec<Recorder>,
}

impl AskedAgain {
    /// Returns whether requests are being answered.
    pub const fn is_running(&self) -> bool {
        self.current.is_some() || !self.left.is_empty()
    }

    /// Returns how the new answer to the request of this file compares.
    pub fn result(&self, file: &str) -> Option<&AnswerAgain> {
        self.results.get(file)
    }

    /// Says how far it is, or what came of it: "12 of 40 asked again", "38 of 40 answered the same".
    pub fn words(&self) -> Option<String> {
        if self.n_all == 0 {
            return None;
        }
        let n_done = self.results.len();
        if self.is_running() {
            return Some(format!("{n_done} of {} asked again", self.n_all));
        }
        let n_same = self.results.values().filter(|again| again.is_same).count();
        Some(format!("{n_same} of {n_done} answered the same"))
    }

    /// Stops. Returns the texts that are being written.
    fn stop(&mut self) -> Vec<Effect> {
        self.left.clear();
        let current = self.current.take().into_iter();
        let texts = current.flat_map(|current| current.now);
        let unfinished = texts.filter(|text| text.text.finish.is_none());
        let stops = unfinished.map(|text| Effect::Send(Request::Stop(text.id)));
        stops.collect()
    }

    fn conclude(&mut self, file: String, result: AnswerAgain) {
        self.results.insert(file, result);
    }
}

/// Asks the requests of these runs again, the first one first.
pub(in crate::state) fn ask_again(state: &mut AppState, files: Vec<String>) -> Vec<Effect> {
    let again = &mut state.runs.listening.again;
    let mut effects = again.stop();
    *again = AskedAgain {
        n_all: files.len(),
        left: files.into_iter().rev().collect(),
        ..AskedAgain::default()
    };
    effects.extend(ask_next(state));
    effects
}

/// Stops asking. What came of it stays.
pub(in crate::state) fn stop_asking(state: &mut AppState) -> Vec<Effect> {
    let again = &mut state.runs.listening.again;
    let effects = again.stop();
    again.n_all = again.results.len();
    effects
}

/// Reads the next run.
fn ask_next(state: &mut AppState) -> Vec<Effect> {
    let Some(file) = state.runs.listening.again.left.last().cloned() else {
        return Vec::new();
    };
    let content = state.runs.history.content_of(&file);
    vec![Effect::Runs(RunRequest::ReadToAsk { file, content })]
}

/// Answers a request again, once its run was read.
pub(in crate::state) fn on_read(
    state: &mut AppState,
    file: String,
    run: Result<Box<RunFile>, String>,
) -> Vec<Effect> {
    let again = &mut state.runs.listening.again;
    if again.left.pop_if(|next| *next == file).is_none() {
        // It was stopped meanwhile.
        return Vec::new();
    }
    let model = state.runs.listening.model().cloned();
    let words = match (run, model) {
        (Ok(run), Some(model)) if !run.panes.is_empty() => {
            return vec![Effect::Send(begin(state, file, run.panes, &model))];
        }
        (Ok(_), None) => "No model is loaded".to_owned(),
        (Ok(_), Some(_)) => "It has no texts".to_owned(),
        (Err(error), _) => error,
    };
    let is_same = false;
    let again = &mut state.runs.listening.again;
    again.conclude(file, AnswerAgain { is_same, words });
    ask_next(state)
}

/// Begins the new texts. Returns what the worker must do.
fn begin(state: &mut AppState, file: String, then: Vec<Generation>, model: &ApiModel) -> Request {
    let models = TextModels {
        model: Arc::clone(&model.info),
        second_model: model.second.clone(),
        vocabulary: Arc::clone(&model.vocabulary),
    };
    let mut now = Vec::new();
    let mut panes = Vec::new();
    for text in &then {
        let id = state.next_text_id();
        panes.push(PaneRequest {
            id,
            config: text.config.clone(),
            model: None,
            continuation: replay_of(text),
        });
        now.push(Recorder {
            id,
            text: text.clone().begin_again(models.clone()),
        });
    }
    let request = match then.first() {
        Some(text) if reads_alike(text, model) => Request::Continue {
            prompt: Arc::clone(&text.prompt),
            panes,
        },
        first => Request::Generate {
            prompt: first.map_or_else(
                || PromptText::raw(""),
                |text| PromptText {
                    text: text.prompt.text.clone(),
                    form: PromptForm::of(text.prompt.chat.as_ref()),
                },
            ),
            panes,
            n_detail_bytes: 0,
        },
    };
    state.runs.listening.again.current = Some(Repeated { file, then, now });
    request
}

/// Returns whether the model has the same tokens as a recorded text, so that it can read the prompt
/// token for token.
fn reads_alike(text: &Generation, model: &ApiModel) -> bool {
    text.vocabulary.iter().all(|(token, piece)| {
        // A file names only the tokens that occur in it.
        *piece == Piece::unnamed(token) || model.vocabulary.agrees(token, piece) != Some(false)
    })
}

/// Records the progress of a new answer. Returns `None` if the progress is about another text.
pub(in crate::state) fn note(state: &mut AppState, progress: &Progress) -> Option<Vec<Effect>> {
    let current = state.runs.listening.again.current.as_mut()?;
    let mut is_own = false;
    for text in &mut current.now {
        is_own |= text.note(progress);
    }
    let is_done = current.now.iter().all(|text| text.text.finish.is_some());
    if !is_own {
        return None;
    }
    if !is_done {
        return Some(Vec::new());
    }
    let again = &mut state.runs.listening.again;
    if let Some(Repeated { file, then, now }) = again.current.take() {
        let result = compared(&then, &now);
        again.conclude(file, result);
    }
    Some(ask_next(state))
}

fn compared(then: &[Generation], now: &[Recorder]) -> AnswerAgain {
    let pairs = || then.iter().zip(now.iter().map(|now| &now.text));
    let failed = pairs().find_map(|(_, now)| match &now.finish {
        Some(FinishReason::Failed { error }) => Some(error.clone()),
        Some(FinishReason::Cancelled) => Some("It was stopped".to_owned()),
        _ => None,
    });
    let different = || pairs().find_map(|(then, now)| difference(then, now));
    let words = failed.or_else(different);
    AnswerAgain {
        is_same: words.is_none(),
        words: words.unwrap_or_else(|| {
            let n_tokens = then.iter().map(|text| text.steps.len()).sum();
            format!("Same {}", counted(n_tokens, "token"))
        }),
    }
}

/// Says where a new text parts from the recorded one, or returns `None` if it does not.
fn difference(then: &Generation, now: &Generation) -> Option<String> {
    if !then.has_tokenizer_of(now) {
        let (then, now) = (then.text(), now.text());
        let same = then.chars().zip(now.chars());
        let n_same = same.take_while(|(then, now)| then == now).count();
        let differs = then != now;
        return differs.then(|| format!("Another text from character {}", n_same + 1));
    }
    let found = TextReplay::of(then, now).first_difference?;
    let piece = |text: &Generation| {
        let step = text.steps.get(found.step);
        step.map_or_else(|| "the end".to_owned(), |step| quoted(&step.piece))
    };
    let gap = found
        .logit_gap
        .map(|gap| format!(", {} apart", logit_gap(gap)));
    Some(format!(
        "Token {} is {}, was {}{}",
        found.step + 1,
        piece(now),
        piece(then),
        gap.unwrap_or_default()
    ))
}
