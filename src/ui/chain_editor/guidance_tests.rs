//! Tests of the guidance and the second model in the editor, by the names of its controls and by
//! keyboard.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use super::ways::MORE;
use crate::decoding::{Against, Guidance};
use crate::generation::ModelInfo;
use crate::state::tests::{Event, written};
use crate::state::{Command, PathPurpose};
use crate::ui::testing::{Window, key, press, window_of};

/// Opens a window with four texts and the editor of pane A, which is greedy.
fn editor() -> Window {
    let mut window = window_of(vec2(1280.0, 800.0), written());
    press(&mut window, "How A chooses");
    press(&mut window, MORE);
    window
}

fn guidance(window: &Window) -> Option<Guidance> {
    window.state().panes[0].settings.chain.guidance.clone()
}

fn name(window: &Window) -> &str {
    &window.state().panes[0].settings.name
}

/// Chooses an item from a chip's menu.
fn choose(window: &mut Window, chip: &str, item: &str) {
    press(window, chip);
    window.get_by_role_and_label(Role::MenuItem, item).click();
    window.run_steps(4);
}

fn focus(window: &mut Window, role: Role, name: &str) {
    window.get_by_role_and_label(role, name).focus();
    window.run_steps(2);
}

#[test]
fn a_second_prompt_is_chosen_and_typed() {
    let mut window = editor();
    choose(&mut window, "Guidance: Off", "Second prompt");
    assert_eq!(name(&window), "Greedy + guidance");
    let prompt = |window: &Window| {
        let against = guidance(window).unwrap().against;
        against.prompt().unwrap().to_owned()
    };
    assert_eq!(prompt(&window), "");
    focus(&mut window, Role::MultilineTextInput, "Second prompt");
    window
        .get_by_role_and_label(Role::MultilineTextInput, "Second prompt")
        .type_text("A sad story:");
    window.run_steps(3);
    assert_eq!(prompt(&window), "A sad story:");
    choose(&mut window, "Guidance: Second prompt", "Off");
    assert_eq!((guidance(&window), name(&window)), (None, "Greedy"));
}

#[test]
fn guidance_is_set_by_keyboard_alone() {
    let mut window = editor();
    window.get_by_label("Guidance: Off").focus();
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    focus(&mut window, Role::MenuItem, "Second prompt");
    key(&mut window, Modifiers::NONE, Key::Enter);
    let usual = Guidance::usual(Against::Prompt(String::new()));
    assert_eq!(guidance(&window), Some(usual.clone()));
    focus(&mut window, Role::Slider, "Guidance, scale");
    key(&mut window, Modifiers::NONE, Key::ArrowRight);
    assert!(guidance(&window).unwrap().scale > usual.scale);
    key(&mut window, Modifiers::NONE, Key::Delete);
    let scale = guidance(&window).unwrap().scale.unwrap();
    assert!((scale - 1.0).abs() < f32::EPSILON, "neutral: {scale}");
    key(&mut window, Modifiers::COMMAND, Key::Z);
    key(&mut window, Modifiers::COMMAND, Key::Z);
    key(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(guidance(&window), None, "every step can be undone");
}

#[test]
fn the_second_model_is_loaded_cancelled_and_unloaded_beside_the_guidance() {
    let mut window = editor();
    choose(&mut window, "Guidance: Off", "Second model");
    assert_eq!(name(&window), "Greedy + contrast");
    window.get_by_label("Choose a file…");
    window.get_by_label("None");
    let choose_file = Command::PathGiven(PathPurpose::SecondModel, "small.gguf".into());
    window.state_mut().apply(choose_file.clone());
    window
        .state_mut()
        .on_event(Event::SecondModelLoading { fraction: 0.46 });
    window.run_steps(3);
    window.get_by_label("Loading 46 %");
    press(&mut window, "Cancel the second model");
    window.state_mut().on_event(Event::SecondModelCancelled);
    window.run_steps(3);
    window.get_by_label("None");

    window.state_mut().apply(choose_file.clone());
    let error = "Small has a different vocabulary from Test".to_owned();
    window.state_mut().on_event(Event::SecondModel(Err(error)));
    window.run_steps(3);
    window.get_by_label_contains("has a different vocabulary");

    window.state_mut().apply(choose_file);
    let info = Arc::new(ModelInfo {
        name: "Small".to_owned(),
        ..ModelInfo::default()
    });
    let loaded = Event::SecondModel(Ok(Some(info)));
    window.state_mut().on_event(loaded);
    window.run_steps(3);
    window.get_by_label("Small");
    press(&mut window, "Unload the second model");
    window.state_mut().on_event(Event::SecondModel(Ok(None)));
    window.run_steps(3);
    window.get_by_label("None");
}
