//! The foot of the setup column: how far the run has come, and the button that starts or stops it.

use egui::{Align, Label, Layout, Rect, Role, Ui, WidgetInfo, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, progress_bar};
use crate::lab::{LabCommand, LabTab};
use crate::state::{Action, AppState, Command, JobRun, RunStatus, capitalize};
use crate::ui::keys::key_words;

/// The height of the button, and of it with the lines above it.
const BUTTON: f32 = 36.0;
const FOOT: f32 = 84.0;

/// What the foot says and does.
#[derive(Debug, Clone, Default)]
pub(in crate::lab) struct Foot {
    /// What is above the button.
    pub note: Option<Note>,
    /// The labels of the button, unless the tab computes by itself.
    pub labels: Option<Labels>,
    /// Why it can't run now.
    pub blocked: Option<String>,
    /// Whether the results are there already, so that the button does not stand out.
    pub is_quiet: bool,
}

/// The labels of the button, before a run and during it.
#[derive(Debug, Clone, Copy)]
pub(in crate::lab) struct Labels {
    pub run: &'static str,
    pub stop: &'static str,
    /// What happens to the results if the user stops the run.
    pub stop_hint: &'static str,
}

/// What stands above the button.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lab) enum Note {
    /// How far the run has come.
    Progress(Progress),
    /// Why the run failed.
    Error(String),
    /// Anything else.
    Words(String),
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::lab) struct Progress {
    /// The share that is done, from 0 to 1 if known.
    pub share: Option<f32>,
    /// What is done, in words.
    pub done: String,
    /// What is left, in words, or nothing if unknown.
    pub left: String,
}

impl Progress {
    /// Creates the progress of a run that doesn't know what is left.
    pub(in crate::lab) const fn new(share: Option<f32>, done: String) -> Self {
        Self {
            share,
            done,
            left: String::new(),
        }
    }
}

impl Foot {
    /// Returns the foot of a tab: the progress of its run or why it failed, or else why it can't run.
    pub(in crate::lab) fn new<R: JobRun>(
        labels: Labels,
        run: Option<&R>,
        progress: impl Fn(&R) -> Progress,
        blocked: Option<String>,
    ) -> Self {
        let note = match run.map(|run| (run, run.status())) {
            Some((run, status)) if status.is_running() => Some(Note::Progress(progress(run))),
            Some((_, RunStatus::Failed { error })) => Some(Note::Error(capitalize(error))),
            _ => blocked.clone().map(Note::Words),
        };
        Self {
            note,
            labels: Some(labels),
            blocked,
            is_quiet: false,
        }
    }
}

/// Splits a setup column into the room for its form and its foot.
pub(super) fn split(column: Rect) -> [Rect; 2] {
    let (form, foot) = column.split_top_bottom_at_y(column.bottom() - FOOT);
    [form, foot]
}

/// Draws the foot of a tab.
pub(super) fn foot_ui(ui: &mut Ui, foot: Foot, state: &AppState, commands: &mut Vec<Command>) {
    let column = ui.max_rect();
    let tab = state.lab.tab;
    if let Some(note) = &foot.note {
        note_ui(ui, note, waited_for(state));
    }
    let Some(labels) = foot.labels else { return };
    let button = Rect::from_min_max(column.left_bottom() - vec2(0.0, BUTTON), column.max);
    let mut ui = child_ui(ui, button, "run");
    if state.lab.is_running(tab) {
        let stop = Button::run(labels.stop, false).icon(Icon::Stop).hint("Esc");
        let response = ui.add(stop.width(column.width()));
        if response.on_hover_text(labels.stop_hint).clicked() {
            commands.push(Command::Lab(LabCommand::Stop(tab)));
        }
        return;
    }
    let hint = key_words(&ui, Action::Generate);
    let run = Button::run(labels.run, !foot.is_quiet)
        .icon(Icon::Play)
        .hint(&hint);
    let response = ui
        .add_enabled(foot.blocked.is_none(), run.width(column.width()))
        .on_disabled_hover_text(foot.blocked.unwrap_or_default());
    if response.clicked() {
        commands.push(Command::Lab(LabCommand::Run(tab)));
    }
}

/// Returns the name of another experiment that the engine is working on, if the run of this tab has to
/// wait for it.
fn waited_for(state: &AppState) -> Option<&'static str> {
    let tab = state.lab.tab;
    let run = state.lab.run_of(tab)?;
    if *run.status() != RunStatus::Waiting {
        return None;
    }
    let mut others = LabTab::ALL.into_iter().filter(|other| *other != tab);
    let running = others.find(|other| state.lab.is_running(*other));
    running.map(LabTab::name)
}

fn note_ui(ui: &mut Ui, note: &Note, waited_for: Option<&str>) {
    let theme = Theme::of(ui);
    let (words, color) = match note {
        Note::Progress(progress) => {
            let waits = waited_for.map(|name| format!("Waiting for {name} to finish"));
            let words = waits.as_deref().unwrap_or(&progress.done);
            return progress_ui(ui, progress.share, words, &progress.left);
        }
        Note::Error(words) => (words, theme.error),
        Note::Words(words) => (words, theme.text_2),
    };
    let words = Face::Small.text(words).color(color);
    ui.add(Label::new(words).truncate());
}

/// Draws a progress bar, what is done below it, and what is left on the right.
fn progress_ui(ui: &mut Ui, share: Option<f32>, done: &str, left: &str) {
    let theme = Theme::of(ui);
    if let Some(share) = share {
        progress_bar(ui, share);
    }
    if left.is_empty() {
        return status_ui(ui, done, true);
    }
    ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
        ui.label(Face::Small.text(left).color(theme.text_3));
        ui.with_layout(Layout::left_to_right(Align::TOP), |ui| {
            status_ui(ui, done, false);
        });
    });
}

/// Draws what is done, for screen readers as a status.
fn status_ui(ui: &mut Ui, done: &str, wraps: bool) {
    let words = Label::new(Face::Small.text(done).color(Theme::of(ui).text_2));
    let label = ui.add(if wraps {
        words.wrap()
    } else {
        words.truncate()
    });
    label.widget_info(|| WidgetInfo::labeled(Role::Status, true, done));
}
