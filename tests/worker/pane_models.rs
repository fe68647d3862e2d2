//! Models of single panes: they generate side by side, and are loaded and freed without disturbing
//! each other.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use quartet::decoding::ChainConfig;
use quartet::generation::EndOfText;
use quartet::worker::{
    Event, GenerationId, ModelSource, PaneModelUpdate, PaneRequest, Progress, Request,
};

use super::{Harness, TALE, greedy, pane};
use crate::scripted::ScriptedLm;

const OTHER_TALE: &str = "Once there was a goose who could not swim.";

/// Describes what happened to the model of a pane.
pub(super) fn words(update: &PaneModelUpdate) -> String {
    match update {
        PaneModelUpdate::Loading { fraction } => format!("loading {fraction}"),
        PaneModelUpdate::Loaded { info, .. } => format!("loaded {}", info.n_context),
        PaneModelUpdate::Failed { error } => format!("failed: {error}"),
        PaneModelUpdate::Cancelled => "cancelled".to_owned(),
        PaneModelUpdate::Unloaded => "unloaded".to_owned(),
    }
}

fn other() -> ModelSource {
    ModelSource::Path(PathBuf::from("other.gguf"))
}

pub(super) fn with_other(request: PaneRequest) -> PaneRequest {
    PaneRequest {
        model: Some(other()),
        ..request
    }
}

/// A request that ends only when it is stopped, or at the end of the context.
fn endless(id: u64) -> PaneRequest {
    let mut request = greedy(id, 500);
    request.config.limits.end_of_text = EndOfText::Ignored;
    request
}

