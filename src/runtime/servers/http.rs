//! Requests to a server: they can be stopped at any moment, are limited in size, and fail with a
//! message for the user.

use std::pin::pin;
use std::time::{Duration, Instant};

use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::error::Broken;
use super::events::{EventReader, N_MAX_EVENT_BYTES, Received};
use super::patience::Patience;
use super::peer::Peer;
use super::{KeySource, ServerConfig, ServerError, StopFlag};

/// How often a waiting request checks whether it should stop.
const TICK: Duration = Duration::from_millis(50);

/// How much of an error's text is read.
const N_MAX_ERROR_BYTES: usize = 1 << 16;

/// How many times a refused request is retried, and the longest wait before a retry.
const N_RETRIES: u32 = 3;
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// A client for one server. It is shared by all panes, whose requests run at the same time.
#[derive(Debug)]
pub(super) struct Http {
    client: Client,
    /// Where requests run, so that they can be dropped.
    runtime: Runtime,
    /// The address without a trailing slash.
    root: String,
    timeout: Duration,
    pub peer: Peer,
}

impl Http {
    /// Sets up the client. Does not use the network.
    pub(super) fn new(config: &ServerConfig) -> Result<Self, ServerError> {
        let (root, url) = root_of(&config.address)?;
        let unusable = |reason: String| ServerError::Unusable { reason };
        let mut builder = Client::builder()
            .user_agent(concat!("quartet/", env!("CARGO_PKG_VERSION")))
            // A redirect could carry the prompt to another host.
            .redirect(redirect::Policy::none());
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let client = builder.build();
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("server-io")
            .enable_all()
            .build();
        let key = config.key.as_ref().map(KeySource::key).transpose()?;
        Ok(Self {
            client: client.map_err(|error| unusable(error.to_string()))?,
            runtime: runtime.map_err(|error| unusable(error.to_string()))?,
            root,
            timeout: config.timeout,
            peer: Peer {
                host: host_of(&url),
                key: key.filter(|key| !key.secret().is_empty()),
            },
        })
    }

    /// Sends a GET request for JSON.
    pub(super) fn get(&self, path: &str, stop: &StopFlag) -> Result<Value, Broken> {
        let mut patience = self.patience();
        let request = || self.client.get(self.url(path));
        let response = self.send(path, stop, &mut patience, request)?;
        self.json(response, stop, &mut patience)
    }

    /// Sends JSON and returns the JSON response.
    pub(super) fn post(&self, path: &str, body: &Value, stop: &StopFlag) -> Result<Value, Broken> {
        let mut patience = self.patience();
        let request = || self.post_request(path, body);
        let response = self.send(path, stop, &mut patience, request)?;
        self.json(response, stop, &mut patience)
    }

