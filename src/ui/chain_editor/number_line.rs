//! One numeric parameter of a stage or selector: its box and its slider.

use egui::{Align, Key, Layout, Modifiers, Response, Ui};

use super::arrival::arrive_ui;
use crate::decoding::{ParamSpec, Scale};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Number;

/// The width of every slider of the editor, so that they line up.
pub(super) const SLIDER: f32 = 96.0;

/// The distance of names from the left edge, which leaves room for the handles.
pub(super) const INDENT: f32 = 30.0;

/// The width to the right of the boxes in a stage's row: three buttons of 24 points and the margin.
pub(super) const BUTTONS: f32 = 80.0;

/// Shows a setting's error below it.
pub(super) fn error_ui(ui: &mut Ui, error: &str) {
    ui.horizontal(|ui| {
        ui.add_space(INDENT);
        ui.label(Face::Small.text(error).color(Theme::of(ui).error));
    });
}

/// Converts what was typed or dragged to the type of a setting, or returns `None` if it is NaN or
/// too large.
pub(super) const fn finite_f32(value: f64) -> Option<f32> {
    let value = value as f32;
    if value.is_finite() { Some(value) } else { None }
}

/// What the user did to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberChange {
    /// Changed it. The new value has already been written.
    Set,
    /// Asked to reset it to its neutral value, which is up to the caller.
    Neutralize,
}

/// The texts that go with a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberWords<'a> {
    /// Its accessible name.
    pub name: &'a str,
    pub tooltip: &'a str,
    /// What is wrong with its value.
    pub error: Option<&'a str>,
}

/// Draws the box and, to its left, the slider. The layout must be from right to left.
pub(super) fn number_ui<T>(
    ui: &mut Ui,
    param: &ParamSpec<T>,
    words: NumberWords<'_>,
    owner: &mut T,
) -> Option<NumberChange> {
    let NumberWords {
        name,
        tooltip,
        error,
    } = words;
    let mut value = param.get(owner)?;
    let range = f64::from(*param.range.start())..=f64::from(*param.range.end());
    let mut number = Number::new(name, range, param.decimals).error(error);
    if param.scale == Scale::Logarithmic {
        number = number.logarithmic().from_zero();
    }
    let typed = number
        .field_ui(ui, &mut value)
        .on_hover_text(tooltip)
        .changed();
    ui.add_space(8.0);
    let slider = number.slider_ui(ui, SLIDER, &mut value);
    arrive_ui(ui, name, &slider);
    let slid = slider.changed();
    let neutralized = param.neutral.is_some() && asks_for_neutral(ui, &slider);
    slider.on_hover_text(match param.neutral {
        Some(neutral) => {
            format!("{tooltip}\n\nDouble-click or press Delete to reset to {neutral}.")
        }
        None => tooltip.to_owned(),
    });
    if neutralized {
        return Some(NumberChange::Neutralize);
    }
    (typed || slid).then(|| {
        if finite_f32(value).is_some() {
            param.set(owner, value);
        }
        NumberChange::Set
    })
}

fn asks_for_neutral(ui: &Ui, slider: &Response) -> bool {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    slider.double_clicked()
        || slider.has_focus() && (pressed(Key::Delete) || pressed(Key::Backspace))
}

/// Draws a line for each parameter that the owner has. Returns whether a value was changed.
pub(in crate::ui) fn number_lines_ui<T>(
    ui: &mut Ui,
    owner_name: &str,
    params: &[ParamSpec<T>],
    owner: &mut T,
) -> bool {
    let mut changed = false;
    for param in params {
        if param.get(owner).is_none() {
            continue;
        }
        let label = param.label_with_unit();
        let words = NumberWords {
            name: &format!("{owner_name}, {}", label.to_lowercase()),
            tooltip: &param.tooltip(),
            error: None,
        };
        changed |= number_line_ui(ui, &label, param, words, owner);
    }
    changed
}

/// Draws a number's label, slider and box, aligned with those of the stages. Returns whether the
/// value was changed.
fn number_line_ui<T>(
    ui: &mut Ui,
    label: &str,
    param: &ParamSpec<T>,
    words: NumberWords<'_>,
    owner: &mut T,
) -> bool {
    let change = ui
        .horizontal(|ui| {
            ui.set_min_height(32.0);
            ui.add_space(INDENT);
            let text = Face::Small.text(label).color(Theme::of(ui).text_2);
            ui.label(text).on_hover_text(words.tooltip);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                ui.add_space(BUTTONS);
                number_ui(ui, param, words, owner)
            })
            .inner
        })
        .inner;
    if change == Some(NumberChange::Neutralize)
        && let Some(neutral) = param.neutral
    {
        param.set(owner, f64::from(neutral));
    }
    change.is_some()
}