/// A worker whose main model recites one tale, and whose other model recites another.
fn with_main() -> Harness {
    let mut harness = Harness::with_loader(|source, progress| {
        let tale = match source {
            ModelSource::Embedded => TALE,
            ModelSource::Path(path) if path.ends_with("other.gguf") => OTHER_TALE,
            ModelSource::Path(_) => {
                return Err(quartet::engine::EngineError::ContextFull { n_max: 0 });
            }
        };
        assert!(progress(0.5).is_continue());
        ScriptedLm::reciting(512, tale).into_loaded().map(Some)
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    harness
}

/// A worker with two models.
pub(super) fn with_both() -> Harness {
    let mut harness = with_main();
    harness.worker.send(Request::LoadPaneModel(other()));
    let events = harness.until(is_answer);
    assert_eq!(
        events,
        ["other loading 0", "other loading 0.5", "other loaded 512"]
    );
    harness
}

/// Returns whether the event answers a request to load or free the model of a pane.
fn is_answer(event: &Event) -> bool {
    matches!(event, Event::PaneModel { update, .. }
        if !matches!(update, PaneModelUpdate::Loading { .. }))
}

/// Returns the text of each generation, with its top logits to the last bit, and how many times
/// another text received the next token.
fn texts(harness: &mut Harness, ids: [u64; 2]) -> ([Vec<String>; 2], usize) {
    let mut texts = [Vec::new(), Vec::new()];
    let mut n_finished = 0;
    let (mut last, mut n_changes) = (None, 0);
    while n_finished < ids.len() {
        match harness.next() {
            Event::Progress(Progress::Stepped { id, step }) => {
                let index = ids.iter().position(|other| *other == id.0);
                let index = index.expect("a text of these panes");
                let top = &step.trace.raw.head[0];
                texts[index].push(format!("{} {:08x}", step.piece, top.logit.to_bits()));
                n_changes += usize::from(last != Some(index));
                last = Some(index);
            }
            Event::Progress(Progress::Finished { .. }) => n_finished += 1,
            _ => {}
        }
    }
    (texts, n_changes)
}

#[test]
fn two_models_take_turns_and_write_the_same_texts_as_alone() {
    let mut harness = with_both();
    let sampled = |id| pane(id, ChainConfig::sampled([]), 30);
    let alone = |harness: &mut Harness, pane: PaneRequest| {
        let id = pane.id.0;
        harness.generate("Once", [pane]);
        let mut text = Vec::new();
        loop {
            match harness.next() {
                Event::Progress(Progress::Stepped { step, .. }) => {
                    let top = &step.trace.raw.head[0];
                    text.push(format!("{} {:08x}", step.piece, top.logit.to_bits()));
                }
                Event::Progress(Progress::Finished { id: ended, .. }) if ended.0 == id => {
                    return text;
                }
                _ => {}
            }
        }
    };
    let one = alone(&mut harness, sampled(1));
    let two = alone(&mut harness, with_other(sampled(2)));
    assert_ne!(one, two);
    harness.generate("Once", [sampled(3), with_other(sampled(4))]);
    let (together, n_changes) = texts(&mut harness, [3, 4]);
    assert_eq!(together, [one, two]);
    assert!(n_changes >= 50, "they take turns: {n_changes}");
}

#[test]
fn panes_of_one_model_read_the_prompt_once() {
    let mut harness = with_both();
    let panes = [
        with_other(greedy(1, 1)),
        greedy(2, 1),
        with_other(greedy(3, 1)),
    ];
    harness.generate("Once", panes.clone());
    let mut events = Vec::new();
    for _ in panes {
        events.extend(
            harness.until(|event| matches!(event, Event::Progress(Progress::Finished { .. }))),
        );
    }
    let started = |ids: &str| events.contains(&format!("{ids} started \"Once\""));
    assert!(started("1,3") && started("2"), "{events:?}");
}

#[test]
fn a_model_that_fails_or_is_missing_leaves_the_others_alone() {
    let mut harness = with_both();
    let broken = ModelSource::Path(PathBuf::from("broken.gguf"));
    harness.worker.send(Request::LoadPaneModel(broken.clone()));
    let events = harness.until(is_answer);
    assert!(
        events.last().unwrap().starts_with("broken failed"),
        "{events:?}"
    );
    let request = PaneRequest {
        model: Some(broken),
        ..greedy(1, 2)
    };
    harness.generate("Once", [request, greedy(2, 2), with_other(greedy(3, 2))]);
    let mut ends = Vec::new();
    while ends.len() < 3 {
        let event = harness.next();
        if matches!(event, Event::Progress(Progress::Finished { .. })) {
            ends.push(super::describe(&event));
        }
    }
    ends.sort();
    assert!(ends[0].contains("not loaded"), "{ends:?}");
    assert_eq!(
        ends[1..],
        ["2 finished: Token limit", "3 finished: Token limit"]
    );
}

#[test]
fn unloading_stops_the_texts_of_that_model_only() {
    let mut harness = with_both();
    harness.generate("Once", [endless(1), with_other(endless(2))]);
    harness
        .until(|event| matches!(event, Event::Progress(Progress::Stepped { id, .. }) if id.0 == 2));
    harness.worker.send(Request::UnloadPaneModel(other()));
    let events = harness.until(is_answer);
    let n = events.len();
    assert_eq!(events[n - 1], "other unloaded");
    let ended = |id: &str| {
        events
            .iter()
            .any(|event| event.starts_with(&format!("{id} finished")))
    };
    assert!(ended("2"), "{events:?}");
    harness.until_finished(1);
    harness.generate("Once", [with_other(greedy(3, 1))]);
    let events = harness.until_finished(3);
    assert!(events.last().unwrap().contains("not loaded"), "{events:?}");
}

#[test]
fn another_main_model_leaves_the_models_of_panes_loaded() {
    let mut harness = with_both();
    harness.worker.send(Request::UnloadModel);
    harness.generate("Once", [greedy(1, 1), with_other(greedy(2, 1))]);
    let events = harness.until_finished(2);
    assert_eq!(events.last().unwrap(), "2 finished: Token limit");
    assert!(
        events
            .iter()
            .any(|event| event.contains("no model is loaded")),
        "{events:?}"
    );
}

/// A worker whose other models wait for a permit in the middle of loading.
fn slow() -> (Harness, SyncSender<()>, Receiver<()>) {
    let (permits, gate) = sync_channel::<()>(10);
    let (step, stepped) = sync_channel(10);
    let mut harness = Harness::with_loader(move |source, progress| {
        if *source != ModelSource::Embedded {
            step.send(()).ok();
            gate.recv().ok();
            if progress(0.5).is_break() {
                return Ok(None);
            }
        }
        ScriptedLm::reciting(512, TALE).into_loaded().map(Some)
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    (harness, permits, stepped)
}

#[test]
fn loading_is_cancelled_by_unloading_and_texts_continue_afterwards() {
    let (mut harness, permits, stepped) = slow();
    harness.generate("Once", [endless(1)]);
    harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
    harness.worker.send(Request::LoadPaneModel(other()));
    stepped.recv_timeout(Duration::from_mins(1)).unwrap();
    // Cancelling the load of another model does not affect this one.
    harness.worker.send(Request::CancelLoading);
    harness.worker.send(Request::UnloadPaneModel(other()));
    harness.worker.send(Request::LoadPaneModel(other()));
    permits.send(()).unwrap();
    permits.send(()).unwrap();
    let events = harness.until(is_answer);
    assert_eq!(events.last().unwrap(), "other cancelled");
    let events = harness.until(is_answer);
    assert_eq!(events.last().unwrap(), "other loaded 512");
    harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
    harness.worker.send(Request::Stop(GenerationId(1)));
    let events = harness.until_finished(1);
    assert_eq!(events.last().unwrap(), "1 finished: Stopped by you");
}

#[test]
fn stopping_all_stops_the_texts_of_every_model() {
    let mut harness = with_both();
    harness.generate("Once", [endless(1), with_other(endless(2))]);
    harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
    harness.worker.send(Request::StopAll);
    let mut n_finished = 0;
    while n_finished < 2 {
        let event = harness.next();
        n_finished += usize::from(matches!(event, Event::Progress(Progress::Finished { .. })));
    }
}
