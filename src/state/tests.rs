//! Commands in, state and effects out.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    AppState, Command, Document, Effect, MAX_PANES, ModelStatus, PaneId, PaneStatus, PathPurpose,
    Pin, PinMove, PromptCount, Settings, fork_words,
};
use crate::decoding::filters::TopP;
use crate::decoding::{ChainConfig, Filter};
use crate::export::ExportFormat;
use crate::generation::testing::generation;
use crate::generation::{FinishReason, Generation};
use crate::worker::{Event, GenerationId, ModelSource, Request};

/// A window whose model is there.
fn ready() -> AppState {
    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
    state.on_event(loaded());
    state
}

fn loaded() -> Event {
    let generation = generation(&[]);
    Event::ModelLoaded {
        info: generation.model,
        vocabulary: generation.vocabulary,
    }
}

/// The names of the generations that a command asked for.
fn asked(effects: &[Effect]) -> Vec<GenerationId> {
    effects
        .iter()
        .flat_map(|effect| match effect {
            Effect::Send(Request::Generate { panes, .. }) => panes.clone(),
            _ => Vec::new(),
        })
        .map(|pane| pane.id)
        .collect()
}

/// Lets a pane write these tokens, and end.
fn write(state: &mut AppState, id: GenerationId, pieces: &[(&str, f64)]) {
    let generation = generation(pieces);
    state.on_event(Event::Started {
        ids: vec![id],
        prompt: Arc::clone(&generation.prompt),
    });
    for step in generation.steps {
        state.on_event(Event::Stepped {
            id,
            step: Box::new(step),
        });
    }
    state.on_event(Event::Finished {
        id,
        reason: FinishReason::MaxTokens,
    });
}

fn text(state: &AppState, place: usize) -> String {
    let generation = state.panes[place].generation();
    generation.map_or_else(String::new, Generation::text)
}

/// Four texts: the first goes its own way at the third token, the last ends early.
fn written() -> AppState {
    let mut state = ready();
    let ids = asked(&state.apply(Command::GenerateAll));
    for (id, last) in ids
        .into_iter()
        .zip([" house", " cottage", " cottage", " cottage"])
    {
        write(&mut state, id, &[(" in", 0.6), (" a", 0.9), (last, 0.4)]);
    }
    state
}

#[test]
fn a_new_window_loads_its_model_and_then_counts_the_prompt() {
    let (mut state, effects) = AppState::new(Settings::default(), ModelSource::Embedded);
    let load = Request::LoadModel(ModelSource::Embedded);
    assert_eq!(effects, [Effect::Send(load)]);
    assert_eq!(state.panes.len(), 4);
    assert!(state.complaint().is_some());

    let text = state.prompt.clone();
    let effects = state.on_event(loaded());
    assert_eq!(
        effects,
        [Effect::Send(Request::Tokenize { text: text.clone() })]
    );
    let n_tokens = Ok(10);
    state.on_event(Event::Tokenized { text, n_tokens });
    assert_eq!(state.prompt_count, PromptCount::Fits { n_tokens: 10 });
    assert_eq!(state.complaint(), None);
}

#[test]
fn generate_asks_for_all_panes_in_one_request() {
    let mut state = ready();
    state.panes[2].settings.seed = Some(7);
    let effects = state.apply(Command::GenerateAll);
    let [Effect::Send(Request::Generate { prompt, panes })] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(*prompt, state.prompt);
    let seeds: Vec<u64> = panes.iter().map(|pane| pane.config.seed).collect();
    assert_eq!(seeds, [42, 42, 7, 42]);
    assert!(state.is_running());
    assert_eq!(state.apply(Command::GenerateAll), [], "it runs already");
}

#[test]
fn a_pane_goes_through_its_states() {
    let mut state = ready();
    let id = asked(&state.apply(Command::GenerateAll))[0];
    assert!(matches!(state.panes[0].status, PaneStatus::Waiting { .. }));
    state.on_event(Event::Reading {
        ids: vec![id],
        n_read: 2,
        n_tokens: 3,
    });
    assert!(matches!(
        state.panes[0].status,
        PaneStatus::Reading { n_read: 2, .. }
    ));
    write(&mut state, id, &[(" in", 0.5)]);
    assert!(matches!(state.panes[0].status, PaneStatus::Finished(_)));
    assert_eq!(text(&state, 0), " in");
}

