//! What there is on the Hub: repositories that match a search, and the files of one.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use hf_hub::repository::{ModelInfo, RepoTreeEntry};

use super::checksum::Checksum;
use super::journey::Order;
use super::model_files::{LARGEST_FILE, ModelFiles, ModelFormat, is_plain};
use super::patience::{Halt, Persistence, Sign};
use super::{Hub, HubError};

/// A repository with models in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its name: "Qwen/Qwen3-0.6B-GGUF".
    pub name: String,
    /// How often it was downloaded in the last month.
    pub n_downloads: u64,
    /// How many people like it.
    pub n_likes: u64,
    /// The licence, by the Hub's own name: "apache-2.0".
    pub license: Option<String>,
    /// Whether one must accept conditions first.
    pub is_gated: bool,
    /// When it was last changed, as an ISO 8601 date and time.
    pub changed_at: Option<String>,
    /// Its models that can be opened. A search does not know their sizes; `Hub::files` does.
    pub models: Vec<ModelFiles>,
}

/// A file on the Hub.
#[derive(Debug, Clone)]
pub(super) struct RemoteFile {
    /// Its path in the repository.
    pub path: String,
    /// How many bytes it has.
    pub n_bytes: u64,
    /// What its content must come to.
    pub checksum: Checksum,
}

/// A repository at one moment.
#[derive(Debug)]
pub(super) struct Listing {
    /// What is known of it.
    pub repository: Repository,
    /// The commit, so that all files belong together.
    pub commit: String,
    /// The SHA-256 of those files that are large.
    sha256: BTreeMap<String, String>,
}

impl Listing {
    /// How many bytes the parts of contents have that belong to a model; nothing where none does.
    pub fn n_bytes_begun(&self, model: &ModelFiles, parts: &[(PathBuf, Checksum)]) -> Option<u64> {
        let paths = model.paths.iter();
        let sha256: Vec<&String> = paths.filter_map(|path| self.sha256.get(path)).collect();
        let is_own = |checksum: &Checksum| sha256.iter().any(|known| *known == checksum.etag());
        let own = parts.iter().filter(|(_, checksum)| is_own(checksum));
        own.filter_map(|(path, _)| Some(fs::metadata(path).ok()?.len()))
            .reduce(u64::saturating_add)
    }

    /// Whether there is a large file with this path.
    pub fn has_large_file(&self, path: &str) -> bool {
        self.sha256.contains_key(path)
    }
}

/// Repositories with these tags hold weights that only their own library reads.
const FOREIGN_TAGS: &[&str] = &["awq", "bitsandbytes", "compressed-tensors", "gptq", "mlx"];

