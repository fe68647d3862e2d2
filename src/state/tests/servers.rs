//! Tests of servers: adding, contacting, using, losing and removing them.

use std::sync::Arc;

use super::{asked, ready, text, write};
use crate::generation::testing::generation;
use crate::generation::{FinishReason, ModelSource, PaneModel, PromptText, ServedModel};
use crate::state::{
    AppState, BranchCommand, Command, Effect, PaneModelCommand, PaneStatus, ScoreCommand,
    ScoreReadiness, ServerCommand, ServerStatus, Settings,
};
use crate::worker::{
    GenerationId, KeySource, PaneRequest, Progress, Request, SampledBy, ServerConfig, ServerEvent,
    ServerInfo, ServerKind, ServerRequest,
};

const ADDRESS: &str = "http://127.0.0.1:8080";

fn served() -> ServedModel {
    ServedModel {
        address: ADDRESS.to_owned(),
        model: None,
        own_sampler: false,
    }
}

fn add(state: &mut AppState, key: &str) -> Vec<Effect> {
    "127.0.0.1:8080/".clone_into(&mut state.models.servers.form.address);
    key.clone_into(&mut state.models.servers.form.key);
    state.apply(Command::Server(ServerCommand::Add))
}

/// Delivers the server's first answer.
pub(crate) fn connected(state: &mut AppState, served: &ServedModel) -> Vec<Effect> {
    let mut info = ServerInfo::new(ServerKind::LlamaServer, "127.0.0.1:8080", "Stories");
    info.version = "b1".to_owned();
    info.n_context = Some(4096);
    let event = ServerEvent::Connected {
        model: Arc::new(info.model_info()),
        server: Arc::new(info),
        n_probs: 128,
    };
    state.on_server_event(served, event)
}

/// A state whose second pane uses a server that has answered.
pub(crate) fn with_server() -> AppState {
    let mut state = ready();
    add(&mut state, "");
    connected(&mut state, &served());
    use_in(&mut state, 1, served());
    state
}

/// A state whose panes show what can go wrong with servers: a lost connection, a sampler that lacks
/// something, and a server that can't be reached.
pub(crate) fn with_server_problems() -> AppState {
    let mut state = with_server();
    let own = ServedModel {
        own_sampler: true,
        ..served()
    };
    use_in(&mut state, 2, own.clone());
    let effects = state.apply(Command::GenerateAll);
    connected(&mut state, &own);
    let ids = asked_of_servers(&effects);
    lose(&mut state, ids[0].id);
    let noted = ServerEvent::Noted {
        id: ids[1].id,
        notes: vec![
            "llama-server has its own random numbers: seed 42 gives different draws there"
                .to_owned(),
            "It has no top-h, which is left out".to_owned(),
        ],
        not_applied: vec!["top-h 0.4".to_owned()],
    };
    state.on_server_event(&own, noted);
    let elsewhere = ServedModel {
        address: "https://models.example.org/v1".to_owned(),
        ..served()
    };
    "https://models.example.org/v1".clone_into(&mut state.models.servers.form.address);
    state.apply(Command::Server(ServerCommand::Add));
    use_in(&mut state, 3, elsewhere.clone());
    let error = "could not resolve models.example.org; check the address".to_owned();
    state.on_server_event(&elsewhere, ServerEvent::ConnectFailed { error });
    state
}

/// Breaks a text's connection after two tokens.
fn lose(state: &mut AppState, id: GenerationId) {
    let part = generation(&[(" in", 0.6), (" a", 0.9)]);
    let (ids, prompt) = (vec![id], part.prompt);
    progress(state, Progress::Started { ids, prompt });
    for step in part.steps {
        let step = Box::new(step);
        progress(state, Progress::Stepped { id, step });
    }
    fail(state, id);
}

fn use_in(state: &mut AppState, place: usize, served: ServedModel) -> Vec<Effect> {
    let id = state.panes[place].id;
    state.apply(Command::Server(ServerCommand::UseIn(id, served)))
}

fn config(effects: &[Effect]) -> &ServerConfig {
    let mut effects = effects.iter();
    let config = effects.find_map(|effect| match effect {
        Effect::StartServer(_, config) => Some(config),
        _ => None,
    });
    config.expect("its threads are started")
}

/// What the servers are asked to generate.
fn asked_of_servers(effects: &[Effect]) -> Vec<PaneRequest> {
    let panes = effects.iter().flat_map(|effect| match effect {
        Effect::Server(
            _,
            ServerRequest::Generate { panes, .. } | ServerRequest::Continue { panes, .. },
        ) => panes.clone(),
        _ => Vec::new(),
    });
    panes.collect()
}

