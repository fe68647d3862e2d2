//! The left column: what to vary, what stays the same, and what the sweep costs.

use egui::{Align, Label, Layout, Popup, Rect, TextEdit, Ui};

use crate::analysis::sweep::{Keep, Parameter};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, Chip, cut_note, field_frame, long_text, menu_item, progress_bar,
};
use crate::lab::frame::setup::{FOOT, axes_ui, base_ui, form_area_ui, number_ui, row_ui};
use crate::lab::sweep::SweepCommand;
use crate::lab::sweep::state::sweep_blocking_reason;
use crate::lab::sweep::state::{sweep_base, sweep_cost};
use crate::lab::{LabCommand, LabTab};
use crate::state::{Action, AppState, Command, RunStatus};
use crate::ui::keys::{entered, key_words};

/// Draws the column.
pub(super) fn setup_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let column = ui.max_rect();
    let (body, foot) = column.split_top_bottom_at_y(column.bottom() - FOOT);
    form_area_ui(ui, body, |ui| form_ui(ui, state, commands));
    foot_ui(&mut child_ui(ui, foot, "foot"), state, commands);
}

fn form_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let heading = Face::SmallMedium.text("What to vary");
    ui.label(heading.color(Theme::of(ui).text_1));
    let form = &mut state.lab.sweep.form;
    let parameters = Parameter::of_sweeps();
    axes_ui(ui, &parameters, &mut form.rows, &mut form.columns);
    ui.add_space(2.0);
    if let Some(base) = sweep_base(state).map(|pane| pane.id)
        && let Some(chosen) = base_ui(ui, base, state)
    {
        state.lab.sweep.form.base = Some(chosen);
    }
    prompts_ui(ui, state);
    let form = &mut state.lab.sweep.form;
    number_ui(ui, "Seeds per cell", &mut form.n_seeds, 1..=1000);
    number_ui(ui, "Tokens", &mut form.n_tokens, 1..=100_000);
    keep_ui(ui, &mut form.keep);
    let mut megabytes = form.megabytes as usize;
    number_ui(ui, "Memory limit, MB", &mut megabytes, 1..=1_000_000);
    form.megabytes = u32::try_from(megabytes).unwrap_or(u32::MAX);
    word_ui(ui, state, commands);
    ui.add_space(2.0);
    cost_ui(ui, state);
}

/// Draws the choice between the current prompt and a list of prompts.
fn prompts_ui(ui: &mut Ui, state: &mut AppState) {
    const CURRENT: &str = "current prompt";
    const LIST: &str = "a list";
    let form = &mut state.lab.sweep.form;
    row_ui(ui, "Prompts", |ui| {
        let current = if form.own_prompts { LIST } else { CURRENT };
        let name = format!("Prompts: {current}");
        let response = ui.add(Chip::new(current).name(&name).chevron());
        Popup::menu(&response)
            .width(180.0)
            .gap(4.0)
            .accessible_name("Prompts")
            .show(|ui| {
                for (label, own) in [("Current prompt", false), ("A list", true)] {
                    if menu_item(ui, label, "", form.own_prompts == own).clicked() {
                        if own && form.prompts.is_empty() {
                            form.prompts.clone_from(&state.prompt.text);
                        }
                        form.own_prompts = own;
                    }
                }
            });
    });
    if form.own_prompts {
        let edit = long_text(&mut form.prompts)
            .hint_text("One prompt per line")
            .frame(field_frame(ui))
            .desired_rows(3)
            .desired_width(f32::INFINITY);
        ui.add(edit).accessible_name("Prompts, one per line");
        cut_note(ui, &form.prompts);
    }
}

fn keep_ui(ui: &mut Ui, keep: &mut Keep) {
    row_ui(ui, "Keep", |ui| {
        let name = format!("Keep: {}", keep.name());
        let response = ui.add(Chip::new(keep.name()).name(&name).chevron());
        Popup::menu(&response)
            .width(220.0)
            .gap(4.0)
            .accessible_name("Keep")
            .show(|ui| {
                for choice in Keep::ALL {
                    if menu_item(ui, choice.name(), "", choice == *keep).clicked() {
                        *keep = choice;
                    }
                }
            });
    });
}

fn word_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    row_ui(ui, "Count a word", |ui| {
        let edit = TextEdit::singleline(&mut state.lab.sweep.word)
            .hint_text("word or /pattern/")
            .frame(field_frame(ui))
            .desired_width(130.0);
        let field = ui.add(edit).accessible_name("Word to count");
        if entered(ui, &field) || field.lost_focus() {
            commands.push(Command::Lab(LabCommand::Sweep(SweepCommand::FindWord)));
        }
    });
    if let Some(error) = state.lab.sweep.word_error() {
        let words = Face::Small.text(crate::state::capitalize(error));
        ui.add(Label::new(words.color(Theme::of(ui).error)).wrap());
    }
}

/// Says how many tokens the sweep generates, and roughly how long it takes.
fn cost_ui(ui: &mut Ui, state: &AppState) {
    let theme = Theme::of(ui);
    let (words, color) = match sweep_cost(state) {
        Ok(words) => (words, theme.text_2),
        Err(reason) => (reason, theme.error),
    };
    ui.add(Label::new(Face::Small.text(words).color(color)).wrap());
}

/// Draws the progress, and the button that starts or stops the sweep.
fn foot_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let column = ui.max_rect();
    let width = column.width();
    let theme = Theme::of(ui);
    let sweep = state.lab.sweep.run.as_ref();
    if let Some(sweep) = sweep.filter(|sweep| sweep.status.is_running()) {
        progress_bar(ui, sweep.progress.fraction() as f32);
        ui.horizontal(|ui| {
            let done = sweep.done_words();
            let label = ui.label(Face::Small.text(done).color(theme.text_2));
            label.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::Status, true, sweep.done_words())
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let left = sweep.left_words().unwrap_or_default();
                ui.label(Face::Small.text(left).color(theme.text_3));
            });
        });
    } else if let Some(RunStatus::Failed { error }) = sweep.map(|sweep| &sweep.status) {
        let words = Face::Small.text(crate::state::capitalize(error));
        ui.add(Label::new(words.color(theme.error)).truncate());
    }
    let button = Rect::from_min_max(column.left_bottom() - egui::vec2(0.0, 36.0), column.max);
    let mut ui = child_ui(ui, button, "run");
    if state.lab.is_running(LabTab::Sweep) {
        let stop = Button::run("Stop and keep results", false)
            .icon(Icon::Stop)
            .hint("Esc");
        if ui.add(stop.width(width)).clicked() {
            commands.push(Command::Lab(LabCommand::Stop(LabTab::Sweep)));
        }
        return;
    }
    let reason = sweep_blocking_reason(state);
    let hint = key_words(&ui, Action::Generate);
    let run = Button::run("Run the sweep", true)
        .icon(Icon::Play)
        .hint(&hint);
    let response = ui
        .add_enabled(reason.is_none(), run.width(width))
        .on_disabled_hover_text(reason.unwrap_or_default());
    if response.clicked() {
        commands.push(Command::Lab(LabCommand::Run(LabTab::Sweep)));
    }
}
