//! Tests of the model of the last session, which opens again at the start.

use super::models::{inspected, models, outline, path, rows};
use super::{asked, loaded};
use crate::export::json::RunFile;
use crate::generation::Vocabulary;
use crate::generation::testing::generation;
use crate::state::{
    AppState, Command, Effect, ModelRowStatus, ModelsCommand, RecentModel, Settings,
};
use crate::worker::{BesideUpdate, Event, ModelSource, Request};

/// A window that opens after one whose main model was this one, and its first effects.
fn reopening() -> (AppState, Vec<Effect>) {
    let settings = Settings {
        main_model: Some(path("big.gguf")),
        recent_models: vec![RecentModel {
            path: path("big.gguf"),
            name: "Big".to_owned(),
            n_params: 7,
            quantization: "Q8_0".to_owned(),
            opened_at: 1,
        }],
        ..Settings::default()
    };
    AppState::new(settings, ModelSource::Embedded)
}

/// What the next window would open.
fn remembered(state: &AppState) -> Option<std::path::PathBuf> {
    let json = state.settings().to_json().unwrap();
    Settings::from_json(&json).settings.main_model
}

#[test]
fn the_built_in_model_writes_until_the_last_one_has_opened_again() {
    let (mut state, effects) = reopening();
    let source = ModelSource::Path(path("big.gguf"));
    let loads = [
        Effect::Send(Request::LoadModel(ModelSource::Embedded)),
        Effect::Send(Request::Inspect(source.clone())),
    ];
    let at = |wanted: &Effect| effects.iter().position(|effect| effect == wanted);
    assert!(at(&loads[0]).unwrap() < at(&loads[1]).unwrap());
    state.on_event(loaded());
    let effects = state.on_event(inspected("big.gguf", Ok(outline(5))));
    assert_eq!(effects, [Effect::Send(Request::LoadBeside(source.clone()))]);
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(ids.len(), state.panes.len());
    state.on_event(Event::Beside(BesideUpdate::Loading { fraction: 0.5 }));
    let words = state.models.reopening_words().unwrap();
    assert!(words.starts_with("Big is loading; until then, "), "{words}");
    let loading = ModelRowStatus::Loading { fraction: 0.5 };
    assert!(rows(&state).contains(&("Big".to_owned(), loading)));
    assert_eq!(remembered(&state), Some(path("big.gguf")));

    state.apply(Command::StopAll);
    state.on_event(Event::Beside(BesideUpdate::Loaded));
    state.on_event(loaded());
    assert_eq!(state.models.source, source);
    assert_eq!(state.models.reopening_words(), None);
    assert!(state.models.main.ready().is_some());
    assert_eq!(remembered(&state), Some(path("big.gguf")));
}

#[test]
fn a_model_that_fails_to_open_again_says_why_and_is_tried_again_next_time() {
    let gone = Event::Inspected {
        source: ModelSource::Path(path("big.gguf")),
        found: Err("the file is gone.".to_owned()),
        n_free_bytes: 1,
    };
    let failed = Event::Beside(BesideUpdate::Failed {
        error: "the file is gone.".to_owned(),
    });
    for events in [
        vec![gone],
        vec![inspected("big.gguf", Ok(outline(5))), failed],
    ] {
        let (mut state, _) = reopening();
        state.on_event(loaded());
        for event in events {
            state.on_event(event);
        }
        let notice = state.notices.first().unwrap();
        assert_eq!(notice.title, "Big did not open");
        let body = "The file is gone. Until you open a model, the built-in one is used.";
        assert_eq!(notice.body, body);
        assert!(state.models.main.ready().is_some());
        assert_eq!(remembered(&state), Some(path("big.gguf")));
        state.apply(Command::LoadEmbeddedModel);
        state.on_event(loaded());
        assert_eq!(remembered(&state), None, "the user chose the built-in one");
    }
}

#[test]
fn a_model_for_which_memory_is_short_waits_for_the_user() {
    let (mut state, _) = reopening();
    state.on_event(loaded());
    assert_eq!(
        state.on_event(Event::Inspected {
            source: ModelSource::Path(path("big.gguf")),
            found: Ok(Box::new(outline(5))),
            n_free_bytes: 1000,
        }),
        []
    );
    let notice = state.notices.first().unwrap();
    assert_eq!(notice.title, "Big was not opened again");
    let open = Command::Models(ModelsCommand::Open(path("big.gguf")));
    assert_eq!(notice.actions[0].command, open);
    assert_eq!(remembered(&state), Some(path("big.gguf")));
}

#[test]
fn cancelling_keeps_the_built_in_model_and_another_model_takes_precedence() {
    let (mut state, _) = reopening();
    state.on_event(loaded());
    state.on_event(inspected("big.gguf", Ok(outline(5))));
    let effects = models(&mut state, ModelsCommand::CancelLoading);
    assert_eq!(effects, [Effect::Send(Request::CancelLoading)]);
    state.on_event(Event::Beside(BesideUpdate::Cancelled));
    assert_eq!(state.models.reopening, None);
    assert_eq!(state.models.source, ModelSource::Embedded);

    let (mut state, _) = reopening();
    state.on_event(loaded());
    state.on_event(inspected("big.gguf", Ok(outline(5))));
    models(&mut state, ModelsCommand::Open(path("other.gguf")));
    state.on_event(inspected("other.gguf", Ok(outline(5))));
    state.on_event(Event::Beside(BesideUpdate::Cancelled));
    state.on_event(loaded());
    assert_eq!(state.models.source, ModelSource::Path(path("other.gguf")));
    assert_eq!(remembered(&state), Some(path("other.gguf")));
}

#[test]
fn a_restored_text_gets_the_vocabulary_of_the_model_that_wrote_it() {
    let mut text = generation(&[(" fox", 0.25)]);
    let full = std::sync::Arc::clone(&text.vocabulary);
    let known: Vec<_> = full
        .iter()
        .take(3)
        .map(|(_, piece)| piece.clone())
        .collect();
    text.vocabulary = std::sync::Arc::new(Vocabulary::new(known));
    let run = RunFile {
        panes: vec![text],
        ..RunFile::default()
    };
    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
    state.restore_session(Settings::default(), run, &[0]);
    let n_tokens = |state: &AppState| {
        let text = state.panes[0].generation().unwrap();
        text.vocabulary.n_tokens()
    };
    assert_eq!(n_tokens(&state), 3);
    let mut event = loaded();
    if let Event::ModelLoaded { vocabulary, .. } = &mut event {
        *vocabulary = std::sync::Arc::clone(&full);
    }
    state.on_event(event);
    assert_eq!(n_tokens(&state), full.n_tokens());
}
