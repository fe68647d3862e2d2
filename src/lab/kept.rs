//! Results in the history: they are kept when an experiment ends, and shown again in its tab.

use super::{Lab, LabResult, LabTab};
use crate::state::{AppState, Effect, Notice, Page, RunRequest, unix_time_secs};

/// Results on screen that are from the history.
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
    /// Returns the request to keep the results of a tab, if there are any.
    pub(crate) fn keep_result(&mut self, tab: LabTab) -> Option<Effect> {
        let finished_at = unix_time_secs();
        self.lab.note_finished(tab, finished_at);
        self.lab.result(tab)?;
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
