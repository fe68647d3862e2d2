//! The Stability tab's menus: which text to map, whether to map all of it or one token, and over what.

use egui::{Align, Layout, Popup, Ui};

use crate::design::widgets::{Chip, Number, menu_item};
use crate::lab::frame::setup::{menu_choices_ui, menu_row_ui, row_ui};
use crate::lab::stability::{StabilityAxes, StabilityRun, StabilityScope};
use crate::plots::count;
use crate::state::AppState;

/// Draws the menus that choose the text, what to map of it, and what to vary.
pub(super) fn choices_ui(ui: &mut Ui, state: &mut AppState) {
    ui.spacing_mut().item_spacing.y = 6.0;
    text_ui(ui, state);
    scope_ui(ui, state);
    axes_ui(ui, &mut state.lab.stability.axes);
}

/// Draws the menu of the two settings that the map varies.
fn axes_ui(ui: &mut Ui, axes: &mut StabilityAxes) {
    let label = format!("Map over {}", axes.name());
    let chip = Chip::new(axes.name()).name(&label);
    menu_row_ui(ui, "Over", chip, ("Map over", 160.0), |ui| {
        let choices = StabilityAxes::ALL.map(|choice| (choice, choice.name()));
        menu_choices_ui(ui, choices, axes);
    });
}

fn text_ui(ui: &mut Ui, state: &mut AppState) {
    let panes = state.panes.with_text();
    let run = state.lab.stability.run.as_ref();
    let current = match run {
        Some(run) => run.pane(),
        None => state.lab.stability.pane,
    };
    let name = run.map_or_else(|| "choose".to_owned(), |run| run.text.pane_words());
    row_ui(ui, "Text of", |ui| {
        let label = format!("Text of {name}");
        let chip = Chip::new(&name).name(&label).chevron().max_width(190.0);
        let response = ui.add_enabled(!panes.is_empty(), chip);
        Popup::menu(&response)
            .width(220.0)
            .gap(4.0)
            .accessible_name("Text of")
            .show(|ui| {
                for (id, name) in &panes {
                    if menu_item(ui, name, "", current == Some(*id)).clicked() {
                        state.lab.stability.pane = Some(*id);
                    }
                }
            });
    });
}

/// Draws the menu that chooses between the whole text and one token.
fn scope_ui(ui: &mut Ui, state: &mut AppState) {
    let run = state.lab.stability.run.as_ref();
    let pane = run.and_then(StabilityRun::pane);
    let n_steps = run.map_or(0, |run| run.text.steps.len());
    let token = |step: usize| run.map_or_else(String::new, |run| run.token_words(step));
    let pin = state.pin.filter(|pin| Some(pin.pane) == pane);
    let pinned = pin.map(|pin| format!("The pinned token, {}", token(pin.step)));
    let first = run.and_then(StabilityRun::held_step).unwrap_or_default();
    let held = token(first);
    let scope = &mut state.lab.stability.scope;
    let name = match scope {
        StabilityScope::Text => "the whole text".to_owned(),
        StabilityScope::Pinned if pinned.is_none() => "the whole text".to_owned(),
        StabilityScope::Pinned | StabilityScope::Token(_) => held,
    };
    row_ui(ui, "Map", |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let label = format!("Map {name}");
            let chip = Chip::new(&name).name(&label).chevron().max_width(150.0);
            let response = ui.add(chip);
            Popup::menu(&response)
                .width(220.0)
                .gap(4.0)
                .accessible_name("Map")
                .show(|ui| {
                    let is_text = *scope == StabilityScope::Text;
                    if menu_item(ui, "The whole text", "", is_text).clicked() {
                        *scope = StabilityScope::Text;
                    }
                    if let Some(pinned) = &pinned {
                        let is_pinned = *scope == StabilityScope::Pinned;
                        if menu_item(ui, pinned, "", is_pinned).clicked() {
                            *scope = StabilityScope::Pinned;
                        }
                    }
                    let is_token = matches!(scope, StabilityScope::Token(_));
                    if menu_item(ui, "One token, by number", "", is_token).clicked() {
                        *scope = StabilityScope::Token(first);
                    }
                });
            if let StabilityScope::Token(step) = scope {
                let mut number = (*step + 1) as f64;
                let field = Number::new("Token to map", 1.0..=n_steps.max(1) as f64, 0);
                if field.field_ui(ui, &mut number).changed() {
                    *step = count(number.round()).clamp(1, n_steps.max(1)) - 1;
                }
            }
        });
    });
}
