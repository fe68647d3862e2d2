//! Tests the whole window through its accessible controls, with the real worker on a real
//! thread, a scripted model and no display.

mod chat;
mod layout;
mod lessons;
mod pane_models;
mod pictures;
mod presets;
mod restored;
mod runs;
mod sharing;
mod writing;
mod xray;

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::scripted::ScriptedLm;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use quartet::app::{App, Dialogs};
use quartet::engine::{EngineError, LoadedModel};
use quartet::generation::Limits;
use quartet::state::{AppState, Settings};
use quartet::worker::{ModelSource, Worker};

/// How long to wait for anything, far longer than it takes.
const TIMEOUT: Duration = Duration::from_mins(1);

const STORY: &str = "A fox lived in a little house by the road. He was fond of tea, and of cake.";

/// The default size of the window, in points.
const DEFAULT_SIZE: [f32; 2] = [1280.0, 800.0];

type Window = Harness<'static, App>;

/// Opens a window of this size with the model that `model` returns.
fn open(
    settings: Settings,
    size: [f32; 2],
    model: impl Fn(&ModelSource) -> Result<LoadedModel, EngineError> + Clone + Send + 'static,
) -> Window {
    Harness::builder()
        .with_size(size)
        .with_theme(egui::Theme::Dark)
        .allow_missing_glyphs()
        .build_eframe(move |cc| {
            let source = ModelSource::Embedded;
            let start = move |wake| {
                let model = model.clone();
                Worker::with_loader(move |source, _| model(source).map(Some), wake)
            };
            App::new(&cc.egui_ctx, settings, source, Dialogs::InWindow, start)
        })
}

/// Returns settings with the story's first words as the prompt, and this token limit.
fn settings(max_new_tokens: usize) -> Settings {
    Settings {
        prompt: "A fox".to_owned(),
        limits: Limits {
            max_new_tokens,
            ..Limits::default()
        },
        ..Settings::default()
    }
}

/// Loads a model that recites the story.
fn reciting(_: &ModelSource) -> Result<LoadedModel, EngineError> {
    ScriptedLm::reciting(512, STORY).into_loaded()
}

/// Runs the window until a condition holds.
#[track_caller]
fn wait(window: &mut Window, what: &str, condition: impl Fn(&AppState) -> bool) {
    let start = Instant::now();
    while !condition(window.state().state()) {
        assert!(start.elapsed() < TIMEOUT, "timed out waiting for {what}");
        window.step();
        sleep(Duration::from_millis(1));
    }
    window.run_steps(3);
}

#[track_caller]
fn press(window: &mut Window, name: &str) {
    window.get_by_label(name).click();
    window.run_steps(4);
}

fn is_loaded(state: &AppState) -> bool {
    state.models.main.ready().is_some()
}

/// Returns whether the model is loaded and the prompt tokenized, so that it can be continued.
fn is_ready(state: &AppState) -> bool {
    is_loaded(state) && state.blocking_reason().is_none()
}

fn is_done(state: &AppState) -> bool {
    !state.is_running() && state.panes.iter().all(|pane| pane.generation().is_some())
}

/// Generates four texts.
#[track_caller]
fn generate(window: &mut Window) {
    wait(window, "the model", is_ready);
    press(window, "Generate");
    wait(window, "four texts", is_done);
}
