//! The Hub as we reach it: its address, its cache folder, and how patient we are with it.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hf_hub::{HFClient, HFClientSync, HFRepositorySync, RepoTypeModel};

use super::HubError;
use super::attempt::Limits;
use super::error::Subject;
use super::kept::Begun;
use super::patience::{Persistence, Question};
use super::space::free_bytes;

/// How to reach the Hub. What is not set comes from the environment, as for other tools: `HF_ENDPOINT`,
/// `HF_HOME`, `HF_HUB_CACHE`, `HF_TOKEN` and the token that a login has left.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// The address.
    pub endpoint: Option<String>,
    /// The folder that holds the files.
    pub cache_folder: Option<PathBuf>,
    /// Who we are.
    pub token: Option<String>,
    /// A server that says nothing for so long has failed.
    pub patience: Duration,
    /// The pause before the first new try; each one after it is twice as long.
    pub first_pause: Duration,
    /// How often the same part is tried again.
    pub n_retries: u32,
    /// How many bytes are asked for at once, at least and at most. A break costs what has come of
    /// them; within these limits they are what comes in four seconds.
    pub piece: RangeInclusive<u64>,
    /// How many bytes a folder has room for, where that is known.
    pub free_bytes: fn(&Path) -> Option<u64>,
}

impl Default for HubConfig {
    fn default() -> Self {
        Self {
            endpoint: None,
            cache_folder: None,
            token: None,
            patience: Duration::from_secs(30),
            first_pause: Duration::from_secs(1),
            n_retries: 5,
            piece: 1 << 20..=1 << 27,
            free_bytes,
        }
    }
}

/// The Hub, and the folder in which its files are kept. To open it contacts nobody.
#[derive(Debug, Clone)]
pub struct Hub {
    pub(super) client: HFClientSync,
    pub(super) config: HubConfig,
    pub(super) begun: Begun,
    endpoint: String,
    cache_folder: PathBuf,
}

impl Hub {
    /// Gets ready to ask.
    pub fn open(config: HubConfig) -> Result<Self, HubError> {
        let mut builder = HFClient::builder()
            .user_agent(concat!("quartet/", env!("CARGO_PKG_VERSION")))
            // We try again ourselves, where it can be seen and left.
            .retry_max_attempts(0);
        if let Some(endpoint) = &config.endpoint {
            builder = builder.endpoint(endpoint);
        }
        if let Some(folder) = &config.cache_folder {
            builder = builder.cache_dir(folder);
        }
        if let Some(token) = &config.token {
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
            begun: Begun::default(),
            endpoint,
            cache_folder,
        })
    }

    /// The folder that holds the files.
    pub fn cache_folder(&self) -> &Path {
        &self.cache_folder
    }

    /// What a question is about, for the sentence that says why it failed.
    pub(super) fn subject(&self, repository: &str, file: &str) -> Subject {
        Subject {
            endpoint: self.endpoint.clone(),
            repository: repository.to_owned(),
            file: file.to_owned(),
        }
    }

    /// A question that the Hub answers without sending a file.
    pub(super) fn question(&self, repository: &str, persistence: Persistence) -> Question {
        Question {
            subject: self.subject(repository, ""),
            limits: Limits::default(),
            persistence,
        }
    }

    /// hf-hub's handle of a repository.
    pub(super) fn model(&self, name: &str) -> HFRepositorySync<RepoTypeModel> {
        let (owner, name) = hf_hub::split_id(name);
        self.client.model(owner, name)
    }
}
