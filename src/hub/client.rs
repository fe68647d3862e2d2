//! The connection to the Hub: endpoint, token, cache folder, timeouts and retries.

use std::env;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hf_hub::{HFClient, HFClientSync, HFRepositorySync, RepoTypeModel};

use super::HubError;
use super::call::Limits;
use super::error::Subject;
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
    /// How often the same range is retried.
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

/// The default folder of all Hugging Face tools, used if no environment variable sets a home.
/// hf-hub only looks at `HOME`, which is rarely set on Windows, and would use a different folder.
struct DefaultHome(PathBuf);

/// Returns the folder that holds downloaded models, without setting up a client.
pub fn cache_folder() -> Option<PathBuf> {
    let named = |variable: &str| env::var_os(variable).map(PathBuf::from);
    let home = || {
        let cache = named("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
        named("HF_HOME").or_else(|| Some(cache?.join("huggingface")))
    };
    named("HF_HUB_CACHE")
        .or_else(|| named("HUGGINGFACE_HUB_CACHE"))
        .or_else(|| Some(home()?.join("hub")))
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some()
}

/// Returns `None` if a variable is set from which hf-hub finds the folder itself.
fn home_unless_set(is_set: &dyn Fn(&str) -> bool) -> Option<DefaultHome> {
    if ["HF_HOME", "XDG_CACHE_HOME", "HOME"]
        .into_iter()
        .any(is_set)
    {
        return None;
    }
    let home = env::home_dir()?;
    Some(DefaultHome(home.join(".cache").join("huggingface")))
}

impl DefaultHome {
    fn cache_folder(&self, is_set: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        let named = ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"]
            .into_iter()
            .any(is_set);
        (!named).then(|| self.0.join("hub"))
    }

    /// Reads the token saved by `hf auth login`, unless a variable overrides it.
    fn token(&self, is_set: &dyn Fn(&str) -> bool) -> Option<String> {
        let variables = ["HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_DISABLE_IMPLICIT_TOKEN"];
        if variables.into_iter().any(is_set) {
            return None;
        }
        let token = fs::read_to_string(self.0.join("token")).ok()?;
        let token = token.trim();
        (!token.is_empty()).then(|| token.to_owned())
    }
}

/// A client for the Hub and its local cache folder.
#[derive(Debug, Clone)]
pub struct Hub {
    pub(super) client: HFClientSync,
    pub(super) config: HubConfig,
    pub(super) started_downloads: StartedDownloads,
    endpoint: String,
    cache_folder: PathBuf,
}

impl Hub {
    /// Sets up the client. Does not use the network.
    pub fn open(config: HubConfig) -> Result<Self, HubError> {
        let mut builder = HFClient::builder()
            .user_agent(concat!("quartet/", env!("CARGO_PKG_VERSION")))
            // We retry ourselves, so that the wait can be shown and cancelled.
            .retry_max_attempts(0);
        if let Some(endpoint) = &config.endpoint {
            builder = builder.endpoint(endpoint);
        }
        let home = home_unless_set(&is_set);
        let folder = config.cache_folder.clone();
        if let Some(folder) = folder.or_else(|| home.as_ref()?.cache_folder(&is_set)) {
            builder = builder.cache_dir(folder);
        }
        let token = config.token.clone();
        if let Some(token) = token.or_else(|| home.as_ref()?.token(&is_set)) {
            builder = builder.token(token);
        }
        let unusable = |error: hf_hub::HFError| HubError::Unusable {
            reason: error.to_string(),
        };
        let client = builder.build().map_err(unusable)?;
        let endpoint = client.endpoint().to_owned();
        let cache_folder = client.cache_dir().to_owned();
        let client = HFClientSync::from_inner(client).map_err(unusable)?;
        Ok(Self {
            client,
            config,
            started_downloads: StartedDownloads::default(),
            endpoint,
            cache_folder,
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
    pub(super) fn model(&self, name: &str) -> HFRepositorySync<RepoTypeModel> {
        let (owner, name) = hf_hub::split_id(name);
        self.client.model(owner, name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{DefaultHome, Hub, HubConfig, cache_folder, home_unless_set};

    #[test]
    fn the_folder_is_known_without_a_client() {
        let hub = Hub::open(HubConfig::default()).unwrap();
        assert_eq!(cache_folder().as_deref(), Some(hub.cache_folder()));
    }

    #[test]
    fn the_default_folder_is_used_unless_a_variable_names_a_home() {
        let none = |_: &str| false;
        let only = |name: &'static str| move |variable: &str| variable == name;
        for name in ["HF_HOME", "XDG_CACHE_HOME", "HOME"] {
            assert!(home_unless_set(&only(name)).is_none(), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let home = DefaultHome(folder.path().to_owned());
        assert_eq!(home.cache_folder(&none), Some(folder.path().join("hub")));
        assert_eq!(home.cache_folder(&only("HF_HUB_CACHE")), None);
        assert_eq!(home.token(&none), None);
        fs::write(folder.path().join("token"), "hf_secret\n").unwrap();
        assert_eq!(home.token(&none), Some("hf_secret".to_owned()));
        assert_eq!(home.token(&only("HF_TOKEN")), None);
    }
}
