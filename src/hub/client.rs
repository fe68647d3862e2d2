//! The connection to the Hub: endpoint, token, cache folder, timeouts and retries.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hf_hub::{HFClient, HFRepository, RepoTypeModel};
use tokio::runtime::{Builder, Runtime};

use super::HubError;
use super::call::Limits;
use super::error::Subject;
use super::json::JsonClient;
use super::partial::StartedDownloads;
use super::retry::{CallSpec, RetryPolicy};
use super::space::free_bytes;

/// How to reach the Hub. Unset fields come from the environment, as in other tools:
/// `HF_ENDPOINT`, `HF_HOME`, `HF_HUB_CACHE`, `HF_TOKEN` and the token saved by `hf auth login`.
#[derive(Debug, Clone)]
pub struct HubConfig {
    pub endpoint: Option<String>,
    pub cache_folder: Option<PathBuf>,
    /// The access token, needed for gated and private repositories.
    pub token: Option<String>,
    /// How long a server may send nothing before the call fails.
    pub timeout: Duration,
    /// The delay before the first retry; it doubles with every further retry.
    pub first_retry_delay: Duration,
    /// How many times a range is retried.
    pub n_retries: u32,
    /// The smallest and largest range to request, in bytes. Ranges are sized to take about four
    /// seconds; a lost connection costs at most one range.
    pub range_len: RangeInclusive<u64>,
    /// Returns the free disk space of a folder in bytes, if it is known.
    pub free_bytes: fn(&Path) -> Option<u64>,
}

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            endpoint: None,
            cache_folder: None,
            token: None,
            timeout: Duration::from_secs(30),
            first_retry_delay: Duration::from_secs(1),
            n_retries: 5,
            range_len: 1 << 20..=1 << 27,
            free_bytes,
        }
    }
}

/// Looks up an environment variable. Returns `None` if it is unset.
type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Returns the folder that holds downloaded models, without setting up a client.
pub fn cache_folder() -> Option<PathBuf> {
    cache_folder_from(&|name| env::var_os(name))
}

fn cache_folder_from(variables: Variables<'_>) -> Option<PathBuf> {
    let named = |name| variables(name).map(PathBuf::from);
    named("HF_HUB_CACHE")
        .or_else(|| named("HUGGINGFACE_HUB_CACHE"))
        .or_else(|| Some(home_from(variables)?.join("hub")))
}