#[test]
fn what_comes_late_for_an_abandoned_generation_is_passed_over() {
    let mut state = written();
    let pane = state.panes[0].id;
    let old = asked(&state.apply(Command::Generate(pane)))[0];
    let new = asked(&state.apply(Command::Generate(pane)))[0];
    write(&mut state, old, &[(" late", 0.5)]);
    assert_eq!(
        text(&state, 0),
        " in a house",
        "the text before stays until the new one comes"
    );
    write(&mut state, new, &[(" new", 0.5)]);
    assert_eq!(text(&state, 0), " new");
}

#[test]
fn to_run_a_pane_again_ends_what_it_runs_and_leaves_the_others_alone() {
    let mut state = ready();
    let ids = asked(&state.apply(Command::GenerateAll));
    let effects = state.apply(Command::Generate(state.panes[1].id));
    assert_eq!(effects[0], Effect::Send(Request::Stop(ids[1])));
    assert_eq!(asked(&effects).len(), 1);
    assert_eq!(state.panes[0].status.running(), Some(ids[0]));
    assert_ne!(state.panes[1].status.running(), Some(ids[1]));
}

#[test]
fn a_text_that_is_stopped_or_fails_is_kept() {
    let failed = FinishReason::Failed {
        error: "the model gave 3 scores that are not numbers".to_owned(),
    };
    for reason in [FinishReason::Cancelled, failed] {
        let mut state = ready();
        let id = asked(&state.apply(Command::GenerateAll))[0];
        let half = generation(&[(" half", 0.5)]);
        state.on_event(Event::Started {
            ids: vec![id],
            prompt: half.prompt,
        });
        state.on_event(Event::Stepped {
            id,
            step: Box::new(half.steps[0].clone()),
        });
        state.on_event(Event::Finished {
            id,
            reason: reason.clone(),
        });
        assert_eq!(text(&state, 0), " half");
        let finish = state.panes[0].generation().unwrap().finish.clone();
        assert_eq!(finish, Some(reason));
    }
}

#[test]
fn what_fails_before_it_begins_brings_the_text_before_back() {
    let mut state = written();
    let ids = asked(&state.apply(Command::GenerateAll));
    state.on_event(Event::Finished {
        id: ids[0],
        reason: FinishReason::Failed {
            error: "the prompt is empty".to_owned(),
        },
    });
    assert!(matches!(state.panes[0].status, PaneStatus::Refused { .. }));
    assert_eq!(text(&state, 0), " in a house");
}

#[test]
fn stop_is_asked_of_what_runs_only() {
    let mut state = ready();
    let pane = state.panes[0].id;
    assert_eq!(state.apply(Command::StopAll), []);
    assert_eq!(state.apply(Command::Stop(pane)), []);
    let ids = asked(&state.apply(Command::GenerateAll));
    assert_eq!(
        state.apply(Command::Stop(pane)),
        [Effect::Send(Request::Stop(ids[0]))]
    );
    assert_eq!(
        state.apply(Command::StopAll),
        [Effect::Send(Request::StopAll)]
    );
}

#[test]
fn generate_says_why_it_cannot() {
    let too_long = |state: &mut AppState| {
        let text = state.prompt.clone();
        state.on_event(Event::Tokenized {
            text,
            n_tokens: Ok(600),
        });
    };
    let out_of_range = |state: &mut AppState| {
        let chain = ChainConfig::sampled([Filter::TopP(TopP { p: 1.5 })]);
        let pane = state.panes[2].id;
        state.apply(Command::SetChain(pane, chain));
    };
    let cases: [(&str, &dyn Fn(&mut AppState)); 6] = [
        ("Write a beginning first", &|state| state.prompt.clear()),
        ("600 tokens, the model reads 512 at most", &too_long),
        ("C: Top-p lies between 0 and 1", &out_of_range),
        ("The limit is at least 1 token", &|state| {
            state.limits.max_new_tokens = 0;
        }),
        ("The model is being loaded", &|state| {
            state.apply(Command::LoadEmbeddedModel);
        }),
        ("The engine has stopped, start it again first", &|state| {
            state.on_event(Event::Panicked {
                message: "a fault".to_owned(),
            });
        }),
    ];
    for (sentence, spoil) in cases {
        let mut state = ready();
        spoil(&mut state);
        assert_eq!(state.complaint().as_deref(), Some(sentence));
        assert_eq!(state.apply(Command::GenerateAll), [], "{sentence}");
    }
}