impl Hub {
    /// Text models whose names contain these words, the most downloaded first; at most `n_max`.
    /// Nothing when `go_on` has said that nobody waits any more.
    pub fn search(
        &self,
        query: &str,
        n_max: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Repository>>, HubError> {
        let mut found = BTreeMap::new();
        for (tag, pipeline) in [("gguf", None), ("safetensors", Some("text-generation"))] {
            let client = self.client.clone();
            let query = query.trim().to_owned();
            let call = move |_| {
                client
                    .list_models()
                    .search(query.clone())
                    .filter(tag)
                    .maybe_pipeline_tag(pipeline)
                    .sort("downloads")
                    .full(true)
                    .limit(n_max)
                    .send()
            };
            let question = self.question("", Persistence::Once);
            let mut tell = stopping(go_on);
            let infos = self.ask(&question, &mut tell, call);
            let Some(infos) = unless_stopped(infos)? else {
                return Ok(None);
            };
            let texts = infos.into_iter().filter(is_text_model);
            found.extend(texts.map(|info| (info.id.clone(), Repository::from(&info))));
        }
        let mut found: Vec<Repository> = found.into_values().collect();
        found.retain(|repository| !repository.models.is_empty());
        found.sort_by_key(|repository| std::cmp::Reverse(repository.n_downloads));
        found.truncate(n_max);
        Ok(Some(found))
    }

    /// What is known of one repository, with the sizes of its models.
    pub fn files(
        &self,
        repository: &str,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Repository>, HubError> {
        let listing = self.list(repository, Persistence::Once, &mut stopping(go_on));
        Ok(unless_stopped(listing)?.map(|listing| listing.repository))
    }

    /// The same with what a download needs.
    pub(super) fn list(
        &self,
        name: &str,
        persistence: Persistence,
        tell: &mut dyn FnMut(&Sign<'_>) -> Order,
    ) -> Result<Listing, Halt> {
        let mut info = self.info(name, persistence, tell)?;
        if info
            .siblings
            .iter()
            .flatten()
            .all(|file| file.size.is_none())
        {
            // Sent on to the repository's present name, we were not asked for sizes there.
            let present_name = info.id.clone();
            info = self.info(&present_name, persistence, tell)?;
        }
        let commit = info.sha.clone().unwrap_or_default();
        if !matches!(Checksum::parse(&commit), Some(Checksum::GitBlob(_))) {
            return Err(self.nonsense(name, "it names no commit").into());
        }
        let siblings = info.siblings.iter().flatten();
        let sha256 = siblings
            .filter_map(|file| Some((file.rfilename.clone(), file.lfs.as_ref()?.sha256.clone()?)));
        Ok(Listing {
            sha256: sha256.collect(),
            commit,
            repository: Repository {
                // A repository that was renamed is found, but the files lie under the name asked for.
                name: name.to_owned(),
                ..Repository::from(&info)
            },
        })
    }

    fn info(
        &self,
        name: &str,
        persistence: Persistence,
        tell: &mut dyn FnMut(&Sign<'_>) -> Order,
    ) -> Result<ModelInfo, Halt> {
        check_name(name)?;
        // hf-hub has no parameter for the files' sizes and checksums, and its tree listing leaves the
        // checksums out; it builds the address from the name, which can say so.
        let model = self.model(&format!("{name}?blobs=true"));
        let question = self.question(name, persistence);
        self.ask(&question, tell, move |_| model.info().send())
    }

    /// The files of one model with their checksums.
    pub(super) fn remote_files(
        &self,
        listing: &Listing,
        model: &ModelFiles,
        tell: &mut dyn FnMut(&Sign<'_>) -> Order,
    ) -> Result<Vec<RemoteFile>, Halt> {
        let name = &listing.repository.name;
        let (handle, paths) = (self.model(name), model.paths.clone());
        let commit = listing.commit.clone();
        let question = self.question(name, Persistence::Again);
        let call = move |_| {
            let asked = handle.get_paths_info().paths(paths.clone());
            asked.revision(commit.clone()).send()
        };
        let entries = self.ask(&question, tell, call)?;
        let mut found: BTreeMap<String, RemoteFile> = entries
            .into_iter()
            .filter_map(|entry| {
                let RepoTreeEntry::File {
                    path,
                    size,
                    oid,
                    lfs,
                    ..
                } = entry
                else {
                    return None;
                };
                // A large file's git name is that of a pointer to it.
                let sha256 = listing.sha256.get(&path);
                let name = sha256.or(lfs.is_none().then_some(&oid))?;
                if size > LARGEST_FILE {
                    return None;
                }
                let file = RemoteFile {
                    checksum: Checksum::parse(name)?,
                    n_bytes: size,
                    path: path.clone(),
                };
                Some((path, file))
            })
            .collect();
        let take = |path: &String| {
            let missing = || self.nonsense(name, &format!("{path} has no checksum or no size"));
            found.remove(path).ok_or_else(missing)
        };
        Ok(model.paths.iter().map(take).collect::<Result<_, _>>()?)
    }

    fn nonsense(&self, repository: &str, reason: &str) -> HubError {
        let reason = hf_hub::HFError::Other(format!("{repository}: {reason}"));
        self.subject(repository, "").error(&reason)
    }
}

impl From<&ModelInfo> for Repository {
    fn from(info: &ModelInfo) -> Self {
        let tags = || info.tags.iter().flatten();
        let files = info.siblings.iter().flatten();
        let mut models = ModelFiles::among(files.map(|file| (file.rfilename.as_str(), file.size)));
        if tags().any(|tag| FOREIGN_TAGS.contains(&tag.as_str())) {
            models.retain(|model| model.format != ModelFormat::Safetensors);
        }
        let card = info.card_data.as_ref();
        let license_of_card = card.and_then(|card| card.get("license")?.as_str());
        let license_of_tags = || tags().find_map(|tag| tag.strip_prefix("license:"));
        Self {
            name: info.id.clone(),
            n_downloads: info.downloads.unwrap_or(0),
            n_likes: info.likes.unwrap_or(0),
            license: license_of_card.or_else(license_of_tags).map(str::to_owned),
            // Written as `false`, "auto" or "manual".
            is_gated: info
                .gated
                .as_ref()
                .is_some_and(serde_json::Value::is_string),
            changed_at: info.last_modified.clone(),
            models,
        }
    }
}

/// A GGUF file may also hold a model of images or of speech.
fn is_text_model(info: &ModelInfo) -> bool {
    let task = info.pipeline_tag.as_deref();
    matches!(task, None | Some("text-generation" | "conversational"))
}

/// A name becomes part of an address and of a path.
fn check_name(name: &str) -> Result<(), HubError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let is_name = is_plain(name) && name.chars().all(is_allowed) && name.split('/').count() <= 2;
    if is_name {
        Ok(())
    } else {
        Err(HubError::NameMalformed {
            name: name.to_owned(),
        })
    }
}

fn stopping(go_on: &mut dyn FnMut() -> bool) -> impl FnMut(&Sign<'_>) -> Order {
    move |_| {
        if go_on() { Order::GoOn } else { Order::Cancel }
    }
}

fn unless_stopped<T>(outcome: Result<T, Halt>) -> Result<Option<T>, HubError> {
    match outcome {
        Ok(answer) => Ok(Some(answer)),
        Err(Halt::Ordered(_)) => Ok(None),
        Err(Halt::Failed(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn a_name_is_an_owner_and_a_word() {
        for name in ["gpt2", "Qwen/Qwen3-0.6B-GGUF", "a_b/c.d-e"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "a/b/c",
            "a/..",
            "a/b?x",
            "a b",
            "/a",
            "a/",
            "https://a/b",
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
