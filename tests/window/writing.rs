//! Tests generating, pinning, editing settings, saving, and errors.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use crate::scripted::ScriptedLm;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use quartet::decoding::{Filter, Selector};
use quartet::engine::EngineError;
use quartet::generation::{FinishReason, Step};
use quartet::state::PaneStatus;

use super::{
    DEFAULT_SIZE, STORY, Window, generate, is_done, is_ready, open, press, reciting, settings, wait,
};

/// The token limit of each text.
const LIMIT: usize = 40;

fn window() -> Window {
    open(settings(LIMIT), DEFAULT_SIZE, reciting)
}

fn prompt(window: &Window) -> egui_kittest::Node<'_> {
    window.get_by_role_and_label(egui::accesskit::Role::MultilineTextInput, "Prompt")
}

/// Opens a window and generates four texts.
fn written() -> Window {
    let mut window = window();
    generate(&mut window);
    window
}

#[test]
fn a_new_window_describes_each_pane() {
    let mut window = window();
    wait(&mut window, "the model", is_ready);
    window.get_by_label("Always picks the most likely token. The text is the same every time.");
    window.get_by_label(
        "The prompt is read once. Then all four panes continue it, each with its own settings.",
    );
    assert_eq!(prompt(&window).value().as_deref(), Some("A fox"));
    window.get_by_label("Model: Scripted 0 k · CPU");
    assert_eq!(window.get_all_by_label("Ready").count(), 4);
}

#[test]
fn generate_fills_all_four_panes() {
    let window = written();
    let state = window.state().state();
    let greedy = state.panes.get(0).unwrap().generation().unwrap();
    assert_eq!(greedy.text(), STORY["A fox".len()..].split_at(40).0);
    assert_eq!(greedy.finish, Some(FinishReason::MaxTokens));
    assert!(window.query_all_by_label("Token limit").count() >= 1);
    for pane in &state.panes {
        let generation = pane.generation().unwrap();
        assert_eq!(generation.config, state.config_of(pane));
        assert!(!generation.steps.is_empty());
    }
    assert!(!state.output_is_stale());
}

#[test]
fn ctrl_enter_generates_and_escape_stops() {
    let mut window = open(settings(1_000_000), DEFAULT_SIZE, |_| {
        let babbling = ScriptedLm::babbling(1_000_000);
        let slow = babbling.before_forward(|_| sleep(Duration::from_millis(1)));
        slow.into_loaded()
    });
    wait(&mut window, "the model", is_ready);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Enter);
    wait(&mut window, "text in all panes", |state| {
        let writing = |pane: &quartet::state::Pane| pane.status.is_writing();
        state.panes.iter().any(writing)
    });
    press(&mut window, "Stop pane A");
    wait(&mut window, "the end of pane A", |state| {
        matches!(state.panes.get(0).unwrap().status, PaneStatus::Finished(_))
    });
    window.key_press(egui::Key::Escape);
    wait(&mut window, "the end of all", |state| !state.is_running());
    let state = window.state().state();
    let reason = state
        .panes
        .get(0)
        .unwrap()
        .generation()
        .unwrap()
        .finish
        .clone();
    assert_eq!(reason, Some(FinishReason::Cancelled));
    window.get_by_label("Generate");
}

#[test]
fn one_pane_can_run_alone() {
    let mut window = written();
    let before = window
        .state()
        .state()
        .panes
        .get(1)
        .unwrap()
        .generation()
        .cloned();
    press(&mut window, "More actions for pane A");
    press(&mut window, "Run only this pane");
    wait(&mut window, "the text", is_done);
    let state = window.state().state();
    assert_eq!(state.panes.get(1).unwrap().generation().cloned(), before);
    assert_eq!(
        state.panes.get(0).unwrap().generation().unwrap().steps[0]
            .time
            .n_batch,
        1
    );
}

#[test]
fn a_click_pins_a_token_arrows_move_the_pin_and_escape_clears_it() {
    let mut window = written();
    let is_text = |label: String| label.starts_with("A fox lived in");
    let text = window
        .get_all_by(|node| node.value().is_some_and(is_text))
        .next()
        .unwrap()
        .rect();
    let at = text.min + egui::vec2(100.0, 16.0);
    let click = |window: &mut Window| {
        window.hover_at(at);
        window.step();
        window.drag_at(at);
        window.drop_at(at);
        window.run_steps(4);
    };
    press(&mut window, "Unpin the token");
    assert_eq!(window.state().state().pin, None, "a token was pinned");
    click(&mut window);
    let pin = window.state().state().pin.expect("a token is pinned");
    assert_eq!(window.state().state().place_of(pin.pane), Some(0));
    let label = format!("Token {} of 40", pin.step + 1);
    window.get_by_label(&label);

    window.key_press(egui::Key::ArrowRight);
    window.run_steps(2);
    assert_eq!(window.state().state().pin.unwrap().step, pin.step + 1);
    window.key_press(egui::Key::ArrowDown);
    window.run_steps(2);
    let moved = window.state().state().pin.unwrap();
    assert_eq!(window.state().state().place_of(moved.pane), Some(1));
    window.key_press(egui::Key::Escape);
    window.run_steps(2);
    assert_eq!(window.state().state().pin, None);

    // If nothing is pinned, the arrows start at the newest token of the focused text.
    click(&mut window);
    click(&mut window);
    assert_eq!(window.state().state().pin, None);
    window.key_press(egui::Key::ArrowLeft);
    window.run_steps(2);
    let newest = window.state().state().pin.unwrap();
    assert_eq!(window.state().state().place_of(newest.pane), Some(0));
    assert_eq!(newest.step, 39);
}

