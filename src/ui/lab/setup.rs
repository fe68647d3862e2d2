//! The left column: what to vary, what stays the same, and what the sweep costs.

use egui::{Align, Frame, Label, Layout, Margin, Popup, Rect, ScrollArea, TextEdit, Ui};

use crate::analysis::sweep::{Keep, Parameter};
use crate::decoding::FilterKind;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, Chip, Number, field_frame, menu_item, progress_bar, scrolled,
};
use crate::generation::formatting::pane_letter;
use crate::plots::count;
use crate::state::{Action, AppState, AxisForm, Command, LabCommand, LabTab, RunStatus};
use crate::ui::keys::{entered, key_words};

/// The height of the progress and the button below the form.
pub(super) const FOOT: f32 = 84.0;

/// The room for the scroll bar, in the margin to the right of the form.
const SCROLL_BAR: f32 = 12.0;

/// Draws the column.
pub(super) fn setup_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let column = ui.max_rect();
    let (body, foot) = column.split_top_bottom_at_y(column.bottom() - FOOT);
    form_area_ui(ui, body, |ui| form_ui(ui, state, commands));
    foot_ui(&mut child_ui(ui, foot, "foot"), state, commands);
}

/// Draws a form that scrolls if it is higher than its area.
pub(super) fn form_area_ui(ui: &mut Ui, area: Rect, form: impl FnOnce(&mut Ui)) {
    let with_bar = area.with_max_x(area.right() + SCROLL_BAR);
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut child_ui(ui, with_bar, "form"), |ui| {
            ui.set_max_width(ui.available_width() - SCROLL_BAR);
            ui.spacing_mut().item_spacing.y = 8.0;
            form(ui);
        });
}

/// The role of the number that can be removed.
const SECOND: &str = "Second number";

fn form_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let heading = Face::SmallMedium.text("What to vary");
    ui.label(heading.color(Theme::of(ui).text_1));
    let form = &mut state.lab.form;
    let parameters = Parameter::of_sweeps();
    axes_ui(ui, &parameters, &mut form.rows, &mut form.columns);
    ui.add_space(2.0);
    base_ui(ui, state);
    prompts_ui(ui, state);
    let form = &mut state.lab.form;
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

/// Draws a card for each number that is varied. Each can be any of `parameters`.
pub(super) fn axes_ui(
    ui: &mut Ui,
    parameters: &[Parameter],
    rows: &mut AxisForm,
    columns: &mut Option<AxisForm>,
) {
    axis_ui(ui, "First number", parameters, rows);
    if let Some(second) = columns {
        if axis_ui(ui, SECOND, parameters, second) {
            *columns = None;
        }
        return;
    }
    let button = Button::new("Vary a second number").icon(Icon::Plus).quiet();
    if ui.add(button).clicked() {
        let top_p = Parameter::Filter(FilterKind::TopP, 0);
        let temperature = Parameter::Filter(FilterKind::Temperature, 0);
        let is_used = rows.parameter == top_p;
        let parameter = if is_used { temperature } else { top_p };
        *columns = Some(AxisForm::new(parameter, 6));
    }
}

/// Draws a card. Returns whether the user removed it.
fn axis_ui(ui: &mut Ui, role: &str, parameters: &[Parameter], axis: &mut AxisForm) -> bool {
    let removable = role == SECOND;
    let theme = Theme::of(ui);
    let error = axis.axis().err();
    let mut removed = false;
    Frame::new()
        .stroke((1.0, theme.stroke_1))
        .corner_radius(8)
        .inner_margin(Margin::symmetric(10, 8))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 6.0;
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                let name = axis.parameter.name();
                let label = format!("{role}: {name}");
                let chip = Chip::new(&name).name(&label).quiet().chevron();
                let response = ui.add(chip);
                Popup::menu(&response)
                    .width(240.0)
                    .gap(4.0)
                    .accessible_name(role)
                    .show(|ui| scrolled(ui, |ui| parameters_ui(ui, parameters, axis)));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if removable {
                        removed = icon_button(ui, Icon::Close, "Vary one number only").clicked();
                    }
                });
            });
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 6.0;
                let word = |ui: &mut Ui, word: &str| {
                    ui.label(Face::Small.text(word).color(theme.text_2));
                };
                let error = error.as_deref();
                let number = |ui: &mut Ui, name: &str, value: &mut f64| {
                    let field = Number::new(name, 0.0..=2.0, 0).error(error);
                    field.field_ui(ui, value)
                };
                let name = axis.parameter.name();
                word(ui, "from");
                number(ui, &format!("{name} from"), &mut axis.from);
                word(ui, "to");
                number(ui, &format!("{name} to"), &mut axis.to);
                word(ui, "steps");
                let mut n_steps = axis.n_steps as f64;
                let name = format!("Steps of {name}");
                if number(ui, &name, &mut n_steps).changed() {
                    axis.n_steps = count(n_steps.round());
                }
            });
            if let Some(error) = &error {
                let words = Face::Small.text(error).color(theme.error);
                ui.add(Label::new(words).wrap());
            }
        });
    removed
}

