//! Requests as the tasks of an experiment.

use crate::generation::formatting::counted;
use crate::lab::LabTab;
use crate::state::{AppState, Effect, Notice, Page, RunRequest};

/// Reads the prompts of these runs.
pub(in crate::state) fn read_tasks(
    state: &AppState,
    files: Vec<String>,
    tab: LabTab,
) -> Vec<Effect> {
    let history = &state.runs.history;
    let runs = files.into_iter().map(|file| {
        let content = history.content_of(&file);
        (file, content)
    });
    let runs = runs.collect();
    vec![Effect::Runs(RunRequest::ReadTasks { runs, tab })]
}

/// Uses the prompts of runs, a line each, and shows the experiment.
pub(in crate::state) fn use_tasks(
    state: &mut AppState,
    tasks: String,
    tab: LabTab,
    n_unread: usize,
) -> Vec<Effect> {
    if n_unread > 0 {
        let words = format!("{} could not be read", counted(n_unread, "run"));
        state.notices.notify(Notice::hint(words));
    }
    state.lab.use_text(tab, tasks);
    state.show_page(Page::Lab)
}
