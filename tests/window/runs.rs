//! Runs as documents: opened, closed, verified, kept in the history and found again.

use std::path::Path;

use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;
use quartet::app::{App, Dialogs};
use quartet::export::json::{Form, RunFile};
use quartet::export::write_run;
use quartet::generation::Generation;
use quartet::state::{AppState, Command, Page};
use quartet::worker::{ModelSource, Worker};

use crate::window::writing::{save_as, save_entry_as};
use crate::window::{
    DEFAULT_SIZE, Window, generate, is_loaded, is_ready, open, press, reciting, settings, wait,
};

fn key(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(4);
}

/// Types a path into the field that replaces the file dialog.
fn open_file(window: &mut Window, path: &Path) {
    key(window, Modifiers::COMMAND, Key::O);
    wait(window, "the path field", |state| {
        state.dialogs.path_field.is_some()
    });
    key(window, Modifiers::COMMAND, Key::A);
    let path = path.to_string_lossy().into_owned();
    window.event(egui::Event::Text(path));
    window.run_steps(3);
    key(window, Modifiers::NONE, Key::Enter);
    wait(window, "the run", |state| state.runs.opened.is_some());
}

fn texts(state: &AppState) -> Vec<Generation> {
    state.generations().into_iter().flatten().cloned().collect()
}

#[test]
fn a_saved_run_is_opened_verified_and_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fox.quartet.json");
    let mut window = open(settings(12), DEFAULT_SIZE, reciting);
    generate(&mut window);
    let then = texts(window.state().state());
    let run = RunFile {
        panes: then.clone(),
        ..RunFile::default()
    };
    write_run(&path, &run, Form::default()).unwrap();

    let mut window = open(settings(5), DEFAULT_SIZE, reciting);
    wait(&mut window, "the model", is_ready);
    open_file(&mut window, &path);
    let shown = texts(window.state().state());
    assert_eq!(shown.len(), 4);
    for (shown, then) in shown.iter().zip(&then) {
        assert_eq!((shown.text(), &shown.finish), (then.text(), &then.finish));
    }
    window.get_by_label("fox.quartet.json");
    window.get_by_label_contains("; no model needed");
    assert_eq!(window.query_all_by_label("Generate").count(), 0);

    press(&mut window, "Verify");
    let has_outcome = |state: &AppState| {
        let verification = state.runs.verification.as_ref();
        verification.is_some_and(|verification| verification.verdict().is_some())
    };
    wait(&mut window, "the verdict", has_outcome);
    window.get_by_label_contains("What was proven: Same tokens, bit-identical numbers. All ");

    press(&mut window, "Close the run");
    assert!(window.state().state().runs.opened.is_none());
    window.get_by_label("Generate");
}

