//! Tests of the endpoint as the window sees it: commands in, state and effects out.

use serde_json::json;

use super::{Event, Request, asked, loaded, ready, text};
use crate::export::json::{self, Form, RunFile, RunHeader};
use crate::export::summary_of;
use crate::generation::testing::generation;
use crate::generation::{FinishReason, GenerationId};
use crate::interop::api::{ApiError, RecordedRequest, Usage};
use crate::listen::{AnsweredRequest, Client, ListenError, OpenRequest, Outcome};
use crate::state::{
    AppState, Command, Effect, KeptRun, ListenCommand, ListenRequest, ListenStatus, Page,
    RequestView, RunCommand, RunOrigin, RunRequest,
};
use crate::worker::Progress;

fn listen(state: &mut AppState, command: ListenCommand) -> Vec<Effect> {
    state.apply(Command::Listen(command))
}

fn run(state: &mut AppState, command: RunCommand) -> Vec<Effect> {
    state.apply(Command::Run(command))
}

/// A state whose endpoint is open.
pub(crate) fn listening() -> AppState {
    let mut state = ready();
    listen(&mut state, ListenCommand::Switch(true));
    let address = "127.0.0.1:8080".parse().unwrap();
    listen(&mut state, ListenCommand::Opened(Ok(address)));
    state
}

fn client(number: u64) -> Client {
    Client {
        number,
        user_agent: Some("notes-cli/1.4 (linux)".to_owned()),
        target: "POST /v1/completions".to_owned(),
        asked_at: 1_000_000 + number,
    }
}

fn request() -> RecordedRequest {
    RecordedRequest {
        program: Some("notes-cli/1.4".to_owned()),
        target: "POST /v1/completions".to_owned(),
        asked_at: 1_000_000,
        fields: json!({"temperature": 0.7, "top_p": 0.9, "stream": true})
            .as_object()
            .unwrap()
            .clone(),
        undelivered: None,
        earlier: None,
    }
}

/// A request that is open.
pub(crate) fn open(number: u64, usage: Option<Usage>) -> OpenRequest {
    OpenRequest {
        client: client(number),
        asked: "And then?".to_owned(),
        usage,
        earlier: None,
    }
}

/// A request that was answered with a text.
fn answered(number: u64) -> AnsweredRequest {
    AnsweredRequest {
        client: client(number),
        asked: "Once".to_owned(),
        notes: Vec::new(),
        outcome: Outcome::Written {
            texts: vec![generation(&[(" the", 0.5), (" fox", 0.25)])],
            request: request(),
        },
    }
}

pub(crate) fn refused(number: u64) -> AnsweredRequest {
    AnsweredRequest {
        outcome: Outcome::Refused(ApiError::invalid("top_k must be an integer")),
        ..answered(number)
    }
}

/// A run that answers a request, as it is held in memory.
pub(crate) fn held(file: &str) -> KeptRun {
    let run = RunFile {
        header: RunHeader {
            finished_at: Some(1_000_002),
            request: Some(request()),
            ..RunHeader::default()
        },
        panes: vec![generation(&[(" the", 0.5), (" fox", 0.25)])],
        ..RunFile::default()
    };
    let content = json::write_run(&run, Form::default());
    KeptRun {
        file: file.to_owned(),
        kept_at: 1_000_002,
        n_bytes: content.len() as u64,
        pinned: false,
        summary: summary_of(&content).map_err(|error| error.to_string()),
        held: Some(content.into()),
    }
}

#[test]
fn the_switch_opens_the_endpoint_with_the_loaded_model_and_closes_it() {
    let mut state = ready();
    let effects = listen(&mut state, ListenCommand::Switch(true));
    let [Effect::Listen(ListenRequest::Open { port: 8080, model })] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(model.as_ref().unwrap().id(), "Test");
    let address = "127.0.0.1:8080".parse().unwrap();
    listen(&mut state, ListenCommand::Opened(Ok(address)));
    let url = state.runs.listening.url();
    assert_eq!(url.as_deref(), Some("http://127.0.0.1:8080/v1"));
    let effects = listen(&mut state, ListenCommand::CopyAddress);
    assert_eq!(effects, [Effect::CopyText(url.unwrap())]);
    let effects = listen(&mut state, ListenCommand::Switch(false));
    assert_eq!(effects, [Effect::Listen(ListenRequest::Close)]);
    assert_eq!(state.runs.listening.status, ListenStatus::Off);
    let late = ListenCommand::Opened(Ok(address));
    listen(&mut state, late);
    assert_eq!(state.runs.listening.status, ListenStatus::Off);
}

#[test]
fn a_port_that_is_in_use_leads_to_the_next_one() {
    let mut state = ready();
    listen(&mut state, ListenCommand::Switch(true));
    let error = ListenError::PortInUse { port: 8080 };
    listen(&mut state, ListenCommand::Opened(Err(error)));
    let expected = ListenStatus::Failed {
        error: "port 8080 is in use; choose another one".to_owned(),
        next_port: Some(8081),
    };
    assert_eq!(state.runs.listening.status, expected);
    let effects = listen(&mut state, ListenCommand::ListenOn(8081));
    assert!(matches!(
        effects[..],
        [Effect::Listen(ListenRequest::Open { port: 8081, .. })]
    ));
    assert_eq!(state.settings().listen.port, 8081);
}

