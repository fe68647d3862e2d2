//! The pace of decoding: the worker waits between steps, and requests take effect during the wait.

use std::time::Duration;

use quartet::worker::{Event, GenerationId, Progress, Request};

use crate::scripted::ScriptedLm;
use crate::worker::{Harness, TALE, describe, greedy};

/// Far longer than the test: a step that waits this long never happens.
const FOREVER: Duration = Duration::from_hours(24);

/// A worker that has generated the first of four tokens and waits before the second.
fn waiting() -> Harness {
    let mut harness = Harness::with_model(|| ScriptedLm::reciting(512, TALE));
    let interval = FOREVER;
    harness.worker.send(Request::SetPace { interval });
    harness.generate("Once", [greedy(1, 4)]);
    let events = harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
    assert_eq!(events.last().map(String::as_str), Some("1  "));
    harness
}

#[test]
fn the_next_token_waits_while_other_requests_are_served() {
    let mut harness = waiting();
    let prompt = "fox".into();
    harness.worker.send(Request::Tokenize {
        prompt,
        model: None,
    });
    assert_eq!(describe(&harness.next()), r#""fox" is Ok("f|o|x")"#);
}

#[test]
fn a_new_pace_takes_effect_at_the_next_token() {
    let mut harness = waiting();
    let interval = Duration::ZERO;
    harness.worker.send(Request::SetPace { interval });
    let rest = ["1 u", "1 p", "1 o", "1 finished: Token limit"];
    assert_eq!(harness.until_finished(1), rest);
}

#[test]
fn a_stop_does_not_wait_for_the_next_token() {
    let mut harness = waiting();
    harness.worker.send(Request::Stop(GenerationId(1)));
    let end = ["1 finished: Stopped by you"];
    assert_eq!(harness.until_finished(1), end);
}

#[test]
fn another_prompt_is_prefilled_while_a_pane_waits() {
    let mut harness = waiting();
    harness.generate("Once upon", [greedy(2, 1)]);
    let events = harness.until_finished(2);
    assert_eq!(events.last().unwrap(), "2 finished: Token limit");
}
