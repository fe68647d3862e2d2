//! Tests stage orders, presets, and exchanging settings with other tools.

use crate::scripted::ScriptedLm;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use quartet::decoding::dialect::Dialect;
use quartet::state::{AppState, Settings};

use super::{DEFAULT_SIZE, Window, is_loaded, open, press, wait};

/// Opens a window and waits for its model.
fn window() -> Window {
    let mut window = open(Settings::default(), DEFAULT_SIZE, |_| {
        ScriptedLm::babbling(512).into_loaded()
    });
    wait(&mut window, "the model", is_loaded);
    window
}

/// Focuses the field with this name and types into it.
#[track_caller]
fn write(window: &mut Window, role: Role, name: &str, text: &str) {
    window.get_by_role_and_label(role, name).focus();
    window.run_steps(2);
    window.get_by_role_and_label(role, name).type_text(text);
    window.run_steps(3);
}

fn chain(state: &AppState, index: usize) -> String {
    let pane = state.panes.get(index);
    pane.map_or_else(String::new, |pane| pane.settings.chain.to_string())
}

#[test]
fn a_pane_can_take_an_engine_s_order_with_its_own_numbers_or_the_engine_s() {
    let mut window = window();
    press(&mut window, "How D chooses");
    press(&mut window, "More commands for the chain");
    press(&mut window, "Order…");
    press(&mut window, "llama.cpp");
    let expected = "top-k 40 › top-p 0.9 › min-p 0.05 › T 0.7";
    assert_eq!(chain(window.state().state(), 3), expected);

    press(&mut window, "Order");
    press(&mut window, "its defaults");
    press(&mut window, "Ollama");
    let settings = &window.state().state().panes.get(3).unwrap().settings;
    assert_eq!(settings.chain, Dialect::Ollama.chain());

    press(&mut window, "Order");
    let own = window.get_by_role_and_label(Role::MenuItem, "Quartet");
    own.click();
    window.run_steps(4);
    let chain = &window.state().state().panes.get(3).unwrap().settings.chain;
    assert_eq!(chain.dialect, None);
}

#[test]
fn a_preset_can_be_chosen_saved_renamed_and_deleted() {
    let mut window = window();
    press(&mut window, "How A chooses");
    press(&mut window, "Presets");
    // The item is below the visible part of the menu.
    window.get_by_label("Creative").click_accesskit();
    window.run_steps(4);
    assert_eq!(chain(window.state().state(), 0), "T 1.5 › min-p 0.1");

    press(&mut window, "Presets");
    write(&mut window, Role::TextInput, "Name these settings", "Poems");
    press(&mut window, "Save");
    let presets = window.state().state().presets.clone();
    assert_eq!(presets[0].name, "Poems");
    assert_eq!(presets[0].chain.to_string(), "T 1.5 › min-p 0.1");

    press(&mut window, "Rename the preset Poems");
    write(
        &mut window,
        Role::TextInput,
        "New name for Poems",
        " of old",
    );
    window.key_press(egui::Key::Enter);
    window.run_steps(4);
    assert_eq!(window.state().state().presets[0].name, "Poems of old");

    press(&mut window, "Delete the preset Poems of old");
    assert!(window.state().state().presets.is_empty());
    press(&mut window, "Undo");
    assert_eq!(window.state().state().presets.len(), 1);
}

#[test]
fn settings_are_copied_to_other_tools_and_pasted_from_them() {
    let mut window = window();
    press(&mut window, "More actions for pane B");
    press(&mut window, "Copy settings as");
    press(&mut window, "Ollama Modelfile");
    window.get_by_label("Copied as Ollama Modelfile");

    press(&mut window, "More actions for pane B");
    press(&mut window, "Paste settings…");
    let apply = window.get_by_label("Apply");
    assert!(apply.accesskit_node().is_disabled());
    let fields = window.get_all_by_role(Role::MultilineTextInput);
    let field = fields.last().unwrap();
    field.focus();
    window.run_steps(2);
    let fields = window.get_all_by_role(Role::MultilineTextInput);
    let field = fields.last().unwrap();
    field.type_text("PARAMETER temperature 0.3");
    window.run_steps(4);
    window.get_by_label("Ollama Modelfile");
    press(&mut window, "Apply");
    let state = window.state().state();
    assert_eq!(state.dialogs.paste, None);
    assert_eq!(chain(state, 1), "top-k 40 › top-p 0.9 › T 0.3");
}
