//! Requests to the Hub over HTTP, and nothing else: no Xet client, no telemetry, no request that the
//! user did not ask for. A response is read up to a limit, and the body of a refusal is not read at
//! all, because the Hub explains the refusal in its headers.
//!
//! Xet-backed files come from the same `resolve` address as all others, by a redirect to a signed
//! link. A redirect to another host, port or scheme drops the token.

use std::ops::Range;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RANGE, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;

use super::call::ProgressListener;
use crate::json_words::json_words;

/// The largest JSON response to read, in bytes. A search that lists all files of large repositories
/// takes a few megabytes.
const N_MAX_JSON_BYTES: usize = 32 << 20;

/// Why a call failed.
#[derive(Debug)]
pub(super) enum CallError {
    /// The request could not be sent, or the response broke off.
    Transport(reqwest::Error),
    /// The server refused the request.
    Refused {
        status: u16,
        /// The Hub's reason, such as `GatedRepo`.
        code: Option<String>,
        /// The address that refused it, which a redirect may have changed.
        url: String,
        retry_after: Option<Duration>,
    },
    /// The response does not follow the Hub's API.
    Unexpected(String),
    /// The response is shorter than the requested range.
    Truncated,
    /// The response is not the requested range.
    RangeIgnored,
}

impl From<reqwest::Error> for CallError {
    fn from(error: reqwest::Error) -> Self {
        Self::Transport(error)
    }
}

/// Where a file is on the Hub.
#[derive(Debug, Clone)]
pub(super) struct FileAddress {
    /// The repository, as OWNER/NAME.
    pub repository: String,
    pub commit: String,
    /// The path in the repository.
    pub path: String,
}

/// A client for one endpoint. Cloning it shares its connections.
#[derive(Debug, Clone)]
pub(super) struct HttpClient {
    client: Client,
    endpoint: Url,
    token: Option<String>,
}

impl HttpClient {
    /// Sets up the client. `endpoint` is a URL.
    pub(super) fn new(
        endpoint: &str,
        token: Option<String>,
        user_agent: &str,
    ) -> Result<Self, String> {
        let client = Client::builder()
            .user_agent(user_agent)
            // A redirect would tell the next host which file was asked for.
            .referer(false)
            .build();
        Ok(Self {
            client: client.map_err(|error| error.to_string())?,
            endpoint: Url::parse(endpoint).map_err(|error| error.to_string())?,
            token,
        })
    }

    /// Sends a GET request. `path` and `query` are encoded here.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        listener: &ProgressListener,
    ) -> Result<T, CallError> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        json(self.send(self.client.get(url)).await?, listener).await
    }

    /// Sends a POST request with a JSON body.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &serde_json::Value,
        listener: &ProgressListener,
    ) -> Result<T, CallError> {
        let request = self.client.post(self.url(path));
        let request = request.header(CONTENT_TYPE, "application/json");
        json(self.send(request.body(body.to_string())).await?, listener).await
    }

    /// Downloads exactly this range of a file.
    pub(super) async fn range(
        &self,
        file: &FileAddress,
        range: Range<u64>,
        listener: &ProgressListener,
    ) -> Result<Vec<u8>, CallError> {
        let FileAddress {
            repository,
            commit,
            path,
        } = file;
        let url = self.url(&format!("{repository}/resolve/{commit}/{path}"));
        let last = range.end.saturating_sub(1);
        let request = self.client.get(url);
        let request = request.header(RANGE, format!("bytes={}-{last}", range.start));
        let response = self.send(request).await?;
        // A server without range requests sends the file from its start.
        if response.status() != StatusCode::PARTIAL_CONTENT && range.start > 0 {
            return Err(CallError::RangeIgnored);
        }
        let n_asked = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let body = read(response, n_asked, listener).await?;
        match body {
            None => Err(CallError::RangeIgnored),
            Some(body) if body.len() < n_asked => Err(CallError::Truncated),
            Some(body) => Ok(body),
        }
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.endpoint.clone();
        // An endpoint that can't have a path fails as soon as it is requested.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        url
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, CallError> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let response = request.send().await?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(refusal(&response))
        }
    }
}

fn refusal(response: &Response) -> CallError {
    let header = |name: &str| response.headers().get(name)?.to_str().ok();
    let seconds = header(RETRY_AFTER.as_str()).and_then(|seconds| seconds.trim().parse().ok());
    CallError::Refused {
        status: response.status().as_u16(),
        code: header("x-error-code").map(str::to_owned),
        url: response.url().to_string(),
        retry_after: seconds.map(Duration::from_secs),
    }
}

async fn json<T: DeserializeOwned>(
    response: Response,
    listener: &ProgressListener,
) -> Result<T, CallError> {
    let Some(body) = read(response, N_MAX_JSON_BYTES, listener).await? else {
        let n_max = N_MAX_JSON_BYTES >> 20;
        return Err(CallError::Unexpected(format!(
            "more than {n_max} MiB of JSON"
        )));
    };
    serde_json::from_slice(&body).map_err(|error| CallError::Unexpected(json_words(&error)))
}

/// Reads a body. Returns `None` if it is longer than `n_max` bytes.
async fn read(
    mut response: Response,
    n_max: usize,
    listener: &ProgressListener,
) -> Result<Option<Vec<u8>>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > n_max {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
        listener.received(body.len() as u64);
    }
    Ok(Some(body))
}

#[cfg(test)]
mod tests {
    use super::HttpClient;

    #[test]
    fn a_path_is_encoded_and_follows_that_of_the_endpoint() {
        let url = |endpoint, path| {
            let client = HttpClient::new(endpoint, None, "quartet").unwrap();
            client.url(path).to_string()
        };
        assert_eq!(
            url("https://hub.example", "api/models/a/b c#1"),
            "https://hub.example/api/models/a/b%20c%231"
        );
        assert_eq!(
            url("https://hub.example/hf/", "api/models"),
            "https://hub.example/hf/api/models"
        );
    }
}
