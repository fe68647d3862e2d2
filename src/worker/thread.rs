//! The engine's end of the border: serves requests between two forward passes, and reports.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Instant;

use super::inbox::{Asked, Gone, Inbox};
use super::{Event, ModelSource, PaneRequest, Request};
use super::{facts, loading};
use crate::engine::{
    Compute, ComputeChoice, EngineError, LoadProgress, LoadedModel, Progress, Session,
};
use crate::generation::{FinishReason, GenerationId, PromptText, PromptToken};

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
    pub fn send(&self, event: Event) -> Result<(), Gone> {
        self.events.send(event).map_err(|_closed| Gone)?;
        (self.wake)();
        Ok(())
    }
}

/// What the thread works with.
pub(super) struct Engine<L> {
    loader: L,
    session: Option<Session>,
    choice: ComputeChoice,
    compute: Option<Compute>,
    inbox: Inbox,
    outbox: Outbox,
}

impl<L> Engine<L>
where
    L: FnMut(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>,
{
    pub fn new(loader: L, requests: Receiver<Asked>, outbox: Outbox) -> Self {
        Self {
            loader,
            session: None,
            choice: ComputeChoice::default(),
            compute: None,
            inbox: Inbox::new(requests),
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
                let asked = self.inbox.next()?;
                self.serve(asked)?;
            }
            while let Some(asked) = self.inbox.poll()? {
                self.serve(asked)?;
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
            // There was one when it was asked for, and it is done.
            Request::CancelLoading => Ok(()),
            Request::UnloadModel => self.unload(),
            Request::Inspect(path) => self.outbox.send(facts::inspected(path)),
            Request::ComputeWith(choice) => {
                (self.choice, self.compute) = (choice, None);
                Ok(())
            }
            Request::ListDevices => self.outbox.send(facts::devices()),
            Request::Tokenize { prompt } => self.tokenize(prompt),
            Request::Generate { prompt, panes } => self.generate(prompt, panes, asked_at),
            Request::Stop(id) => self.stop(id),
            Request::StopAll => self.stop_all(),
        }
    }

    fn load(&mut self, source: &ModelSource) -> Result<(), Gone> {
        self.stop_all()?;
        let compute = self.compute()?;
        let loader = |progress: LoadProgress<'_>| (self.loader)(source, &compute, progress);
        let outcome = loading::load(loader, &self.outbox, &mut self.inbox)?;
        let event = match outcome {
            None => Event::LoadingCancelled,
            Some(Ok(model)) => {
                let loaded = Event::ModelLoaded {
                    info: model.info.clone(),
                    vocabulary: model.vocabulary.clone(),
                    chat: model.chat_support(),
                    recommended_sampling: model.recommended_sampling.clone(),
                    unread: model.unread.clone(),
                };
                self.session = Some(Session::new(model));
                loaded
            }
            Some(Err(error)) => Event::ModelFailed {
                error: error.to_string(),
            },
        };
        self.outbox.send(event)
    }

    /// How the next model computes. The device is opened when it is needed first.
    fn compute(&mut self) -> Result<Compute, Gone> {
        if let Some(compute) = &self.compute {
            return Ok(compute.clone());
        }
        let compute = Compute::choose(self.choice);
        if let Some(reason) = compute.device.fallback_reason() {
            self.outbox.send(Event::DeviceMissing {
                name: self.choice.device.name(),
                reason: reason.to_owned(),
            })?;
        }
        self.compute = Some(compute.clone());
        Ok(compute)
    }

    fn unload(&mut self) -> Result<(), Gone> {
        self.stop_all()?;
        self.session = None;
        self.outbox.send(Event::ModelUnloaded)
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
                    .partition(|pane| pane.config.chain.validate().is_err());
                let sound = sound.into_iter().map(|pane| (pane.id, pane.config));
                session.generate(prompt, sound, asked_at);
                for pane in complained {
                    if let Err(error) = pane.config.chain.validate() {
                        self.fail(&[pane], &error.to_string())?;
                    }
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
