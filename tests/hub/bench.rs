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
        server.put(FOLDER, "config.json", "{}\n", CONFIG_SHA1);
        server.put(FOLDER, "tokenizer.json", TOKENIZER, TOKENIZER_SHA1);
        server.put_large(FOLDER, "model.safetensors", bytes(5_000, 3));
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

/// Returns pseudorandom bytes, so that a misplaced range is detected.
pub(crate) fn bytes(n: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        // The linear congruential generator of "Numerical Recipes", chapter 7.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..n).map(|_| next()).collect()
}

const TOKENIZER: &str = "{\"version\":\"1.0\"}\n";

/// The hash that `git hash-object` computes for "{}" and a line break.
pub(crate) const CONFIG_SHA1: &str = "0967ef424bce6791893e9a57bb952f80fd536e93";

/// The hash that `git hash-object` computes for `TOKENIZER`.
const TOKENIZER_SHA1: &str = "3ea0a492fb0f6f7f1da8b5bf9000c427b901c81f";
