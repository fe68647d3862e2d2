//! The endpoint of the window: it answers other programs with the engine that the panes use.

use std::time::{Duration, Instant};

use eframe::egui::Context;

use crate::generation::GenerationId;
use crate::listen::{Listener, OpenRequest};
use crate::state::{AppState, Command, Effect, ListenCommand, ListenRequest};
use crate::worker::{Event, Request, Worker};

/// The shortest time between two reports of the open requests.
const REPORT_INTERVAL: Duration = Duration::from_millis(250);

/// The endpoint, if it is open.
#[derive(Default)]
pub(super) struct Endpoint {
    listener: Option<Listener>,
    /// Whether it closes once its texts have stopped.
    is_closing: bool,
    /// The open requests as they were reported, and when.
    reported: Option<(Vec<OpenRequest>, Instant)>,
}

impl Endpoint {
    /// Carries out a request of the state. Returns the effects that follow.
    pub(super) fn run(
        &mut self,
        ctx: &Context,
        request: ListenRequest,
        worker: &mut Worker,
        state: &mut AppState,
    ) -> Vec<Effect> {
        match request {
            ListenRequest::Open { port, model } => {
                // A port can be opened again only after it was closed.
                self.listener = None;
                self.is_closing = false;
                let ctx = ctx.clone();
                let opened = Listener::open(port, model, move || ctx.request_repaint());
                let opened = opened.map(|listener| {
                    let address = listener.address();
                    self.listener = Some(listener);
                    address
                });
                return state.apply(Command::Listen(ListenCommand::Opened(opened)));
            }
            ListenRequest::SetModel(model) => {
                if let Some(listener) = &mut self.listener {
                    listener.set_model(model);
                }
            }
            ListenRequest::Close => {
                self.is_closing = true;
                for text in self.unfinished() {
                    worker.send(Request::Stop(text));
                }
            }
        }
        Vec::new()
    }

    /// Returns the texts that programs wait for.
    pub(super) fn unfinished(&self) -> Vec<GenerationId> {
        let listener = self.listener.as_ref();
        listener.map(Listener::unfinished).unwrap_or_default()
    }

    /// Takes what the worker reports about the texts of programs. Returns whether it was about one.
    pub(super) fn take(&mut self, event: &Event) -> bool {
        let Some(listener) = &mut self.listener else {
            return false;
        };
        match event {
            Event::Progress(progress) => listener.note(progress),
            Event::Panicked { message } => {
                listener.fail(&format!("the engine stopped unexpectedly: {message}"));
                false
            }
            _ => false,
        }
    }

    /// Lets the worker write what programs ask for, and reports their requests. Returns the effects
    /// that follow.
    pub(super) fn advance(
        &mut self,
        ctx: &Context,
        worker: &mut Worker,
        state: &mut AppState,
    ) -> Vec<Effect> {
        let Some(listener) = &mut self.listener else {
            return Vec::new();
        };
        for request in listener.requests(|| state.next_text_id()) {
            worker.send(request);
        }
        if self.is_closing {
            listener.refuse_waiting();
        }
        let answered = listener.take_answered();
        let open = listener.open_requests();
        let is_closed = self.is_closing && listener.is_idle();
        let mut effects = Vec::new();
        let has_answered = !answered.is_empty();
        if has_answered {
            let answered = ListenCommand::Answered(answered);
            effects.extend(state.apply(Command::Listen(answered)));
        }
        if has_answered || self.is_due(ctx, &open) {
            self.reported = Some((open.clone(), Instant::now()));
            let changed = ListenCommand::Changed(open);
            effects.extend(state.apply(Command::Listen(changed)));
        }
        if is_closed {
            self.listener = None;
            self.is_closing = false;
        }
        effects
    }

    /// Returns whether the open requests must be reported now, or sees to it that they are soon.
    fn is_due(&self, ctx: &Context, open: &[OpenRequest]) -> bool {
        let Some((known, at)) = &self.reported else {
            return !open.is_empty();
        };
        if known.len() != open.len() {
            return true;
        }
        match REPORT_INTERVAL.checked_sub(at.elapsed()) {
            _ if known == open => false,
            None => true,
            Some(left) => {
                ctx.request_repaint_after(left);
                false
            }
        }
    }
}
