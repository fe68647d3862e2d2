//! The Hub as we reach it: its address, its cache folder, and how patient we are with it.

use std::env;
use std::fs;
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

/// The folder that all tools of Hugging Face share, where no variable names a home. hf-hub, which
/// knows only `HOME`, would take another one then: on Windows it is hardly ever set.
struct SharedHome(PathBuf);

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some()
}

/// Nothing where hf-hub finds the folder itself.
fn home_without_name(is_set: &dyn Fn(&str) -> bool) -> Option<SharedHome> {
    if ["HF_HOME", "XDG_CACHE_HOME", "HOME"]
        .into_iter()
        .any(is_set)
    {
        return None;
    }
    let home = env::home_dir()?;
    Some(SharedHome(home.join(".cache").join("huggingface")))
}

impl SharedHome {
    fn cache_folder(&self, is_set: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        let named = ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"]
            .into_iter()
            .any(is_set);
        (!named).then(|| self.0.join("hub"))
    }

    /// The token that a login has left.
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
        let home = home_without_name(&is_set);
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{SharedHome, home_without_name};

    #[test]
    fn the_shared_folder_is_found_without_a_variable_that_names_a_home() {
        let none = |_: &str| false;
        let only = |name: &'static str| move |variable: &str| variable == name;
        for name in ["HF_HOME", "XDG_CACHE_HOME", "HOME"] {
            assert!(home_without_name(&only(name)).is_none(), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let home = SharedHome(folder.path().to_owned());
        assert_eq!(home.cache_folder(&none), Some(folder.path().join("hub")));
        assert_eq!(home.cache_folder(&only("HF_HUB_CACHE")), None);
        assert_eq!(home.token(&none), None);
        fs::write(folder.path().join("token"), "hf_secret\n").unwrap();
        assert_eq!(home.token(&none), Some("hf_secret".to_owned()));
        assert_eq!(home.token(&only("HF_TOKEN")), None);
    }
}
