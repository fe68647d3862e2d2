//! Results in the history: they are kept when an experiment ends, and shown again in its tab.

#[cfg(test)]
use super::LabCommand;
use super::{Lab, LabResult, LabTab};
use crate::state::{AppState, Effect, Notice, Page, RunRequest, unix_time_secs};
#[cfg(test)]
use crate::state::{Command, ModelStatus};

/// Results on screen that are from the history, or that were made again from those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptResult {
    pub tab: LabTab,
    /// When they were found, in seconds since 1970.
    pub finished_at: u64,
    /// The name of the model.
    pub model: String,
}

impl Lab {
    /// Returns when the results of a tab were found, in seconds since 1970: now if they are not
    /// complete.
    pub(crate) fn finished_at(&self, tab: LabTab) -> u64 {
        let noted = self.finished_at.get(tab as usize).copied().flatten();
        noted
            .filter(|_| !self.is_running(tab))
            .unwrap_or_else(unix_time_secs)
    }

    fn note_finished(&mut self, tab: LabTab, at: u64) {
        if let Some(finished_at) = self.finished_at.get_mut(tab as usize) {
            *finished_at = Some(at);
        }
    }

    /// Notes that a tab no longer shows results from the history.
    pub(super) fn forget_kept(&mut self, tab: LabTab) {
        self.kept.take_if(|kept| kept.tab == tab);
    }
}

impl AppState {
    /// Returns the request to keep what the job of a tab has found, if it finds results.
    pub(crate) fn keep_found(&mut self, tab: LabTab) -> Option<Effect> {
        if tab.job_finds_results() {
            self.keep_result(tab)
        } else {
            None
        }
    }

    /// Returns the request to keep the results of a tab, if there are any.
    pub(crate) fn keep_result(&mut self, tab: LabTab) -> Option<Effect> {
        let finished_at = unix_time_secs();
        self.lab.note_finished(tab, finished_at);
        self.lab.result(tab)?;
        if let Some(kept) = self.lab.kept.as_mut().filter(|kept| kept.tab == tab) {
            kept.finished_at = finished_at;
        }
        Some(Effect::Runs(RunRequest::KeepResult {
            tab,
            finished_at,
            named_at: self.lab.note_kept(tab, finished_at),
            limits: self.runs.limits,
        }))
    }

    /// Shows results from the history in their tab. Those that were there are in the history, too.
    pub(crate) fn show_result(&mut self, name: &str, result: LabResult, finished_at: u64) {
        let tab = result.tab();
        let shown = if self.lab.is_running(tab) {
            Err(format!("stop the run of {} first", tab.name()))
        } else {
            self.lab.show(result)
        };
        match shown {
            Ok(()) => {
                let facts = self.lab.result(tab).map(|(facts, _)| facts);
                self.lab.note_finished(tab, finished_at);
                self.lab.kept = Some(KeptResult {
                    tab,
                    finished_at,
                    model: facts.map(|facts| facts.model).unwrap_or_default(),
                });
                (self.page, self.lab.tab) = (Page::Lab, tab);
            }
            Err(error) => {
                let title = format!("{name} can’t be opened");
                self.notify(Notice::error(title, error));
            }
        }
    }
}

/// Keeps the results of a tab, and shows them in a new window.
#[cfg(test)]
pub(super) fn reopened(state: &AppState, tab: LabTab) -> AppState {
    let (_, result) = state.lab.result(tab).unwrap();
    let read = LabResult::parse(tab.key(), &result.to_json().unwrap()).unwrap();
    assert_eq!(read, result);
    let mut other = crate::state::tests::ready();
    other.show_result("It", read, 7);
    assert_eq!(
        (other.page, other.lab.tab),
        (Page::Lab, tab),
        "{:?}",
        other.notices
    );
    other
}

/// Keeps the results of a tab, shows them in a new window with another setup, and runs them again there.
/// Returns the window and the effects.
#[cfg(test)]
pub(super) fn run_again(state: &AppState, tab: LabTab) -> (AppState, Vec<Effect>) {
    let mut other = reopened(state, tab);
    if let (ModelStatus::Ready(then), ModelStatus::Ready(now)) =
        (&state.models.main, &mut other.models.main)
    {
        now.vocabulary.clone_from(&then.vocabulary);
    }
    "Another prompt".clone_into(&mut other.prompt.text);
    other.seed = 99;
    other.limits.max_new_tokens = 3;
    for pane in &mut other.panes {
        pane.settings.chain = crate::decoding::ChainConfig::sampled([]);
    }
    let effects = other.apply(Command::Lab(LabCommand::RunAgain(tab)));
    assert!(other.lab.is_running(tab));
    (other, effects)
}

/// Checks that results that were run again are those of then, and that they are kept as new ones.
#[cfg(test)]
#[track_caller]
pub(super) fn are_the_same(then: &AppState, now: &AppState, tab: LabTab, effects: &[Effect]) {
    let result = |state: &AppState| state.lab.result(tab).unwrap().1;
    assert_eq!(result(now), result(then));
    let is_kept = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::KeepResult { tab: kept, .. }) if *kept == tab);
    assert!(effects.iter().any(is_kept), "{effects:?}");
    let kept = now.lab.kept.as_ref().unwrap();
    assert!(kept.finished_at > 7, "it is a new result");
}

/// Changes the kept results of a tab as a damaged file might, and shows them in a new window, which
/// must refuse them.
#[cfg(test)]
pub(super) fn refuses(state: &AppState, tab: LabTab, damage: impl FnOnce(&mut serde_json::Value)) {
    let (_, result) = state.lab.result(tab).unwrap();
    let mut json = serde_json::from_slice(&result.to_json().unwrap()).unwrap();
    damage(&mut json);
    let result = LabResult::parse(tab.key(), &serde_json::to_vec(&json).unwrap()).unwrap();
    let mut other = crate::state::tests::ready();
    other.show_result("It", result, 7);
    assert_eq!(other.notices[0].title, "It can’t be opened");
    assert_eq!(other.lab.kept, None);
}
