//! Tests scoring texts, and exporting web pages, folders and archives.

use egui_kittest::kittest::Queryable as _;
use quartet::generation::Generation;
use quartet::state::AppState;
use quartet::ui::run_folder;

use crate::window::writing::{fill_path, save_as};
use crate::window::{
    DEFAULT_SIZE, Window, generate, is_ready, open, press, reciting, settings, wait,
};

const GIVEN: &str = "A fox lived in a huge house.";

fn written() -> Window {
    let mut window = open(settings(20), DEFAULT_SIZE, reciting);
    generate(&mut window);
    window
}

/// Opens the dialog from the menu of the first pane and types a text.
fn type_text(window: &mut Window, text: &str) {
    press(window, "More actions for pane A");
    press(window, "A text of your own…");
    let role = egui::accesskit::Role::MultilineTextInput;
    let field = window.get_by_role_and_label(role, "Text to score");
    field.focus();
    window.step();
    window
        .get_by_role_and_label(role, "Text to score")
        .type_text(text);
    window.run_steps(3);
}

fn scored(state: &AppState) -> Option<&Generation> {
    let mut texts = state.panes.iter().filter_map(|pane| pane.generation());
    texts.find(|text| text.is_scored() && text.finish.is_some())
}

#[test]
fn a_pasted_text_is_scored_in_a_new_pane_that_generating_leaves_alone() {
    let mut window = written();
    type_text(&mut window, GIVEN);
    wait(&mut window, "the count", |state| {
        let dialog = state.dialogs.score.as_ref().unwrap();
        let words = format!("{:?}", dialog.readiness(&state.panes, &state.models));
        words == "Fits { n_tokens: 28 }"
    });
    window.get_by_label("28 tokens");
    press(&mut window, "Score");
    wait(&mut window, "the scored text", |state| {
        scored(state).is_some()
    });
    let text = scored(window.state().state()).unwrap().clone();
    // The first byte begins the text, and nothing predicts it.
    assert_eq!(text.steps.len(), GIVEN.len() - 1);
    assert_eq!(text.prompt.text.clone() + &text.text(), GIVEN);
    // The settings of pane A are greedy, and the story goes on with "little".
    let cut = text
        .steps
        .iter()
        .position(|step| !step.trace.draw.was_possible());
    assert_eq!(cut, GIVEN.find("huge").map(|at| at - 1));
    window.get_by_label("Scored");
    window.get_by_label("E is a given text: each token is scored as if the model had to write it");

    press(&mut window, "Generate");
    wait(&mut window, "the other texts", |state| !state.is_running());
    let state = window.state().state();
    assert!(scored(state).is_some());
    assert_eq!(state.panes.len(), 5);
}

#[test]
fn a_text_that_is_too_long_is_scored_up_to_the_context() {
    let mut window = open(settings(20), DEFAULT_SIZE, |_| {
        crate::scripted::ScriptedLm::reciting(64, crate::window::STORY).into_loaded()
    });
    wait(&mut window, "the model", is_ready);
    type_text(&mut window, &"many words ".repeat(10));
    wait(&mut window, "the count", |state| {
        let dialog = state.dialogs.score.as_ref().unwrap();
        format!("{:?}", dialog.readiness(&state.panes, &state.models)).starts_with("TooLong")
    });
    window.get_by_label("110 tokens; the model reads at most 64");
    press(&mut window, "Score the first 64");
    wait(&mut window, "the scored text", |state| {
        scored(state).is_some()
    });
    let text = scored(window.state().state()).unwrap();
    assert_eq!(text.steps.len(), 63);
}

#[test]
fn all_measures_can_be_drawn_in_one_plot() {
    let mut window = written();
    press(&mut window, "Cap of the surprise plot");
    press(&mut window, "In one plot");
    window.get_by_label("Surprise in one plot, bits, token by token, before the chain");
    press(&mut window, "Plot shows rank");
    window.get_by_label("Rank in one plot, of each token before the chain, log scale");
    press(&mut window, "Arrangement of the surprise plot");
    press(&mut window, "In one plot");
    assert!(!window.state().state().view.score_layout.is_one_plot());
}

#[test]
fn a_web_page_is_saved_with_its_plots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.html");
    let mut window = written();
    save_as(&mut window, "Run as web page…", &path);
    wait(&mut window, "the page", |_| path.exists());
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>"));
    assert_eq!(page.matches("<img ").count(), 6);
}

/// Returns the number of exported files. No pane leaves a watermark to plot or answers a message.
fn n_files() -> usize {
    let names = run_folder::possible_contents().into_iter();
    names
        .filter(|(name, _)| !name.starts_with("watermark.") && name != "run.messages.jsonl")
        .count()
}

#[test]
fn everything_is_exported_to_a_folder_without_the_panes_that_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut window = written();
    press(&mut window, "Export");
    press(&mut window, "Everything…");
    window.get_by_label("run.html");
    let n_files = n_files();
    window.get_by_label(&format!("{n_files} files"));
    // A dialog is centered once its size is known.
    window.run_steps(8);
    press(&mut window, "B · Pure sampling · 20 tokens");
    assert_eq!(window.state().state().export.left_out.len(), 1);
    press(&mut window, "Choose a folder…");
    crate::window::writing::type_path(&mut window, &path);
    wait(&mut window, "the folder", |_| path.join("run.txt").exists());
    let text = std::fs::read_to_string(path.join("run.txt")).unwrap();
    assert!(
        text.starts_with("Finished ")
            && text.contains("\n\nA · Greedy")
            && !text.contains("\nB · "),
        "{text}"
    );
    assert!(text.contains("\nC · "), "{text}");
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), n_files);
}

#[test]
fn everything_is_saved_as_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.zip");
    let mut window = written();
    press(&mut window, "Export");
    press(&mut window, "Everything…");
    window.run_steps(8);
    press(&mut window, "Save as .zip…");
    crate::window::writing::type_path(&mut window, &path);
    wait(&mut window, "the archive", |_| path.exists());
    let archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(archive.len(), n_files());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_text_is_opened_from_a_file_and_an_unreadable_one_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fable.txt");
    std::fs::write(&path, format!("{GIVEN}\n")).unwrap();
    let mut window = written();
    press(&mut window, "More actions for pane A");
    press(&mut window, "A text of your own…");
    press(&mut window, "Open a file…");
    fill_path(&mut window, &path);
    press(&mut window, "Open");
    wait(&mut window, "the text", |state| {
        let dialog = state.dialogs.score.as_ref();
        dialog.is_some_and(|dialog| {
            let counted = dialog.readiness(&state.panes, &state.models);
            dialog.text == GIVEN && format!("{counted:?}") == "Fits { n_tokens: 28 }"
        })
    });
    window.get_by_label("28 tokens");

    std::fs::write(&path, b"\xff\xfe").unwrap();
    press(&mut window, "Open a file…");
    fill_path(&mut window, &path);
    press(&mut window, "Open");
    wait(&mut window, "the reason", |state| {
        let dialog = state.dialogs.score.as_ref();
        dialog.is_some_and(|dialog| dialog.unread.is_some())
    });
    window.get_by_label_contains("fable.txt: it is not UTF-8 text");
    let dialog = window.state().state().dialogs.score.as_ref();
    assert_eq!(dialog.unwrap().text, GIVEN, "the previous text stays");
}
