//! Requests for the Hub's lists, which are JSON. hf-hub would read such a response to the end,
//! however long it is. Here it is read up to a limit, and the body of a refusal is not read at all,
//! because the Hub explains the refusal in its headers.

use std::time::Duration;

use hf_hub::{HFError, HFResult};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

use super::call::ProgressListener;

/// The largest JSON response to read, in bytes. A search that lists all files of large repositories
/// takes a few megabytes.
const N_MAX_JSON_BYTES: usize = 32 << 20;

/// Why a call failed.
#[derive(Debug)]
pub(super) enum CallError {
    /// hf-hub or reqwest reported an error.
    Hub(HFError),
    /// The server refused a request for JSON.
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
}

impl<E: Into<HFError>> From<E> for CallError {
    fn from(error: E) -> Self {
        Self::Hub(error.into())
    }
}

/// A client for the JSON of one endpoint. Cloning it shares its connections.
#[derive(Debug, Clone)]
pub(super) struct JsonClient {
    client: Client,
    endpoint: Url,
    token: Option<String>,
}

impl JsonClient {
    /// Sets up the client. `endpoint` is a URL.
    pub(super) fn new(client: Client, endpoint: &str, token: Option<String>) -> HFResult<Self> {
        Ok(Self {
            client,
            endpoint: Url::parse(endpoint)?,
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
        self.send(self.client.get(url), listener).await
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
        self.send(request.body(body.to_string()), listener).await
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.endpoint.clone();
        // An endpoint that can't have a path fails as soon as it is requested.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        url
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        listener: &ProgressListener,
    ) -> Result<T, CallError> {
        let request = match &self.token {
            // A redirect to another host drops the token.
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let response = request.send().await?;
        if !response.status().is_success() {
            return Err(refusal(&response));
        }
        let body = read(response, listener).await?;
        serde_json::from_slice(&body).map_err(|error| CallError::Unexpected(error.to_string()))
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

/// Reads a body. Fails if it is too long.
async fn read(mut response: Response, listener: &ProgressListener) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > N_MAX_JSON_BYTES {
            let n_max = N_MAX_JSON_BYTES >> 20;
            return Err(CallError::Unexpected(format!(
                "more than {n_max} MiB of JSON"
            )));
        }
        body.extend_from_slice(&chunk);
        listener.received(body.len() as u64);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::JsonClient;

    #[test]
    fn a_path_is_encoded_and_follows_that_of_the_endpoint() {
        let url = |endpoint, path| {
            let client = JsonClient::new(reqwest::Client::new(), endpoint, None).unwrap();
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
