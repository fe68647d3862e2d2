//! What each path answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;
use tokio::sync::mpsc::Receiver;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::answering::{AnsweredRequest, Outcome};
use super::asked::{Asked, Reply, ReplySender};
use super::client::Client;
use super::guard;
use super::limits::{MAX_OPEN_REQUESTS, MAX_WRITING_TEXTS, RETRY_AFTER_SECS};
use super::parts::{ResponseBody, read_body};
use super::rendering::AskedTemplate;
use super::served::ServedModel;
use crate::interop::api::{
    ApiError, Endpoint, TextRequest, detokenize, health, models, props, template_request, tokenize,
};

/// What a path is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Health,
    Models,
    Props,
    Tokenize,
    Detokenize,
    ApplyTemplate,
    Texts(Endpoint),
}

impl Route {
    /// Returns what a path is for, if it is for anything.
    fn of(path: &str) -> Option<Self> {
        match path {
            "/health" | "/v1/health" => Some(Self::Health),
            "/v1/models" | "/models" => Some(Self::Models),
            "/props" => Some(Self::Props),
            "/tokenize" => Some(Self::Tokenize),
            "/detokenize" => Some(Self::Detokenize),
            "/apply-template" => Some(Self::ApplyTemplate),
            _ => Endpoint::of_path(path).map(Self::Texts),
        }
    }

    const fn method(self) -> Method {
        match self {
            Self::Health | Self::Models | Self::Props => Method::GET,
            Self::Tokenize | Self::Detokenize | Self::ApplyTemplate | Self::Texts(_) => {
                Method::POST
            }
        }
    }

    /// Returns whether its errors have llama-server’s form.
    const fn is_llama_form(self) -> bool {
        match self {
            Self::Props | Self::Tokenize | Self::Detokenize | Self::ApplyTemplate => true,
            Self::Texts(endpoint) => endpoint.is_llama_form(),
            Self::Health | Self::Models => false,
        }
    }
}

/// Answers requests: what can be said at once, and for texts what the owner of the worker sends.
pub(super) struct Routes {
    port: u16,
    model: ServedModel,
    senders: Senders,
    /// How many requests have arrived.
    n_requests: AtomicU64,
    /// A permit for each request that may be open.
    open: Arc<Semaphore>,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// What the owner of the worker receives.
pub(super) struct Senders {
    pub asked: SyncSender<Asked>,
    pub templates: SyncSender<AskedTemplate>,
    pub refused: SyncSender<AnsweredRequest>,
}

/// Wakes the owner of the worker when it is dropped: perhaps nobody is waiting for the answer any longer.
struct WakeOnDrop<'a>(&'a Routes);

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        (self.0.wake)();
    }
}

impl Routes {
    pub(super) fn new(
        port: u16,
        model: ServedModel,
        senders: Senders,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self {
            port,
            model,
            senders,
            n_requests: AtomicU64::new(0),
            open: Arc::new(Semaphore::new(MAX_OPEN_REQUESTS)),
            wake,
        }
    }

    /// Answers a request. Refusals are listed.
    pub(super) async fn respond(&self, request: Request<Incoming>) -> Response<ResponseBody> {
        let (head, body) = request.into_parts();
        let number = 1 + self.n_requests.fetch_add(1, Ordering::Relaxed);
        let client = Client::of(&head, number);
        let route = Route::of(head.uri.path());
        let is_llama_form = route.is_some_and(Route::is_llama_form);
        let answer = match guard::check(&head, self.port) {
            Ok(()) => self.answer(route, &head, &client, body).await,
            Err(error) => Err(error),
        };
        answer.unwrap_or_else(|error| {
            self.list_refusal(client, error.clone());
            error_response(&error, is_llama_form)
        })
    }

    /// Returns the response. An error of the engine is one, because it is listed with the request.
    async fn answer(
        &self,
        route: Option<Route>,
        head: &Parts,
        client: &Client,
        body: Incoming,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let Some(route) = route else {
            let message = "There is nothing here; programs use the address that ends in /v1";
            return Err(ApiError::refused(404, message));
        };
        let (path, method) = (head.uri.path(), route.method());
        if head.method != method {
            let message = format!("{path} takes {method} requests only");
            return Err(ApiError::refused(405, message));
        }
        let model = self.model.get()?;
        match route {
            Route::Health => Ok(json_response(StatusCode::OK, &health())),
            Route::Models => Ok(json_response(StatusCode::OK, &models(&model))),
            Route::Props => {
                let props = props(&model, MAX_WRITING_TEXTS);
                Ok(json_response(StatusCode::OK, &props))
            }
            Route::Tokenize => at_once(body, move |json| tokenize(json, &model)).await,
            Route::Detokenize => at_once(body, move |json| detokenize(json, &model)).await,
            Route::ApplyTemplate => self.template(body).await,
            Route::Texts(endpoint) => self.texts(endpoint, client, body).await,
        }
    }

