//! The engine thread with a scripted model: order of events, stopping and failures.
//!
//! No test sleeps: if timing matters, each forward pass waits for a permit from the test.

mod chat;
mod comparing;
mod futures;
mod models;
mod pace;
mod pane_model_jobs;
mod pane_models;
mod shutdown;
mod sweeps;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use quartet::decoding::filters::Temperature;
use quartet::decoding::{ChainConfig, Filter};
use quartet::engine::{EngineError, LoadProgress, LoadedModel};
use quartet::generation::{
    Continuation, DrawnFutures, FinishReason, GenerationConfig, Limits, PieceKind, PromptToken,
};
use quartet::worker::{Event, GenerationId, ModelSource, PaneRequest, Progress, Request, Worker};

use crate::scripted::ScriptedLm;

const TALE: &str = "Once upon a time there was a fox.";

/// A worker, and the channel on which it wakes the test.
struct Harness {
    worker: Worker,
    wakes: Receiver<()>,
}

impl Harness {
    fn with_loader<L>(loader: L) -> Self
    where
        L: FnMut(&ModelSource, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
            + Send
            + 'static,
    {
        let (wake, wakes) = sync_channel(10_000);
        let worker = Worker::with_loader(loader, move || {
            wake.try_send(()).ok();
        });
        Self { worker, wakes }
    }

    /// A worker that has loaded a model.
    fn with_model(model: impl Fn() -> ScriptedLm + Send + 'static) -> Self {
        let mut harness = Self::with_loader(move |_, _| model().into_loaded().map(Some));
        harness
            .worker
            .send(Request::LoadModel(ModelSource::Embedded));
        harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
        harness
    }

    fn generate(&mut self, prompt: &str, panes: impl IntoIterator<Item = PaneRequest>) {
        self.worker.send(Request::Generate {
            prompt: prompt.into(),
            panes: panes.into_iter().collect(),
            n_detail_bytes: 0,
        });
    }

    /// Waits for the next event. There is one wake per event.
    fn next(&mut self) -> Event {
        let woken = self.wakes.recv_timeout(Duration::from_mins(1));
        woken.expect("the worker reports within a minute");
        self.worker
            .drain(1)
            .pop()
            .expect("each wake announces an event")
    }

    /// Returns the descriptions of all events up to and including the first one for which `last`
    /// holds.
    fn until(&mut self, last: impl Fn(&Event) -> bool) -> Vec<String> {
        let mut events = Vec::new();
        loop {
            let event = self.next();
            events.push(describe(&event));
            if last(&event) {
                return events;
            }
        }
    }

    fn until_finished(&mut self, id: u64) -> Vec<String> {
        self.until(|event| matches!(event, Event::Progress(Progress::Finished { id: ended, .. }) if ended.0 == id))
    }
}

fn describe(event: &Event) -> String {
    let list = |ids: &[GenerationId]| {
        let ids: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
        ids.join(",")
    };
    match event {
        Event::ModelLoading { fraction } => format!("loading {fraction}"),
        Event::ModelLoaded { info, .. } => format!("loaded {}", info.n_context),
        Event::ModelFailed { error } => format!("load failed: {error}"),
        Event::LoadingCancelled => "loading cancelled".to_owned(),
        Event::PaneModel { source, update } => {
            format!("{} {}", source.name(), pane_models::words(update))
        }
        Event::Inspected { found, .. } => format!("inspected {}", found.is_ok()),
        Event::DevicesListed(devices) => format!("{} devices", devices.choices.len()),
        Event::DeviceUnavailable { name, .. } => format!("no {name}"),
        Event::Beside(update) => format!("beside {update:?}"),
        Event::ModelUnloaded => "unloaded".to_owned(),
        Event::SecondModelLoading { fraction } => format!("second model loading {fraction}"),
        Event::SecondModel(loaded) => format!("second model {}", loaded.is_ok()),
        Event::SecondModelCancelled => "second model cancelled".to_owned(),
        Event::PromptChecked { check, .. } => format!("prompt checked: {check:?}"),
        Event::CachedCounted { n_cached, .. } => format!("{n_cached} tokens cached"),
        Event::Tokenized { prompt, tokens, .. } => {
            let pieces = tokens.as_ref().map(|tokens| joined(tokens));
            format!("{:?} is {pieces:?}", prompt.text)
        }
        Event::Progress(Progress::Compared { id, pass }) => {
            format!("{} compared {}", id.0, pass.nodes.len())
        }
        Event::Progress(Progress::Prefilling {
            ids,
            n_read,
            n_tokens,
        }) => {
            format!("{} prefilling {n_read}/{n_tokens}", list(ids))
        }
        Event::Progress(Progress::Started { ids, prompt }) => {
            format!("{} started {:?}", list(ids), prompt.text)
        }
        Event::Progress(Progress::Stepped { id, step }) => format!("{} {}", id.0, step.piece),
        Event::Progress(Progress::Finished { id, reason }) => {
            format!("{} finished: {reason}", id.0)
        }
        Event::Job { id, update } => match update.report() {
            Some(DrawnFutures(futures)) => format!("{} drew {}", id.0, futures.len()),
            None => format!("{} job: {update:?}", id.0),
        },
        Event::Panicked { message } => format!("panicked: {message}"),
    }
}

/// Returns the pieces, separated by bars. Special tokens are in brackets.
fn joined(tokens: &[PromptToken]) -> String {
    let piece = |PromptToken { piece, .. }: &PromptToken| match piece.kind {
        PieceKind::Text => piece.to_string(),
        PieceKind::Special => format!("[{piece}]"),
    };
    let pieces: Vec<String> = tokens.iter().map(piece).collect();
    pieces.join("|")
}

fn pane(id: u64, chain: ChainConfig, max_new_tokens: usize) -> PaneRequest {
    PaneRequest {
        id: GenerationId(id),
        config: GenerationConfig {
            chain,
            seed: 7,
            limits: Limits {
                max_new_tokens,
                ..Limits::default()
            },
        },
        model: None,
        continuation: Continuation::default(),
    }
}

fn greedy(id: u64, max_new_tokens: usize) -> PaneRequest {
    pane(id, ChainConfig::greedy(), max_new_tokens)
}

/// A model whose forward passes each wait for a permit. Once the sender is dropped, they run
/// freely.
fn gated() -> (ScriptedLm, SyncSender<()>) {
    let (permits, gate) = sync_channel(100);
    let lm = ScriptedLm::reciting(512, TALE).before_forward(move |_| {
        gate.recv().ok();
    });
    (lm, permits)
}

fn gated_worker() -> (Harness, SyncSender<()>) {
    let (lm, permits) = gated();
    let mut lm = Some(lm);
    let mut harness =
        Harness::with_loader(move |_, _| lm.take().expect("loaded once").into_loaded().map(Some));
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    (harness, permits)
}

#[test]
fn events_arrive_in_order() {
    let mut harness = Harness::with_loader(|_, progress| {
        assert!(progress(0.5).is_continue());
        ScriptedLm::reciting(64, TALE).into_loaded().map(Some)
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.generate("Once", [greedy(1, 2), greedy(2, 3)]);
    let events = [
        "loading 0",
        "loading 0.5",
        "loaded 64",
        "1,2 prefilling 0/4",
        "1,2 started \"Once\"",
        "1  ",
        "2  ",
        "1 u",
        "1 finished: Token limit",
        "2 u",
        "2 p",
        "2 finished: Token limit",
    ];
    assert_eq!(harness.until_finished(2), events);
}

#[test]
fn a_long_prompt_is_prefilled_in_chunks_and_can_be_stopped_in_between() {
    let (mut harness, permits) = gated_worker();
    harness.generate(&"x".repeat(300), [greedy(1, 5)]);
    permits.send(()).unwrap();
    let ids = "1 prefilling";
    assert_eq!(describe(&harness.next()), format!("{ids} 0/300"));
    assert_eq!(describe(&harness.next()), format!("{ids} 128/300"));
    harness.worker.send(Request::Stop(GenerationId(1)));
    // The next chunk may already be waiting for its permit.
    permits.send(()).unwrap();
    let mut events = harness.until_finished(1);
    assert_eq!(events.pop().unwrap(), "1 finished: Stopped by you");
    assert!(events.is_empty() || events == [format!("{ids} 256/300")]);
}

#[test]
fn a_stop_takes_effect_within_one_step() {
    let (mut harness, permits) = gated_worker();
    harness.generate("Once", [greedy(1, 99), greedy(2, 6)]);
    permits.send(()).unwrap();
    let started = harness
        .until(|event| matches!(event, Event::Progress(Progress::Stepped { id, .. }) if id.0 == 2));
    assert_eq!(started.last().unwrap(), "2  ");
    // The next pass may already be waiting for its permit.
    harness.worker.send(Request::Stop(GenerationId(1)));
    harness.worker.send(Request::Stop(GenerationId(77)));
    permits.send(()).unwrap();
    let events = harness.until_finished(1);
    let n_steps = events
        .iter()
        .filter(|event| event.starts_with("1 u"))
        .count();
    assert!(n_steps <= 1 && events.len() <= 3, "{events:?}");
    drop(permits);
    assert_eq!(
        harness.until_finished(2).last().unwrap(),
        "2 finished: Token limit"
    );
}

#[test]
fn stop_all_stops_decoding_and_queued_panes() {
    let (mut harness, permits) = gated_worker();
    harness.generate("Once", [greedy(1, 99)]);
    permits.send(()).unwrap();
    harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
    harness.generate("Once upon", [greedy(2, 99)]);
    harness.worker.send(Request::StopAll);
    drop(permits);
    let events = harness.until_finished(2);
    let ends: Vec<_> = events
        .iter()
        .filter(|event| event.contains("finished"))
        .collect();
    assert_eq!(
        ends,
        ["1 finished: Stopped by you", "2 finished: Stopped by you"]
    );
}

#[test]
fn a_prompt_is_tokenized_while_panes_decode() {
    let (mut harness, permits) = gated_worker();
    harness.generate("Once", [greedy(1, 99)]);
    harness.worker.send(Request::Tokenize {
        prompt: "fox".into(),
        model: None,
    });
    permits.send(()).unwrap();
    permits.send(()).unwrap();
    let events = harness.until(|event| matches!(event, Event::Tokenized { .. }));
    assert_eq!(events.last().unwrap(), r#""fox" is Ok("f|o|x")"#);
    assert!(!events.iter().any(|event| event.contains("finished")));
    drop(permits);
}

#[test]
fn a_pane_joins_the_running_batch() {
    let (mut harness, permits) = gated_worker();
    harness.generate("Once", [greedy(1, 20)]);
    permits.send(()).unwrap();
    harness.until(|event| matches!(event, Event::Progress(Progress::Stepped { .. })));
    harness.generate("Once upon", [greedy(2, 5)]);
    drop(permits);
    let mut n_together = 0;
    let mut n_finished = 0;
    while n_finished < 2 {
        match harness.next() {
            Event::Progress(Progress::Stepped { step, .. }) => {
                n_together += usize::from(step.time.n_batch == 2);
            }
            Event::Progress(Progress::Finished { reason, .. }) => {
                assert_eq!(reason, FinishReason::MaxTokens);
                n_finished += 1;
            }
            _ => {}
        }
    }
    assert_eq!(n_together, 8, "four steps of two panes");
}

#[test]
fn an_invalid_request_fails_with_an_explanation() {
    let temperature = Filter::Temperature(Temperature { temperature: -1.0 });
    let reason = temperature.validate().unwrap_err().to_string();
    let invalid = || pane(1, ChainConfig::sampled([temperature.clone()]), 5);
    let cases = [
        (
            "",
            greedy(1, 5),
            "the prompt is empty; write something for the model to continue".to_owned(),
        ),
        (
            "too long",
            greedy(1, 5),
            "the prompt has 8 tokens, but the model reads at most 6".to_owned(),
        ),
        ("Once", invalid(), reason),
    ];
    let mut harness = Harness::with_model(|| ScriptedLm::reciting(6, TALE));
    for (prompt, pane, sentence) in cases {
        harness.generate(prompt, [pane]);
        assert_eq!(
            harness.until_finished(1),
            [format!("1 finished: Stopped: {sentence}")]
        );
    }
    harness.generate("Once", [invalid(), greedy(2, 2)]);
    assert_eq!(
        harness.until_finished(2).last().unwrap(),
        "2 finished: Token limit"
    );
}

#[test]
fn without_a_model_requests_fail_with_an_explanation() {
    let mut harness = Harness::with_loader(|_, _| Err(EngineError::PromptEmpty));
    harness.generate("Once", [greedy(1, 5)]);
    let sentence = "no model is loaded; open one first";
    assert_eq!(
        describe(&harness.next()),
        format!("1 finished: Stopped: {sentence}")
    );
    harness.worker.send(Request::Tokenize {
        prompt: "a".into(),
        model: None,
    });
    assert_eq!(
        describe(&harness.next()),
        format!("\"a\" is Err({sentence:?})")
    );
}

#[test]
fn a_model_that_fails_to_load_leaves_the_previous_one_loaded() {
    let mut harness = Harness::with_loader(|source, _| match source {
        ModelSource::Embedded => ScriptedLm::reciting(64, TALE).into_loaded().map(Some),
        ModelSource::Path(path) => Err(EngineError::FileMissing {
            what: "tokenizer.json",
            place: "folder",
            path: path.display().to_string(),
        }),
    });
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Path(PathBuf::from(
            "some/folder",
        ))));
    let events = harness.until(|event| matches!(event, Event::ModelFailed { .. }));
    assert_eq!(
        events.last().unwrap(),
        "load failed: there is no tokenizer.json in this folder\nsome/folder"
    );
    harness.generate("Once", [greedy(1, 2)]);
    assert_eq!(
        harness.until_finished(1).last().unwrap(),
        "1 finished: Token limit"
    );
}

#[test]
fn loading_a_model_stops_the_generations_of_the_previous_one() {
    let (mut harness, permits) = {
        let (lm, permits) = gated();
        let mut models = vec![ScriptedLm::reciting(99, TALE), lm];
        let harness = Harness::with_loader(move |_, _| {
            models.pop().expect("two models").into_loaded().map(Some)
        });
        (harness, permits)
    };
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    harness.generate("Once", [greedy(1, 99), greedy(2, 99)]);
    permits.send(()).unwrap();
    harness
        .until(|event| matches!(event, Event::Progress(Progress::Stepped { id, .. }) if id.0 == 2));
    harness
        .worker
        .send(Request::LoadModel(ModelSource::Embedded));
    drop(permits);
    let events = harness.until(|event| matches!(event, Event::ModelLoaded { .. }));
    let from = events.len() - 4;
    let last = [
        "1 finished: Stopped by you",
        "2 finished: Stopped by you",
        "loading 0",
        "loaded 99",
    ];
    assert_eq!(events[from..], last);
}

#[test]
fn sending_never_blocks_and_loses_nothing() {
    let (mut harness, permits) = gated_worker();
    harness.generate("Once", [greedy(1, 99)]);
    // The thread waits for a permit in its first pass, and the channel is smaller than this.
    let requested: Vec<PathBuf> = (0..1000)
        .map(|n| PathBuf::from(format!("{n}.gguf")))
        .collect();
    for path in &requested {
        harness
            .worker
            .send(Request::Inspect(ModelSource::Path(path.clone())));
    }
    drop(permits);
    let mut answered = Vec::new();
    while answered.len() < requested.len() {
        if let Event::Inspected { source, .. } = harness.next() {
            answered.extend(source.path().map(PathBuf::from));
        }
    }
    assert_eq!(answered, requested);
}

#[test]
fn only_the_last_of_many_waiting_prompts_is_tokenized() {
    let (mut harness, permits) = gated_worker();
    harness.generate("Once", [greedy(1, 99)]);
    for number in 0..1000 {
        harness.worker.send(Request::Tokenize {
            prompt: number.to_string().into(),
            model: None,
        });
    }
    drop(permits);
    let mut n_tokenized = 0;
    loop {
        if let Event::Tokenized { prompt, .. } = harness.next() {
            n_tokenized += 1;
            if prompt.text == "999" {
                break;
            }
        }
    }
    assert!(n_tokenized < 1000, "{n_tokenized}");
}
