//! A model per pane: chosen, offered with the memory that it needs, loaded, used and unloaded.

use std::sync::Arc;

use super::models::{outline, path};
use super::runs::{open, run};
use super::{asked, loaded, pane_model_loaded, ready, text, tokenized, write, written};
use crate::generation::testing::generation;
use crate::generation::{ChatSupport, Generation, ModelInfo};
use crate::state::{
    AppState, Command, Effect, PaneModelCommand, PaneModelStatus, PaneStatus, PathPurpose,
    PromptMode, RunCommand, ScoreCommand, ScoreReadiness, divergence_summary,
};
use crate::worker::{Event, GenerationId, ModelSource, PaneModelUpdate, Request};

fn other() -> ModelSource {
    ModelSource::Path(path("other.gguf"))
}

fn choose(state: &mut AppState, place: usize, source: Option<ModelSource>) -> Vec<Effect> {
    let id = state.panes[place].id;
    state.apply(Command::PaneModel(PaneModelCommand::Choose(
        id,
        source.map(Into::into),
    )))
}

fn inspected(state: &mut AppState, n_weight_bytes: u64) -> Vec<Effect> {
    state.on_event(Event::Inspected {
        source: other(),
        found: Ok(Box::new(outline(n_weight_bytes))),
        n_free_bytes: 3_900_000_000,
    })
}

fn update(state: &mut AppState, update: PaneModelUpdate) -> Vec<Effect> {
    let source = other();
    state.on_event(Event::PaneModel { source, update })
}

fn arrived(chat: ChatSupport) -> PaneModelUpdate {
    let text = generation(&[]);
    let info = ModelInfo {
        name: "Other".to_owned(),
        sha256: "other".to_owned(),
        quantization: "Q4_K".to_owned(),
        ..(*text.model).clone()
    };
    pane_model_loaded(info, text.vocabulary, chat)
}

fn load() -> Effect {
    Effect::Send(Request::LoadPaneModel(other()))
}

fn unload() -> Effect {
    Effect::Send(Request::UnloadPaneModel(other()))
}

/// A state whose second pane has its own model.
fn with_other() -> AppState {
    let mut state = ready();
    choose(&mut state, 1, Some(other()));
    inspected(&mut state, 500_000_000);
    update(&mut state, arrived(ChatSupport::ready()));
    state
}

/// The model that each pane generates with after a command; `None` for the main one.
fn models(effects: &[Effect]) -> Vec<Option<ModelSource>> {
    let panes = effects.iter().flat_map(|effect| match effect {
        Effect::Send(Request::Generate { panes, .. } | Request::Continue { panes, .. }) => {
            panes.clone()
        }
        _ => Vec::new(),
    });
    panes.map(|pane| pane.model).collect()
}

#[test]
fn a_model_is_loaded_once_the_user_has_seen_what_it_needs() {
    let mut state = ready();
    let effects = choose(&mut state, 1, Some(other()));
    let inspect = Effect::Send(Request::Inspect(other()));
    assert_eq!(effects.last(), Some(&inspect));
    assert_eq!(inspected(&mut state, 1_500_000_000), []);
    let Some(PaneModelStatus::Offered { words, is_short }) = state.models.of_panes.status(&other())
    else {
        panic!("it is offered");
    };
    assert!(words.ends_with("GB of memory; 3.9 GB is free"), "{words}");
    assert!(!is_short);
    let pane = &state.panes[1];
    let reason = state.blocking_reason_of(pane).unwrap();
    assert_eq!(reason, "Its model is not loaded yet");
    assert!(state.waits_for_pane_model());

    let load_it = Command::PaneModel(PaneModelCommand::Load(other()));
    assert_eq!(state.apply(load_it), [load()]);
    update(&mut state, PaneModelUpdate::Loading { fraction: 0.5 });
    let loading = PaneModelStatus::Loading { fraction: 0.5 };
    assert_eq!(state.models.of_panes.status(&other()), Some(&loading));
    // Meanwhile, the other panes can generate without this one.
    assert_eq!(state.blocking_reason(), None);
    let words = state.skipped_pane_words().unwrap();
    assert_eq!(words, "B will not run: its model is still loading");
    assert!(state.waits_for_pane_model(), "nothing is wrong");
    update(&mut state, arrived(ChatSupport::ready()));
    assert_eq!(state.skipped_pane_words(), None);
    assert_eq!(state.models.words_of(&state.panes[1]), "Other · Q4_K");
    let effects = state.apply(Command::GenerateAll);
    assert_eq!(models(&effects), [None, Some(other()), None, None]);
}

