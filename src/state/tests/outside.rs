//! Tests of the model, the engine thread, dialogs and files.

use std::path::PathBuf;

use super::{asked, loaded, ready, text, tokenized, write, written};
use crate::export::ExportFormat;
use crate::state::{
    AppState, Command, Document, Effect, ModelStatus, PathPurpose, RunDocument, Settings,
};
use crate::worker::{Event, ModelSource, Request};

#[test]
fn a_new_window_loads_its_model_and_then_tokenizes_the_prompt() {
    let (mut state, effects) = AppState::new(Settings::default(), ModelSource::Embedded);
    let load = Request::LoadModel(ModelSource::Embedded);
    assert_eq!(effects, [Effect::Send(load)]);
    assert_eq!(state.panes.len(), 4);
    assert!(state.blocking_reason().is_some());

    let text = state.prompt.text.clone();
    let effects = state.on_event(loaded());
    let prompt = text.as_str().into();
    assert_eq!(
        effects,
        [Effect::Send(Request::Tokenize {
            prompt,
            model: None
        })]
    );
    state.on_event(tokenized(text.as_str(), 10));
    assert_eq!(
        state.prompt.length(&state.models.main).unwrap().to_string(),
        "10 tokens"
    );
    assert_eq!(state.blocking_reason(), None);
}

#[test]
fn a_failed_load_returns_to_the_previous_model() {
    let error = || Event::ModelFailed {
        error: "this file stops in the middle".to_owned(),
    };
    let mut state = ready();
    let path = PathBuf::from("broken.gguf");
    state.apply(Command::LoadEmbeddedModel);
    state.on_event(Event::ModelLoading { fraction: 0.5 });
    assert!(matches!(state.models.main, ModelStatus::Loading { fraction, .. } if fraction > 0.4));
    state.on_event(error());
    assert!(state.models.main.ready().is_some());
    assert_eq!(state.notices.len(), 1);
    assert!(state.notices[0].body.contains("stops in the middle"));

    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Path(path));
    state.on_event(error());
    assert!(matches!(state.models.main, ModelStatus::Failed { .. }));
}

#[test]
fn a_panic_keeps_the_texts_and_the_engine_can_be_restarted() {
    let mut state = written();
    let ids = asked(&state.apply(Command::Generate(state.panes[0].id)));
    state.on_event(Event::Panicked {
        message: "index out of bounds".to_owned(),
    });
    assert!(!state.is_running());
    assert_eq!(text(&state, 0), " in a house");
    let restart = state.notices[0].actions[0].command.clone();
    let load = Request::LoadModel(ModelSource::Embedded);
    assert_eq!(
        state.apply(restart.clone()),
        [Effect::RestartWorker, Effect::Send(load)]
    );
    assert!(state.notices.is_empty());
    assert_eq!(state.apply(restart), [], "it is already running");
    state.on_event(loaded());
    write(&mut state, ids[0], &[(" late", 0.5)]);
    assert_eq!(text(&state, 0), " in a house");
}

#[test]
fn a_path_is_typed_if_there_is_no_native_dialog() {
    let mut state = written();
    let document = Document::new(RunDocument(ExportFormat::Json));
    let purpose = PathPurpose::Save(document.clone());
    let effects = state.apply(Command::AskPath(purpose.clone()));
    assert_eq!(effects, [Effect::OpenDialog(purpose.clone())]);
    state.apply(Command::DialogUnavailable(purpose.clone()));
    assert_eq!(
        state.dialogs.path_field,
        Some((purpose.clone(), "~/run.quartet.json".to_owned()))
    );
    let path = PathBuf::from("here.json");
    let effects = state.apply(Command::PathGiven(purpose, path.clone()));
    assert_eq!(effects, [Effect::Save(document.clone(), path.clone())]);
    assert_eq!(state.dialogs.path_field, None);

    state.apply(Command::SaveFailed {
        document: document.clone(),
        path: path.clone(),
        error: "Permission denied".to_owned(),
    });
    let again = state.notices[0].actions[1].command.clone();
    assert_eq!(state.apply(again), [Effect::Save(document, path)]);
}
