//! The setup: the texts, what to vary, and what stays the same.

use egui::{Align, Frame, Label, Layout, Margin, Popup, Ui};

use crate::analysis::sweep::Parameter;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, SMALL_BADGE, badge, checkbox, cut_note, field_frame, long_text, menu_item,
};
use crate::generation::Generation;
use crate::generation::formatting::counted;
use crate::lab::fit::state::{fit_blocking_reason, suggest_fit_text};
use crate::lab::fit::{FitInput, FitRun, fit_base};
use crate::lab::frame::setup::{axes_ui, base_ui};
use crate::lab::frame::{Foot, Labels, Progress};
use crate::state::{AppState, PaneId};

/// The maximum length of the part of a pane's text that is shown, in bytes.
const N_SHOWN: usize = 160;

/// Draws the form.
pub(super) fn form_ui(ui: &mut Ui, state: &mut AppState) {
    suggest_fit_text(state);
    texts_ui(ui, state);
    ui.add_space(2.0);
    let heading = Face::SmallMedium.text("What to vary");
    ui.label(heading.color(Theme::of(ui).text_1));
    let form = &mut state.lab.fit.form;
    axes_ui(ui, &Parameter::all(), &mut form.rows, &mut form.columns);
    if let Some(base) = fit_base(state).map(|pane| pane.id)
        && let Some(chosen) = base_ui(ui, base, state)
    {
        state.lab.fit.form.base = Some(chosen);
    }
}

/// Draws the texts, and the menu that adds one.
fn texts_ui(ui: &mut Ui, state: &mut AppState) {
    let theme = Theme::of(ui);
    let n = state.lab.fit.form.inputs.len();
    ui.horizontal(|ui| {
        let heading = if n > 1 { "The texts" } else { "The text" };
        ui.label(Face::SmallMedium.text(heading).color(theme.text_1));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            add_ui(ui, state);
        });
    });
    let mut removed = None;
    for index in 0..state.lab.fit.form.inputs.len() {
        let Some(input) = state.lab.fit.form.inputs.get(index).cloned() else {
            continue;
        };
        let is_removed = card(ui, |ui| match input {
            FitInput::Pane(id) => pane_text_ui(ui, state, id),
            FitInput::Pasted { .. } => pasted_ui(ui, state, index),
        });
        if is_removed {
            removed = Some(index);
        }
    }
    if let Some(index) = removed {
        let form = &mut state.lab.fit.form;
        form.inputs.remove(index);
        form.is_chosen = true;
    }
    if state.lab.fit.form.inputs.is_empty() {
        let words = "Add the text of a pane, or paste one.";
        ui.label(Face::Small.text(words).color(theme.text_3));
    }
}

fn card(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> bool) -> bool {
    let frame = Frame::new()
        .stroke((1.0, Theme::of(ui).stroke_1))
        .corner_radius(8)
        .inner_margin(Margin::symmetric(10, 8));
    let shown = frame.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        ui.set_width(ui.available_width());
        content(ui)
    });
    shown.inner
}

/// Draws the menu of texts that can be added.
fn add_ui(ui: &mut Ui, state: &mut AppState) {
    let chosen = &state.lab.fit.form.inputs;
    let panes: Vec<(PaneId, String)> = state
        .panes
        .with_text()
        .into_iter()
        .filter(|(id, _)| !chosen.contains(&FitInput::Pane(*id)))
        .map(|(id, name)| (id, format!("Text of {name}")))
        .collect();
    let response = ui.add(Button::new("Add a text").icon(Icon::Plus).quiet());
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Add a text")
        .show(|ui| {
            let form = &mut state.lab.fit.form;
            for (id, name) in &panes {
                if menu_item(ui, name, "", false).clicked() {
                    form.inputs.push(FitInput::Pane(*id));
                    form.is_chosen = true;
                }
            }
            if menu_item(ui, "Paste a text", "", false).clicked() {
                form.inputs.push(FitInput::Pasted {
                    text: String::new(),
                    continues_prompt: false,
                });
                form.is_chosen = true;
            }
        });
}

/// Draws a pane's text. Returns whether the user removed it.
fn pane_text_ui(ui: &mut Ui, state: &AppState, id: PaneId) -> bool {
    let theme = Theme::of(ui);
    let text = state.pane(id).and_then(|pane| pane.generation());
    let n = text.map_or(0, |text| text.steps.len());
    let place = state.place_of(id);
    let mut removed = false;
    ui.horizontal(|ui| {
        if let Some(place) = place {
            badge(ui, place, SMALL_BADGE);
        }
        let words = counted(n, "token");
        ui.label(Face::Small.text(words).color(theme.text_2));
        removed = remove_ui(ui);
    });
    let words = text.map(Generation::text).unwrap_or_default();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = words.floor_char_boundary(N_SHOWN);
    let shown = words.get(..end).unwrap_or_default();
    let shown = match shown.rsplit_once(' ') {
        Some((whole_words, _)) if end < words.len() => format!("{whole_words} …"),
        _ => shown.to_owned(),
    };
    let shown = if words.is_empty() {
        "This pane has no text.".to_owned()
    } else {
        shown
    };
    ui.add(Label::new(Face::Why.text(shown).color(theme.text_1)).wrap());
    removed
}

/// Draws the field of a pasted text. Returns whether the user removed it.
fn pasted_ui(ui: &mut Ui, state: &mut AppState, index: usize) -> bool {
    let theme = Theme::of(ui);
    let has_prompt = !state.prompt.text.is_empty();
    let Some(FitInput::Pasted {
        text,
        continues_prompt,
    }) = state.lab.fit.form.inputs.get_mut(index)
    else {
        return false;
    };
    let mut removed = false;
    ui.horizontal(|ui| {
        ui.label(Face::Small.text("Pasted text").color(theme.text_2));
        removed = remove_ui(ui);
    });
    let edit = long_text(text)
        .hint_text("Paste or type a text")
        .frame(field_frame(ui))
        .desired_rows(4)
        .desired_width(f32::INFINITY);
    let name = format!("Text {} to fit", index + 1);
    ui.add(edit).accessible_name(name);
    cut_note(ui, text);
    if has_prompt {
        let words = Face::Small.text("It continues the prompt");
        checkbox(ui, continues_prompt, words.color(theme.text_2));
    }
    removed
}

fn remove_ui(ui: &mut Ui) -> bool {
    let layout = Layout::right_to_left(Align::Center);
    ui.with_layout(layout, |ui| {
        icon_button(ui, Icon::Close, "Leave this text out").clicked()
    })
    .inner
}

/// Returns what stands below the form.
pub(super) fn foot(state: &AppState) -> Foot {
    let labels = Labels {
        run: if state.lab.fit.form.inputs.len() > 1 {
            "Fit the texts"
        } else {
            "Fit the text"
        },
        stop: "Stop",
        stop_hint: "The settings computed so far are kept",
    };
    let progress = |run: &FitRun| Progress::new(Some(run.fraction() as f32), run.summary());
    let run = state.lab.fit.run.as_ref();
    Foot::new(labels, run, progress, fit_blocking_reason(state))
}