#[test]
fn the_endpoint_follows_the_model_and_opens_at_the_start_only_if_chosen() {
    let mut state = listening();
    let effects = state.on_event(Event::ModelUnloaded);
    let gone = Effect::Listen(ListenRequest::SetModel(None));
    assert!(effects.contains(&gone), "{effects:?}");
    let effects = state.on_event(loaded());
    let is_set = |effect: &Effect| matches!(effect, Effect::Listen(ListenRequest::SetModel(Some(model))) if model.id() == "Test");
    assert!(effects.iter().any(is_set), "{effects:?}");
    assert_eq!(state.apply(Command::EndUndoStep), []);

    let opens = |state: &AppState| {
        let source = crate::worker::ModelSource::Embedded;
        let (_, effects) = AppState::new(state.settings(), source);
        let is_open =
            |effect: &Effect| matches!(effect, Effect::Listen(ListenRequest::Open { .. }));
        effects.iter().any(is_open)
    };
    assert!(!opens(&state));
    state.runs.listening.settings.at_start = true;
    assert!(opens(&state));
}

#[test]
fn answers_are_kept_where_the_user_chose_and_repeated_refusals_share_a_row() {
    let mut state = listening();
    listen(&mut state, ListenCommand::Changed(vec![open(1, None)]));
    assert_eq!(state.runs.listening.n_requests(), 1);
    let keeps = |effects: &[Effect]| match effects {
        [Effect::Runs(RunRequest::KeepAnswer { in_history, .. })] => *in_history,
        _ => panic!("{effects:?}"),
    };
    let effects = listen(&mut state, ListenCommand::Answered(vec![answered(1)]));
    assert!(keeps(&effects));
    assert_eq!(state.runs.listening.open, []);
    listen(&mut state, ListenCommand::Keep(false));
    let effects = listen(&mut state, ListenCommand::Answered(vec![answered(2)]));
    assert!(!keeps(&effects));
    let refusals = vec![refused(3), refused(4)];
    assert_eq!(listen(&mut state, ListenCommand::Answered(refusals)), []);
    let listening = &state.runs.listening;
    assert_eq!(listening.n_requests(), 4);
    assert_eq!(listening.refused.len(), 1);
    let row = &listening.refused[0];
    assert_eq!((row.n_times, row.asked_at), (2, 1_000_004));
    assert_eq!(row.reason, "400: top_k must be an integer");
}

#[test]
fn held_answers_are_listed_beside_the_files_opened_and_forgotten() {
    let mut state = listening();
    run(&mut state, RunCommand::Held { run: held("a") });
    assert_eq!(
        state.runs.history.runs, None,
        "the folder is still to be read"
    );
    run(&mut state, RunCommand::Listed(Ok(Vec::new())));
    listen(&mut state, ListenCommand::ShowRequests);
    assert_eq!(state.page, Page::History);
    assert_eq!(state.runs.history.origin, RunOrigin::Programs);
    assert_eq!(state.runs.history.found().len(), 1);
    run(&mut state, RunCommand::OpenKept("a".to_owned()));
    assert_eq!(state.page, Page::Write);
    assert_eq!(text(&state, 0), " the fox");
    assert!(state.opened_request().is_some());
    run(&mut state, RunCommand::Delete("a".to_owned()));
    assert_eq!(state.runs.history.found().len(), 0);
}

/// A state that shows an answer to a request.
pub(crate) fn opened() -> AppState {
    let mut state = listening();
    run(&mut state, RunCommand::Held { run: held("a") });
    run(&mut state, RunCommand::OpenKept("a".to_owned()));
    state
}

#[test]
fn a_changed_field_asks_what_would_have_been_written() {
    let mut state = opened();
    let before = state.panes[0].settings.chain.clone();
    let set = |name: &str, value: serde_json::Value| RunCommand::SetRequestField {
        name: name.to_owned(),
        value,
    };
    run(&mut state, set("temperature", json!(0.2)));
    let chain = &state.panes[0].settings.chain;
    assert_ne!(*chain, before);
    assert_eq!(chain.stages.len(), 2, "top_p is still there");
    run(&mut state, set("temperature", json!(-1)));
    let opened = state.runs.opened.as_ref().unwrap();
    let error = opened.field_error.as_deref().unwrap();
    assert!(error.starts_with("temperature"), "{error}");
    run(&mut state, RunCommand::ShowRequestAs(RequestView::Json));
    let effects = run(&mut state, RunCommand::CopyRequest);
    let [Effect::CopyText(command)] = &effects[..] else {
        panic!("{effects:?}");
    };
    let body = command
        .split_once(" -d '")
        .unwrap()
        .1
        .trim_end_matches('\'');
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["prompt"], "Once there was");
    assert_eq!(body["temperature"], 0.7, "what the program sent");
}