    /// Lets a chat be rendered, or returns why it can't be.
    async fn template(&self, body: Incoming) -> Result<Response<ResponseBody>, ApiError> {
        let chat = read(body, template_request).await?;
        let (reply, replies) = ReplySender::new(self.permit()?);
        let asked = AskedTemplate { chat, reply };
        let sent = self.senders.templates.try_send(asked);
        sent.map_err(|_closed| closed())?;
        (self.wake)();
        Ok(answered(replies, true).await)
    }

    /// Lets texts be written, or returns why they can't be.
    async fn texts(
        &self,
        endpoint: Endpoint,
        client: &Client,
        body: Incoming,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let json = read_body(body).await?;
        // It may have been replaced while the body arrived.
        let model = self.model.get()?;
        let of_model = Arc::clone(&model);
        let request = off_thread(move || TextRequest::read(endpoint, &json, &of_model)).await?;
        let (reply, replies) = ReplySender::new(self.permit()?);
        let asked = Asked {
            client: client.clone(),
            request,
            model,
            reply,
        };
        self.senders
            .asked
            .try_send(asked)
            .map_err(|_closed| closed())?;
        (self.wake)();
        let _wake = WakeOnDrop(self);
        Ok(answered(replies, endpoint.is_llama_form()).await)
    }

    /// Lets a request be open, unless too many are.
    fn permit(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let is_full = |_none_left| {
            let message = format!("{MAX_OPEN_REQUESTS} requests are open already; try again later");
            ApiError::refused(429, message)
        };
        Arc::clone(&self.open).try_acquire_owned().map_err(is_full)
    }

    fn list_refusal(&self, client: Client, error: ApiError) {
        let refused = AnsweredRequest {
            client,
            asked: String::new(),
            notes: Vec::new(),
            outcome: Outcome::Refused(error),
        };
        // Under a flood of them, not every one is listed.
        self.senders.refused.try_send(refused).ok();
        (self.wake)();
    }
}

/// Waits for the answer, or for the beginning of a stream.
async fn answered(mut replies: Receiver<Reply>, is_llama_form: bool) -> Response<ResponseBody> {
    match replies.recv().await {
        Some(Reply::Whole(Ok(json))) => json_response(StatusCode::OK, &json),
        Some(Reply::Whole(Err(error))) => error_response(&error, is_llama_form),
        Some(Reply::Begin | Reply::Part(_)) => {
            let mut response = Response::new(ResponseBody::Stream(replies));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        None => error_response(&closed(), is_llama_form),
    }
}

/// Answers with what this makes of the body.
async fn at_once(
    body: Incoming,
    answer: impl FnOnce(&[u8]) -> Result<Value, ApiError> + Send + 'static,
) -> Result<Response<ResponseBody>, ApiError> {
    let json = read(body, answer).await?;
    Ok(json_response(StatusCode::OK, &json))
}

/// Reads a body, and returns what this makes of it.
async fn read<T: Send + 'static>(
    body: Incoming,
    parse: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let json = read_body(body).await?;
    off_thread(move || parse(&json)).await
}

/// Runs what takes a while, such as reading a grammar or tokenizing, beside the connections.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let failed = |_panicked| ApiError::failed("The request could not be read");
    spawn_blocking(work).await.map_err(failed)?
}

fn closed() -> ApiError {
    ApiError::refused(503, "The endpoint was closed")
}

fn json_response(status: StatusCode, json: &Value) -> Response<ResponseBody> {
    let bytes = Bytes::from(json.to_string());
    let mut response = Response::new(ResponseBody::Whole(Some(bytes)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn error_response(error: &ApiError, is_llama_form: bool) -> Response<ResponseBody> {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(status, &error.body(is_llama_form));
    let headers = response.headers_mut();
    match status {
        StatusCode::TOO_MANY_REQUESTS => {
            headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECS));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static("GET, POST"));
        }
        _ => {}
    }
    response
}
