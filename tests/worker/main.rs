//! The engine's thread over a scripted model: order, cancel, failure, shutdown.
//!
//! No test sleeps: where the pace matters, each forward pass waits for the test's leave.

#![expect(
    clippy::expect_used,
    reason = "a helper that cannot go on fails the test that called it"
)]

mod chat;
mod models;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use quartet::decoding::filters::Temperature;
use quartet::decoding::{ChainConfig, Filter};
use quartet::engine::scripted::ScriptedLm;
use quartet::engine::{EngineError, LoadProgress, LoadedModel};
use quartet::generation::{
    EndOfText, FinishReason, GenerationConfig, Limits, PieceKind, PromptToken,
};
use quartet::worker::{Event, GenerationId, ModelSource, PaneRequest, Request, Worker};

const TALE: &str = "Once upon a time there was a fox.";

/// A worker, and the channel on which it wakes the test.
struct Desk {
    worker: Worker,
    woken: Receiver<()>,
}

impl Desk {
    fn open<L>(loader: L) -> Self
    where
        L: FnMut(&ModelSource, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
            + Send
            + 'static,
    {
        let (wake, woken) = sync_channel(10_000);
        let worker = Worker::with_loader(loader, move || {
            wake.try_send(()).ok();
        });
        Self { worker, woken }
    }

    /// A worker that has loaded this model.
    fn with(model: impl Fn() -> ScriptedLm + Send + 'static) -> Self {
        let mut desk = Self::open(move |_, _| model().into_loaded().map(Some));
        desk.worker.send(Request::LoadModel(ModelSource::Embedded));
        desk.until(|event| matches!(event, Event::ModelLoaded { .. }));
        desk
    }

    fn generate(&mut self, prompt: &str, panes: impl IntoIterator<Item = PaneRequest>) {
        self.worker.send(Request::Generate {
            prompt: prompt.into(),
            panes: panes.into_iter().collect(),
        });
    }

    /// The next event; one wake announces one event.
    fn next(&mut self) -> Event {
        let woken = self.woken.recv_timeout(Duration::from_mins(1));
        woken.expect("the worker reports within a minute");
        self.worker
            .drain(1)
            .pop()
            .expect("a wake announces an event")
    }

    /// The events up to one that is `last`, in words.
    fn until(&mut self, last: impl Fn(&Event) -> bool) -> Vec<String> {
        let mut events = Vec::new();
        loop {
            let event = self.next();
            events.push(words(&event));
            if last(&event) {
                return events;
            }
        }
    }

    fn until_finished(&mut self, id: u64) -> Vec<String> {
        self.until(|event| matches!(event, Event::Finished { id: ended, .. } if ended.0 == id))
    }
}

fn words(event: &Event) -> String {
    let list = |ids: &[GenerationId]| {
        let ids: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
        ids.join(",")
    };
    match event {
        Event::ModelLoading { fraction } => format!("loading {fraction}"),
        Event::ModelLoaded { info, .. } => format!("loaded {}", info.n_context),
        Event::ModelFailed { error } => format!("no model: {error}"),
        Event::LoadingCancelled => "loading cancelled".to_owned(),
        Event::Inspected { found, .. } => format!("inspected {}", found.is_ok()),
        Event::DevicesListed(devices) => format!("{} devices", devices.choices.len()),
        Event::DeviceMissing { name, .. } => format!("no {name}"),
        Event::ModelUnloaded => "unloaded".to_owned(),
        Event::Tokenized { prompt, tokens } => {
            let pieces = tokens.as_ref().map(|tokens| listed(tokens));
            format!("{:?} is {pieces:?}", prompt.text)
        }
        Event::Reading {
            ids,
            n_read,
            n_tokens,
        } => {
            format!("{} reading {n_read}/{n_tokens}", list(ids))
        }
        Event::Started { ids, prompt } => format!("{} started {:?}", list(ids), prompt.text),
        Event::Stepped { id, step } => format!("{} {}", id.0, step.piece),
        Event::Finished { id, reason } => format!("{} finished: {reason}", id.0),
        Event::Panicked { message } => format!("panicked: {message}"),
    }
}

/// The pieces side by side, signs in brackets.
fn listed(tokens: &[PromptToken]) -> String {
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
    }
}

fn greedy(id: u64, max_new_tokens: usize) -> PaneRequest {
    pane(id, ChainConfig::greedy(), max_new_tokens)
}

