//! What the setup columns of the experiments are made of.

use std::ops::RangeInclusive;

use egui::{Align, Frame, Label, Layout, Margin, Popup, Rect, ScrollArea, Ui};

use crate::analysis::sweep::Parameter;
use crate::decoding::FilterKind;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, Number, menu_item, scrolled};
use crate::generation::formatting::pane_letter;
use crate::lab::AxisForm;
use crate::plots::count;
use crate::state::{AppState, PaneId};

/// The room for the scroll bar, in the margin to the right of the form.
const SCROLL_BAR: f32 = 12.0;

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

/// The widths of the fields of an axis: its ends, and the number of steps.
const END: f32 = 56.0;
const STEPS: f32 = 42.0;

/// The role of the number that can be removed.
const SECOND: &str = "Second number";

/// Draws a card for each number that is varied. Each can be any of `parameters`.
pub(in crate::lab) fn axes_ui(
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
pub(in crate::lab) fn axis_ui(
    ui: &mut Ui,
    role: &str,
    parameters: &[Parameter],
    axis: &mut AxisForm,
) -> bool {
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
                ui.spacing_mut().item_spacing.x = 5.0;
                let word = |ui: &mut Ui, word: &str| {
                    ui.label(Face::Small.text(word).color(theme.text_2));
                };
                let error = error.as_deref();
                let number = |ui: &mut Ui, name: &str, width: f32, value: &mut f64| {
                    let field = Number::new(name, 0.0..=2.0, 0).error(error);
                    field.field_width(width).field_ui(ui, value)
                };
                let name = axis.parameter.name();
                word(ui, "from");
                number(ui, &format!("{name} from"), END, &mut axis.from);
                word(ui, "to");
                number(ui, &format!("{name} to"), END, &mut axis.to);
                word(ui, "steps");
                let mut n_steps = axis.n_steps as f64;
                let name = format!("Steps of {name}");
                if number(ui, &name, STEPS, &mut n_steps).changed() {
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
pub(in crate::lab) fn row_ui<R>(ui: &mut Ui, name: &str, control: impl FnOnce(&mut Ui) -> R) -> R {
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        let color = Theme::of(ui).text_2;
        ui.label(Face::Body.text(name).color(color));
        ui.with_layout(Layout::right_to_left(Align::Center), control)
            .inner
    })
    .inner
}

/// Draws a row with a name on the left and a chip on the right that opens a menu with this accessible
/// name and width.
pub(in crate::lab) fn menu_row_ui(
    ui: &mut Ui,
    name: &str,
    chip: Chip<'_>,
    (menu_name, width): (&str, f32),
    items: impl FnOnce(&mut Ui),
) {
    row_ui(ui, name, |ui| {
        let response = ui.add(chip.chevron());
        Popup::menu(&response)
            .width(width)
            .gap(4.0)
            .accessible_name(menu_name)
            .show(items);
    });
}

/// Draws an item of a menu for each value. Clicking one chooses its value.
pub(in crate::lab) fn menu_choices_ui<T: PartialEq, N: AsRef<str>>(
    ui: &mut Ui,
    choices: impl IntoIterator<Item = (T, N)>,
    chosen: &mut T,
) {
    for (value, name) in choices {
        if menu_item(ui, name.as_ref(), "", value == *chosen).clicked() {
            *chosen = value;
        }
    }
}

/// Draws a row with a name on the left and the field of a whole number on the right.
pub(in crate::lab) fn number_ui(
    ui: &mut Ui,
    name: &str,
    value: &mut usize,
    range: RangeInclusive<usize>,
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

/// Draws the menu of panes from which the other settings can be taken. Returns the chosen pane, if
/// the user chose another one.
pub(in crate::lab) fn base_ui(ui: &mut Ui, base: PaneId, state: &AppState) -> Option<PaneId> {
    let label = |place: usize, name: &str| format!("{} {name}", pane_letter(place));
    let panes: Vec<_> = state
        .panes
        .placed()
        .map(|(place, pane)| (pane.id, label(place, &pane.settings.name)))
        .collect();
    let current = panes.iter().find(|(id, _)| *id == base);
    let current = current.map_or_else(String::new, |(_, label)| label.clone());
    let settings = state.pane(base).map(|pane| pane.settings.chain.to_string());
    let mut chosen = None;
    row_ui(ui, "Other settings from", |ui| {
        let name = format!("Other settings from {current}");
        let chip = Chip::new(&current).name(&name).chevron().max_width(150.0);
        let response = ui.add(chip).on_hover_text(settings.unwrap_or_default());
        Popup::menu(&response)
            .width(200.0)
            .gap(4.0)
            .accessible_name("Other settings from")
            .show(|ui| {
                for (id, label) in &panes {
                    if menu_item(ui, label, "", *id == base).clicked() {
                        chosen = Some(*id);
                    }
                }
            });
    });
    chosen
}
