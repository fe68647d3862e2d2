//! A number of a stage or of the draw: its box and its slider.

use egui::{Align, Key, Layout, Modifiers, Response, Ui};

use super::settings::{Setting, Spread};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::Number;

/// The width of every slider of the editor, so that they stand in one column.
pub(super) const SLIDER: f32 = 92.0;

/// How far names stand from the left edge: behind the handles.
pub(super) const INDENT: f32 = 30.0;

/// The sentence about what is wrong, below what it is about.
pub(super) fn complaint_ui(ui: &mut Ui, complaint: &str) {
    ui.horizontal(|ui| {
        ui.add_space(INDENT);
        ui.label(Face::Small.text(complaint).color(Theme::of(ui).error));
    });
}

/// What stands right of the boxes in a stage's row: three buttons of 24 and the edge.
pub(super) const BUTTONS: f32 = 80.0;

/// What the user asks of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberChange {
    /// It was set.
    Set,
    /// It is to go where it does nothing.
    Neutralize,
}

/// The words of a number: its name for a screen reader, its tooltip, and what is wrong with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberWords<'a> {
    pub name: &'a str,
    pub tip: &'a str,
    pub complaint: Option<&'a str>,
}

/// The box and left of it the slider, in a row from right to left.
pub(super) fn number_ui(
    ui: &mut Ui,
    setting: &mut Setting<'_>,
    words: NumberWords<'_>,
) -> Option<NumberChange> {
    let NumberWords {
        name,
        tip,
        complaint,
    } = words;
    let mut number = Number::new(name, setting.range.clone(), setting.decimals);
    if setting.scale == Spread::ByFactors {
        number = number.logarithmic().from_zero();
    }
    let number = number.complaint(complaint);
    let mut value = setting.value();
    let typed = number.field_ui(ui, &mut value).on_hover_text(tip).changed();
    ui.add_space(8.0);
    let slider = number.slider_ui(ui, SLIDER, &mut value);
    let slid = slider.changed();
    let neutralized = setting.neutral.is_some() && asks_for_neutral(ui, &slider);
    slider.on_hover_text(match setting.neutral {
        Some(neutral) => format!("{tip}\n\nDouble click, or Delete: back to {neutral}."),
        None => tip.to_owned(),
    });
    if neutralized {
        return Some(NumberChange::Neutralize);
    }
    (typed || slid).then(|| {
        setting.set(value);
        NumberChange::Set
    })
}

fn asks_for_neutral(ui: &Ui, slider: &Response) -> bool {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    slider.double_clicked()
        || slider.has_focus() && (pressed(Key::Delete) || pressed(Key::Backspace))
}

/// A line for each of these numbers of `owner`; says whether one was changed.
pub(super) fn number_lines_ui<'a>(
    ui: &mut Ui,
    owner: &str,
    settings: impl IntoIterator<Item = Setting<'a>>,
) -> bool {
    let mut changed = false;
    for mut setting in settings {
        let label = format!("{owner}, {}", setting.name.to_lowercase());
        let words = NumberWords {
            name: &label,
            tip: setting.tip,
            complaint: None,
        };
        changed |= number_line_ui(ui, &mut setting, words);
    }
    changed
}

/// A line of its own for a number: its name, its slider and its box, under those of the stages. Says
/// whether it was changed.
fn number_line_ui(ui: &mut Ui, setting: &mut Setting<'_>, words: NumberWords<'_>) -> bool {
    let change = ui
        .horizontal(|ui| {
            ui.set_min_height(32.0);
            ui.add_space(INDENT);
            let text = Face::Small.text(setting.name).color(Theme::of(ui).text_2);
            ui.label(text).on_hover_text(words.tip);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                ui.add_space(BUTTONS);
                number_ui(ui, setting, words)
            })
            .inner
        })
        .inner;
    if change == Some(NumberChange::Neutralize)
        && let Some(neutral) = setting.neutral
    {
        setting.set(neutral);
    }
    change.is_some()
}