#[test]
fn an_answer_about_an_older_prompt_is_passed_over() {
    let mut state = ready();
    state.prompt = "A new one".to_owned();
    state.apply(Command::PromptEdited);
    state.on_event(Event::Tokenized {
        text: "An old one".to_owned(),
        n_tokens: Ok(3),
    });
    assert_eq!(state.prompt_count, PromptCount::Unknown);
}

#[test]
fn generating_is_news_until_nothing_differs_from_the_run() {
    let mut state = ready();
    assert!(state.generating_is_news());
    state.prompt = "Once there was".to_owned();
    let ids = asked(&state.apply(Command::GenerateAll));
    for id in ids {
        write(&mut state, id, &[(" a", 0.5)]);
    }
    assert!(!state.generating_is_news());
    state.seed = 43;
    assert!(state.generating_is_news());
    state.seed = 42;
    state.prompt.push('!');
    assert!(state.generating_is_news());
}

#[test]
fn a_change_of_settings_leaves_the_record_of_the_run_alone() {
    let mut state = written();
    let before = state.panes[3].generation().unwrap().config.clone();
    let pane = state.panes[3].id;
    state.apply(Command::SetChain(pane, ChainConfig::greedy()));
    assert_eq!(state.panes[3].generation().unwrap().config, before);
    assert_eq!(state.panes[3].settings.chain, ChainConfig::greedy());
}

#[test]
fn the_name_follows_the_chain_until_the_user_types_one() {
    let mut state = ready();
    let pane = state.panes[3].id;
    state.apply(Command::SetChain(pane, ChainConfig::greedy()));
    assert_eq!(state.panes[3].settings.name, "Greedy");
    state.panes[3].settings.name = "Mine".to_owned();
    state.apply(Command::SetChain(pane, ChainConfig::sampled([])));
    assert_eq!(state.panes[3].settings.name, "Mine");
    state.apply(Command::ResetSettings(pane));
    assert_eq!(state.panes[3].settings.name, "Top-p");
}

#[test]
fn panes_come_and_go_between_one_and_eight() {
    let mut state = ready();
    for _ in 0..MAX_PANES {
        let pane = state.panes[1].id;
        state.apply(Command::Duplicate(pane));
    }
    assert_eq!(state.panes.len(), MAX_PANES);
    assert_eq!(state.panes[2].settings, state.panes[1].settings);
    for _ in 0..MAX_PANES {
        let pane = state.panes[0].id;
        state.apply(Command::Remove(pane));
    }
    assert_eq!(state.panes.len(), 1);
}

#[test]
fn to_remove_a_pane_that_writes_stops_it_and_lets_go_of_its_token() {
    let mut state = written();
    let pane = state.panes[1].id;
    state.apply(Command::Pin(Pin { pane, step: 1 }));
    let id = asked(&state.apply(Command::Generate(pane)))[0];
    let effects = state.apply(Command::Remove(pane));
    assert_eq!(effects, [Effect::Send(Request::Stop(id))]);
    assert_eq!(state.pin, None);
    state.on_event(Event::Finished {
        id,
        reason: FinishReason::Cancelled,
    });
}

#[test]
fn the_pin_moves_with_the_arrows_and_stays_on_the_text() {
    use PinMove::{Earlier, Later, NextPane, PreviousPane};
    let mut state = written();
    let at = |state: &AppState| {
        state
            .pin
            .map(|pin| (state.place_of(pin.pane).unwrap(), pin.step))
    };
    for (direction, place) in [
        (Later, (3, 2)),
        (Later, (3, 2)),
        (Earlier, (3, 1)),
        (PreviousPane, (2, 1)),
        (Earlier, (2, 0)),
        (Earlier, (2, 0)),
        (NextPane, (3, 0)),
        (NextPane, (3, 0)),
    ] {
        state.apply(Command::MovePin(direction));
        assert_eq!(at(&state), Some(place), "{direction:?}");
    }
    assert_eq!(state.shown_step(), Some((3, 0)));
    state.apply(Command::Unpin);
    assert_eq!(state.shown_step(), Some((3, 2)), "the newest");
}

