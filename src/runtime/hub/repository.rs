//! Searches the Hub for repositories and lists the files of one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::api::{ModelInfo, TreeEntry};
use super::call::ProgressListener;
use super::checksum::Checksum;
use super::marks::{base_models, listed, mark, n_params};
use super::model_files::{LARGEST_FILE, ModelFiles, is_safe_relative_path};
use super::openable::Openable;
use super::progress::DownloadControl;
use super::retry::{CallEvent, Interruption, RetryPolicy};
use super::{Hub, HubError};
use crate::generation::{Openness, RemoteModel};

/// A model repository on the Hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The name, such as "Qwen/Qwen3-0.6B-GGUF".
    pub name: String,
    /// Downloads in the last month.
    pub n_downloads: u64,
    pub n_likes: u64,
    /// The Hub's identifier of the license, such as "apache-2.0".
    pub license: Option<String>,
    /// Whether users must accept conditions before downloading.
    pub is_gated: bool,
    /// The last change, as an ISO 8601 date and time.
    pub changed_at: Option<String>,
    /// The number of parameters, if the Hub states it.
    pub n_params: Option<u64>,
    /// The models from which this one was made, such as the one that was quantized.
    pub base_models: Vec<String>,
    /// The models in formats that Quartet reads. A search omits their sizes; `Hub::files` adds
    /// them.
    pub models: Vec<ModelFiles>,
    /// Whether any of the models opens, or why none does.
    pub openness: Openness,
}

/// A file on the Hub.
#[derive(Debug, Clone)]
pub(super) struct RemoteFile {
    /// The path in the repository.
    pub path: String,
    pub n_bytes: u64,
    pub checksum: Checksum,
}

/// A repository at one commit.
#[derive(Debug)]
pub(super) struct Listing {
    pub repository: Repository,
    /// The commit to download from, so that all files belong together.
    pub commit: String,
    /// All files of the repository, with their sizes.
    pub files: RemoteModel,
    /// The SHA-256 of each large (LFS) file, by path.
    sha256: BTreeMap<String, String>,
}

impl Listing {
    /// Returns the size of the partial files that belong to a model, or `None` if there are none.
    pub(super) fn n_partial_bytes_of(
        &self,
        model: &ModelFiles,
        parts: &[(PathBuf, Checksum)],
    ) -> Option<u64> {
        let paths = model.paths.iter();
        let sha256: Vec<&String> = paths.filter_map(|path| self.sha256.get(path)).collect();
        let belongs = |checksum: &Checksum| sha256.iter().any(|known| *known == checksum.etag());
        let partial = parts.iter().filter(|(_, checksum)| belongs(checksum));
        partial
            .filter_map(|(path, _)| Some(fs::metadata(path).ok()?.len()))
            .reduce(u64::saturating_add)
    }

    /// Returns whether a large file has this path.
    pub(super) fn has_large_file(&self, path: &str) -> bool {
        self.sha256.contains_key(path)
    }
}

/// What a search asks for: the file format, and the task if that is needed to keep out most models
/// that don't write text.
const SEARCHES: [(&str, Option<&str>); 3] = [
    ("gguf", None),
    ("safetensors", Some("text-generation")),
    ("safetensors", Some("image-text-to-text")),
];

/// The properties of each repository that a search asks for.
const PROPERTIES: [&str; 12] = [
    "cardData",
    "config",
    "downloads",
    "gated",
    "gguf",
    "lastModified",
    "library_name",
    "likes",
    "pipeline_tag",
    "safetensors",
    "siblings",
    "tags",
];

