//! The engine's end of the border: serves requests between two forward passes, and reports.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};
use std::time::Instant;

use super::{Event, ModelSource, PaneRequest, Request};
use crate::engine::{EngineError, LoadedModel, Progress, Session};
use crate::generation::{FinishReason, GenerationId, PromptText, PromptToken};

/// A request, and when it was made.
#[derive(Debug)]
pub(super) struct Asked {
    pub request: Request,
    pub asked_at: Instant,
}

/// Nobody listens any more: the thread ends.
#[derive(Debug)]
pub(super) struct Gone;

/// Where events go.
pub(super) struct Outbox {
    events: SyncSender<Event>,
    wake: Box<dyn Fn() + Send>,
}

impl Outbox {
    pub fn new(events: SyncSender<Event>, wake: impl Fn() + Send + 'static) -> Self {
        Self {
            events,
            wake: Box::new(wake),
        }
    }

    /// Reports, and waits while the other side has too much to read. It is gone when it has closed
    /// its end, and that ends the wait too.
    fn send(&self, event: Event) -> Result<(), Gone> {
        self.events.send(event).map_err(|_closed| Gone)?;
        (self.wake)();
        Ok(())
    }
}

/// What the thread works with.
pub(super) struct Engine<L> {
    loader: L,
    session: Option<Session>,
    requests: Receiver<Asked>,
    outbox: Outbox,
}

impl<L> Engine<L>
where
    L: FnMut(&ModelSource, &mut dyn FnMut(f32)) -> Result<LoadedModel, EngineError>,
{
    pub const fn new(loader: L, requests: Receiver<Asked>, outbox: Outbox) -> Self {
        Self {
            loader,
            session: None,
            requests,
            outbox,
        }
    }

    /// Works until the other side is gone, or until a fault of ours, which is reported.
    pub fn run(mut self) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.serve_all())) {
            let message = message_of(&*panic);
            // Where nobody listens any more, nobody needs to know.
            self.outbox.send(Event::Panicked { message }).ok();
        }
    }

    fn serve_all(&mut self) -> Result<(), Gone> {
        loop {
            if !self.session.as_ref().is_some_and(Session::is_busy) {
                let asked = self.requests.recv().map_err(|_closed| Gone)?;
                self.serve(asked)?;
            }
            loop {
                match self.requests.try_recv() {
                    Ok(asked) => self.serve(asked)?,
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Err(Gone),
                }
            }
            self.advance()?;
        }
    }

    fn advance(&mut self) -> Result<(), Gone> {
        if let Some(session) = self.session.as_mut().filter(|session| session.is_busy()) {
            let mut progress = Vec::new();
            session.advance(&mut progress);
            for progress in progress {
                self.outbox.send(progress.into())?;
            }
        }
        Ok(())
    }

    fn serve(&mut self, Asked { request, asked_at }: Asked) -> Result<(), Gone> {
        match request {
            Request::LoadModel(source) => self.load(&source),
            Request::Tokenize { prompt } => self.tokenize(prompt),
            Request::Generate { prompt, panes } => self.generate(prompt, panes, asked_at),
            Request::Stop(id) => self.stop(id),
            Request::StopAll => self.stop_all(),
        }
    }

    fn load(&mut self, source: &ModelSource) -> Result<(), Gone> {
        self.stop_all()?;
        let outbox = &self.outbox;
        let mut reported = f32::NEG_INFINITY;
        let mut report = |fraction: f32| {
            if fraction - reported < 0.01 {
                return;
            }
            reported = fraction;
            if outbox.send(Event::ModelLoading { fraction }).is_err() {
                // The only way out of the middle of a loader; nobody is left to hear of it.
                resume_unwind(Box::new("the window was closed"));
            }
        };
        report(0.0);
        let event = match (self.loader)(source, &mut report) {
            Ok(model) => {
                let loaded = Event::ModelLoaded {
                    info: model.info.clone(),
                    vocabulary: model.vocabulary.clone(),
                    chat: model.chat_support(),
                    advice: model.advice.clone(),
                };
                self.session = Some(Session::new(model));
                loaded
            }
            Err(error) => Event::ModelFailed {
                error: error.to_string(),
            },
        };
        self.outbox.send(event)
    }

    fn tokenize(&self, prompt: PromptText) -> Result<(), Gone> {
        let tokens = match self.session.as_ref().map(Session::model) {
            Some(model) => match model.read(&prompt) {
                Ok(read) => {
                    let known = |id| PromptToken {
                        id,
                        piece: model.vocabulary.piece(id),
                    };
                    Ok(read.tokens.into_iter().map(known).collect())
                }
                Err(error) => Err(error.to_string()),
            },
            None => Err(NO_MODEL.to_owned()),
        };
        self.outbox.send(Event::Tokenized { prompt, tokens })
    }

    fn generate(
        &mut self,
        prompt: PromptText,
        panes: Vec<PaneRequest>,
        asked_at: Instant,
    ) -> Result<(), Gone> {
        let Some(session) = &mut self.session else {
            return self.fail(&panes, NO_MODEL);
        };
        match session.prompt(prompt) {
            Ok(prompt) => {
                let (complained, sound): (Vec<_>, Vec<_>) = panes
                    .into_iter()
                    .partition(|pane| pane.config.chain.complaint().is_some());
                let sound = sound.into_iter().map(|pane| (pane.id, pane.config));
                session.generate(prompt, sound, asked_at);
                for pane in complained {
                    let complaint = pane.config.chain.complaint().unwrap_or_default();
                    self.fail(&[pane], &complaint)?;
                }
                Ok(())
            }
            Err(error) => self.fail(&panes, &error.to_string()),
        }
    }

    fn fail(&self, panes: &[PaneRequest], error: &str) -> Result<(), Gone> {
        panes
            .iter()
            .try_for_each(|pane| self.outbox.send(Progress::failed(pane.id, error).into()))
    }

    fn stop(&mut self, id: GenerationId) -> Result<(), Gone> {
        let stopped = self
            .session
            .as_mut()
            .is_some_and(|session| session.stop(id));
        if stopped {
            let reason = FinishReason::Cancelled;
            self.outbox.send(Event::Finished { id, reason })?;
        }
        Ok(())
    }

    fn stop_all(&mut self) -> Result<(), Gone> {
        let ids = self.session.as_ref().map(Session::ids).unwrap_or_default();
        ids.into_iter().try_for_each(|id| self.stop(id))
    }
}

const NO_MODEL: &str = "there is no model to write with; open one first";

impl From<Progress> for Event {
    fn from(progress: Progress) -> Self {
        match progress {
            Progress::Reading {
                ids,
                n_read,
                n_tokens,
            } => Self::Reading {
                ids,
                n_read,
                n_tokens,
            },
            Progress::Started { ids, prompt } => Self::Started { ids, prompt },
            Progress::Stepped { id, step } => Self::Stepped { id, step },
            Progress::Finished { id, reason } => Self::Finished { id, reason },
        }
    }
}

/// What a panic said.
pub(super) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it did not say why")
        .to_owned()
}
