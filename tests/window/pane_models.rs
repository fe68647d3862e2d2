//! A separate model for one pane: chosen, loaded, used beside the main one, and given up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scripted::ScriptedLm;
use egui_kittest::kittest::Queryable as _;
use quartet::engine::{EngineError, LoadedModel};
use quartet::state::{AppState, PaneModelStatus};
use quartet::worker::ModelSource;

use super::writing::fill_path;
use super::{
    DEFAULT_SIZE, STORY, Window, generate, is_done, is_ready, open, press, settings, wait,
};

const OTHER_STORY: &str = "A fox met a goose who could not swim. They became friends at once.";

/// Returns a real model file, so that it can be inspected. A scripted model is loaded in its place.
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/model/quartet-stories-q8_0.gguf")
}

fn model(source: &ModelSource) -> Result<LoadedModel, EngineError> {
    let (name, story) = match source {
        ModelSource::Embedded => ("Main", STORY),
        ModelSource::Path(_) => ("Other", OTHER_STORY),
    };
    let mut loaded = ScriptedLm::reciting(512, story).into_loaded()?;
    let info = Arc::make_mut(&mut loaded.info);
    name.clone_into(&mut info.name);
    name.clone_into(&mut info.sha256);
    Ok(loaded)
}

/// Opens a window whose second pane has the other model, which is small enough to load at once.
fn with_other() -> Window {
    let mut window = open(settings(30), DEFAULT_SIZE, model);
    wait(&mut window, "the model", is_ready);
    press(&mut window, "More actions for pane B");
    press(&mut window, "Model…");
    press(&mut window, "Open another model…");
    fill_path(&mut window, &file());
    press(&mut window, "Open");
    wait(&mut window, "the other model", |state| {
        matches!(status(state), Some(PaneModelStatus::Ready(_)))
    });
    window
}

/// Returns the status of the second pane's own model.
fn status(state: &AppState) -> Option<&PaneModelStatus> {
    let source = state.panes.get(1)?.settings.model.as_ref()?.local()?;
    state.models.of_panes.status(source)
}

fn names(state: &AppState) -> Vec<&str> {
    let texts = state.generations().into_iter().flatten();
    texts.map(|text| text.model.name.as_str()).collect()
}

#[test]
fn one_pane_writes_with_another_model_beside_the_others() {
    let mut window = with_other();
    // Every pane names its model now.
    for pane in ["A", "B", "C", "D"] {
        window.get_by_label(&format!("Model of {pane}"));
    }
    generate(&mut window);
    let state = window.state().state();
    assert_eq!(names(state), ["Main", "Other", "Main", "Main"]);
    let greedy = state.panes.get(0).unwrap().generation().unwrap().text();
    assert_eq!(greedy, STORY["A fox".len()..].split_at(30).0);
    window.get_by_label_contains("These texts come from different models");

    // Once no pane uses it, the model is freed. Its text stays, and so does its name.
    press(&mut window, "Model of B");
    press(&mut window, "Main");
    assert!(!window.state().state().uses_several_models());
    window.get_by_label("Other");
    window.get_by_label("Model of B");
    assert_eq!(
        names(window.state().state()),
        ["Main", "Other", "Main", "Main"]
    );
    generate(&mut window);
    wait(&mut window, "four texts by one model", is_done);
    assert_eq!(names(window.state().state()), ["Main"; 4]);
    window.run_steps(2);
    assert!(window.query_by_label("Model of B").is_none());
}