#[test]
fn an_answer_is_written_again_in_four_settings_from_one_prompt_with_the_same_coins() {
    let mut state = opened();
    let recorded = state.panes[0].latest().unwrap().clone();
    let effects = run(&mut state, RunCommand::WriteAgain);
    let continued: Vec<_> = (effects.iter())
        .filter_map(|effect| match effect {
            Effect::Send(Request::Continue { prompt, panes }) => Some((prompt, panes)),
            _ => None,
        })
        .collect();
    let [(prompt, panes)] = continued[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(prompt.tokens, recorded.prompt.tokens);
    assert_eq!(panes.len(), 3);
    for pane in panes {
        assert_eq!(pane.config.seed, recorded.config.seed);
        assert!(pane.continuation.kept.is_empty());
    }
    let names = state.panes.iter().map(|pane| &*pane.settings.name);
    let expected = ["As asked", "Greedy", "Top-p", "Pure sampling"];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert_eq!(state.panes[0].latest(), Some(&recorded));
    assert!(state.runs.opened.is_none());
    assert_eq!(asked(&effects).len(), 0);
}

/// Reports the answer to the request that is asked again.
fn answer_again(state: &mut AppState, effects: &[Effect], pieces: &[(&str, f64)]) -> Vec<Effect> {
    let ids: Vec<GenerationId> = (effects.iter())
        .filter_map(|effect| match effect {
            Effect::Send(Request::Continue { panes, .. }) => Some(panes.iter().map(|pane| pane.id)),
            _ => None,
        })
        .flatten()
        .collect();
    let [id] = ids[..] else {
        panic!("{effects:?}");
    };
    for step in &generation(pieces).steps {
        let step = Box::new(step.clone());
        state.on_event(Event::Progress(Progress::Stepped { id, step }));
    }
    let reason = FinishReason::MaxTokens;
    state.on_event(Event::Progress(Progress::Finished { id, reason }))
}

/// Carries out what the state asked of the folder of runs, for runs that are held in memory.
fn read_held(state: &mut AppState, effects: &[Effect]) -> Vec<Effect> {
    let [Effect::Runs(RunRequest::ReadToAsk { file, content })] = effects else {
        panic!("{effects:?}");
    };
    let content = json::read(content.as_ref().unwrap()).unwrap();
    let read = RunCommand::ReadToAsk {
        file: file.clone(),
        run: Ok(Box::new(content)),
    };
    run(state, read)
}

#[test]
fn requests_are_asked_again_one_after_the_other_and_compared_token_by_token() {
    let mut state = listening();
    for file in ["a", "b", "c"] {
        run(&mut state, RunCommand::Held { run: held(file) });
    }
    let files = ["a", "b", "c"].map(str::to_owned).to_vec();
    let effects = run(&mut state, RunCommand::AskAgain(files));
    let effects = read_held(&mut state, &effects);
    assert!(!state.is_running(), "the panes have nothing to do with it");
    let same = [(" the", 0.5), (" fox", 0.25)];
    let effects = answer_again(&mut state, &effects, &same);
    let words = |state: &AppState| state.runs.listening.again.words().unwrap();
    assert_eq!(words(&state), "1 of 3 asked again");
    let effects = read_held(&mut state, &effects);
    let other = [(" the", 0.5), (" dog", 0.25)];
    let effects = answer_again(&mut state, &effects, &other);
    assert_eq!(run(&mut state, RunCommand::StopAsking), []);
    // What was on its way when it was stopped is ignored.
    assert_eq!(read_held(&mut state, &effects), []);
    let again = &state.runs.listening.again;
    let result = |file: &str| again.result(file).map(|again| again.words.as_str());
    assert_eq!(result("a"), Some("Same 2 tokens"));
    let different = result("b").unwrap();
    assert!(
        different.starts_with("Token 2 is ‘dog’, was ‘fox’"),
        "{different}"
    );
    assert_eq!(result("c"), None);
    assert_eq!(words(&state), "1 of 2 answered the same");
}

#[test]
fn requests_that_cannot_be_asked_again_say_why_and_the_others_go_on() {
    let mut state = listening();
    run(&mut state, RunCommand::Held { run: held("b") });
    let files = ["a", "b"].map(str::to_owned).to_vec();
    let effects = run(&mut state, RunCommand::AskAgain(files));
    assert!(matches!(
        &effects[..],
        [Effect::Runs(RunRequest::ReadToAsk { content: None, .. })]
    ));
    let effects = run(
        &mut state,
        RunCommand::ReadToAsk {
            file: "a".to_owned(),
            run: Err("it is damaged".to_owned()),
        },
    );
    state.on_event(Event::ModelUnloaded);
    assert_eq!(read_held(&mut state, &effects), []);
    let again = &state.runs.listening.again;
    let result = |file: &str| again.result(file).map(|again| again.words.as_str());
    assert_eq!(result("a"), Some("it is damaged"));
    assert_eq!(result("b"), Some("No model is loaded"));
    assert!(!again.is_running());
}
