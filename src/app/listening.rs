//! The endpoint of the window: it answers other programs with the engine that the panes use.

use std::time::{Duration, Instant};

use crate::generation::GenerationId;
use crate::listen::{Listener, OpenRequest};
use crate::state::{Command, ListenCommand, ListenRequest};
use crate::worker::{Event, Request};

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

/// What the window must do for the endpoint.
#[derive(Default)]
pub(super) struct EndpointWork {
    pub requests: Vec<Request>,
    pub commands: Vec<Command>,
    /// How soon to ask again, although nothing wakes the window.
    pub again_in: Option<Duration>,
}

impl Endpoint {
    /// Carries out a request of the state. `wake` is called when a program asks. Returns what the
    /// worker must do.
    pub(super) fn run(
        &mut self,
        request: ListenRequest,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> (Vec<Request>, Option<Command>) {
        match request {
            ListenRequest::Open { port, model } => {
                // A port can be opened again only after it was closed.
                self.listener = None;
                self.is_closing = false;
                let opened = Listener::open(port, model, wake);
                let opened = opened.map(|listener| {
                    let address = listener.address();
                    self.listener = Some(listener);
                    address
                });
                let opened = Command::Listen(ListenCommand::Opened(opened));
                (Vec::new(), Some(opened))
            }
            ListenRequest::SetModel(model) => {
                if let Some(listener) = &mut self.listener {
                    listener.set_model(model);
                }
                (Vec::new(), None)
            }
            ListenRequest::Close => {
                self.is_closing = true;
                let stops = self.unfinished().into_iter().map(Request::Stop);
                (stops.collect(), None)
            }
        }
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

    /// Returns what is to be done now. `new_id` returns an id that no text has.
    pub(super) fn advance(&mut self, new_id: impl FnMut() -> GenerationId) -> EndpointWork {
        let Some(listener) = &mut self.listener else {
            return EndpointWork::default();
        };
        let mut work = EndpointWork {
            requests: listener.requests(new_id),
            ..EndpointWork::default()
        };
        if self.is_closing {
            listener.refuse_waiting();
        }
        let answered = listener.take_answered();
        let has_answered = !answered.is_empty();
        if has_answered {
            let answered = ListenCommand::Answered(answered);
            work.commands.push(Command::Listen(answered));
        }
        let open = listener.open_requests();
        let now = Instant::now();
        let known: &[OpenRequest] = self.reported.as_ref().map_or(&[], |(open, _)| open);
        if has_answered || known != open {
            let since = self
                .reported
                .as_ref()
                .map(|(_, at)| now.duration_since(*at));
            match since.and_then(|since| REPORT_INTERVAL.checked_sub(since)) {
                Some(left) if !has_answered && known.len() == open.len() => {
                    work.again_in = Some(left);
                }
                _ => {
                    let changed = ListenCommand::Changed(open.clone());
                    work.commands.push(Command::Listen(changed));
                    self.reported = Some((open, now));
                }
            }
        }
        if self.is_closing && listener.is_idle() {
            self.listener = None;
            self.is_closing = false;
        }
        work
    }
}