#[test]
fn a_model_that_needs_a_small_part_of_the_free_memory_is_loaded_at_once() {
    let mut state = ready();
    choose(&mut state, 1, Some(other()));
    assert_eq!(inspected(&mut state, 342_000_000), [load()]);
    update(
        &mut state,
        PaneModelUpdate::Failed {
            error: "the file is gone".to_owned(),
        },
    );
    assert!(
        !state.waits_for_pane_model(),
        "the user has to do something"
    );
}

#[test]
fn an_offered_model_can_be_declined() {
    let mut state = ready();
    choose(&mut state, 1, Some(other()));
    inspected(&mut state, 1_500_000_000);
    let decline = PaneModelCommand::Decline(other().into());
    state.apply(Command::PaneModel(decline));
    assert_eq!(state.panes[1].settings.model, None);
    assert_eq!(state.models.of_panes.status(&other()), None);
}

#[test]
fn a_model_that_needs_more_than_is_free_says_so() {
    let mut state = ready();
    choose(&mut state, 1, Some(other()));
    inspected(&mut state, 4_800_000_000);
    let Some(PaneModelStatus::Offered { words, is_short }) = state.models.of_panes.status(&other())
    else {
        panic!("it is offered");
    };
    assert!(
        words.ends_with("only 3.9 GB is free") && *is_short,
        "{words}"
    );
    let decline = Command::PaneModel(PaneModelCommand::Decline(other().into()));
    assert_eq!(state.apply(decline), [], "nothing is loaded");
    assert_eq!(state.panes[1].settings.model, None);
    assert_eq!(state.models.of_panes.status(&other()), None);
}

#[test]
fn a_model_is_unloaded_with_the_last_pane_that_uses_it() {
    let mut state = with_other();
    assert_eq!(choose(&mut state, 2, Some(other())), [], "it is loaded");
    assert_eq!(choose(&mut state, 1, None), []);
    let id = state.panes[2].id;
    assert_eq!(state.apply(Command::Remove(id)), [unload()]);
    assert!(!state.uses_several_models());
    // Undo brings the pane back, and its model.
    let effects = state.apply(Command::Undo);
    assert_eq!(
        effects.last(),
        Some(&Effect::Send(Request::Inspect(other())))
    );
    assert_eq!(inspected(&mut state, 500_000_000), [load()], "it fits");
    assert_eq!(state.apply(Command::Redo), [unload()], "it is cancelled");
    update(&mut state, PaneModelUpdate::Cancelled);
    assert_eq!(state.models.of_panes.status(&other()), None);
}

#[test]
fn a_text_keeps_the_model_that_writes_it() {
    let mut state = with_other();
    let ids: Vec<GenerationId> = asked(&state.apply(Command::GenerateAll));
    // The model stays while its text is written, whatever the pane will use next.
    assert_eq!(choose(&mut state, 1, None), []);
    for id in &ids {
        write(&mut state, *id, &[(" in", 0.6), (" a", 0.9)]);
    }
    let written_by = |place: usize| &*state.panes[place].generation().unwrap().model.name;
    assert_eq!((written_by(0), written_by(1)), ("Test", "Other"));
    assert_eq!(text(&state, 1), " in a");
    assert_eq!(
        state.models.of_panes.status(&other()),
        None,
        "it is unloaded"
    );
    // Only the model that wrote a text continues it.
    assert!(state.can_continue(&state.panes[0]));
    assert!(!state.can_continue(&state.panes[1]));
    let words = divergence_summary(&state).long;
    assert!(words.contains("different models"), "{words}");
}

#[test]
fn a_text_is_continued_by_its_own_model() {
    let mut state = with_other();
    "Once there was".clone_into(&mut state.prompt.text);
    for id in asked(&state.apply(Command::GenerateAll)) {
        write(&mut state, id, &[(" in", 0.6), (" a", 0.9)]);
    }
    assert!(!state.output_is_stale());
    let id = state.panes[1].id;
    let more = crate::state::BranchCommand::Continue(id);
    let effects = state.apply(Command::Branch(more));
    assert_eq!(models(&effects), [Some(other())]);
}

#[test]
fn a_text_to_be_scored_is_counted_by_the_model_of_its_pane() {
    let mut state = with_other();
    let pane = state.panes[1].id;
    let score = |state: &mut AppState, command| state.apply(Command::Score(command));
    let effects = score(&mut state, ScoreCommand::Open(pane));
    assert_eq!(effects, []);
    state.dialogs.score.as_mut().unwrap().text = "A fox".to_owned();
    let effects = score(&mut state, ScoreCommand::Edited);
    let request = Request::Tokenize {
        prompt: "A fox".into(),
        model: Some(other()),
    };
    assert_eq!(effects, [Effect::Send(request)]);
    let readiness = |state: &AppState| {
        let dialog = state.dialogs.score.as_ref().unwrap();
        dialog.readiness(&state.panes, &state.models)
    };
    // The main model counts otherwise.
    state.on_event(tokenized("A fox", 3));
    assert_eq!(readiness(&state), ScoreReadiness::Counting);
    let Event::Tokenized { prompt, tokens, .. } = tokenized("A fox", 5) else {
        unreachable!()
    };
    state.on_event(Event::Tokenized {
        prompt,
        model: Some(other()),
        tokens,
    });
    assert_eq!(readiness(&state), ScoreReadiness::Fits { n_tokens: 5 });
}

