//! A window that starts after a crash.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

use egui_kittest::kittest::Queryable as _;
use quartet::app::{App, Dialogs};
use quartet::decoding::TokenId;
use quartet::engine::Row;
use quartet::export::SessionFile;
use quartet::generation::{EndOfText, FinishReason};
use quartet::state::{AppState, Settings};
use quartet::worker::{ModelSource, Worker};

use crate::scripted::ScriptedLm;
use crate::window::{DEFAULT_SIZE, Window, generate, is_done, is_ready, press, settings, wait};

/// How many tokens of each text the crash leaves at least.
const N_BEFORE: usize = 3;

/// How many forward passes the model of the crashing window runs before it stops.
const N_PASSES: usize = 8;

/// Opens a window that keeps its session in this folder. Its model stops after some passes until
/// the sender of `hold` is dropped.
fn open(settings: Settings, folder: PathBuf, hold: Receiver<()>) -> Window {
    let hold = Arc::new(Mutex::new(hold));
    egui_kittest::Harness::builder()
        .with_size(DEFAULT_SIZE)
        .with_theme(egui::Theme::Dark)
        .allow_missing_glyphs()
        .build_eframe(move |cc| {
            let start = move |wake| {
                let hold = Arc::clone(&hold);
                let babbling = move || {
                    let (hold, mut n_passes) = (Arc::clone(&hold), 0);
                    let stop = move |_: &[Row]| {
                        n_passes += 1;
                        if n_passes > N_PASSES {
                            hold.lock().unwrap().recv().ok();
                        }
                    };
                    let lm = ScriptedLm::babbling(512).before_forward(stop);
                    lm.into_loaded()
                };
                Worker::with_loader(move |_, _| babbling().map(Some), wake)
            };
            let source = ModelSource::Embedded;
            let mut app = App::new(&cc.egui_ctx, settings, source, Dialogs::InWindow, start);
            app.keep_sessions_in(&cc.egui_ctx, folder);
            app
        })
}

fn long() -> Settings {
    let mut settings = settings(40);
    settings.limits.end_of_text = EndOfText::Ignored;
    settings
}

fn tokens(state: &AppState) -> Vec<Vec<TokenId>> {
    let texts = state.generations().into_iter().flatten();
    texts
        .map(|text| text.steps.iter().map(|step| step.token).collect())
        .collect()
}

/// Copies the session that a window has saved in this folder, once it has some tokens.
fn copy_session(window: &mut Window, from: &Path, to: &Path) {
    let saved = || {
        let entries = std::fs::read_dir(from).ok()?.flatten();
        let mut paths = entries.map(|entry| entry.path());
        let path = paths.find(|path| path.extension().is_some_and(|kind| kind == "session"))?;
        let bytes = std::fs::read(&path).ok()?;
        let session = SessionFile::parse(&bytes).ok()?;
        let panes = &session.run.panes;
        let has_enough = panes.len() == 4 && panes.iter().all(|text| text.steps.len() >= N_BEFORE);
        has_enough.then_some((path, bytes))
    };
    wait(window, "the saved session", |_| saved().is_some());
    let (path, bytes) = saved().unwrap();
    std::fs::write(to.join(path.file_name().unwrap()), bytes).unwrap();
}

#[test]
fn texts_continued_after_a_crash_equal_uninterrupted_ones() {
    let home = tempfile::tempdir().unwrap();
    let [unharmed, crashed, restored] = ["a", "b", "c"].map(|name| home.path().join(name));
    std::fs::create_dir(&restored).unwrap();
    let mut window = open(long(), unharmed, sync_channel(0).1);
    generate(&mut window);
    let whole = tokens(window.state().state());

    let (held, hold) = sync_channel(0);
    let mut window = open(long(), crashed.clone(), hold);
    wait(&mut window, "the model", is_ready);
    press(&mut window, "Generate");
    copy_session(&mut window, &crashed, &restored);
    drop(held);
    drop(window);

    let mut window = open(Settings::default(), restored.clone(), sync_channel(0).1);
    window.get_by_label("Restored what was on screen");
    let begun = tokens(window.state().state());
    for (begun, whole) in begun.iter().zip(&whole) {
        assert!((N_BEFORE..whole.len()).contains(&begun.len()));
        assert!(whole.starts_with(begun));
    }
    let texts = window.state().state().generations();
    for text in texts.into_iter().flatten() {
        assert_eq!(text.finish, Some(FinishReason::Interrupted));
    }
    wait(&mut window, "the model", is_ready);
    for index in 0..whole.len() {
        let button = window.get_all_by_label("Continue").nth(index);
        button.unwrap().click();
        window.run_steps(4);
        wait(&mut window, "the text", is_done);
    }
    assert_eq!(tokens(window.state().state()), whole);

    drop(window);
    assert_eq!(std::fs::read_dir(restored).unwrap().count(), 0);
}