impl Hub {
    /// Searches for models by name and returns at most `n_max`, those that certainly don't open last,
    /// and otherwise the most downloaded first. Returns `None` if `go_on` returned false.
    pub fn search(
        &self,
        query: &str,
        n_max: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Repository>>, HubError> {
        let http = self.http()?;
        let mut found = BTreeMap::new();
        for (tag, task) in SEARCHES {
            let (query, limit) = (query.trim(), n_max.to_string());
            let call = |listener: Arc<ProgressListener>| {
                let (http, query, limit) = (http.clone(), query.to_owned(), limit.clone());
                async move {
                    let mut parameters = vec![
                        ("search", query.as_str()),
                        ("filter", tag),
                        ("sort", "downloads"),
                        ("limit", limit.as_str()),
                    ];
                    parameters.extend(task.map(|task| ("pipeline_tag", task)));
                    parameters.extend(PROPERTIES.map(|property| ("expand", property)));
                    http.get::<Vec<ModelInfo>>("api/models", &parameters, &listener)
                        .await
                }
            };
            let spec = self.call_spec("", self.timeouts.download, RetryPolicy::Never);
            let mut observe = cancel_unless(go_on);
            let infos = self.call_with_retries(&spec, &mut observe, call);
            let Some(infos) = unless_cancelled(infos)? else {
                return Ok(None);
            };
            let openable = &self.config.openable;
            let infos = infos.into_iter().take(n_max);
            found.extend(infos.map(|info| (info.id.clone(), Repository::new(&info, openable))));
        }
        let mut found: Vec<Repository> = found.into_values().collect();
        found.sort_by_key(|repository| {
            let is_refused = repository.openness.is_refused();
            (is_refused, Reverse(repository.n_downloads))
        });
        found.truncate(n_max);
        Ok(Some(found))
    }

    /// Returns one repository with the sizes of its models, marked by their configurations, or `None`
    /// if `go_on` returned false.
    pub fn files(
        &self,
        repository: &str,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Repository>, HubError> {
        let observe = &mut cancel_unless(go_on);
        let listing = self.list(repository, RetryPolicy::Never, observe);
        let Some(mut listing) = unless_cancelled(listing)? else {
            return Ok(None);
        };
        let refined = self.refine_marks(&mut listing, observe);
        Ok(unless_cancelled(refined)?.map(|()| listing.repository))
    }

    /// Returns the repository with the commit and checksums that a download needs.
    pub(super) fn list(
        &self,
        name: &str,
        retry_policy: RetryPolicy,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<Listing, Interruption> {
        let mut info = self.info(name, retry_policy, observe)?;
        if info
            .siblings
            .iter()
            .flatten()
            .all(|file| file.size.is_none())
        {
            // A renamed repository redirects, and the redirect loses the request for sizes. Ask
            // again under the current name.
            let present_name = info.id.clone();
            info = self.info(&present_name, retry_policy, observe)?;
        }
        let commit = info.sha.clone().unwrap_or_default();
        if !matches!(Checksum::parse(&commit), Some(Checksum::GitBlob(_))) {
            return Err(self.unexpected_response(name, "no commit is given").into());
        }
        let siblings = info.siblings.iter().flatten();
        let sha256 = siblings
            .filter_map(|file| Some((file.rfilename.clone(), file.lfs.as_ref()?.sha256.clone()?)));
        Ok(Listing {
            sha256: sha256.collect(),
            commit,
            files: RemoteModel {
                repository: name.to_owned(),
                ..listed(&info)
            },
            repository: Repository {
                // Even if the repository was renamed, its files are cached under the requested
                // name.
                name: name.to_owned(),
                ..Repository::new(&info, &self.config.openable)
            },
        })
    }

    fn info(
        &self,
        name: &str,
        retry_policy: RetryPolicy,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<ModelInfo, Interruption> {
        check_name(name)?;
        let path = format!("api/models/{name}");
        let spec = self.call_spec(name, self.timeouts.metadata, retry_policy);
        let http = self.http()?;
        self.call_with_retries(&spec, observe, |listener| {
            let (http, path) = (http.clone(), path.clone());
            async move { http.get(&path, &[("blobs", "true")], &listener).await }
        })
    }

    /// Returns the files of one model with their sizes and checksums.
    pub(super) fn remote_files(
        &self,
        listing: &Listing,
        model: &ModelFiles,
        observe: &mut dyn FnMut(&CallEvent<'_>) -> DownloadControl,
    ) -> Result<Vec<RemoteFile>, Interruption> {
        let name = &listing.repository.name;
        let path = format!("api/models/{name}/paths-info/{}", listing.commit);
        let body = serde_json::json!({ "paths": model.paths });
        let spec = self.call_spec(name, self.timeouts.metadata, RetryPolicy::Transient);
        let http = self.http()?;
        let call = |listener: Arc<ProgressListener>| {
            let (http, path, body) = (http.clone(), path.clone(), body.clone());
            async move { http.post::<Vec<TreeEntry>>(&path, &body, &listener).await }
        };
        let entries = self.call_with_retries(&spec, observe, call)?;
        let mut found: BTreeMap<String, RemoteFile> = entries
            .into_iter()
            .filter_map(|entry| {
                let TreeEntry::File {
                    path,
                    size,
                    oid,
                    lfs,
                } = entry
                else {
                    return None;
                };
                // The git hash of a large file is that of its LFS pointer.
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
            let missing =
                || self.unexpected_response(name, &format!("{path} has no checksum or no size"));
            found.remove(path).ok_or_else(missing)
        };
        Ok(model.paths.iter().map(take).collect::<Result<_, _>>()?)
    }

    fn unexpected_response(&self, repository: &str, reason: &str) -> HubError {
        let reason = format!("{repository}: {reason}");
        self.subject(repository, "").unexpected_response(&reason)
    }
}

impl Repository {
    fn new(info: &ModelInfo, openable: &Openable) -> Self {
        let tags = || info.tags.iter().flatten();
        let files = info.siblings.iter().flatten();
        let mut models = ModelFiles::among(files.map(|file| (file.rfilename.as_str(), file.size)));
        let openness = mark(info, &mut models, openable);
        let card = info.card_data.as_ref();
        let license_of_card = card.and_then(|card| card.get("license")?.as_str());
        let license_of_tags = || tags().find_map(|tag| tag.strip_prefix("license:"));
        Self {
            name: info.id.clone(),
            n_downloads: info.downloads.unwrap_or(0),
            n_likes: info.likes.unwrap_or(0),
            license: license_of_card.or_else(license_of_tags).map(str::to_owned),
            is_gated: info
                .gated
                .as_ref()
                .is_some_and(serde_json::Value::is_string),
            changed_at: info.last_modified.clone(),
            n_params: n_params(info),
            base_models: base_models(info),
            models,
            openness,
        }
    }
}

/// Rejects names that would be unsafe in a URL or a path.
fn check_name(name: &str) -> Result<(), HubError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let is_name =
        is_safe_relative_path(name) && name.chars().all(is_allowed) && name.split('/').count() <= 2;
    if is_name {
        Ok(())
    } else {
        Err(HubError::NameMalformed {
            name: name.to_owned(),
        })
    }
}

fn cancel_unless(go_on: &mut dyn FnMut() -> bool) -> impl FnMut(&CallEvent<'_>) -> DownloadControl {
    move |_| {
        if go_on() {
            DownloadControl::Continue
        } else {
            DownloadControl::Cancel
        }
    }
}

fn unless_cancelled<T>(outcome: Result<T, Interruption>) -> Result<Option<T>, HubError> {
    match outcome {
        Ok(answer) => Ok(Some(answer)),
        Err(Interruption::Requested(_)) => Ok(None),
        Err(Interruption::Failed(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn a_repository_name_is_an_owner_and_a_name() {
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
