//! The endpoint, as its owner sees it.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, sync_channel};

use super::answering::{AnsweredRequest, Answers, OpenRequest};
use super::asked::Asked;
use super::limits::{MAX_OPEN_REQUESTS, MAX_UNLISTED_REFUSALS};
use super::rendering::{AskedTemplate, Renderings};
use super::routes::{Routes, Senders};
use super::served::ServedModel;
use super::server::ServerThread;
use crate::generation::GenerationId;
use crate::generation::formatting::io_words;
use crate::interop::api::{ApiError, ApiModel};
use crate::worker::{Progress, Request};

/// Why the endpoint could not be opened. Can be shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    #[error("port {port} is in use; choose another one")]
    PortInUse { port: u16 },
    #[error("could not listen on port {port}: {reason}")]
    Refused { port: u16, reason: String },
}

/// An open endpoint. Dropping it closes the connections.
pub struct Listener {
    address: SocketAddr,
    asked: Receiver<Asked>,
    templates: Receiver<AskedTemplate>,
    refused: Receiver<AnsweredRequest>,
    answers: Answers,
    renderings: Renderings,
    model: ServedModel,
    _server: ServerThread,
}

impl Listener {
    /// Opens a port of this computer, or any free one for 0. Requests are refused while there is no
    /// model. `wake` is called on the HTTP thread when there is something to do.
    pub fn open(
        port: u16,
        model: Option<ApiModel>,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, ListenError> {
        let refused_port = |error: io::Error| match error.kind() {
            ErrorKind::AddrInUse => ListenError::PortInUse { port },
            _ => ListenError::Refused {
                port,
                reason: io_words(&error),
            },
        };
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused_port)?;
        let address = socket.local_addr().map_err(refused_port)?;
        let served = ServedModel::default();
        served.set(model);
        // Each open request holds a permit, so that these channels are never full.
        let (asked_sender, asked) = sync_channel(MAX_OPEN_REQUESTS);
        let (template_sender, templates) = sync_channel(MAX_OPEN_REQUESTS);
        let (refused_sender, refused) = sync_channel(MAX_UNLISTED_REFUSALS);
        let senders = Senders {
            asked: asked_sender,
            templates: template_sender,
            refused: refused_sender,
        };
        let routes = Routes::new(address.port(), served.clone(), senders, Box::new(wake));
        let server = ServerThread::start(socket, routes).map_err(refused_port)?;
        Ok(Self {
            address,
            asked,
            templates,
            refused,
            answers: Answers::default(),
            renderings: Renderings::default(),
            model: served,
            _server: server,
        })
    }

    /// Returns the address that programs use.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers with another model from now on, or refuses requests while there is none. So are those
    /// that were asked of the model before and have not begun.
    pub fn set_model(&mut self, model: Option<ApiModel>) {
        self.model.set(model);
        self.answers.forget_earlier();
    }

    /// Returns what the worker must do now. `new_id` returns an id that no text has.
    pub fn requests(&mut self, mut new_id: impl FnMut() -> GenerationId) -> Vec<Request> {
        self.take_asked();
        for refused in self.refused.try_iter() {
            self.answers.list(refused);
        }
        let templates = self.templates.try_iter();
        let renderings = &mut self.renderings;
        let mut requests: Vec<Request> = templates
            .map(|asked| renderings.begin(new_id(), asked))
            .collect();
        requests.extend(self.answers.requests(&self.model, &mut new_id));
        requests
    }

    /// Returns the requests that are open, in the order in which they arrived.
    pub fn open_requests(&self) -> Vec<OpenRequest> {
        self.answers.open_requests()
    }

    /// Returns the texts that are being written.
    pub fn unfinished(&self) -> Vec<GenerationId> {
        self.answers.unfinished()
    }

    fn take_asked(&mut self) {
        for asked in self.asked.try_iter() {
            self.answers.push(asked);
        }
    }

    /// Passes on what the worker reports. Returns whether it is about a request of a program.
    pub fn note(&mut self, progress: &Progress) -> bool {
        self.renderings.note(progress) || self.answers.note(progress)
    }

    /// Returns the requests that were answered or refused since the last call, in that order.
    pub fn take_answered(&mut self) -> Vec<AnsweredRequest> {
        self.answers.take_done()
    }

    /// Returns whether no request is open.
    pub fn is_idle(&self) -> bool {
        self.answers.is_idle() && self.renderings.is_empty()
    }

    /// Refuses the requests that have not begun, because the endpoint is about to close.
    pub fn refuse_waiting(&mut self) {
        self.take_asked();
        // Their programs are told that the endpoint is closed.
        self.templates.try_iter().for_each(drop);
        let closing = ApiError::refused(503, "The endpoint was closed");
        self.answers.refuse_waiting(&closing);
    }

    /// Ends all open requests with an error, because the worker is gone.
    pub fn fail(&mut self, error: &str) {
        self.renderings.clear();
        self.answers.fail(error);
    }
}
