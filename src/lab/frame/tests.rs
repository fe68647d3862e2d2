//! Tests of what all tabs of the Lab page share.

use egui::{Key, Modifiers, Role, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::lab::{LabResult, LabTab};
use crate::state::Command;
use crate::state::tests::{ready, written};
use crate::state::{AppState, ModelStatus, Page, RunCommand};
use crate::ui::testing::{Window, key, press, window_of};

/// A window with the Lab page of a state.
fn lab(mut state: AppState) -> Window {
    state.apply(Command::Run(RunCommand::ShowPage(Page::Lab)));
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window
}

#[test]
fn each_tab_says_in_its_empty_picture_what_will_come() {
    let mut window = lab(written());
    for (tab, words) in [
        ("Sweep", "One cell for each pair, 8 texts in each."),
        ("Prompts", "One row per task, one cell per setting"),
        ("Blind test", "Two texts from one prompt, without names."),
        ("Influence", "One row for each part of the text"),
        ("Fit", "How likely the text is under each pair of settings"),
        ("Cache", "Each point will be one token"),
        ("Two models", "Both models will read the same text."),
        ("By hand", "Each draw uses the next coin"),
    ] {
        window.get_by_role_and_label(Role::Tab, tab).click();
        window.run_steps(3);
        window.get_by_label_contains(words);
    }
}

#[test]
fn the_stability_map_is_empty_only_without_a_text() {
    let mut window = lab(ready());
    press(&mut window, "Stability");
    window.get_by_label_contains("Generate a text first. The map shows");
}

#[test]
fn the_empty_sweep_follows_its_setup() {
    let mut window = lab(ready());
    let marks = "B and D mark your panes’ settings.";
    window.get_by_label_contains(marks);
    press(&mut window, "Vary one number only");
    window.get_by_label_contains("One point for each value, 8 texts in each.");
    assert!(window.query_by_label_contains(marks).is_none());
}

/// A window that shows a kept sweep, which this model made.
fn reopened(made_by: &str) -> Window {
    reopened_with(ready(), |model| {
        if made_by != "Test" {
            model["name"] = made_by.into();
            model["sha256"] = "1".into();
            model["file"] = "embedded".into();
        }
    })
}

/// A window that shows a kept sweep, whose model is changed in its file.
fn reopened_with(mut state: AppState, change: impl FnOnce(&mut serde_json::Value)) -> Window {
    let (_, result) = crate::lab::sweep::finished_sweep();
    let mut json: serde_json::Value = serde_json::from_slice(&result.to_json().unwrap()).unwrap();
    change(&mut json["model"]);
    let json = serde_json::to_vec(&json).unwrap();
    let result = LabResult::parse("sweep", &json).unwrap();
    state.show_result("It", result, 7);
    lab(state)
}

/// A state whose model computes with a cache of this format.
fn ready_with_cache(format: &str) -> AppState {
    let mut state = ready();
    let ModelStatus::Ready(model) = &mut state.models.main else {
        panic!("the model is ready");
    };
    let info = std::sync::Arc::make_mut(&mut model.info);
    info.provenance.cache = format.to_owned();
    state
}

#[test]
fn a_kept_result_says_in_which_other_formats_it_would_run_again() {
    let made_with_f32 = |model: &mut serde_json::Value| {
        model["provenance"] = serde_json::json!({ "precision": "f32", "cache": "f32" });
    };
    let changed = "Then the cache was f32, now it is q8";
    let mut window = reopened_with(ready_with_cache("q8"), made_with_f32);
    window.get_by_label(changed);
    press(&mut window, "Run it again");
    assert!(window.query_by_label(changed).is_none(), "it runs in those");

    let window = reopened_with(ready_with_cache("f32"), made_with_f32);
    assert!(window.query_by_label_contains("Then the cache").is_none());
    let window = reopened_with(ready_with_cache("q8"), |_| ());
    let unknown = window.query_by_label_contains("Then the cache");
    assert!(unknown.is_none(), "an old file does not record it");
}

#[test]
fn a_kept_result_runs_again_at_a_click_or_a_key() {
    for by_key in [false, true] {
        let mut window = reopened("Test");
        if by_key {
            window.get_by_label("Run it again").focus();
            window.run_steps(2);
            key(&mut window, Modifiers::NONE, Key::Enter);
        } else {
            press(&mut window, "Run it again");
        }
        assert!(window.state().lab.is_running(LabTab::Sweep));
        window.get_by_label_contains("Running the result of ");
        assert!(window.query_by_label("Run it again").is_none());
        assert!(window.query_by_label("Close the result").is_none());
    }
}

#[test]
fn a_kept_result_of_another_model_says_which_it_needs() {
    let mut window = reopened("SmolLM2 135M");
    window.get_by_label("Needs SmolLM2 135M");
    let again = window.get_by_label("Run it again");
    assert!(again.accesskit_node().is_disabled());
    let [again, close] = ["Run it again", "Close the result"]
        .map(|name| window.get_by_label(name).rect().center().x);
    assert!(again < close);
    press(&mut window, "Load the model of the result");
    let main = &window.state().models.main;
    assert!(matches!(main, ModelStatus::Loading { .. }), "{main:?}");
    // The setup says the same.
    let reasons = window.query_all_by_label("The model is still loading");
    assert_eq!(reasons.count(), 2);
    press(&mut window, "Close the result");
    assert_eq!(window.state().lab.kept, None);
}

#[test]
fn a_result_that_runs_again_waits_like_any_other() {
    let mut window = reopened("Test");
    press(&mut window, "Cache");
    press(&mut window, "Measure");
    window.get_by_role_and_label(Role::Tab, "Sweep").click();
    window.run_steps(4);
    press(&mut window, "Run it again");
    window.get_by_label("Waiting for Cache to finish");
}

#[test]
fn a_run_that_waits_says_for_what() {
    let mut window = lab(ready());
    press(&mut window, "Run the sweep");
    press(&mut window, "Cache");
    press(&mut window, "Measure");
    window.get_by_label("Waiting for Sweep to finish");
}

#[test]
fn the_generate_key_draws_by_hand() {
    let mut window = lab(ready());
    press(&mut window, "By hand");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    window.get_by_label("1,000 draws");
}
