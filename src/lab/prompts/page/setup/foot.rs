//! The progress, and the button that starts or stops the run.

use egui::{Label, Rect, Role, Ui, WidgetInfo, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, progress_bar};
use crate::lab::prompts::PromptsTab;
use crate::lab::prompts::state::{TaskView, blocking_reason};
use crate::lab::{LabCommand, LabTab};
use crate::state::{Action, AppState, Command, RunStatus, capitalize};
use crate::ui::keys::key_words;

/// Draws both at the bottom of the column.
pub(super) fn foot_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let column = ui.max_rect();
    let reason = blocking_reason(state);
    status_ui(ui, &state.lab.prompts, reason.as_deref());
    let button = Rect::from_min_max(column.left_bottom() - vec2(0.0, 36.0), column.max);
    let mut ui = child_ui(ui, button, "run");
    if state.lab.is_running(LabTab::Prompts) {
        let stop = Button::run("Stop and keep answers", false)
            .icon(Icon::Stop)
            .hint("Esc");
        if ui.add(stop.width(column.width())).clicked() {
            commands.push(Command::Lab(LabCommand::Stop(LabTab::Prompts)));
        }
        return;
    }
    let hint = key_words(&ui, Action::Generate);
    let run = Button::run(verb(&state.lab.prompts), true)
        .icon(Icon::Play)
        .hint(&hint);
    let response = ui
        .add_enabled(reason.is_none(), run.width(column.width()))
        .on_disabled_hover_text(reason.unwrap_or_default());
    if response.clicked() {
        commands.push(Command::Lab(LabCommand::Run(LabTab::Prompts)));
    }
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

/// Draws how far the run is, or why there is none.
fn status_ui(ui: &mut Ui, prompts: &PromptsTab, reason: Option<&str>) {
    let theme = Theme::of(ui);
    let table = prompts.runs.table.as_ref();
    let sweep = prompts.runs.sweep.as_ref();
    let running = table.filter(|run| run.is_running());
    let running = running.map(|run| (run.fraction(), run.summary()));
    let running = running.or_else(|| {
        let run = sweep.filter(|run| run.is_running())?;
        Some((run.fraction(), run.summary()))
    });
    let status = match prompts.view {
        TaskView::Table => table.map(|run| &run.status),
        TaskView::AnySetting => sweep.map(|run| &run.status),
    };
    if let Some((fraction, summary)) = running {
        progress_bar(ui, fraction);
        let words = Face::Small.text(&summary).color(theme.text_2);
        let label = ui.add(Label::new(words).truncate());
        label.widget_info(|| WidgetInfo::labeled(Role::Status, true, &summary));
    } else if let Some(RunStatus::Failed { error }) = status {
        let words = Face::Small.text(capitalize(error)).color(theme.error);
        ui.add(Label::new(words).truncate());
    } else if let Some(reason) = reason
        && prompts.form.tasks().is_ok()
    {
        let words = Face::Small.text(reason).color(theme.text_2);
        ui.add(Label::new(words).truncate());
    }
}