    /// Sends JSON and returns the response as a stream of JSON objects.
    pub(super) fn stream<'a>(
        &'a self,
        path: &str,
        body: &Value,
        stop: &'a StopFlag,
    ) -> Result<Stream<'a>, Broken> {
        let mut patience = self.patience();
        let request = || self.post_request(path, body);
        let response = self.send(path, stop, &mut patience, request)?;
        Ok(Stream {
            http: self,
            stop,
            response,
            patience,
            events: EventReader::new(&self.peer),
            fault: None,
            has_ended: false,
        })
    }

    fn patience(&self) -> Patience {
        Patience::new(self.timeout, Instant::now())
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.root)
    }

    fn post_request(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(self.url(path));
        let request = request.header(CONTENT_TYPE, "application/json");
        request.body(body.to_string())
    }

    /// Sends a request, and retries it until the server accepts or finally refuses it.
    fn send(
        &self,
        path: &str,
        stop: &StopFlag,
        patience: &mut Patience,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Response, Broken> {
        let mut n_failed = 0;
        loop {
            let request = match &self.peer.key {
                Some(key) => request().bearer_auth(key.secret()),
                None => request(),
            };
            let sent = self.wait(request.send(), stop, patience)?;
            let response = sent.map_err(|error| ServerError::transport(&error, &self.peer.host))?;
            if response.status().is_success() {
                return Ok(response);
            }
            let pause = pause_of(&response, n_failed).filter(|_| n_failed < N_RETRIES);
            let Some(pause) = pause else {
                return Err(self.refusal(response, path, stop, patience)?.into());
            };
            n_failed += 1;
            sleep(pause, stop)?;
            // The pause is the server's wish, so it does not count.
            patience.renew(Instant::now());
        }
    }

    /// Waits for a future. Fails if the request is stopped or has made no progress for too long.
    fn wait<T>(
        &self,
        future: impl Future<Output = T>,
        stop: &StopFlag,
        patience: &Patience,
    ) -> Result<T, Broken> {
        let mut future = pin!(future);
        loop {
            if stop.is_raised() {
                return Err(Broken::Stopped);
            }
            if patience.is_over(Instant::now()) {
                return Err(ServerError::timed_out(&self.peer.host, patience.limit()).into());
            }
            let ticked = async { timeout(TICK, &mut future).await };
            if let Ok(ready) = self.runtime.block_on(ticked) {
                return Ok(ready);
            }
        }
    }

    fn chunk(
        &self,
        response: &mut Response,
        stop: &StopFlag,
        patience: &Patience,
    ) -> Result<Option<Vec<u8>>, Broken> {
        let chunk = self.wait(response.chunk(), stop, patience)?;
        let lost = |error| match ServerError::transport(&error, &self.peer.host) {
            error @ ServerError::Untrusted { .. } => error,
            _ => self.peer.lost(),
        };
        Ok(chunk.map_err(lost)?.map(|bytes| bytes.to_vec()))
    }

    fn json(
        &self,
        response: Response,
        stop: &StopFlag,
        patience: &mut Patience,
    ) -> Result<Value, Broken> {
        let body = self.body(response, N_MAX_EVENT_BYTES, stop, patience)?;
        Ok(self.peer.parsed(&body)?)
    }

    fn body(
        &self,
        mut response: Response,
        n_max: usize,
        stop: &StopFlag,
        patience: &mut Patience,
    ) -> Result<Vec<u8>, Broken> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(&mut response, stop, patience)? {
            patience.count(chunk.len(), Instant::now());
            body.extend_from_slice(&chunk);
            if body.len() > n_max {
                return Err(self.peer.too_large().into());
            }
        }
        Ok(body)
    }

    /// Returns why the server refused the request.
    fn refusal(
        &self,
        response: Response,
        path: &str,
        stop: &StopFlag,
        patience: &mut Patience,
    ) -> Result<ServerError, Broken> {
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name)?.to_str().ok();
        let seconds = header(RETRY_AFTER).and_then(|seconds| seconds.trim().parse().ok());
        let location = header(LOCATION).unwrap_or_default().to_owned();
        let host = self.peer.host.clone();
        Ok(match status {
            300..=399 => ServerError::Redirected { host, location },
            401 | 403 if self.peer.key.is_some() => ServerError::KeyRefused { host, status },
            401 | 403 => ServerError::KeyNeeded { host, status },
            429 => ServerError::RateLimited { host, seconds },
            _ => {
                // The body only explains the status, so it may be missing.
                let body = match self.body(response, N_MAX_ERROR_BYTES, stop, patience) {
                    Err(Broken::Stopped) => return Err(Broken::Stopped),
                    body => body.unwrap_or_default(),
                };
                let reason = self.peer.reason(&body);
                match status {
                    404 | 405 => ServerError::NotFound {
                        host,
                        path: path.to_owned(),
                        reason,
                    },
                    503 => ServerError::NotReady { host, reason },
                    500.. => ServerError::ServerFailed {
                        host,
                        status,
                        reason,
                    },
                    _ => ServerError::Refused {
                        host,
                        status,
                        reason,
                    },
                }
            }
        })
    }
}

