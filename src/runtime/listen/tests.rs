//! Tests of the open requests, without sockets and without an engine.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;

use super::answering::{AnsweredRequest, Answers, Outcome};
use super::asked::{Asked, Reply, ReplySender};
use super::client::Client;
use super::limits::MAX_UNREAD_PARTS;
use super::served::ServedModel;
use crate::generation::testing::generation;
use crate::generation::{
    FinishReason, GenerationId, ModelInfo, Piece, PromptRecord, Step, Vocabulary,
};
use crate::interop::api::{ApiModel, Endpoint, TextRequest};
use crate::worker::{Progress, Request};

fn model() -> ApiModel {
    ApiModel {
        info: Arc::new(ModelInfo {
            name: "toy".to_owned(),
            n_vocab: 1,
            n_context: 10_000,
            ..ModelInfo::default()
        }),
        vocabulary: Arc::new(Vocabulary::new(vec![Piece::text("a")])),
        second: None,
        loaded_at: 0,
        tool_calls: None,
    }
}

/// The open requests, and how many texts were begun.
struct Desk {
    answers: Answers,
    model: ServedModel,
    n_ids: u64,
}

impl Desk {
    fn new() -> Self {
        let served = ServedModel::default();
        served.set(Some(model()));
        Self {
            answers: Answers::default(),
            model: served,
            n_ids: 0,
        }
    }

    /// Lets a request wait. Returns what its program receives.
    fn ask(&mut self, fields: Value) -> Receiver<Reply> {
        let mut body = json!({"prompt": "Once", "max_tokens": -1});
        let (Some(all), Value::Object(fields)) = (body.as_object_mut(), fields) else {
            panic!("both are objects");
        };
        all.extend(fields);
        let body = body.to_string();
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let (reply, replies) = ReplySender::new(permit);
        self.answers.push(Asked {
            client: Client {
                number: 1,
                user_agent: None,
                target: "POST /v1/completions".to_owned(),
                asked_at: 0,
            },
            request: TextRequest::read(Endpoint::Completions, body.as_bytes(), &model()).unwrap(),
            model: self.model.get().unwrap(),
            reply,
        });
        replies
    }

    fn requests(&mut self) -> Vec<Request> {
        let n_ids = &mut self.n_ids;
        self.answers.requests(&self.model, &mut || {
            *n_ids += 1;
            GenerationId(*n_ids)
        })
    }

    fn start(&mut self, ids: &[u64]) {
        let ids = ids.iter().copied().map(GenerationId).collect();
        let prompt = Arc::new(PromptRecord::default());
        assert!(self.answers.note(&Progress::Started { ids, prompt }));
    }

    fn step(&mut self, id: u64) {
        let step: Step = generation(&[("a", 0.5)]).steps[0].clone();
        let stepped = Progress::Stepped {
            id: GenerationId(id),
            step: Box::new(step),
        };
        assert!(self.answers.note(&stepped));
    }

    fn finish(&mut self, id: u64, reason: FinishReason) {
        let id = GenerationId(id);
        assert!(self.answers.note(&Progress::Finished { id, reason }));
    }

    /// Returns the one request that is no longer open.
    fn done(&mut self) -> AnsweredRequest {
        let mut done = self.answers.take_done();
        assert_eq!(done.len(), 1);
        done.remove(0)
    }
}

/// Returns why a program did not get its text.
fn undelivered(answered: &AnsweredRequest) -> Option<&str> {
    match &answered.outcome {
        Outcome::Written { request, .. } => request.undelivered.as_deref(),
        other => panic!("nothing was written: {other:?}"),
    }
}

#[test]
fn a_program_that_leaves_before_its_turn_is_forgotten() {
    let mut desk = Desk::new();
    drop(desk.ask(json!({})));
    assert_eq!(desk.requests(), []);
    let done = desk.done();
    assert!(matches!(done.outcome, Outcome::LeftWaiting));
    assert_eq!(done.asked, "Once");
    assert!(desk.answers.is_idle());
}

#[test]
fn a_program_that_leaves_stops_its_own_texts_once() {
    let mut desk = Desk::new();
    let leaving = desk.ask(json!({"n": 2}));
    let mut staying = desk.ask(json!({}));
    assert_eq!(desk.requests().len(), 2);
    desk.start(&[1, 2]);
    desk.start(&[3]);
    desk.step(1);
    drop(leaving);
    let stops = [1, 2].map(|id| Request::Stop(GenerationId(id)));
    assert_eq!(desk.requests(), stops);
    assert_eq!(desk.requests(), []);
    desk.finish(1, FinishReason::Cancelled);
    desk.finish(2, FinishReason::Cancelled);
    let done = desk.done();
    assert_eq!(undelivered(&done), Some("the program left"));
    desk.step(3);
    desk.finish(3, FinishReason::EndOfText);
    assert_eq!(undelivered(&desk.done()), None);
    let Ok(Reply::Whole(Ok(answer))) = staying.try_recv() else {
        panic!("the other request is answered");
    };
    assert_eq!(answer["choices"][0]["text"], "a");
}

#[test]
fn a_program_that_reads_nothing_is_stopped_and_what_was_written_is_kept() {
    let mut desk = Desk::new();
    let unread = desk.ask(json!({"stream": true}));
    assert_eq!(desk.requests().len(), 1);
    desk.start(&[1]);
    for _ in 0..MAX_UNREAD_PARTS {
        desk.step(1);
    }
    assert_eq!(desk.requests(), [Request::Stop(GenerationId(1))]);
    desk.step(1);
    desk.finish(1, FinishReason::Cancelled);
    let done = desk.done();
    assert_eq!(undelivered(&done), Some("the program read too slowly"));
    let Outcome::Written { texts, .. } = done.outcome else {
        panic!("a text was written");
    };
    assert_eq!(texts[0].steps.len(), MAX_UNREAD_PARTS + 1);
    drop(unread);
}

#[test]
fn at_most_eight_texts_are_written_at_a_time_in_the_order_of_the_requests() {
    let mut desk = Desk::new();
    let _replies = [4, 4, 8, 1].map(|n| desk.ask(json!({"n": n})));
    assert_eq!(desk.requests().len(), 2);
    for id in 1..=4 {
        desk.finish(id, FinishReason::EndOfText);
    }
    // The next one needs all eight places, and nobody overtakes it.
    assert_eq!(desk.requests(), []);
    for id in 5..=8 {
        desk.finish(id, FinishReason::EndOfText);
    }
    assert_eq!(desk.requests().len(), 1);
}

#[test]
fn an_engine_that_is_gone_ends_every_request() {
    let mut desk = Desk::new();
    let mut written = desk.ask(json!({"n": 8}));
    let mut waiting = desk.ask(json!({}));
    assert_eq!(desk.requests().len(), 1);
    desk.start(&[1, 2, 3, 4, 5, 6, 7, 8]);
    desk.answers.fail("the engine is gone");
    assert!(desk.answers.is_idle());
    assert_eq!(desk.answers.take_done().len(), 2);
    for replies in [&mut written, &mut waiting] {
        let Ok(Reply::Whole(Err(error))) = replies.try_recv() else {
            panic!("the program gets an error");
        };
        assert_eq!((error.status, &*error.message), (500, "the engine is gone"));
    }
}