/// A model whose forward passes each wait for leave. Once the leave's sender is gone, they run free.
fn gated() -> (ScriptedLm, SyncSender<()>) {
    let (leave, gate) = sync_channel(100);
    let lm = ScriptedLm::reciting(512, TALE).before_forward(move |_| {
        gate.recv().ok();
    });
    (lm, leave)
}

fn gated_desk() -> (Desk, SyncSender<()>) {
    let (lm, leave) = gated();
    let mut lm = Some(lm);
    let mut desk = Desk::open(move |_, _| lm.take().expect("loaded once").into_loaded().map(Some));
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    desk.until(|event| matches!(event, Event::ModelLoaded { .. }));
    (desk, leave)
}

#[test]
fn events_come_in_the_order_in_which_things_happen() {
    let mut desk = Desk::open(|_, progress| {
        assert!(progress(0.5).is_continue());
        ScriptedLm::reciting(64, TALE).into_loaded().map(Some)
    });
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    desk.generate("Once", [greedy(1, 2), greedy(2, 3)]);
    let events = [
        "loading 0",
        "loading 0.5",
        "loaded 64",
        "1,2 reading 0/4",
        "1,2 started \"Once\"",
        "1  ",
        "2  ",
        "1 u",
        "1 finished: Token limit",
        "2 u",
        "2 p",
        "2 finished: Token limit",
    ];
    assert_eq!(desk.until_finished(2), events);
}

#[test]
fn a_long_prompt_is_read_in_chunks_and_can_be_left_in_between() {
    let (mut desk, leave) = gated_desk();
    desk.generate(&"x".repeat(300), [greedy(1, 5)]);
    leave.send(()).unwrap();
    let ids = "1 reading";
    assert_eq!(words(&desk.next()), format!("{ids} 0/300"));
    assert_eq!(words(&desk.next()), format!("{ids} 128/300"));
    desk.worker.send(Request::Stop(GenerationId(1)));
    // The next chunk may have begun already, and waits.
    leave.send(()).unwrap();
    let mut events = desk.until_finished(1);
    assert_eq!(events.pop().unwrap(), "1 finished: Stopped by you");
    assert!(events.is_empty() || events == [format!("{ids} 256/300")]);
}

#[test]
fn a_stop_takes_one_step_at_most() {
    let (mut desk, leave) = gated_desk();
    desk.generate("Once", [greedy(1, 99), greedy(2, 6)]);
    leave.send(()).unwrap();
    let started = desk.until(|event| matches!(event, Event::Stepped { id, .. } if id.0 == 2));
    assert_eq!(started.last().unwrap(), "2  ");
    // The next pass may have begun already, and waits.
    desk.worker.send(Request::Stop(GenerationId(1)));
    desk.worker.send(Request::Stop(GenerationId(77)));
    leave.send(()).unwrap();
    let events = desk.until_finished(1);
    let n_steps = events
        .iter()
        .filter(|event| event.starts_with("1 u"))
        .count();
    assert!(n_steps <= 1 && events.len() <= 3, "{events:?}");
    drop(leave);
    assert_eq!(
        desk.until_finished(2).last().unwrap(),
        "2 finished: Token limit"
    );
}