fn parameters_ui(ui: &mut Ui, parameters: &[Parameter], axis: &mut AxisForm) {
    for parameter in parameters.iter().copied() {
        let selected = axis.parameter == parameter;
        if menu_item(ui, &parameter.name(), "", selected).clicked() && !selected {
            *axis = AxisForm::new(parameter, axis.n_steps);
        }
    }
}

/// Draws a row with a name on the left and a control on the right.
pub(super) fn row_ui<R>(ui: &mut Ui, name: &str, control: impl FnOnce(&mut Ui) -> R) -> R {
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        let color = Theme::of(ui).text_2;
        ui.label(Face::Body.text(name).color(color));
        ui.with_layout(Layout::right_to_left(Align::Center), control)
            .inner
    })
    .inner
}

pub(super) fn number_ui(
    ui: &mut Ui,
    name: &str,
    value: &mut usize,
    range: std::ops::RangeInclusive<usize>,
) {
    row_ui(ui, name, |ui| {
        let mut number = *value as f64;
        let ends = *range.start() as f64..=*range.end() as f64;
        let field = Number::new(name, ends, 0);
        if field.field_ui(ui, &mut number).changed() {
            *value = count(number.round()).clamp(*range.start(), *range.end());
        }
    });
}

/// Draws the menu of panes from which the other settings can be taken.
fn base_ui(ui: &mut Ui, state: &mut AppState) {
    let Some(base) = state.sweep_base() else {
        return;
    };
    let chosen = base.id;
    let label = |place: usize, name: &str| format!("{} {name}", pane_letter(place));
    let panes: Vec<_> = state
        .panes
        .iter()
        .enumerate()
        .map(|(place, pane)| (pane.id, label(place, &pane.settings.name)))
        .collect();
    let current = panes.iter().find(|(id, _)| *id == chosen);
    let current = current.map_or_else(String::new, |(_, label)| label.clone());
    let settings = base.settings.chain.to_string();
    row_ui(ui, "Other settings from", |ui| {
        let name = format!("Other settings from {current}");
        let chip = Chip::new(&current).name(&name).chevron().max_width(150.0);
        let response = ui.add(chip).on_hover_text(settings);
        Popup::menu(&response)
            .width(200.0)
            .gap(4.0)
            .accessible_name("Other settings from")
            .show(|ui| {
                for (id, label) in &panes {
                    if menu_item(ui, label, "", *id == chosen).clicked() {
                        state.lab.form.base = Some(*id);
                    }
                }
            });
    });
}

/// Draws the choice between the current prompt and a list of prompts.
fn prompts_ui(ui: &mut Ui, state: &mut AppState) {
    const CURRENT: &str = "current prompt";
    const LIST: &str = "a list";
    let form = &mut state.lab.form;
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
        let edit = TextEdit::multiline(&mut form.prompts)
            .hint_text("One prompt per line")
            .frame(field_frame(ui))
            .desired_rows(3)
            .desired_width(f32::INFINITY);
        ui.add(edit).accessible_name("Prompts, one per line");
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
        let edit = TextEdit::singleline(&mut state.lab.word)
            .hint_text("word or /pattern/")
            .frame(field_frame(ui))
            .desired_width(130.0);
        let field = ui.add(edit).accessible_name("Word to count");
        if entered(ui, &field) || field.lost_focus() {
            commands.push(Command::Lab(LabCommand::FindWord));
        }
    });
    if let Some(error) = state.lab.word_error() {
        let words = Face::Small.text(crate::state::capitalize(error));
        ui.add(Label::new(words.color(Theme::of(ui).error)).wrap());
    }
}

/// Says how many tokens the sweep generates, and roughly how long it takes.
fn cost_ui(ui: &mut Ui, state: &AppState) {
    let theme = Theme::of(ui);
    let (words, color) = match state.sweep_cost() {
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
    let sweep = state.lab.sweep();
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
    let reason = state.sweep_blocking_reason();
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