#[test]
fn a_file_that_fails_is_named_in_its_pane_and_can_be_tried_again() {
    let mut state = ready();
    choose(&mut state, 1, Some(other()));
    inspected(&mut state, 500_000_000);
    let error = "the file is incomplete".to_owned();
    update(&mut state, PaneModelUpdate::Failed { error });
    let failed = PaneModelStatus::Failed {
        error: "The file is incomplete".to_owned(),
    };
    assert_eq!(state.models.of_panes.status(&other()), Some(&failed));
    let reason = state.blocking_reason_of(&state.panes[1]);
    assert_eq!(reason.unwrap(), "Its model could not be loaded");
    let effects = choose(&mut state, 1, Some(other()));
    assert_eq!(
        effects.last(),
        Some(&Effect::Send(Request::Inspect(other())))
    );
}

#[test]
fn a_model_without_a_template_leaves_its_pane_out_of_a_chat() {
    let mut state = with_other();
    state.prompt.mode = PromptMode::Chat;
    assert_eq!(
        state
            .models
            .own_blocking_reason(&state.panes[1], state.prompt.mode),
        None
    );
    let mut state = ready();
    choose(&mut state, 1, Some(other()));
    inspected(&mut state, 500_000_000);
    update(&mut state, arrived(ChatSupport::Missing));
    assert_eq!(
        state
            .models
            .own_blocking_reason(&state.panes[1], state.prompt.mode),
        None
    );
    state.prompt.mode = PromptMode::Chat;
    let reason = state
        .models
        .own_blocking_reason(&state.panes[1], state.prompt.mode);
    assert_eq!(reason.unwrap(), "Its model has no chat template");
}

#[test]
fn a_model_that_becomes_the_main_one_is_loaded_once() {
    let mut state = with_other();
    state.apply(Command::Models(crate::state::ModelsCommand::Open(path(
        "other.gguf",
    ))));
    let effects = inspected(&mut state, 500_000_000);
    assert_eq!(
        effects.last(),
        Some(&Effect::Send(Request::LoadModel(other())))
    );
    let effects = state.on_event(loaded());
    assert!(effects.contains(&unload()), "{effects:?}");
    assert!(!state.uses_several_models());
    // With another main model, the pane keeps its choice.
    state.apply(Command::LoadEmbeddedModel);
    let effects = state.on_event(loaded());
    let inspect = Effect::Send(Request::Inspect(other()));
    assert!(effects.contains(&inspect), "{effects:?}");
}

#[test]
fn models_of_panes_are_loaded_again_after_the_engine_stopped() {
    let mut state = with_other();
    let message = "a bug".to_owned();
    state.on_event(Event::Panicked { message });
    assert_eq!(state.models.of_panes.status(&other()), None);
    let effects = state.apply(Command::RestartEngine);
    let inspect = Effect::Send(Request::Inspect(other()));
    assert_eq!(effects.last(), Some(&inspect));
    assert_eq!(inspected(&mut state, 500_000_000), [load()]);
}

#[test]
fn a_path_chosen_in_the_dialog_is_offered_and_settings_keep_it() {
    let mut state = ready();
    let id = state.panes[3].id;
    state.apply(Command::PathGiven(
        PathPurpose::PaneModel(id),
        path("other.gguf"),
    ));
    let settings = state.settings();
    assert_eq!(settings.panes[3].model, Some(other().into()));
    assert_eq!(settings.panes[0].model, None);
    let json = serde_json::to_string(&settings.panes[3]).unwrap();
    assert_eq!(
        serde_json::from_str::<crate::generation::PaneSettings>(&json).unwrap(),
        settings.panes[3]
    );
    assert!(matches!(state.panes[3].status, PaneStatus::Ready));
    assert_eq!(state.undo.undo_label(), Some("model of D"));
    // Only the settings of the sampler are reset.
    state.apply(Command::ResetSettings(id));
    assert_eq!(state.panes[3].settings.model, Some(other().into()));
}