#[test]
fn stop_all_stops_those_that_write_and_those_that_wait() {
    let (mut desk, leave) = gated_desk();
    desk.generate("Once", [greedy(1, 99)]);
    leave.send(()).unwrap();
    desk.until(|event| matches!(event, Event::Stepped { .. }));
    desk.generate("Once upon", [greedy(2, 99)]);
    desk.worker.send(Request::StopAll);
    drop(leave);
    let events = desk.until_finished(2);
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
fn the_count_of_tokens_is_answered_while_panes_write() {
    let (mut desk, leave) = gated_desk();
    desk.generate("Once", [greedy(1, 99)]);
    desk.worker.send(Request::Tokenize {
        prompt: "fox".into(),
    });
    leave.send(()).unwrap();
    leave.send(()).unwrap();
    let events = desk.until(|event| matches!(event, Event::Tokenized { .. }));
    assert_eq!(events.last().unwrap(), r#""fox" is Ok("f|o|x")"#);
    assert!(!events.iter().any(|event| event.contains("finished")));
    drop(leave);
}

#[test]
fn a_pane_joins_those_that_write() {
    let (mut desk, leave) = gated_desk();
    desk.generate("Once", [greedy(1, 20)]);
    leave.send(()).unwrap();
    desk.until(|event| matches!(event, Event::Stepped { .. }));
    desk.generate("Once upon", [greedy(2, 5)]);
    drop(leave);
    let mut n_together = 0;
    let mut n_finished = 0;
    while n_finished < 2 {
        match desk.next() {
            Event::Stepped { step, .. } => n_together += usize::from(step.time.n_batch == 2),
            Event::Finished { reason, .. } => {
                assert_eq!(reason, FinishReason::MaxTokens);
                n_finished += 1;
            }
            _ => {}
        }
    }
    assert_eq!(n_together, 8, "four steps of two panes");
}

#[test]
fn a_request_that_cannot_be_met_is_answered_with_a_sentence() {
    let temperature = Filter::Temperature(Temperature { temperature: -1.0 });
    let complaint = temperature.validate().unwrap_err().to_string();
    let unsound = || pane(1, ChainConfig::sampled([temperature.clone()]), 5);
    let cases = [
        (
            "",
            greedy(1, 5),
            "the prompt is empty, and this model needs a beginning".to_owned(),
        ),
        (
            "too long",
            greedy(1, 5),
            "8 tokens, the model reads 6 at most".to_owned(),
        ),
        ("Once", unsound(), complaint),
    ];
    let mut desk = Desk::with(|| ScriptedLm::reciting(6, TALE));
    for (prompt, pane, sentence) in cases {
        desk.generate(prompt, [pane]);
        assert_eq!(
            desk.until_finished(1),
            [format!("1 finished: Stopped: {sentence}")]
        );
    }
    desk.generate("Once", [unsound(), greedy(2, 2)]);
    assert_eq!(
        desk.until_finished(2).last().unwrap(),
        "2 finished: Token limit"
    );
}

#[test]
fn without_a_model_the_answer_says_so() {
    let mut desk = Desk::open(|_, _| Err(EngineError::PromptEmpty));
    desk.generate("Once", [greedy(1, 5)]);
    let sentence = "there is no model to write with; open one first";
    assert_eq!(
        words(&desk.next()),
        format!("1 finished: Stopped: {sentence}")
    );
    desk.worker.send(Request::Tokenize { prompt: "a".into() });
    assert_eq!(words(&desk.next()), format!("\"a\" is Err({sentence:?})"));
}

#[test]
fn a_model_that_fails_to_load_leaves_the_one_before_it() {
    let mut desk = Desk::open(|source, _| match source {
        ModelSource::Embedded => ScriptedLm::reciting(64, TALE).into_loaded().map(Some),
        ModelSource::Path(path) => Err(EngineError::FileMissing {
            what: "tokenizer.json",
            path: path.display().to_string(),
        }),
    });
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    desk.worker
        .send(Request::LoadModel(ModelSource::Path(PathBuf::from(
            "some/folder",
        ))));
    let events = desk.until(|event| matches!(event, Event::ModelFailed { .. }));
    assert_eq!(
        events.last().unwrap(),
        "no model: there is no tokenizer.json in this folder\nsome/folder"
    );
    desk.generate("Once", [greedy(1, 2)]);
    assert_eq!(
        desk.until_finished(1).last().unwrap(),
        "1 finished: Token limit"
    );
}

#[test]
fn a_new_model_ends_what_the_old_one_writes() {
    let (mut desk, leave) = {
        let (lm, leave) = gated();
        let mut models = vec![ScriptedLm::reciting(99, TALE), lm];
        let desk =
            Desk::open(move |_, _| models.pop().expect("two models").into_loaded().map(Some));
        (desk, leave)
    };
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    desk.generate("Once", [greedy(1, 99), greedy(2, 99)]);
    leave.send(()).unwrap();
    desk.until(|event| matches!(event, Event::Stepped { id, .. } if id.0 == 2));
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    drop(leave);
    let events = desk.until(|event| matches!(event, Event::ModelLoaded { .. }));
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
fn a_fault_is_reported_and_a_new_worker_works() {
    let mut desk = Desk::with(|| ScriptedLm::new(64, |_| panic!("row {} is not there", 3)));
    desk.generate("Once", [greedy(1, 5)]);
    let events = desk.until(|event| matches!(event, Event::Panicked { .. }));
    assert_eq!(events.last().unwrap(), "panicked: row 3 is not there");
    desk.generate("Once", [greedy(2, 5)]);
    assert_eq!(desk.worker.wait(), None, "the thread has ended");

    desk = Desk::with(|| ScriptedLm::reciting(64, TALE));
    desk.generate("Once", [greedy(3, 5)]);
    assert_eq!(
        desk.until_finished(3).last().unwrap(),
        "3 finished: Token limit"
    );
}

#[test]
fn a_fault_while_loading_is_reported_too() {
    let mut desk = Desk::open(|_, _| panic!("no such tensor"));
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    let events = desk.until(|event| matches!(event, Event::Panicked { .. }));
    assert_eq!(events, ["loading 0", "panicked: no such tensor"]);
}

/// Tells how often something was dropped, which the thread does when it ends.
struct Witness(Arc<AtomicUsize>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_worker_that_is_dropped_ends_its_thread_whatever_it_does() {
    let n_ended = Arc::new(AtomicUsize::new(0));
    let endless = || {
        let mut pane = greedy(1, usize::MAX);
        pane.config.limits.end_of_text = EndOfText::Ignored;
        pane
    };
    let babbling = || ScriptedLm::babbling(usize::MAX);
    let acts: [fn(&mut Desk, PaneRequest); 4] = [
        |_, _| {},
        |desk, pane| {
            desk.generate("Once", [pane]);
            desk.until(|event| matches!(event, Event::Stepped { .. }));
        },
        |desk, pane| {
            // Nobody takes the events: once there is no room for more, the thread waits.
            desk.generate("Once", [pane]);
            for _ in 0..512 {
                desk.woken.recv_timeout(Duration::from_mins(1)).unwrap();
            }
        },
        |desk, pane| {
            desk.worker.send(Request::LoadModel(ModelSource::Embedded));
            desk.generate("Once", [pane]);
        },
    ];
    for (n_before, act) in acts.into_iter().enumerate() {
        let witness = Witness(Arc::clone(&n_ended));
        let mut desk = Desk::open(move |_, _| {
            let _held = &witness;
            babbling().into_loaded().map(Some)
        });
        desk.worker.send(Request::LoadModel(ModelSource::Embedded));
        desk.until(|event| matches!(event, Event::ModelLoaded { .. }));
        act(&mut desk, endless());
        assert_eq!(n_ended.load(Ordering::SeqCst), n_before);
        drop(desk);
        assert_eq!(n_ended.load(Ordering::SeqCst), n_before + 1);
    }
}

#[test]
fn a_worker_that_is_dropped_leaves_a_loader_in_the_middle() {
    let (begun, has_begun) = sync_channel(1);
    let (left, has_left) = sync_channel(1);
    let mut desk = Desk::open(move |_, progress| {
        begun.send(()).unwrap();
        let mut hundredths = (0..u16::MAX).map(|hundredths| f32::from(hundredths) / 100.0);
        let is_left = hundredths.any(|fraction| progress(fraction).is_break());
        left.send(is_left).unwrap();
        Ok(None)
    });
    desk.worker.send(Request::LoadModel(ModelSource::Embedded));
    has_begun.recv().unwrap();
    drop(desk);
    assert!(has_left.recv().unwrap());
}

#[test]
fn requests_never_wait_and_none_is_lost() {
    let (mut desk, leave) = gated_desk();
    desk.generate("Once", [greedy(1, 99)]);
    // The thread waits for leave in its first pass, and there is no room for so many.
    let asked: Vec<PathBuf> = (0..1000)
        .map(|n| PathBuf::from(format!("{n}.gguf")))
        .collect();
    for path in &asked {
        desk.worker.send(Request::Inspect(path.clone()));
    }
    drop(leave);
    let mut answered = Vec::new();
    while answered.len() < asked.len() {
        if let Event::Inspected { path, .. } = desk.next() {
            answered.push(path);
        }
    }
    assert_eq!(answered, asked);
}

#[test]
fn of_many_prompts_that_wait_only_the_last_is_split() {
    let (mut desk, leave) = gated_desk();
    desk.generate("Once", [greedy(1, 99)]);
    for number in 0..1000 {
        desk.worker.send(Request::Tokenize {
            prompt: number.to_string().into(),
        });
    }
    drop(leave);
    let mut n_split = 0;
    loop {
        if let Event::Tokenized { prompt, .. } = desk.next() {
            n_split += 1;
            if prompt.text == "999" {
                break;
            }
        }
    }
    assert!(n_split < 1000, "{n_split}");
}
