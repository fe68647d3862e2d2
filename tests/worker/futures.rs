//! Futures on the engine thread: they wait for panes, can be stopped, and report how they ended.

use quartet::decoding::{ChainConfig, SelectorState, TokenId};
use quartet::generation::{FitPlan, FitText, FuturesPlan, PromptForm};
use quartet::worker::{Event, GenerationId, ModelSource, Request};

use crate::scripted::ScriptedLm;
use crate::worker::{Harness, describe, greedy};

fn plan(n_futures: usize) -> FuturesPlan {
    FuturesPlan {
        text: b"fox".map(|byte| TokenId(byte.into())).to_vec(),
        n_prompt: 3,
        form: PromptForm::Raw,
        selector_state: SelectorState::NEW,
        config: greedy(1, 4).config,
        n_futures,
        n_tokens: 4,
        width: FuturesPlan::DEFAULT_WIDTH,
    }
}

fn is_about(event: &Event, wanted: u64) -> bool {
    matches!(event, Event::Job { id, .. } if id.0 == wanted)
}

#[test]
fn futures_wait_for_panes_and_can_be_stopped() {
    let mut harness =
        Harness::with_loader(|_, _| ScriptedLm::babbling(512).into_loaded().map(Some));
    let load = Request::LoadModel(ModelSource::Embedded);
    harness.worker.send(load);
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    let id = GenerationId(8);
    harness.worker.send(Request::Generate {
        prompt: "fox".into(),
        panes: vec![greedy(1, 40)],
        n_detail_bytes: 0,
    });
    harness.worker.send(Request::run_job(id, plan(5)));
    let events = harness.until(|event| is_about(event, 8));
    let finished = events
        .iter()
        .any(|event| event == "1 finished: Token limit");
    assert!(finished, "{events:?}");
    assert_eq!(events.last().unwrap(), "8 drew 5");
    assert_eq!(describe(&harness.next()), "8 job: Finished");

    // Endless futures are stopped after their first batch.
    let id = GenerationId(9);
    let endless = plan(usize::MAX);
    harness.worker.send(Request::run_job(id, endless));
    harness.until(|event| is_about(event, 9));
    harness.worker.send(Request::StopJob(id));
    let stopped = |event: &Event| describe(event) == "9 job: Stopped";
    harness.until(stopped);

    let id = GenerationId(10);
    let mut empty = plan(1);
    empty.text.clear();
    harness.worker.send(Request::run_job(id, empty));
    let events = harness.until(|event| is_about(event, 10));
    assert!(
        events.last().unwrap().starts_with("10 job: Failed"),
        "{events:?}"
    );
}

#[test]
fn stopping_all_panes_stops_futures_but_no_other_job() {
    let mut harness = Harness::with_model(|| ScriptedLm::babbling(512));
    let (drawn, fitted) = (GenerationId(8), GenerationId(9));
    let endless = plan(usize::MAX);
    harness.worker.send(Request::run_job(drawn, endless));
    harness.until(|event| is_about(event, drawn.0));
    let fit = FitPlan {
        texts: vec![FitText::Typed {
            prompt: None,
            text: "the quick brown fox".to_owned(),
        }],
        chains: vec![ChainConfig::sampled([])],
        n_logits_bytes: FitPlan::DEFAULT_LOGITS_BYTES,
    };
    harness.worker.send(Request::run_job(fitted, fit));
    harness.worker.send(Request::StopAll);
    let events = harness.until(|event| describe(event) == "9 job: Finished");
    let stopped = events.iter().any(|event| event == "8 job: Stopped");
    assert!(stopped, "{events:?}");
    let n_stopped = events.iter().filter(|event| event.ends_with("Stopped"));
    assert_eq!(n_stopped.count(), 1);
}