#[test]
fn each_text_of_an_opened_run_is_verified_with_its_own_model() {
    let text = generation(&[(" the", 0.5), (" fox", 0.25)]);
    let mut by_other = text.clone();
    let info = Arc::make_mut(&mut by_other.model);
    "Other".clone_into(&mut info.name);
    "other".clone_into(&mut info.sha256);
    let texts = vec![text, by_other];

    let mut state = ready();
    open(&mut state, texts.clone());
    assert_eq!(run(&mut state, RunCommand::Verify), []);
    let notice = &state.notices[0];
    assert!(
        notice.body.contains("t needs the model Other"),
        "{notice:?}"
    );
    let pane = state.panes[1].id;
    let find = Command::AskPath(PathPurpose::PaneModel(pane));
    assert_eq!(notice.actions[0].command, find);

    let mut state = with_other();
    open(&mut state, texts);
    let effects = run(&mut state, RunCommand::Verify);
    assert_eq!(models(&effects), [None, Some(other())]);
}

/// A text by a model with this name.
fn by(name: &str) -> Generation {
    let mut text = generation(&[(" fox", 0.5)]);
    Arc::make_mut(&mut text.model).name = name.to_owned();
    Arc::make_mut(&mut text.model).sha256 = name.to_owned();
    Arc::make_mut(&mut text.model).quantization = "Q8_0".to_owned();
    text
}

fn authors(state: &AppState) -> Vec<(String, Option<String>)> {
    let authorship = state.panes.iter().map(|pane| state.authorship(pane));
    let words = authorship.map(|authorship| {
        let writer = authorship.writer.map(|writer| writer.words());
        (writer.unwrap_or_default(), authorship.next)
    });
    words.collect()
}

#[test]
fn a_text_is_named_after_its_model_when_another_one_comes_next() {
    let mut state = written();
    assert!(!state.panes_name_models());
    assert_eq!(authors(&state)[0], ("Test".to_owned(), None));

    // The pane chooses another model: its text is still by the main one.
    choose(&mut state, 1, Some(other()));
    inspected(&mut state, 1_500_000_000);
    let next = |state: &AppState| state.authorship(&state.panes[1]).next;
    assert_eq!(next(&state).as_deref(), Some("other"));
    state.apply(Command::PaneModel(PaneModelCommand::Load(other())));
    update(&mut state, arrived(ChatSupport::ready()));
    assert!(state.panes_name_models());
    let expected = ("Test".to_owned(), Some("Other · Q4_K".to_owned()));
    assert_eq!(authors(&state)[1], expected);
    assert_eq!(authors(&state)[0], ("Test".to_owned(), None));

    // The main model changes: all texts are by the previous one.
    choose(&mut state, 1, None);
    assert!(!state.panes_name_models());
    let Event::ModelLoaded {
        info, vocabulary, ..
    } = loaded()
    else {
        panic!("a model");
    };
    let info = Arc::new(ModelInfo {
        name: "New".to_owned(),
        sha256: "new".to_owned(),
        ..(*info).clone()
    });
    state.on_event(Event::ModelLoaded {
        info,
        vocabulary,
        chat: ChatSupport::Missing,
        recommended_sampling: None,
        load_warning: None,
        second: None,
    });
    assert!(state.panes_name_models());
    let expected = ("Test".to_owned(), Some("New".to_owned()));
    assert_eq!(authors(&state), vec![expected; 4]);
}

#[test]
fn an_opened_run_names_its_own_models_and_none_that_comes_next() {
    let mut state = written();
    open(&mut state, vec![by("Small"), by("Small")]);
    assert_eq!(state.opened_model_words().as_deref(), Some("Small · Q8_0"));
    assert!(!state.panes_name_models(), "the bar does");
    open(&mut state, vec![by("Small"), by("Large")]);
    assert_eq!(state.opened_model_words(), None);
    assert!(state.panes_name_models());
    let expected = ["Small", "Large"].map(|name| (format!("{name} · Q8_0"), None));
    assert_eq!(authors(&state), expected);
    // Whoever goes on with its settings sees which model comes next.
    run(&mut state, RunCommand::UseSettings);
    let next = authors(&state).into_iter().map(|(_, next)| next);
    assert_eq!(
        next.collect::<Vec<_>>(),
        [Some("Test".to_owned()), Some("Test".to_owned())]
    );
}

#[test]
fn a_text_says_with_which_settings_it_was_written() {
    let mut state = written();
    let words = |state: &AppState| state.written_with_words(&state.panes[1]);
    let chain = state.panes[1].generation().unwrap().config.chain.clone();
    state.panes[1].settings.chain = chain;
    assert_eq!(words(&state), None);
    state.panes[1].settings.chain = crate::decoding::ChainConfig::greedy();
    let sentence = words(&state).unwrap();
    assert!(
        sentence.starts_with("The text on screen was written with "),
        "{sentence}"
    );
}