#[test]
fn the_chain_editor_changes_a_pane_s_chain() {
    let mut window = written();
    press(&mut window, "How D chooses");
    press(&mut window, "Add Top-k");
    press(&mut window, "Mute Temperature");
    let number = window.get_by_role_and_label(egui::accesskit::Role::SpinButton, "Top-p");
    number.set_value_accesskit(0.5);
    window.run_steps(4);
    let state = window.state().state();
    let chain = &state.panes.get(3).unwrap().settings.chain;
    assert_eq!(chain.to_string(), "top-k 40 › top-p 0.5");
    assert!(matches!(chain.stages[0].filter, Filter::Temperature(_)));
    assert!(!chain.stages[0].enabled);
    assert_eq!(state.panes.get(3).unwrap().settings.name, "Top-k + top-p");
    assert!(state.output_is_stale());

    press(&mut window, "Draw: Sample");
    press(&mut window, "Greedy");
    let chain = &window.state().state().panes.get(3).unwrap().settings.chain;
    assert_eq!(chain.selector, Selector::Greedy);
    let remark = "Greedy takes the top token anyway, so top-k 40 and top-p 0.5 have no effect.";
    assert!(window.query_all_by_label(remark).next().is_some());
}

#[test]
fn a_change_of_settings_immediately_shows_what_it_would_change() {
    let mut window = written();
    assert!(window.query_by_label_contains("What if").is_none());
    press(&mut window, "How D chooses");
    press(&mut window, "Draw: Sample");
    press(&mut window, "Greedy");
    let generation = window.state().state().panes.get(3).unwrap().generation();
    let steps = generation.expect("a text is written").steps.iter();
    let other = |step: &&Step| step.trace.raw.head[0].token != step.token;
    let n_changed = steps.filter(other).count();
    assert!(n_changed > 0);
    window.get_by_label(&format!("What if: {n_changed} of 40 would change"));
    assert_eq!(window.query_all_by_label_contains("What if").count(), 1);
}

#[test]
fn lints_are_shown_and_can_be_fixed() {
    let mut window = written();
    press(&mut window, "How D chooses");
    press(&mut window, "Draw: Sample");
    press(&mut window, "Greedy");
    let remark = "Greedy takes the top token anyway, so T 0.7 and top-p 0.9 have no effect.";
    assert_eq!(
        window.get_all_by_label(remark).count(),
        2,
        "in the editor and at the pane's foot"
    );
    press(&mut window, "Switch off");
    let chain = &window.state().state().panes.get(3).unwrap().settings.chain;
    assert_eq!(chain.to_string(), "top token");
    assert!(window.query_by_label(remark).is_none());
}

#[test]
fn escape_closes_popups_before_it_clears_the_pin() {
    let mut window = written();
    let is_pinned = |window: &Window| window.state().state().pin.is_some();
    assert!(is_pinned(&window), "the divergence is pinned");
    press(&mut window, "How D chooses");
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    assert!(window.query_by_label("Add Top-k").is_none());
    assert!(is_pinned(&window));
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    assert!(!is_pinned(&window));
}

#[test]
fn a_value_out_of_range_is_reported_and_blocks_only_its_pane() {
    let mut window = written();
    press(&mut window, "How D chooses");
    let number = window.get_by_role_and_label(egui::accesskit::Role::SpinButton, "Top-p");
    number.set_value_accesskit(1.7);
    window.run_steps(4);
    window.get_by_label("Top-p must be between 0 and 1");
    window.get_by_label("D will not run: top-p must be between 0 and 1");
    let config = window
        .state()
        .state()
        .panes
        .get(3)
        .unwrap()
        .generation()
        .unwrap()
        .config
        .clone();
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    press(&mut window, "Generate");
    wait(&mut window, "three texts", is_done);
    let panes = &window.state().state().panes;
    assert_eq!(
        panes.get(3).unwrap().generation().unwrap().config,
        config,
        "the old text stays"
    );
    assert_eq!(
        panes.get(0).unwrap().generation().unwrap().steps[1]
            .time
            .n_batch,
        3
    );
}

