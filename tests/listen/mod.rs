//! The endpoint for other programs, with a scripted model and real connections on loopback.
//!
//! No test sleeps: if order matters, the model waits for the test.

mod answers;
mod client;
mod faults;
mod hostile;
mod llama_server;
mod tool_calls;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use quartet::engine::{ChatTemplate, EngineError, LoadedModel};
use quartet::generation::{Generation, GenerationId};
use quartet::interop::api::ApiModel;
use quartet::listen::{AnsweredRequest, Listener, Outcome};
use quartet::worker::{Event, ModelSource, Request, Worker};

use crate::scripted::ScriptedLm;

/// Bounds a test that would otherwise wait for ever.
const LONG: Duration = Duration::from_mins(2);

/// An open endpoint with a worker. Dropping it ends both.
struct Endpoint {
    address: SocketAddr,
    answered: Receiver<AnsweredRequest>,
    ends: Arc<AtomicBool>,
    ring: SyncSender<()>,
    owner: Option<JoinHandle<()>>,
}

impl Endpoint {
    fn start(mut model: impl FnMut() -> Result<LoadedModel, EngineError> + Send + 'static) -> Self {
        let (ring, rung) = sync_channel(1);
        let bell = ring.clone();
        let wake = move || {
            bell.try_send(()).ok();
        };
        let mut worker = Worker::with_loader(move |_, _| model().map(Some), wake.clone());
        worker.send(Request::LoadModel(ModelSource::Embedded));
        let model = loop {
            let event = worker.wait().expect("the worker runs");
            if let Event::ModelLoaded {
                info,
                vocabulary,
                chat,
                ..
            } = event
            {
                break ApiModel {
                    info,
                    vocabulary,
                    second: None,
                    loaded_at: 7,
                    tool_calls: chat.tool_calls(),
                };
            }
        };
        let listener = Listener::open(0, Some(model), wake).unwrap();
        let address = listener.address();
        let ends = Arc::new(AtomicBool::new(false));
        let (sender, answered) = sync_channel(10_000);
        let owner = Owner {
            worker,
            listener,
            rung,
            ends: Arc::clone(&ends),
            answered: sender,
        };
        let owner = std::thread::Builder::new()
            .spawn(move || owner.run())
            .unwrap();
        Self {
            address,
            answered,
            ends,
            ring,
            owner: Some(owner),
        }
    }

    /// An endpoint whose model knows this text by heart.
    fn reciting(text: &'static str) -> Self {
        Self::start(move || ScriptedLm::reciting(64, text).into_loaded())
    }

    /// Returns what became of the next request.
    fn answered(&self) -> AnsweredRequest {
        let answered = self.answered.recv_timeout(LONG);
        answered.expect("the request is answered")
    }

    /// Returns the texts of the next request.
    fn texts(&self) -> Vec<Generation> {
        let answered = self.answered();
        match answered.outcome {
            Outcome::Written { texts, .. } => texts,
            other => panic!("nothing was written: {other:?}"),
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.ring.try_send(()).ok();
        if let Some(owner) = self.owner.take() {
            owner.join().unwrap();
        }
    }
}

/// What owns the worker and the endpoint, as the command line does.
struct Owner {
    worker: Worker,
    listener: Listener,
    rung: Receiver<()>,
    ends: Arc<AtomicBool>,
    answered: SyncSender<AnsweredRequest>,
}

impl Owner {
    fn run(mut self) {
        let mut n_ids = 0;
        let mut is_stopped = false;
        loop {
            if self.ends.load(Ordering::Relaxed) {
                if !is_stopped {
                    self.worker.send(Request::StopAll);
                    is_stopped = true;
                }
                self.listener.refuse_waiting();
                if self.listener.is_idle() {
                    return;
                }
            }
            let requests = self.listener.requests(|| {
                n_ids += 1;
                GenerationId(n_ids)
            });
            for request in requests {
                self.worker.send(request);
            }
            let events = self.worker.drain(100);
            let is_idle = events.is_empty();
            for event in events {
                if let Event::Progress(progress) = event {
                    self.listener.note(&progress);
                }
            }
            for answered in self.listener.take_answered() {
                self.answered.send(answered).ok();
            }
            if is_idle && self.rung.recv().is_err() {
                return;
            }
        }
    }
}

/// A model with a chat template that answers every message with this text.
fn chat_model(answer: &'static str) -> Result<LoadedModel, EngineError> {
    let template = "{% for message in messages %}?{{ message.content }}{{ end }}{% endfor %}:";
    chat_model_with(template, answer)
}

/// A model with this chat template that knows this text by heart.
fn chat_model_with(template: &str, text: &'static str) -> Result<LoadedModel, EngineError> {
    let special_tokens = BTreeMap::from([("end".to_owned(), "</s>".to_owned())]);
    let mut model = ScriptedLm::reciting(256, text).into_loaded()?;
    model.chat = Some(ChatTemplate::parse(template, special_tokens));
    Ok(model)
}

/// A model that waits before each forward pass until the gate is open: until its sender is dropped.
fn gated(model: impl Fn() -> ScriptedLm + Send + 'static) -> (Endpoint, SyncSender<()>) {
    let (gate, closed) = sync_channel(0);
    let mut closed = Some(closed);
    let endpoint = Endpoint::start(move || {
        let closed = closed.take();
        let wait = move |_: &[quartet::engine::Row]| {
            if let Some(closed) = &closed {
                closed.recv().ok();
            }
        };
        model().before_forward(wait).into_loaded()
    });
    (endpoint, gate)
}
