//! The starter prompts: a button for each above an empty prompt, otherwise a menu.

use egui::{Popup, RectAlign, Ui};

use crate::design::fonts::Face;
use crate::design::widgets::{Chip, menu_item};
use crate::state::{AppState, PromptMode, Starter};

/// Draws as many buttons as fit, from right to left. Returns whether a click set the prompt.
pub(super) fn starter_chips_ui(ui: &mut Ui, state: &mut AppState) -> bool {
    let starters = Starter::all(state.prompt.mode);
    let mut changed = false;
    let n_shown = n_fitting(ui, starters);
    for starter in starters.iter().take(n_shown).rev() {
        let response = ui.add(Chip::new(starter.name));
        let response = response.on_hover_text(tooltip(starter));
        if response.clicked() {
            starter.prompt.clone_into(&mut state.prompt.text);
            changed = true;
        }
    }
    changed
}

/// The label of the menu, and the width that its button needs besides the label, in points.
const MENU: &str = "Starters";
const MENU_SPACE: f32 = 40.0;

/// Draws the menu of starters if there is room for it. (An empty prompt shows them as buttons
/// anyway.) Returns whether a click set the prompt.
pub(super) fn starter_menu_ui(ui: &mut Ui, state: &mut AppState) -> bool {
    let mut changed = false;
    if ui.available_width() < Face::Small.width(ui, MENU) + MENU_SPACE {
        return changed;
    }
    let chip = Chip::new(MENU).name("Starter prompts").chevron();
    let response = ui.add(chip.quiet());
    Popup::menu(&response)
        .align(RectAlign::BOTTOM_END)
        .width(menu_width(state.prompt.mode))
        .gap(4.0)
        .accessible_name("Starter prompts")
        .show(|ui| {
            for starter in Starter::all(state.prompt.mode) {
                let selected = starter.prompt == state.prompt.text;
                let item = menu_item(ui, starter.name, starter.prompt, selected);
                if item.on_hover_text(starter.explanation).clicked() {
                    starter.prompt.clone_into(&mut state.prompt.text);
                    changed = true;
                    ui.close();
                }
            }
        });
    changed
}

/// The padding of a chip and the gap beside it, in points.
const CHIP_SPACE: f32 = 28.0;

fn n_fitting(ui: &Ui, starters: &[Starter]) -> usize {
    let mut left = ui.available_width();
    let fits = |starter: &&Starter| {
        left -= Face::Small.width(ui, starter.name) + CHIP_SPACE;
        left >= 0.0
    };
    starters.iter().take_while(fits).count()
}

fn tooltip(starter: &Starter) -> String {
    format!("‘{}’\n{}", starter.prompt, starter.explanation)
}

const fn menu_width(mode: PromptMode) -> f32 {
    match mode {
        PromptMode::Raw => 340.0,
        PromptMode::Chat => 300.0,
    }
}
