//! What each path answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;
use tokio::task::spawn_blocking;

use super::answering::{AnsweredRequest, Outcome};
use super::asked::{Asked, Reply, ReplySender};
use super::client::Client;
use super::guard;
use super::limits::{MAX_OPEN_REQUESTS, RETRY_AFTER_SECS};
use super::parts::{ResponseBody, read_body};
use super::served::ServedModel;
use crate::interop::api::{ApiError, Endpoint, TextRequest, health, models};

/// What a path is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Health,
    Models,
    Texts(Endpoint),
}

/// Answers requests: what can be said at once, and for texts what the owner of the worker sends.
pub(super) struct Routes {
    port: u16,
    model: ServedModel,
    asked: SyncSender<Asked>,
    refused: SyncSender<AnsweredRequest>,
    /// How many requests have arrived.
    n_requests: AtomicU64,
    /// A permit for each request that may be open.
    open: Arc<Semaphore>,
    wake: Box<dyn Fn() + Send + Sync>,
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
        asked: SyncSender<Asked>,
        refused: SyncSender<AnsweredRequest>,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self {
            port,
            model,
            asked,
            refused,
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
        let route =
            guard::check(&head, self.port).and_then(|()| route(&head.method, head.uri.path()));
        let answer = match route {
            Ok(Route::Health) => {
                (self.model.get()).map(|_| json_response(StatusCode::OK, &health()))
            }
            Ok(Route::Models) => {
                (self.model.get()).map(|model| json_response(StatusCode::OK, &models(&model)))
            }
            Ok(Route::Texts(endpoint)) => self.texts(endpoint, &client, body).await,
            Err(error) => Err(error),
        };
        answer.unwrap_or_else(|error| {
            self.list_refusal(client, error.clone());
            error_response(&error)
        })
    }

    /// Lets texts be written, or returns why they can't be. An error of the engine is not returned,
    /// because it is listed with the request.
    async fn texts(
        &self,
        endpoint: Endpoint,
        client: &Client,
        body: Incoming,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let json = read_body(body).await?;
        let model = self.model.get()?;
        let of_model = Arc::clone(&model);
        // A grammar takes a while to be read.
        let read = spawn_blocking(move || TextRequest::read(endpoint, &json, &of_model));
        let failed = |_panicked| ApiError::failed("The request could not be read");
        let request = read.await.map_err(failed)??;
        let is_full = |_none_left| {
            let message = format!("{MAX_OPEN_REQUESTS} requests are open already; try again later");
            ApiError::refused(429, message)
        };
        let permit = Arc::clone(&self.open)
            .try_acquire_owned()
            .map_err(is_full)?;
        let (reply, replies) = ReplySender::new(permit);
        let asked = Asked {
            client: client.clone(),
            request,
            model,
            reply,
        };
        self.asked.try_send(asked).map_err(|_closed| closed())?;
        (self.wake)();
        let _wake = WakeOnDrop(self);
        Ok(answered(replies).await)
    }

    fn list_refusal(&self, client: Client, error: ApiError) {
        let refused = AnsweredRequest {
            client,
            asked: String::new(),
            notes: Vec::new(),
            outcome: Outcome::Refused(error),
        };
        // Under a flood of them, not every one is listed.
        self.refused.try_send(refused).ok();
        (self.wake)();
    }
}

/// Waits for the answer, or for the beginning of a stream.
async fn answered(mut replies: Receiver<Reply>) -> Response<ResponseBody> {
    match replies.recv().await {
        Some(Reply::Whole(Ok(json))) => json_response(StatusCode::OK, &json),
        Some(Reply::Whole(Err(error))) => error_response(&error),
        Some(Reply::Begin | Reply::Part(_)) => {
            let mut response = Response::new(ResponseBody::Stream(replies));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        None => error_response(&closed()),
    }
}

fn route(method: &Method, path: &str) -> Result<Route, ApiError> {
    let (route, allowed) = match path {
        "/health" | "/v1/health" => (Route::Health, Method::GET),
        "/v1/models" | "/models" => (Route::Models, Method::GET),
        "/v1/chat/completions" | "/chat/completions" => {
            (Route::Texts(Endpoint::ChatCompletions), Method::POST)
        }
        "/v1/completions" => (Route::Texts(Endpoint::Completions), Method::POST),
        _ => {
            let message = "There is nothing here; programs use the address that ends in /v1";
            return Err(ApiError::refused(404, message));
        }
    };
    if *method == allowed {
        Ok(route)
    } else {
        let message = format!("{path} takes {allowed} requests only");
        Err(ApiError::refused(405, message))
    }
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

fn error_response(error: &ApiError) -> Response<ResponseBody> {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(status, &error.to_json());
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
