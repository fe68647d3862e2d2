//! What the tests work with: a server with two repositories, a cache folder, and a Hub between them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use quartet::hub::{DownloadFailure, DownloadProgress, Hub, HubConfig, Order, Outcome, Wanted};
use tempfile::TempDir;

use crate::server::Server;

/// A repository with two GGUF files.
pub const GGUF: &str = "fox/tiny-GGUF";

/// A repository with a folder of safetensors.
pub const FOLDER: &str = "fox/folder";

/// The larger of the GGUF files.
pub const LARGE: &str = "tiny-Q8_0.gguf";

/// How many bytes it has.
pub const N_LARGE: usize = 1_000_000;

/// How many bytes are asked for at once.
pub const PIECE: usize = 200_000;

/// A server, a cache folder, and what joins them.
pub struct Bench {
    pub server: Server,
    pub cache: TempDir,
    /// The SHA-256 of the larger file.
    pub checksum: String,
}

impl Bench {
    pub fn new() -> Self {
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

    /// Times out and retries quickly.
    pub fn config(&self) -> HubConfig {
        HubConfig {
            endpoint: Some(self.server.endpoint()),
            cache_folder: Some(self.cache.path().to_owned()),
            token: Some("hf_secret".to_owned()),
            patience: Duration::from_secs(20),
            first_pause: Duration::from_millis(1),
            n_retries: 2,
            piece: PIECE as u64..=PIECE as u64,
            free_bytes: |_| None,
        }
    }

    pub fn hub(&self) -> Hub {
        Hub::open(self.config()).unwrap()
    }

    /// Downloads the larger file.
    pub fn download(&self) -> Result<Outcome, DownloadFailure> {
        self.bring(&large())
    }

    /// Downloads what is wanted, without another order on the way.
    pub fn bring(&self, wanted: &Wanted) -> Result<Outcome, DownloadFailure> {
        self.hub().download(wanted, &mut |_| Order::GoOn)
    }

    /// Downloads the larger file, and gives another order when so many bytes are here.
    pub fn download_until(&self, n_bytes: usize, order: Order) -> Outcome {
        let mut watch = |progress: &DownloadProgress| {
            if progress.n_bytes >= n_bytes as u64 {
                order
            } else {
                Order::GoOn
            }
        };
        self.hub().download(&large(), &mut watch).unwrap()
    }

    /// The names of all blobs, whole or not.
    pub fn blobs(&self, repository: &str) -> Vec<String> {
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

    pub fn repository_folder(&self, repository: &str) -> PathBuf {
        let name = format!("models--{}", repository.replace('/', "--"));
        self.cache.path().join(name)
    }

    /// The files of all models that are offered as being on this computer.
    pub fn offered(&self) -> Vec<PathBuf> {
        let models = self.hub().cached_models().unwrap();
        models.into_iter().map(|cached| cached.path).collect()
    }
}

pub fn large() -> Wanted {
    wanted(GGUF, Some(LARGE))
}

pub fn wanted(repository: &str, file: Option<&str>) -> Wanted {
    Wanted {
        repository: repository.to_owned(),
        file: file.map(str::to_owned),
    }
}

/// Bytes that differ from place to place, so that a part in the wrong place is noticed.
pub fn bytes(n: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        // The generator of "Numerical Recipes", chapter 7.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..n).map(|_| next()).collect()
}

const TOKENIZER: &str = "{\"version\":\"1.0\"}\n";

/// What `git hash-object` says of "{}" and a line break.
pub const CONFIG_SHA1: &str = "0967ef424bce6791893e9a57bb952f80fd536e93";

/// What it says of `TOKENIZER`.
const TOKENIZER_SHA1: &str = "3ea0a492fb0f6f7f1da8b5bf9000c427b901c81f";
