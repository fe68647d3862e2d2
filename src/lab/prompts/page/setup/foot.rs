//! What stands below the form.

use crate::lab::frame::{Foot, Labels, Note, Progress};
use crate::lab::prompts::PromptsTab;
use crate::lab::prompts::state::{SweepRun, TaskView, TasksRun, blocking_reason};
use crate::state::AppState;

/// Returns how far the run is, or why there is none.
pub(in crate::lab::prompts::page) fn foot(state: &AppState) -> Foot {
    let prompts = &state.lab.prompts;
    let labels = Labels {
        run: verb(prompts),
        stop: "Stop and keep answers",
        stop_hint: "The answers so far are kept",
    };
    // Before there are tasks, the form says where to get them.
    let blocked = blocking_reason(state);
    let has_tasks = prompts.form.tasks().is_ok();
    let table = prompts.runs.table.as_ref();
    let sweep = prompts.runs.sweep.as_ref();
    let is_sweep = match prompts.view {
        TaskView::Table => table.is_none_or(|run| !run.is_running()) && is_running(sweep),
        TaskView::AnySetting => !table.is_some_and(TasksRun::is_running),
    };
    let mut foot = if is_sweep {
        let progress = |run: &SweepRun| Progress::new(Some(run.fraction()), run.summary());
        Foot::new(labels, sweep, progress, blocked)
    } else {
        let progress = |run: &TasksRun| Progress::new(Some(run.fraction()), run.summary());
        Foot::new(labels, table, progress, blocked)
    };
    if !has_tasks && matches!(foot.note, Some(Note::Words(_))) {
        foot.note = None;
    }
    foot
}

fn is_running(sweep: Option<&SweepRun>) -> bool {
    sweep.is_some_and(SweepRun::is_running)
}

/// Returns what the button does: it judges answers if any task has a check.
fn verb(prompts: &PromptsTab) -> &'static str {
    if prompts.view == TaskView::AnySetting && prompts.form.n_swept_answers() == 0 {
        return "Compute";
    }
    match prompts.form.tasks() {
        Ok(prepared) if !prepared.is_judged => "Answer",
        _ => "Judge",
    }
}
