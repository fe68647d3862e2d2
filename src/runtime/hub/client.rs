//! The connection to the Hub: endpoint, token, cache folder, timeouts and retries.

use std::env;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::environment::{self, Barrier, Variables};
use super::error::Subject;
use super::http::HttpClient;
use super::links::Links;
use super::partial::StartedDownloads;
use super::proxy::Proxy;
use super::retry::{CallSpec, RetryPolicy};
use super::space::free_bytes;
use super::{HubError, Openable};

/// How to reach the Hub. Unset fields come from the environment, as in other tools: `HF_ENDPOINT`,
/// `HF_HOME`, `HF_HUB_CACHE`, `HF_HUB_DOWNLOAD_TIMEOUT`, `HF_TOKEN` and the token saved by
/// `hf auth login`. `HF_HUB_OFFLINE` rules out all requests.
#[derive(Debug, Clone)]
pub struct HubConfig {
    pub endpoint: Option<String>,
    pub cache_folder: Option<PathBuf>,
    /// The access token, needed for gated and private repositories.
    pub token: Option<String>,
    /// How long a server may send nothing before a call fails; 30 seconds if nothing sets it.
    pub timeout: Option<Duration>,
    /// The delay before the first retry; it doubles with every further retry.
    pub first_retry_delay: Duration,
    /// How many times a range is retried.
    pub n_retries: u32,
    /// The smallest and largest range to request, in bytes. Ranges are sized to take about four
    /// seconds; a lost connection costs at most one range.
    pub range_len: RangeInclusive<u64>,
    /// What opens. What certainly doesn't is not downloaded.
    pub openable: Openable,
    /// How the files of a commit refer to their contents.
    pub links: Links,
    /// Returns the free disk space of a folder in bytes, if it is known.
    pub free_bytes: fn(&Path) -> Option<u64>,
    /// Waits before a retry. It is called repeatedly, with times that add up to the delay.
    pub sleep: fn(Duration),
}

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            endpoint: None,
            cache_folder: None,
            token: None,
            timeout: None,
            first_retry_delay: Duration::from_secs(1),
            n_retries: 5,
            range_len: 1 << 20..=1 << 27,
            openable: Openable::default(),
            links: Links::default(),
            free_bytes,
            sleep: thread::sleep,
        }
    }
}

/// Returns the folder that holds downloaded models, without setting up a client.
pub fn cache_folder() -> Option<PathBuf> {
    environment::cache_folder(&|name| env::var_os(name))
}

/// How long a server may send nothing before a call fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// While a file is downloaded, or models are searched.
    pub download: Duration,
    /// While the files of a model are listed.
    pub metadata: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            download: Duration::from_secs(30),
            metadata: Duration::from_secs(30),
        }
    }
}

/// A client for the Hub and its local cache folder.
#[derive(Debug, Clone)]
pub struct Hub {
    /// The client, or why the environment rules out any request.
    http: Result<HttpClient, Barrier>,
    /// Where requests run, so that they can be aborted.
    pub(super) runtime: Arc<Runtime>,
    pub(super) config: HubConfig,
    pub(super) started_downloads: StartedDownloads,
    pub(super) timeouts: Timeouts,
    endpoint: String,
    proxy: Option<Proxy>,
    cache_folder: PathBuf,
}

impl Hub {
    /// Sets up the client. Does not use the network.
    pub fn open(config: HubConfig) -> Result<Self, HubError> {
        let unusable = |reason: String| HubError::Unusable { reason };
        let variables: Variables<'_> = &|name| env::var_os(name);
        let (http, timeouts, endpoint) = match Connection::read(&config, variables) {
            Ok(connection) => {
                let http = connection.client().map_err(unusable)?;
                (Ok(http), connection.timeouts, connection.endpoint)
            }
            Err(barrier) => (Err(barrier), Timeouts::default(), String::new()),
        };
        let folder = config.cache_folder.clone();
        let folder = folder.or_else(|| environment::cache_folder(variables));
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("hub")
            .enable_all()
            .build();
        Ok(Self {
            http,
            cache_folder: folder.ok_or_else(|| unusable("no home folder".to_owned()))?,
            runtime: Arc::new(runtime.map_err(|error| unusable(error.to_string()))?),
            config,
            started_downloads: StartedDownloads::default(),
            timeouts,
            proxy: Proxy::of(&endpoint, variables),
            endpoint,
        })
    }

    /// Returns the folder that holds the downloaded files.
    pub fn cache_folder(&self) -> &Path {
        &self.cache_folder
    }

    /// Returns the client, or the error for an environment that rules out any request.
    pub(super) fn http(&self) -> Result<&HttpClient, HubError> {
        self.http.as_ref().map_err(|barrier| barrier.clone().into())
    }

    /// Describes what a call is about, for its error message.
    pub(super) fn subject(&self, repository: &str, file: &str) -> Subject {
        Subject {
            endpoint: self.endpoint.clone(),
            repository: repository.to_owned(),
            file: file.to_owned(),
            proxy: self.proxy.clone(),
        }
    }

    /// Describes an API call, which transfers no file.
    pub(super) fn call_spec(
        &self,
        repository: &str,
        timeout: Duration,
        retry_policy: RetryPolicy,
    ) -> CallSpec {
        CallSpec {
            subject: self.subject(repository, ""),
            timeout,
            retry_policy,
        }
    }
}

/// How to reach the Hub, after the environment was read.
struct Connection {
    endpoint: String,
    token: Option<String>,
    user_agent: String,
    timeouts: Timeouts,
}

impl Connection {
    fn read(config: &HubConfig, variables: Variables<'_>) -> Result<Self, Barrier> {
        environment::check_online(variables)?;
        let timeouts = environment::timeouts(variables)?;
        let default = Timeouts::default();
        let mut user_agent = concat!("quartet/", env!("CARGO_PKG_VERSION")).to_owned();
        if let Some(origin) = environment::user_agent_origin(variables)? {
            user_agent.extend(["; origin/", &origin]);
        }
        Ok(Self {
            endpoint: match &config.endpoint {
                Some(endpoint) => endpoint.clone(),
                None => environment::endpoint(variables)?,
            },
            token: match &config.token {
                Some(token) => Some(token.clone()),
                None => environment::token(variables)?,
            },
            user_agent,
            timeouts: Timeouts {
                download: config
                    .timeout
                    .or(timeouts.download)
                    .unwrap_or(default.download),
                metadata: config
                    .timeout
                    .or(timeouts.metadata)
                    .unwrap_or(default.metadata),
            },
        })
    }

    fn client(&self) -> Result<HttpClient, String> {
        HttpClient::new(&self.endpoint, self.token.clone(), &self.user_agent)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hub, HubConfig, cache_folder};

    #[test]
    fn the_folder_is_known_without_a_client() {
        let hub = Hub::open(HubConfig::default()).unwrap();
        assert_eq!(cache_folder().as_deref(), Some(hub.cache_folder()));
    }
}