fn progress(state: &mut AppState, progress: Progress) -> Vec<Effect> {
    state.on_server_event(&served(), ServerEvent::Progress(progress))
}

fn fail(state: &mut AppState, id: GenerationId) {
    let error = "the connection to 127.0.0.1:8080 was lost; the text so far is kept".to_owned();
    let reason = FinishReason::Failed { error };
    progress(state, Progress::Finished { id, reason });
}

#[test]
fn a_server_is_contacted_when_it_is_added_and_its_key_is_not_saved() {
    let mut state = ready();
    let effects = add(&mut state, "sk-secret");
    let config = config(&effects);
    assert_eq!(config.address, ADDRESS);
    assert!(matches!(config.key, Some(KeySource::Typed(_))));
    assert_eq!(config.sampled_by, SampledBy::Chain);
    let connect = Effect::Server(served(), ServerRequest::Connect);
    assert_eq!(effects.last(), Some(&connect));
    assert_eq!(state.models.servers.form.key, "");
    assert_eq!(
        state.models.servers.rows()[0].status,
        Some(ServerStatus::Connecting)
    );

    connected(&mut state, &served());
    let row = &state.models.servers.rows()[0];
    assert_eq!(row.name, "Stories");
    assert_eq!(
        row.facts,
        "llama-server b1 at 127.0.0.1:8080 · context 4,096 · 128 log-probs"
    );
    let settings = state.settings().to_json().unwrap();
    assert!(settings.contains(ADDRESS));
    assert!(!settings.contains("secret"), "{settings}");
}

#[test]
fn a_new_window_contacts_no_server_until_a_pane_generates() {
    let settings = with_server().settings();
    let settings = Settings::from_json(&settings.to_json().unwrap());
    assert_eq!(settings.lost, [] as [&str; 0]);
    let (mut state, effects) = AppState::new(settings.settings, ModelSource::Embedded);
    let mut effects = effects;
    effects.extend(state.on_event(super::loaded()));
    let contacts = |effect: &Effect| matches!(effect, Effect::Server(..) | Effect::StartServer(..));
    assert!(!effects.iter().any(contacts), "{effects:?}");
    assert_eq!(state.models.servers.rows()[0].status, None);
    assert_eq!(state.blocking_reason_of(&state.panes[1]), None);

    let effects = state.apply(Command::GenerateAll);
    assert_eq!(config(&effects).address, ADDRESS);
    assert_eq!(asked_of_servers(&effects).len(), 1);
    assert_eq!(asked(&effects).len(), 3, "the others use the main model");
    // Its answer comes before the text.
    connected(&mut state, &served());
    let id = asked_of_servers(&effects)[0].id;
    let prompt = generation(&[]).prompt;
    let ids = vec![id];
    progress(&mut state, Progress::Started { ids, prompt });
    let written = state.panes[1].generation().unwrap();
    assert_eq!(written.model.name, "Stories");
    assert_eq!(written.model.device, "llama-server b1");
    assert_eq!(written.model.file, "");
}

#[test]
fn a_text_is_stopped_by_the_server_that_writes_it() {
    let mut state = with_server();
    let effects = state.apply(Command::GenerateAll);
    let id = asked_of_servers(&effects)[0].id;
    let pane = state.panes[1].id;
    let stop = Effect::Server(served(), ServerRequest::Stop(id));
    assert_eq!(state.apply(Command::Stop(pane)), [stop]);
    let stop_all = Effect::Server(served(), ServerRequest::StopAll);
    let effects = state.apply(Command::StopAll);
    assert_eq!(effects, [Effect::Send(Request::StopAll), stop_all]);
}

