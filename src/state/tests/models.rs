//! Tests of opening, cancelling, unloading, remembering and dropping models.

use std::path::{Path, PathBuf};

use super::{asked, loaded, ready, text, write, written};
use crate::generation::{Implementation, MemoryNeed, ModelOutline};
use crate::state::{
    AppState, Command, Effect, MAX_RECENT, ModelRowStatus, ModelStatus, ModelsCommand, PathPurpose,
    Settings,
};
use crate::worker::{Event, ModelSource, Request};

pub(super) fn models(state: &mut AppState, command: ModelsCommand) -> Vec<Effect> {
    state.apply(Command::Models(command))
}

pub(super) fn path(name: &str) -> PathBuf {
    Path::new("/models").join(name)
}

/// The effects that inspect a model, while the devices are not yet known.
fn inspecting(name: &str) -> [Effect; 2] {
    let source = ModelSource::Path(path(name));
    [Request::ListDevices, Request::Inspect(source)].map(Effect::Send)
}

/// Opens a small model by its path. Returns the effects after its inspection.
pub(super) fn open(state: &mut AppState, name: &str) -> Vec<Effect> {
    let mut effects = models(state, ModelsCommand::Open(path(name)));
    let expected = inspecting(name);
    let n_others = effects.len() - expected.len();
    assert_eq!(effects.split_off(n_others), expected);
    effects.extend(state.on_event(inspected(name, Ok(outline(5)))));
    effects
}

/// The names and statuses of the rows.
pub(super) fn rows(state: &AppState) -> Vec<(String, ModelRowStatus)> {
    let rows = state.models.rows().into_iter();
    rows.map(|row| (row.name, row.status)).collect()
}

fn failed() -> Event {
    Event::ModelFailed {
        error: "this file stops in the middle".to_owned(),
    }
}