#[test]
fn a_finished_run_is_in_the_history_and_can_be_opened_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let history = runs.clone();
    let mut window: Window = egui_kittest::Harness::builder()
        .with_size(DEFAULT_SIZE)
        .with_theme(egui::Theme::Dark)
        .allow_missing_glyphs()
        .build_eframe(move |cc| {
            let start = |wake| Worker::with_loader(|source, _| reciting(source).map(Some), wake);
            let source = ModelSource::Embedded;
            let mut app = App::new(&cc.egui_ctx, settings(6), source, Dialogs::InWindow, start);
            app.keep_runs_in(history);
            app
        });
    generate(&mut window);
    key(&mut window, Modifiers::COMMAND, Key::Num3);
    assert_eq!(window.state().state().page, Page::History);
    let n_runs = |state: &AppState| state.runs.history.runs.as_ref().map(Vec::len);
    wait(&mut window, "the run", |state| n_runs(state) == Some(1));
    window.get_by_label_contains("A fox, Scripted, 24 tokens");
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1);

    // Verifying opens the run and replays it.
    key(&mut window, Modifiers::NONE, Key::V);
    wait(&mut window, "the verdict", |state| {
        let verification = state.runs.verification.as_ref();
        verification.is_some_and(|verification| verification.verdict().is_some())
    });
    window.get_by_label_contains("What was proven: Same tokens, bit-identical numbers. All ");
    key(&mut window, Modifiers::NONE, Key::Escape);
    key(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, "History");

    press(&mut window, "Open");
    wait(&mut window, "the run", |state| state.runs.opened.is_some());
    assert_eq!(window.state().state().runs.verification, None);
    assert_eq!(window.state().state().page, Page::Write);
    key(&mut window, Modifiers::NONE, Key::Escape);
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.state().state().runs.opened.is_none());

    press(&mut window, "History");
    key(&mut window, Modifiers::NONE, Key::Delete);
    wait(&mut window, "the deletion", |state| {
        n_runs(state) == Some(0)
    });
    window.get_by_label("Every finished run is saved here.");
    press(&mut window, "Undo");
    wait(&mut window, "the run again", |state| {
        n_runs(state) == Some(1)
    });
    let undo = window.state().state().notices.iter();
    let undo = undo.filter(|notice| matches!(notice.actions.first(), Some(action) if matches!(action.command, Command::Run(_))));
    assert_eq!(undo.count(), 0);
}

#[test]
fn an_opened_run_is_verified_with_another_cache_format_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a ‘fox’ 🦊.quartet.json");
    let mut window = open(settings(12), DEFAULT_SIZE, reciting);
    generate(&mut window);
    let run = RunFile {
        panes: texts(window.state().state()),
        ..RunFile::default()
    };
    write_run(&path, &run, Form::default()).unwrap();
    open_file(&mut window, &path);
    window.get_by_label_contains("What-if shows only bounds: the file has the ");
    press(&mut window, "Verify in…");
    press(&mut window, "KV cache in f16");
    wait(&mut window, "the verdict", |state| {
        let verification = state.runs.verification.as_ref();
        verification.is_some_and(|verification| verification.verdict().is_some())
    });
    window.get_by_label_contains("What was proven: Same tokens, bit-identical numbers. All ");
    wait(&mut window, "the model to return", is_loaded);
    // This is the only picture of the tab.
    press(&mut window, "Export a picture");
    let picture = folder.path().join("gaps.svg");
    save_entry_as(&mut window, "Then and now as SVG…", &picture);
    wait(&mut window, "the picture", |_| picture.exists());
    let picture = std::fs::read_to_string(picture).unwrap();
    // Every number was the same, so that the window shows who chose the tokens.
    assert!(picture.contains(">What was proven<"), "{picture}");
    assert!(picture.contains("bit-identical"), "{picture}");
    press(&mut window, "Close the run");
}

#[test]
fn a_run_file_is_indented_or_complete_only_if_the_user_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(settings(6), DEFAULT_SIZE, reciting);
    generate(&mut window);
    let mut sizes = Vec::new();
    for (name, choice) in [
        ("compact", None),
        ("indented", Some("Indented JSON")),
        ("complete", Some("All probabilities")),
    ] {
        if let Some(choice) = choice {
            press(&mut window, "Export");
            press(&mut window, "JSON and CSV options");
            press(&mut window, choice);
            key(&mut window, Modifiers::NONE, Key::Escape);
            key(&mut window, Modifiers::NONE, Key::Escape);
        }
        let path = folder.path().join(format!("{name}.quartet.json"));
        save_as(&mut window, "Run as JSON…", &path);
        wait(&mut window, "the file", |_| path.exists());
        let run = std::fs::read_to_string(&path).unwrap();
        let is_indented = run.lines().count() > 10;
        assert_eq!(is_indented, choice.is_some(), "{name}");
        assert_eq!(run.contains("\"detail\""), name == "complete", "{name}");
        sizes.push(run.len());
    }
    assert!(sizes[0] < sizes[1] && sizes[1] < sizes[2], "{sizes:?}");
}
