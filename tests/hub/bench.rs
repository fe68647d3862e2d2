//! The test fixture: a fake Hub with two repositories, a cache folder, and a client.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use quartet::hub::{
    DownloadControl, DownloadFailure, DownloadProgress, DownloadTarget, Hub, HubConfig, Outcome,
};
use tempfile::TempDir;

use crate::hub::server::Server;
use crate::hub::tiny_model;

/// A repository with two GGUF files.
pub(crate) const GGUF: &str = "fox/tiny-GGUF";

/// A repository with a folder of safetensors.
pub(crate) const FOLDER: &str = "fox/folder";

/// The larger of the GGUF files.
pub(crate) const LARGE: &str = "tiny-Q8_0.gguf";

/// The size of [`LARGE`] in bytes.
pub(crate) const N_LARGE: usize = 1_000_000;

/// The size of a range request in bytes.
pub(crate) const PIECE: usize = 200_000;

/// How long a silent server is awaited.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A fake Hub and a cache folder.
pub(crate) struct Bench {
    pub server: Server,
    pub cache: TempDir,
    /// The SHA-256 of the larger file.
    pub checksum: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let server = Server::start();
        server.put_large(GGUF, "tiny-Q4_0.gguf", bytes(300_000, 1));
        let checksum = server.put_large(GGUF, LARGE, bytes(N_LARGE, 2));
        server.put(GGUF, "README.md", "{}\n", CONFIG_SHA1);
        for (file, sha1) in SMALL_FILES {
            let content = String::from_utf8(tiny_model::file(file)).unwrap();
            server.put(FOLDER, file, &content, sha1);
        }
        server.put_large(FOLDER, "model.safetensors", folder_weights());
        Self {
            server,
            cache: tempfile::tempdir().unwrap(),
            checksum,
        }
    }

    /// A configuration with short timeouts and retry delays.
    pub(crate) fn config(&self) -> HubConfig {
        HubConfig {
            endpoint: Some(self.server.endpoint()),
            cache_folder: Some(self.cache.path().to_owned()),
            token: Some("hf_secret".to_owned()),
            timeout: Some(TIMEOUT),
            first_retry_delay: Duration::from_millis(1),
            n_retries: 2,
            range_len: PIECE as u64..=PIECE as u64,
            free_bytes: |_| None,
            sleep: thread::sleep,
            ..HubConfig::default()
        }
    }

    pub(crate) fn hub(&self) -> Hub {
        Hub::open(self.config()).unwrap()
    }

    /// Downloads the larger file.
    pub(crate) fn download(&self) -> Result<Outcome, DownloadFailure> {
        self.fetch(&large())
    }

    /// Downloads a model without interruption.
    pub(crate) fn fetch(&self, wanted: &DownloadTarget) -> Result<Outcome, DownloadFailure> {
        self.hub()
            .download(wanted, &mut |_| DownloadControl::Continue)
    }

    /// Downloads the larger file, and responds with `order` once `n_bytes` have arrived.
    pub(crate) fn download_until(&self, n_bytes: usize, order: DownloadControl) -> Outcome {
        let mut watch = |progress: &DownloadProgress| {
            if progress.n_bytes >= n_bytes as u64 {
                order
            } else {
                DownloadControl::Continue
            }
        };
        self.hub().download(&large(), &mut watch).unwrap()
    }

    /// Returns the names of all blobs, complete or not.
    pub(crate) fn blobs(&self, repository: &str) -> Vec<String> {
        let folder = self.repository_folder(repository).join("blobs");
        let mut names: Vec<String> = fs::read_dir(folder)
            .map(|entries| {
                let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
                entries.map(|entry| name(entry.unwrap())).collect()
            })
            .unwrap_or_default();
        names.sort();
        names
    }

    pub(crate) fn repository_folder(&self, repository: &str) -> PathBuf {
        let name = format!("models--{}", repository.replace('/', "--"));
        self.cache.path().join(name)
    }

    /// Returns the paths of all models that are listed as downloaded.
    pub(crate) fn offered(&self) -> Vec<PathBuf> {
        let models = self.hub().cached_models().unwrap();
        models.into_iter().map(|cached| cached.path).collect()
    }
}

pub(crate) fn large() -> DownloadTarget {
    wanted(GGUF, Some(LARGE))
}

pub(crate) fn wanted(repository: &str, file: Option<&str>) -> DownloadTarget {
    DownloadTarget {
        repository: repository.to_owned(),
        file: file.map(str::to_owned),
    }
}

/// Returns the weights of the folder.
pub(crate) fn folder_weights() -> Vec<u8> {
    tiny_model::file("model.safetensors")
}

/// Returns the content of a file of `n` bytes: a GGUF file that opens, followed by pseudorandom
/// bytes, so that a misplaced range is detected.
pub(crate) fn bytes(n: usize, seed: u32) -> Vec<u8> {
    let mut content = tiny_model::gguf();
    content.truncate(n);
    let n_left = n - content.len();
    content.extend(pseudorandom(n_left, seed));
    content
}

fn pseudorandom(n: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        // The linear congruential generator of "Numerical Recipes", chapter 7.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// The hash that `git hash-object` computes for "{}" and a line break.
pub(crate) const CONFIG_SHA1: &str = "0967ef424bce6791893e9a57bb952f80fd536e93";

/// The small files of the folder, with the hashes that `git hash-object` computes.
const SMALL_FILES: [(&str, &str); 2] = [
    ("config.json", "97ed762d5786e2923283a7e74a456afeb47e38df"),
    ("tokenizer.json", "c93bfff2e2628f03c81f556220dac7f5ea8055d0"),
];
