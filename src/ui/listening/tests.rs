//! Tests of the endpoint in the window: the menu, the line, the list and an opened request.

use egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable as _;

use crate::interop::api::Usage;
use crate::state::tests::listening::{held, listening, open, opened, refused};
use crate::state::tests::ready;
use crate::state::{Command, ListenCommand, ListenStatus, RunCommand, RunOrigin};
use crate::ui::testing::{key, press, window_of};

#[test]
fn the_models_menu_has_the_switch_and_leads_to_the_models() {
    let mut window = window_of(vec2(1280.0, 800.0), ready());
    window.get_by_label_contains("Model: ").click();
    window.run_steps(4);
    window.get_by_label("Port to listen on");
    press(&mut window, "Listen for requests of other programs");
    assert_eq!(window.state().runs.listening.status, ListenStatus::Opening);
    let address = "127.0.0.1:8080".parse().unwrap();
    let opened = Command::Listen(ListenCommand::Opened(Ok(address)));
    window.state_mut().apply(opened);
    window.run_steps(3);
    window.get_by_label("http://127.0.0.1:8080/v1");
    press(&mut window, "until closed");
    assert!(!window.state().runs.listening.settings.keeps);
    press(&mut window, "listen");
    assert!(window.state().runs.listening.settings.at_start);
    press(&mut window, "Models…");
    assert!(window.state().models.dialog_open);
}

#[test]
fn the_line_in_the_top_bar_leads_to_the_requests() {
    for (width, words) in [
        (1280.0, "Listening on 127.0.0.1:8080, 2 requests"),
        (900.0, "Listening on 127.0.0.1:8080, 2 requests"),
    ] {
        let mut state = listening();
        let refusals = ListenCommand::Answered(vec![refused(1), refused(2)]);
        state.apply(Command::Listen(refusals));
        let mut window = window_of(vec2(width, 700.0), state);
        window.run_steps(2);
        press(&mut window, words);
        let history = &window.state().runs.history;
        assert_eq!(history.origin, RunOrigin::Programs);
    }
    let window = window_of(vec2(1280.0, 800.0), ready());
    assert!(window.query_by_label_contains("Listening on").is_none());
}

#[test]
fn requests_are_listed_while_they_are_written_and_afterwards() {
    let mut state = listening();
    state.apply(Command::Run(RunCommand::Listed(Ok(Vec::new()))));
    state.apply(Command::Run(RunCommand::Held { run: held("a") }));
    state.apply(Command::Listen(ListenCommand::Answered(vec![refused(1)])));
    let writing = Usage {
        n_prompt: 2_004,
        n_cached: 1_988,
        n_written: 23,
    };
    let changed = ListenCommand::Changed(vec![open(3, Some(writing))]);
    state.apply(Command::Listen(changed));
    state.apply(Command::Listen(ListenCommand::ShowRequests));
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window.get_by_label_contains(
        "And then?, notes-cli 1.4, Writing, 23 tokens, 1,988 of 2,004 tokens reused",
    );
    window.get_by_label_contains("Once, notes-cli 1.4, Refused, 400: top_k must be an integer");
    window.get_by_label_contains("Once there was, notes-cli 1.4, 2 tokens");
    window.get_by_label("What was read again");
    press(&mut window, "Mine");
    assert!(window.query_by_label_contains("And then?").is_none());
}

#[test]
fn without_requests_the_list_says_how_to_make_one() {
    let mut state = listening();
    state.apply(Command::Run(RunCommand::Listed(Ok(Vec::new()))));
    state.apply(Command::Listen(ListenCommand::ShowRequests));
    let mut window = window_of(vec2(1280.0, 800.0), state);
    window.run_steps(3);
    window.get_by_label("http://127.0.0.1:8080/v1");
    window.get_by_label("Copy a test");
}

#[test]
fn an_opened_request_shows_its_fields_and_is_written_again_with_a_key() {
    let mut window = window_of(vec2(1280.0, 800.0), opened());
    window.run_steps(3);
    let fields = window.query_all_by_label("temperature").count();
    assert_eq!(fields, 2, "its name and its number");
    window.get_by_label("not sent, so 0");
    press(&mut window, "JSON");
    window.get_by_label_contains("\"top_p\": 0.9");
    key(&mut window, Modifiers::COMMAND, Key::Enter);
    let state = window.state();
    assert_eq!(state.panes.len(), 4);
    assert!(state.runs.opened.is_none());
    assert_eq!(state.panes[0].settings.name, "As asked");
}