/// A streamed response. Dropping it closes the connection.
pub(super) struct Stream<'a> {
    http: &'a Http,
    stop: &'a StopFlag,
    response: Response,
    patience: Patience,
    events: EventReader<'a>,
    /// Why the last bytes could not be read.
    fault: Option<ServerError>,
    has_ended: bool,
}

impl Stream<'_> {
    /// Waits for the next object. Returns `None` if the connection has closed.
    pub(super) fn next(&mut self) -> Result<Option<Received>, Broken> {
        loop {
            if let Some(received) = self.events.next() {
                return Ok(Some(received));
            }
            // What arrived before a faulty event is read first.
            if let Some(error) = self.fault.take() {
                return Err(error.into());
            }
            if self.has_ended {
                return Ok(None);
            }
            let chunk = self
                .http
                .chunk(&mut self.response, self.stop, &self.patience)?;
            self.has_ended = chunk.is_none();
            let read = match chunk {
                Some(bytes) => self.events.push(&bytes),
                None => self.events.close(),
            };
            self.fault = read.err();
        }
    }

    /// Notes that a token has arrived. Nothing else extends the time limit.
    pub(super) fn progressed(&mut self) {
        self.patience.renew(Instant::now());
    }
}

/// Waits before a request is retried. Fails if it is stopped.
fn sleep(pause: Duration, stop: &StopFlag) -> Result<(), Broken> {
    let until = Instant::now() + pause;
    while !stop.is_raised() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(TICK));
    }
    Err(Broken::Stopped)
}

/// Returns how long to wait before the request is retried, or `None` if it should not be.
fn pause_of(response: &Response, n_failed: u32) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER);
    let seconds = seconds.and_then(|seconds| seconds.to_str().ok()?.trim().parse().ok());
    let named = seconds.map(Duration::from_secs);
    let doubled = Duration::from_secs(1) * 2_u32.saturating_pow(n_failed);
    let pause = match response.status().as_u16() {
        429 => Some(named.unwrap_or(doubled)),
        503 => named,
        _ => None,
    };
    pause.filter(|pause| *pause <= LONGEST_WAIT)
}

/// Returns a typed address with its scheme and without a trailing slash. Fails if it is not the
/// address of a server or contains a key.
pub fn server_address(typed: &str) -> Result<String, ServerError> {
    let (address, _) = parsed(typed)?;
    Ok(address.trim_end_matches('/').to_owned())
}

/// Returns the address without the path of an API, and the parsed URL.
fn root_of(address: &str) -> Result<(String, Url), ServerError> {
    let (_, url) = parsed(address)?;
    let root = url.as_str().trim_end_matches('/');
    let root = root.strip_suffix("/v1").unwrap_or(root);
    Ok((root.trim_end_matches('/').to_owned(), url))
}

/// Returns the address with its scheme, and the parsed URL.
fn parsed(address: &str) -> Result<(String, Url), ServerError> {
    let malformed = || ServerError::AddressMalformed {
        address: address.to_owned(),
    };
    let typed = address.trim();
    let named = if typed.contains("://") {
        typed.to_owned()
    } else {
        format!("http://{typed}")
    };
    let url = Url::parse(&named).map_err(|_invalid| malformed())?;
    let is_http = matches!(url.scheme(), "http" | "https");
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(ServerError::KeyInAddress);
    }
    if !is_http || url.host_str().is_none() {
        return Err(malformed());
    }
    Ok((named, url))
}

fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::root_of;

    #[test]
    fn an_address_is_read_with_or_without_scheme_and_version() {
        for (address, root) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("http://localhost:11434/v1/", "http://localhost:11434"),
            ("https://host.example/api/v1", "https://host.example/api"),
        ] {
            assert_eq!(root_of(address).unwrap().0, root);
        }
        for address in [
            "",
            "ftp://a",
            "http://",
            "http://user:key@host",
            "http://a?key=b",
        ] {
            assert!(root_of(address).is_err(), "{address}");
        }
    }
}
