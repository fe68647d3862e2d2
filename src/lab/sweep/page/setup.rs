//! The setup: what to vary, what stays the same, and what the sweep costs.

use egui::{Label, TextEdit, Ui};

use crate::analysis::sweep::{Keep, Parameter};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, cut_note, field_frame, long_text, menu_item};
use crate::lab::LabCommand;
use crate::lab::frame::setup::{axes_ui, base_ui, menu_choices_ui, menu_row_ui, number_ui, row_ui};
use crate::lab::frame::{Foot, Labels, Progress};
use crate::lab::sweep::state::{sweep_base, sweep_blocking_reason, sweep_cost};
use crate::lab::sweep::{SweepCommand, SweepRun};
use crate::state::{AppState, Command};
use crate::ui::keys::entered;

/// Draws the form.
pub(super) fn form_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
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
    let current = if form.own_prompts { LIST } else { CURRENT };
    let label = format!("Prompts: {current}");
    let chip = Chip::new(current).name(&label);
    menu_row_ui(ui, "Prompts", chip, ("Prompts", 180.0), |ui| {
        for (label, own) in [("Current prompt", false), ("A list", true)] {
            if menu_item(ui, label, "", form.own_prompts == own).clicked() {
                if own && form.prompts.is_empty() {
                    form.prompts.clone_from(&state.prompt.text);
                }
                form.own_prompts = own;
            }
        }
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
    let label = format!("Keep: {}", keep.name());
    let chip = Chip::new(keep.name()).name(&label);
    menu_row_ui(ui, "Keep", chip, ("Keep", 220.0), |ui| {
        menu_choices_ui(ui, Keep::ALL.map(|choice| (choice, choice.name())), keep);
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

/// Returns what stands below the form.
pub(super) fn foot(state: &AppState) -> Foot {
    let labels = Labels {
        run: "Run the sweep",
        stop: "Stop and keep results",
        stop_hint: "The texts so far are kept",
    };
    let run = state.lab.sweep.run.as_ref();
    let progress = |run: &SweepRun| Progress {
        share: Some(run.progress.fraction() as f32),
        done: run.done_words(),
        left: run.left_words().unwrap_or_default(),
    };
    Foot::new(labels, run, progress, sweep_blocking_reason(state))
}