#[test]
fn a_lost_connection_keeps_the_text_and_continuing_reconnects() {
    let mut state = with_server();
    let effects = state.apply(Command::GenerateAll);
    let id = asked_of_servers(&effects)[0].id;
    lose(&mut state, id);
    assert_eq!(text(&state, 1), " in a");
    assert!(state.can_continue(&state.panes[1]));
    let more = BranchCommand::Continue(state.panes[1].id);
    let effects = state.apply(Command::Branch(more));
    assert_eq!(effects[0], Effect::EndServer(served()));
    assert_eq!(config(&effects).address, ADDRESS);
    let [request] = &*asked_of_servers(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(request.continuation.kept.len(), 2);
    assert_eq!(request.model, None, "the engine is not involved");
}

#[test]
fn an_unreachable_server_says_so_and_can_be_tried_again() {
    let mut state = with_server();
    let own = ServedModel {
        own_sampler: true,
        ..served()
    };
    let effects = use_in(&mut state, 2, own.clone());
    assert_eq!(config(&effects).sampled_by, SampledBy::Server);
    let error = "could not connect to 127.0.0.1:8080: is the server running?".to_owned();
    state.on_server_event(&own, ServerEvent::ConnectFailed { error });
    let Some(ServerStatus::Failed { error }) = state.models.servers.status(&own) else {
        panic!("it failed");
    };
    assert!(error.starts_with("Could not connect"), "{error}");
    let again = PaneModelCommand::Choose(state.panes[2].id, Some(PaneModel::Server(own.clone())));
    let effects = state.apply(Command::PaneModel(again));
    assert_eq!(effects[0], Effect::EndServer(own));
    assert!(matches!(effects[1], Effect::StartServer(..)));
}

#[test]
fn what_the_sampler_lacks_is_noted_until_the_next_text() {
    let mut state = with_server();
    let effects = state.apply(Command::GenerateAll);
    let id = asked_of_servers(&effects)[0].id;
    let notes = vec!["It has no top-h".to_owned()];
    let noted = ServerEvent::Noted {
        id,
        notes,
        not_applied: vec!["top-h 0.4".to_owned()],
    };
    state.on_server_event(&served(), noted);
    assert_eq!(state.panes[1].server_notes, ["It has no top-h"]);
    fail(&mut state, id);
    state.apply(Command::Generate(state.panes[1].id));
    assert_eq!(state.panes[1].server_notes, [] as [&str; 0]);
}

#[test]
fn removing_a_server_closes_its_connections_and_frees_its_panes() {
    let mut state = with_server();
    let added = state.models.servers.added[0].clone();
    let effects = state.apply(Command::Server(ServerCommand::Remove(added)));
    assert_eq!(effects, [Effect::EndServer(served())]);
    assert_eq!(state.panes[1].settings.model, None);
    assert_eq!(state.models.servers.rows(), []);
}

#[test]
fn an_edited_server_returns_to_the_form_without_its_key() {
    let mut state = ready();
    add(&mut state, "sk-secret");
    let added = state.models.servers.added[0].clone();
    state.apply(Command::Server(ServerCommand::Edit(added)));
    let form = &state.models.servers.form;
    assert_eq!((&*form.address, &*form.key), (ADDRESS, ""));
    // The key is still known.
    let effects = state.apply(Command::Server(ServerCommand::Add));
    assert!(config(&effects).key.is_some());
    "".clone_into(&mut state.models.servers.form.address);
    assert_eq!(state.apply(Command::Server(ServerCommand::Add)), []);
    let error = state.models.servers.form.error.as_deref();
    assert!(error.is_some_and(|error| error.contains("address")));
}

#[test]
fn a_pane_says_where_its_text_goes() {
    let mut state = with_server();
    let words = state.models.words_of(&state.panes[1]);
    assert_eq!(words, "Stories · 127.0.0.1:8080");
    assert_eq!(
        state.models.servers_in_use_words(&state.panes).unwrap(),
        "Pane B sends its prompt and its text to 127.0.0.1:8080."
    );
    let rows = state.models.pane_rows(&state.panes[1], &state.panes);
    let rows: Vec<(&str, &str, bool)> = rows
        .iter()
        .filter(|row| {
            row.model
                .as_ref()
                .is_some_and(|model| model.served().is_some())
        })
        .map(|row| (&*row.name, &*row.facts, row.is_chosen))
        .collect();
    assert_eq!(
        rows,
        [
            ("Stories", "127.0.0.1:8080, Quartet’s chain", true),
            ("Stories", "127.0.0.1:8080, its own sampler", false)
        ]
    );
    // Other panes write as before.
    let ids = asked(&state.apply(Command::GenerateAll));
    write(&mut state, ids[0], &[(" in", 0.6)]);
    assert!(matches!(state.panes[0].status, PaneStatus::Finished(_)));
}

#[test]
fn a_given_text_is_not_sent_to_a_server() {
    let mut state = with_server();
    let pane = state.panes[1].id;
    state.apply(Command::Score(ScoreCommand::Open(pane)));
    let dialog = state.dialogs.score.as_mut().unwrap();
    "A fox".clone_into(&mut dialog.text);
    let dialog = state.dialogs.score.clone().unwrap();
    let readiness = dialog.readiness(&state.panes, &state.models);
    assert!(
        matches!(&readiness, ScoreReadiness::Impossible(reason) if reason.contains("server")),
        "{readiness:?}"
    );
    let effects = state.apply(Command::GenerateAll);
    let prompt = effects.iter().find_map(|effect| match effect {
        Effect::Server(_, ServerRequest::Generate { prompt, .. }) => Some(prompt),
        _ => None,
    });
    assert_eq!(prompt, Some(&PromptText::raw(&*state.prompt.text)));
}