#[test]
fn recent_models_persist_across_restarts_most_recent_first() {
    let mut state = ready();
    for name in ["a.gguf", "b.gguf", "a.gguf"] {
        open(&mut state, name);
        state.on_event(loaded());
    }
    let recent = state.settings().recent_models;
    let paths: Vec<&Path> = recent.iter().map(|recent| recent.path.as_path()).collect();
    assert_eq!(paths, [path("a.gguf"), path("b.gguf")]);
    assert!(recent[0].opened_at > 1_700_000_000);

    let settings = Settings::from_json(&state.settings().to_json().unwrap()).settings;
    let (next, _) = AppState::new(settings, ModelSource::Embedded);
    assert_eq!(next.models.recent, recent);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_unicode_does_not_affect_other_settings() {
    use std::os::unix::ffi::OsStrExt as _;

    let mut state = ready();
    open(&mut state, "a.gguf");
    state.on_event(loaded());
    state.models.recent[0].path = std::ffi::OsStr::from_bytes(b"mod\xE8les/a.gguf").into();
    state.seed = 7;
    let json = state.settings().to_json().unwrap();
    let settings = Settings::from_json(&json).settings;
    assert_eq!((settings.seed, settings.recent_models), (7, Vec::new()));
}

#[test]
fn the_number_of_recent_models_is_limited() {
    let mut state = ready();
    for n in 0..MAX_RECENT + 3 {
        open(&mut state, &format!("{n}.gguf"));
        state.on_event(loaded());
    }
    assert_eq!(state.models.recent.len(), MAX_RECENT);
    let newest = format!("{}.gguf", MAX_RECENT + 2);
    assert_eq!(state.models.recent[0].path, path(&newest));
}

#[test]
fn a_missing_model_says_so_and_can_be_forgotten() {
    let mut state = ready();
    for name in ["here.gguf", "gone.gguf", "last.gguf"] {
        open(&mut state, name);
        state.on_event(loaded());
    }
    let mut effects = models(&mut state, ModelsCommand::ShowDialog);
    effects.truncate(1);
    let paths = ["last.gguf", "gone.gguf", "here.gguf"].map(path);
    assert_eq!(effects, [Effect::CheckModelFiles(paths.to_vec())]);
    let reason = "It is not there any more".to_owned();
    let seen = [
        (path("here.gguf"), Ok(7)),
        (path("gone.gguf"), Err(reason.clone())),
    ];
    models(&mut state, ModelsCommand::FilesChecked(seen.into()));
    let statuses: Vec<ModelRowStatus> = rows(&state).into_iter().map(|row| row.1).collect();
    let gone = ModelRowStatus::Missing { reason };
    let closed = ModelRowStatus::Closed;
    assert_eq!(
        statuses,
        [closed.clone(), ModelRowStatus::InUse, gone, closed]
    );
    assert_eq!(state.models.rows()[3].n_bytes, Some(7));

    models(&mut state, ModelsCommand::Forget(path("gone.gguf")));
    assert_eq!(state.models.rows().len(), 3);
    assert_eq!(state.settings().recent_models.len(), 2);
}

#[test]
fn a_row_shows_loading_then_in_use_and_the_dialog_closes() {
    let mut state = ready();
    models(&mut state, ModelsCommand::ShowDialog);
    let effects = open(&mut state, "new.gguf");
    let source = ModelSource::Path(path("new.gguf"));
    assert_eq!(effects, [Effect::Send(Request::LoadModel(source))]);
    state.on_event(Event::ModelLoading { fraction: 0.5 });
    let fraction = 0.5;
    assert_eq!(
        rows(&state),
        [
            ("Quartet Stories".to_owned(), ModelRowStatus::InUse),
            ("new".to_owned(), ModelRowStatus::Loading { fraction }),
        ]
    );
    assert!(state.models.dialog_open);
    state.on_event(loaded());
    assert!(!state.models.dialog_open);
    assert_eq!(rows(&state)[1].1, ModelRowStatus::InUse);
}

#[test]
fn a_model_that_failed_to_open_says_why_in_its_row() {
    let mut state = ready();
    models(&mut state, ModelsCommand::ShowDialog);
    open(&mut state, "broken.gguf");
    state.on_event(failed());
    assert!(state.notices.is_empty(), "the error is shown once");
    let reason = "This file stops in the middle".to_owned();
    assert_eq!(rows(&state)[1].1, ModelRowStatus::Refused { reason });
    assert!(state.models.main.ready().is_some());
    models(&mut state, ModelsCommand::CloseDialog);
    assert_eq!(rows(&state).len(), 1);
}

#[test]
fn cancelling_a_load_returns_to_the_previous_model() {
    let mut state = ready();
    open(&mut state, "large.gguf");
    let effects = models(&mut state, ModelsCommand::CancelLoading);
    assert_eq!(effects, [Effect::Send(Request::CancelLoading)]);
    state.on_event(Event::LoadingCancelled);
    assert!(state.models.main.ready().is_some());
    assert_eq!(rows(&state)[0].1, ModelRowStatus::InUse);
    assert_eq!(models(&mut state, ModelsCommand::CancelLoading), []);

    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
    state.on_event(Event::LoadingCancelled);
    assert_eq!(state.models.main, ModelStatus::Absent);
    assert_eq!(state.blocking_reason().as_deref(), Some("No model is open"));
}

#[test]
fn the_newest_of_two_requested_models_wins() {
    let mut state = ready();
    open(&mut state, "first.gguf");
    let effects = open(&mut state, "second.gguf");
    assert_eq!(effects[0], Effect::Send(Request::CancelLoading));
    state.on_event(Event::LoadingCancelled);
    assert!(matches!(state.models.main, ModelStatus::Loading { .. }));
    state.on_event(loaded());
    assert_eq!(state.models.recent[0].path, path("second.gguf"));

    // The third may already be loaded when the fourth is requested.
    open(&mut state, "third.gguf");
    open(&mut state, "fourth.gguf");
    state.on_event(loaded());
    assert!(matches!(state.models.main, ModelStatus::Loading { .. }));
    state.on_event(failed());
    assert!(state.models.main.ready().is_some());
    assert_eq!(state.models.recent[0].path, path("third.gguf"));
    assert_eq!(rows(&state)[2].1, ModelRowStatus::InUse);
}

#[test]
fn unloading_a_model_keeps_the_texts_and_blocks_generating() {
    let mut state = written();
    let effects = models(&mut state, ModelsCommand::Unload);
    assert_eq!(effects, [Effect::Send(Request::UnloadModel)]);
    state.on_event(Event::ModelUnloaded);
    assert_eq!(state.models.main, ModelStatus::Absent);
    assert_eq!(text(&state, 0), " in a house");
    assert_eq!(state.blocking_reason().as_deref(), Some("No model is open"));
    assert_eq!(models(&mut state, ModelsCommand::Unload), []);
    assert_eq!(rows(&state)[0].1, ModelRowStatus::Closed);
    state.apply(Command::LoadEmbeddedModel);
    state.on_event(loaded());
    assert_eq!(state.blocking_reason(), None);
}

#[test]
fn texts_keep_the_model_that_generated_them() {
    let mut state = written();
    let before = state.panes[0].generation().unwrap().model.clone();
    open(&mut state, "new.gguf");
    let Event::ModelLoaded {
        info,
        vocabulary,
        chat,
        recommended_sampling,
        ..
    } = loaded()
    else {
        unreachable!("a model is loaded");
    };
    let mut info = (*info).clone();
    info.name = "New".to_owned();
    state.on_event(Event::ModelLoaded {
        info: info.into(),
        vocabulary,
        chat,
        recommended_sampling,
        load_warning: Some("the settings could not be understood".to_owned()),
        second: None,
    });
    assert_eq!(
        state.notices[0].body,
        "The settings could not be understood"
    );
    assert_eq!(text(&state, 0), " in a house");
    assert_eq!(state.panes[0].generation().unwrap().model, before);
    let ids = asked(&state.apply(Command::Generate(state.panes[1].id)));
    write(&mut state, ids[0], &[(" again", 0.5)]);
    let names = [0, 1].map(|place| state.panes[place].generation().unwrap().model.name.clone());
    assert_eq!(names, [before.name.clone(), "New".to_owned()]);
}

#[test]
fn only_one_model_can_be_dropped_at_a_time() {
    let mut state = ready();
    let dropped = vec![path("a.gguf")];
    let effects = models(&mut state, ModelsCommand::Dropped(dropped));
    assert_eq!(effects, [Effect::CheckDroppedPath(path("a.gguf"))]);
    let reason = "‘notes.txt’ is not a model".to_owned();
    models(&mut state, ModelsCommand::DropRejected(reason.clone()));
    assert_eq!(state.notices[0].body, reason);

    let several = vec![path("a.gguf"), path("b.gguf")];
    assert_eq!(models(&mut state, ModelsCommand::Dropped(several)), []);
    assert!(state.notices[0].body.contains("one file"));
}

#[test]
fn a_path_from_a_dialog_is_opened() {
    let mut state = ready();
    for purpose in [PathPurpose::ModelFile, PathPurpose::ModelFolder] {
        let effects = state.apply(Command::PathGiven(purpose, path("a")));
        assert_eq!(effects, inspecting("a"));
    }
}

pub(super) fn outline(n_weight_bytes: u64) -> ModelOutline {
    ModelOutline {
        name: "Large".to_owned(),
        architecture: "llama".to_owned(),
        implementation: Implementation::Quartet,
        n_params: n_weight_bytes,
        quantization: "Q8_0".to_owned(),
        formats: Vec::new(),
        n_context: 100,
        n_file_bytes: n_weight_bytes,
        n_step_bytes: n_weight_bytes,
        memory: MemoryNeed {
            n_weight_bytes,
            n_cache_bytes_per_token: 1_000_000,
            n_state_bytes: 0,
            keeps_checkpoints: false,
            n_vocab: 0,
        },
        experts: None,
        conversion: None,
        head_dim: Some(64),
        load_warning: None,
    }
}

pub(super) fn inspected(name: &str, found: Result<ModelOutline, String>) -> Event {
    Event::Inspected {
        source: ModelSource::Path(path(name)),
        found: found.map(Box::new),
        n_free_bytes: 3_900_000_000,
    }
}

#[test]
fn a_model_that_does_not_fit_into_memory_needs_confirmation() {
    let mut state = ready();
    let open = ModelsCommand::Open(path("large.gguf"));
    assert_eq!(models(&mut state, open.clone()), inspecting("large.gguf"));
    assert_eq!(rows(&state)[1].1, ModelRowStatus::Inspecting);
    // Four panes of 100 tokens take 0.4 GB in addition to the weights.
    state.on_event(inspected("large.gguf", Ok(outline(4_800_000_000))));
    assert!(state.models.dialog_open, "the warning is shown in its row");
    let warning = "Needs 5.2 GB of memory, but only 3.9 GB is free".to_owned();
    assert_eq!(
        rows(&state)[1].1,
        ModelRowStatus::NeedsConfirmation { warning }
    );
    assert!(state.models.main.ready().is_some(), "nothing is loaded yet");

    models(&mut state, ModelsCommand::CancelOpening);
    assert_eq!(rows(&state).len(), 1);
    models(&mut state, open);
    state.on_event(inspected("large.gguf", Ok(outline(4_800_000_000))));
    let source = ModelSource::Path(path("large.gguf"));
    assert_eq!(
        models(&mut state, ModelsCommand::OpenAnyway),
        [Effect::Send(Request::LoadModel(source))]
    );
}

#[test]
fn only_the_newest_model_to_open_counts() {
    let mut state = ready();
    models(&mut state, ModelsCommand::Open(path("a.gguf")));
    models(&mut state, ModelsCommand::Open(path("b.gguf")));
    let late = state.on_event(inspected("a.gguf", Ok(outline(5))));
    assert_eq!(late, []);
    models(&mut state, ModelsCommand::CancelOpening);
    let unwanted = state.on_event(inspected("b.gguf", Ok(outline(5))));
    assert_eq!(unwanted, []);
}

#[test]
fn a_file_that_is_not_a_model_is_refused_before_loading() {
    let mut state = ready();
    models(&mut state, ModelsCommand::Open(path("notes.gguf")));
    let effects = state.on_event(inspected(
        "notes.gguf",
        Err("this is not a GGUF file".to_owned()),
    ));
    assert_eq!(effects, []);
    assert_eq!(state.notices[0].body, "This is not a GGUF file");
    assert!(state.models.main.ready().is_some());
}

#[test]
fn a_window_that_starts_with_a_path_inspects_the_model_first() {
    let source = ModelSource::Path(path("new.gguf"));
    let (mut state, effects) = AppState::new(Settings::default(), source.clone());
    assert_eq!(effects, inspecting("new.gguf"));
    let effects = state.on_event(inspected("new.gguf", Ok(outline(5))));
    assert_eq!(effects, [Effect::Send(Request::LoadModel(source))]);
}