/// Returns the folder that all Hugging Face tools share.
fn home_from(variables: Variables<'_>) -> Option<PathBuf> {
    let named = |name| variables(name).map(PathBuf::from);
    let cache = || named("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
    named("HF_HOME").or_else(|| Some(cache()?.join("huggingface")))
}

/// Returns the access token from the environment, or the one saved by `hf auth login`.
fn token_from(variables: Variables<'_>) -> Option<String> {
    let named = |name| variables(name).filter(|value| !value.is_empty());
    if named("HF_HUB_DISABLE_IMPLICIT_TOKEN").is_some() {
        return None;
    }
    if let Some(token) = named("HF_TOKEN") {
        return token.into_string().ok();
    }
    let saved = |path: PathBuf| {
        let token = fs::read_to_string(path).ok()?;
        let token = token.trim();
        (!token.is_empty()).then(|| token.to_owned())
    };
    named("HF_TOKEN_PATH")
        .and_then(|path| saved(PathBuf::from(path)))
        .or_else(|| saved(home_from(variables)?.join("token")))
}

/// A client for the Hub and its local cache folder.
#[derive(Debug, Clone)]
pub struct Hub {
    pub(super) client: HFClient,
    pub(super) json: JsonClient,
    /// Where requests run, so that they can be aborted.
    pub(super) runtime: Arc<Runtime>,
    pub(super) config: HubConfig,
    pub(super) started_downloads: StartedDownloads,
    endpoint: String,
    cache_folder: PathBuf,
}

impl Hub {
    /// Sets up the client. Does not use the network.
    pub fn open(config: HubConfig) -> Result<Self, HubError> {
        let unusable = |reason: String| HubError::Unusable { reason };
        let user_agent = concat!("quartet/", env!("CARGO_PKG_VERSION"));
        let http = reqwest::Client::builder().user_agent(user_agent).build();
        let http = http.map_err(|error| unusable(error.to_string()))?;
        let mut builder = HFClient::builder()
            .client(http.clone())
            .user_agent(user_agent)
            // We retry ourselves, so that the wait can be shown and cancelled.
            .retry_max_attempts(0);
        if let Some(endpoint) = &config.endpoint {
            builder = builder.endpoint(endpoint);
        }
        if let Some(folder) = config.cache_folder.clone().or_else(cache_folder) {
            builder = builder.cache_dir(folder);
        }
        let token = config.token.clone();
        let token = token.or_else(|| token_from(&|name| env::var_os(name)));
        if let Some(token) = &token {
            builder = builder.token(token);
        }
        let client = builder
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        let endpoint = client.endpoint().to_owned();
        let json = JsonClient::new(http, &endpoint, token);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("hub")
            .enable_all()
            .build();
        Ok(Self {
            cache_folder: client.cache_dir().to_owned(),
            client,
            json: json.map_err(|error| unusable(error.to_string()))?,
            runtime: Arc::new(runtime.map_err(|error| unusable(error.to_string()))?),
            config,
            started_downloads: StartedDownloads::default(),
            endpoint,
        })
    }

    /// Returns the folder that holds the downloaded files.
    pub fn cache_folder(&self) -> &Path {
        &self.cache_folder
    }

    /// Describes what a call is about, for its error message.
    pub(super) fn subject(&self, repository: &str, file: &str) -> Subject {
        Subject {
            endpoint: self.endpoint.clone(),
            repository: repository.to_owned(),
            file: file.to_owned(),
        }
    }

    /// Describes an API call, which transfers no file.
    pub(super) fn call_spec(&self, repository: &str, retry_policy: RetryPolicy) -> CallSpec {
        CallSpec {
            subject: self.subject(repository, ""),
            limits: Limits::default(),
            retry_policy,
        }
    }

    /// Returns hf-hub's handle for a repository.
    pub(super) fn model(&self, name: &str) -> HFRepository<RepoTypeModel> {
        let (owner, name) = hf_hub::split_id(name);
        self.client.model(owner, name)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;

    use super::{Hub, HubConfig, cache_folder, cache_folder_from, token_from};

    #[test]
    fn the_folder_is_known_without_a_client() {
        let hub = Hub::open(HubConfig::default()).unwrap();
        assert_eq!(cache_folder().as_deref(), Some(hub.cache_folder()));
    }

    /// Stands in for the environment.
    fn variables<'a>(
        set: &'a [(&'a str, &'a Path)],
    ) -> impl Fn(&str) -> Option<OsString> + use<'a> {
        move |name| {
            let mut found = set.iter().filter(|(known, _)| *known == name);
            found.next().map(|(_, value)| value.as_os_str().to_owned())
        }
    }

    #[test]
    fn the_folder_comes_from_the_most_specific_variable() {
        let [a, b, c, d] = ["a", "b", "c", "d"].map(Path::new);
        let all = [
            ("HF_HUB_CACHE", a),
            ("HUGGINGFACE_HUB_CACHE", b),
            ("HF_HOME", c),
            ("XDG_CACHE_HOME", d),
        ];
        let folders = ["a", "b", "c/hub", "d/huggingface/hub"];
        for (n_unset, folder) in folders.into_iter().enumerate() {
            let found = cache_folder_from(&variables(&all[n_unset..]));
            assert_eq!(found.as_deref(), Some(Path::new(folder)));
        }
        let found = cache_folder_from(&variables(&[])).unwrap();
        assert!(found.ends_with(".cache/huggingface/hub"), "{found:?}");
    }

    #[test]
    fn the_token_comes_from_a_variable_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("another");
        let token = |set: &[_]| token_from(&variables(set));
        let home = ("HF_HOME", folder.path());
        assert_eq!(token(&[home]), None);
        fs::write(folder.path().join("token"), "hf_saved\n").unwrap();
        fs::write(&file, "hf_another").unwrap();
        assert_eq!(token(&[home]).as_deref(), Some("hf_saved"));
        let named = ("HF_TOKEN_PATH", file.as_path());
        assert_eq!(token(&[home, named]).as_deref(), Some("hf_another"));
        let given = ("HF_TOKEN", Path::new("hf_given"));
        assert_eq!(token(&[home, named, given]).as_deref(), Some("hf_given"));
        let disabled = ("HF_HUB_DISABLE_IMPLICIT_TOKEN", Path::new("1"));
        assert_eq!(token(&[home, named, given, disabled]), None);
    }
}