#[test]
fn after_a_run_the_divergence_is_shown_and_a_second_run_offers_another_seed() {
    let mut window = written();
    let state = window.state().state();
    let step = quartet::state::divergence_summary(state).step.unwrap();
    assert_eq!(state.pin.unwrap().step, step);
    window.get_by_label(&format!("Token {} of 40", step + 1));
    assert!(window.query_by_label("Another seed").is_none());

    generate(&mut window);
    window.get_by_label("Same seed, same texts");
    press(&mut window, "Another seed");
    wait(&mut window, "the texts of another seed", is_done);
    assert_eq!(window.state().state().seed, 43);
    assert!(window.query_by_label("Same seed, same texts").is_none());
}

#[test]
fn a_starter_sets_the_prompt_and_a_pane_is_added_with_one_click() {
    let mut window = window();
    wait(&mut window, "the model", is_ready);
    // The number of tokens moves the chip beside it.
    wait(&mut window, "the prompt", |state| {
        state.prompt.reading.is_some()
    });
    press(&mut window, "Starter prompts");
    press(&mut window, "A toss-up");
    assert_eq!(
        prompt(&window).value().as_deref(),
        Some("The bear was sad because")
    );
    press(&mut window, "Add a pane");
    assert_eq!(window.state().state().panes.len(), 5);
    window.get_by_label("How E chooses");
}

#[test]
fn the_row_of_tabs_stays_in_place() {
    let mut window = written();
    let top = |window: &Window| window.get_by_label("X-ray").rect().top();
    let before = top(&window);
    press(&mut window, "X-ray");
    assert_eq!(top(&window).to_bits(), before.to_bits());
}

#[test]
fn a_small_window_keeps_the_menus_of_the_panes_and_the_legend() {
    let mut window = open(settings(LIMIT), [900.0, 700.0], reciting);
    wait(&mut window, "the model", is_ready);
    press(&mut window, "More actions for pane A");
    window.get_by_label("Duplicate as pane E");
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    // The bar has a swatch for each range, and the menu names the ranges.
    let n_ranges = |window: &Window| window.query_all_by_label("< 1 %").count();
    assert_eq!(n_ranges(&window), 1);
    press(&mut window, "Tint");
    assert_eq!(n_ranges(&window), 2);
}

#[test]
fn a_token_limit_beyond_the_context_is_shown_before_the_run() {
    let mut window = open(settings(2000), DEFAULT_SIZE, reciting);
    wait(&mut window, "the prompt's length", |state| {
        state.prompt.length(&state.models.main).is_some()
    });
    let state = window.state().state();
    let n_max = state.limits.max_new_tokens;
    let room = state.prompt.context_limit(&state.models.main, n_max);
    let room = room.unwrap();
    press(&mut window, &format!("Context: {room} tokens"));
    window.get_by_label(&format!(
        "The model’s context has space for only {room} tokens after the prompt"
    ));
}

#[test]
fn an_empty_or_too_long_prompt_is_reported() {
    let mut window = window();
    wait(&mut window, "the model", is_ready);
    prompt(&window).focus();
    window.step();
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    window.key_press(egui::Key::Backspace);
    window.run_steps(3);
    window.get_by_label("Type a prompt first");
    press(&mut window, "Sampling drifts");
    wait(&mut window, "the count", is_ready);

    let long = "many words ".repeat(60);
    prompt(&window).focus();
    window.step();
    prompt(&window).type_text(&long);
    wait(&mut window, "the error", |state| {
        state.blocking_reason().is_some()
    });
    let blocking_reason = window.state().state().blocking_reason().unwrap();
    assert!(
        blocking_reason.ends_with("the model reads at most 512"),
        "{blocking_reason}"
    );
}

#[test]
fn runs_and_pictures_are_saved_to_the_typed_path() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = written();
    for (entry, file, beginning) in [
        ("Run as JSON…", "run.json", "{"),
        ("Run as Markdown…", "run.md", "#"),
        ("The surprise plot as SVG…", "score.svg", "<svg"),
    ] {
        let path = folder.path().join(file);
        press(&mut window, "Export");
        if beginning == "<svg" {
            press(&mut window, "Pictures");
        }
        save_entry_as(&mut window, entry, &path);
        wait(&mut window, file, |_| path.exists());
        let content = std::fs::read_to_string(&path).unwrap();
        assert!(content.starts_with(beginning), "{file}");
    }
}

#[test]
fn replacing_a_file_needs_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, "the first run").unwrap();
    let content = || std::fs::read_to_string(&path).unwrap();
    let mut window = written();
    save_as(&mut window, "Run as JSON…", &path);
    window.get_by_label("A file with this name already exists. Its contents will be lost.");
    assert!(window.state().state().dialogs.path_field.is_some());
    assert_eq!(content(), "the first run");
    press(&mut window, "Replace");
    wait(&mut window, "the file", |_| content().starts_with('{'));
    assert!(window.state().state().dialogs.path_field.is_none());
}