#[test]
fn a_second_click_lets_go_and_a_new_text_too() {
    let mut state = written();
    let pin = Pin {
        pane: state.panes[0].id,
        step: 1,
    };
    state.apply(Command::Pin(pin));
    assert_eq!(state.pinned().map(|(place, ..)| place), Some(0));
    state.apply(Command::Pin(pin));
    assert_eq!(state.pin, None);
    state.apply(Command::Pin(pin));
    let id = asked(&state.apply(Command::Generate(pin.pane)))[0];
    assert_eq!(state.pin, Some(pin), "the text before is still there");
    write(&mut state, id, &[(" a", 0.5)]);
    assert_eq!(state.pin, None);
}

#[test]
fn a_model_that_fails_to_load_gives_way_to_the_one_before() {
    let error = || Event::ModelFailed {
        error: "this file stops in the middle".to_owned(),
    };
    let mut state = ready();
    let path = PathBuf::from("broken.gguf");
    state.apply(Command::PathGiven(PathPurpose::ModelFile, path.clone()));
    state.on_event(Event::ModelLoading { fraction: 0.5 });
    assert!(matches!(state.model, ModelStatus::Loading { fraction, .. } if fraction > 0.4));
    state.on_event(error());
    assert!(state.model.ready().is_some());
    assert_eq!(state.notices.len(), 1);
    assert!(state.notices[0].body.contains("stops in the middle"));

    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Path(path));
    state.on_event(error());
    assert!(matches!(state.model, ModelStatus::Failed { .. }));
}

#[test]
fn after_a_panic_the_texts_are_there_and_the_engine_can_be_started_again() {
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
        state.apply(restart),
        [Effect::RestartWorker, Effect::Send(load)]
    );
    state.on_event(loaded());
    write(&mut state, ids[0], &[(" late", 0.5)]);
    assert_eq!(text(&state, 0), " in a house");
}

#[test]
fn a_path_is_typed_where_there_is_no_dialog() {
    let mut state = written();
    let document = Document::Run(ExportFormat::Json);
    let purpose = PathPurpose::Save(document);
    let effects = state.apply(Command::AskPath(purpose));
    assert_eq!(effects, [Effect::OpenDialog(purpose)]);
    state.apply(Command::NoDialog(purpose));
    assert_eq!(state.path_field, Some((purpose, "quartet.json".to_owned())));
    let path = PathBuf::from("here.json");
    let effects = state.apply(Command::PathGiven(purpose, path.clone()));
    assert_eq!(effects, [Effect::Save(document, path.clone())]);
    assert_eq!(state.path_field, None);

    state.apply(Command::SaveFailed {
        document,
        path: path.clone(),
        error: "Permission denied".to_owned(),
    });
    let again = state.notices[0].actions[1].command.clone();
    assert_eq!(state.apply(again), [Effect::Save(document, path)]);
}

#[test]
fn a_text_is_copied_as_it_was_written() {
    let mut state = written();
    let effects = state.apply(Command::CopyText(state.panes[0].id));
    assert_eq!(effects, [Effect::CopyText(" in a house".to_owned())]);
    assert_eq!(state.apply(Command::CopyText(PaneId(999))), []);
}

#[test]
fn the_first_fork_is_told_in_a_sentence() {
    let state = written();
    let words = fork_words(&state);
    assert_eq!(words.step, Some(2));
    assert!(
        words
            .long
            .starts_with("All agree for 2 tokens. At token 3, "),
        "{}",
        words.long
    );
    assert!(words.long.contains("‘house’; "), "{}", words.long);
    assert_eq!(words.short, "All agree for 2 tokens. At token 3, A parts.");

    let first = fork_words(&ready());
    assert!(
        first
            .long
            .starts_with("The prompt is read once. Then all four")
    );

    let mut same = ready();
    for id in asked(&same.apply(Command::GenerateAll)) {
        write(&mut same, id, &[(" in", 0.6)]);
    }
    assert_eq!(
        fork_words(&same).long,
        "All four are the same, token for token."
    );
}

#[test]
fn settings_come_back_at_the_next_start() {
    let mut state = ready();
    state.prompt = "The sea".to_owned();
    state.seed = 9;
    state.view.show_marks = true;
    let pane = state.panes[0].id;
    state.apply(Command::Remove(pane));
    let (next, _) = AppState::new(state.settings(), ModelSource::Embedded);
    assert_eq!(next.settings(), state.settings());
    assert_eq!(next.panes.len(), 3);
}