/// Chooses an entry of the export menu and types a path.
pub(crate) fn save_as(window: &mut Window, entry: &str, path: &std::path::Path) {
    press(window, "Export");
    save_entry_as(window, entry, path);
}

/// Chooses an entry of an open menu and types a path.
pub(crate) fn save_entry_as(window: &mut Window, entry: &str, path: &std::path::Path) {
    press(window, entry);
    type_path(window, path);
}

/// Types a path into the field that replaces a file dialog, and saves.
pub(crate) fn type_path(window: &mut Window, path: &std::path::Path) {
    fill_path(window, path);
    press(window, "Save");
}

/// Types a path into the field that replaces a file dialog.
pub(crate) fn fill_path(window: &mut Window, path: &std::path::Path) {
    wait(window, "the path field", |state| {
        state.dialogs.path_field.is_some()
    });
    let label = "No file dialog is available on this system. Type the full path.";
    let field = window.get_by_role_and_label(egui::accesskit::Role::TextInput, label);
    field.focus();
    window.step();
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    let field = window.get_by_role_and_label(egui::accesskit::Role::TextInput, label);
    field.type_text(&path.display().to_string());
    window.run_steps(3);
}

/// Waits for a notice with this title, because the hint after the first run is a notice too.
fn wait_for_notice(window: &mut Window, title: &str) {
    wait(window, title, |state| {
        state.notices.iter().any(|notice| notice.title == title)
    });
}

#[test]
fn a_failed_save_is_reported_and_the_run_is_kept() {
    let mut window = written();
    let path = PathBuf::from("/nowhere/at/all/run.json");
    save_as(&mut window, "Run as JSON…", &path);
    wait_for_notice(&mut window, "The run was not saved");
    window.get_by_label("The run was not saved");
    window.get_by_label("Save elsewhere…");
    assert!(is_done(window.state().state()));
}

#[test]
fn a_failed_load_is_reported_and_another_model_can_be_opened() {
    let mut window = open(settings(LIMIT), DEFAULT_SIZE, |_| {
        Err(EngineError::FileMissing {
            what: "config.json",
            place: "folder",
            path: "here".to_owned(),
        })
    });
    wait_for_notice(&mut window, "The model was not loaded");
    window.get_by_label("The model was not loaded");
    window.get_by_label("Model: No model");
    assert!(
        window
            .get_by_label("Generate")
            .accesskit_node()
            .is_disabled()
    );
    press(&mut window, "Open another…");
    wait(&mut window, "the path field", |state| {
        state.dialogs.path_field.is_some()
    });
}

#[test]
fn a_panic_keeps_the_texts_and_the_engine_can_be_restarted() {
    let mut window = open(settings(LIMIT), DEFAULT_SIZE, |_| {
        let mut n_passes = 0;
        let model = ScriptedLm::reciting(512, STORY).before_forward(move |_| {
            n_passes += 1;
            assert!(n_passes < 10, "the engine fails on purpose");
        });
        model.into_loaded()
    });
    wait(&mut window, "the model", is_ready);
    press(&mut window, "Generate");
    wait_for_notice(&mut window, "The engine stopped unexpectedly");
    window.get_by_label("The engine stopped unexpectedly");
    assert!(
        !window
            .state()
            .state()
            .panes
            .get(0)
            .unwrap()
            .generation()
            .unwrap()
            .steps
            .is_empty()
    );
    press(&mut window, "Restart");
    wait(&mut window, "the model again", is_ready);
}

#[test]
fn numbers_show_the_metrics_of_each_pane_and_the_candidates_of_a_step() {
    let mut window = written();
    press(&mut window, "Numbers");
    for column in [
        "Prompt tokens",
        "Reused",
        "First token",
        "Mean surprise",
        "Before chain",
        "After chain",
    ] {
        window.get_by_label(column);
    }
    assert!(window.query_all_by_label("Token limit").count() >= 2);
}

#[test]
fn every_window_size_and_number_of_panes_is_drawn() {
    let mut window = written();
    for size in [(720.0, 520.0), (1024.0, 700.0), (1920.0, 1080.0)] {
        window.set_size(egui::Vec2::from(size));
        window.run_steps(3);
        window.get_by_label("Generate");
        window.get_by_label("Plots");
    }
    for letter in ["E", "F", "G", "H"] {
        press(&mut window, "More actions for pane A");
        press(&mut window, &format!("Duplicate as pane {letter}"));
    }
    assert_eq!(window.state().state().panes.len(), 8);
    window.get_by_label("How H chooses");
}
