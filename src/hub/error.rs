//! Why the Hub could not do what it was asked: one sentence for each reason.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hf_hub::HFError;

use crate::generation::ByteSize;

/// Why the Hub could not do what it was asked. Every message is fit to be shown.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the variants mean")]
pub enum HubError {
    #[error("{name:?} names no repository; a name is written OWNER/NAME")]
    NameMalformed { name: String },

    #[error("{repository} has nothing that Quartet can open: {needed}")]
    NothingToOpen {
        repository: String,
        needed: &'static str,
    },

    #[error("Quartet can't open {file}")]
    FileUnopenable { file: String },

    #[error("{repository} has several models; choose one of these: {}", .names.join(", "))]
    ChoiceNeeded {
        repository: String,
        names: Vec<String>,
    },

    #[error("{repository} is gated: accept its licence at {page} and set HF_TOKEN")]
    Gated { repository: String, page: String },

    #[error(
        "there is no repository {repository} on the Hub, or it is private and HF_TOKEN does not open it"
    )]
    RepositoryMissing { repository: String },

    #[error("there is no file {file} in {repository}")]
    FileMissing { repository: String, file: String },

    #[error("the Hub wants a valid token (401): set HF_TOKEN")]
    TokenNeeded,

    #[error("this token may not do that on the Hub (403): HF_TOKEN needs the right to read")]
    Forbidden,

    #[error("{host} does not know this address (404)\n{url}")]
    AddressUnknown { host: String, url: String },

    #[error("the Hub has been asked too often (429): try again {}", in_seconds(*.seconds))]
    RateLimited { seconds: Option<u64> },

    #[error("{host} has a fault of its own ({status}): try again later")]
    ServerFailed { host: String, status: u16 },

    #[error("{host} refused the request ({status})")]
    Refused { host: String, status: u16 },

    #[error("{host} said nothing for {}", seconds_words(*.seconds))]
    TimedOut { host: String, seconds: u64 },

    #[error("no network: the name {host} could not be resolved")]
    NameUnresolved { host: String },

    #[error("no network: {host} could not be reached")]
    Unreachable { host: String },

    #[error("the connection to {host} is not safe: {reason}")]
    Untrusted { host: String, reason: String },

    #[error("the connection to {host} broke off")]
    ConnectionLost { host: String },

    #[error("{host} sent a part of {file} cut short")]
    Truncated { host: String, file: String },

    #[error("{host} can't send a part of a file, which Quartet needs")]
    RangesMissing { host: String },

    #[error("{host} gave an answer that makes no sense: {reason}")]
    NotUnderstood { host: String, reason: String },

    #[error("{file} came damaged: its checksum is wrong, and it was deleted")]
    ChecksumWrong { file: String },

    #[error("the disk is too full: {} are needed, {} are free\n{}", ByteSize(*.needed), ByteSize(*.free), .folder.display())]
    DiskTooFull {
        needed: u64,
        free: u64,
        folder: PathBuf,
    },

    #[error("the disk is full\n{}", .path.display())]
    DiskFull { path: PathBuf },

    #[error("the cache folder could not be written: {source}\n{}", .path.display())]
    CacheNotWritable { path: PathBuf, source: io::Error },

    #[error("the cache folder could not be read: {reason}\n{}", .path.display())]
    CacheUnreadable { path: PathBuf, reason: String },

    #[error("another program is downloading {file}")]
    Locked { file: String },

    #[error("the Hub can't be used: {reason}")]
    Unusable { reason: String },
}

fn in_seconds(seconds: Option<u64>) -> String {
    seconds.map_or_else(
        || "in a few minutes".to_owned(),
        |seconds| format!("in {}", seconds_words(seconds)),
    )
}

fn seconds_words(seconds: u64) -> String {
    match seconds {
        1 => "1 second".to_owned(),
        _ => format!("{seconds} seconds"),
    }
}

impl HubError {
    /// Whether it may be gone in a moment.
    pub(super) const fn passes(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { seconds: None }
                | Self::ServerFailed { .. }
                | Self::TimedOut { .. }
                | Self::ConnectionLost { .. }
                | Self::Truncated { .. }
        )
    }

    /// Whether there is no way to the Hub.
    pub(super) const fn is_no_network(&self) -> bool {
        matches!(self, Self::NameUnresolved { .. } | Self::Unreachable { .. })
    }

    /// A file or folder of the cache that could not be written.
    pub(super) fn writing(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::StorageFull {
            Self::DiskFull { path }
        } else {
            Self::CacheNotWritable { path, source }
        }
    }
}

/// What a question is about.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// The address of the Hub.
    pub endpoint: String,
    /// The repository; empty where none is meant.
    pub repository: String,
    /// The file; empty where none is meant.
    pub file: String,
}

impl Subject {
    /// Says why a call failed.
    pub fn error(&self, error: &HFError) -> HubError {
        match error {
            HFError::AuthRequired { context }
            | HFError::Forbidden { context }
            | HFError::Http { context } => self.refusal(
                context.status.as_u16(),
                context.error_code.as_deref(),
                &context.url,
            ),
            HFError::RepoNotFound { context, .. } | HFError::EntryNotFound { context, .. } => {
                let code = context.as_ref().and_then(|it| it.error_code.as_deref());
                self.refusal(404, code, "")
            }
            HFError::RateLimited { retry_after, .. } => HubError::RateLimited {
                seconds: retry_after.map(|pause| pause.as_secs()),
            },
            HFError::Request { source, .. } if source.is_timeout() => HubError::ConnectionLost {
                host: self.host_of(source.url().and_then(|url| url.host_str())),
            },
            HFError::Request { source, .. } if source.is_decode() && !is_broken_body(source) => {
                self.not_understood(source)
            }
            HFError::Request { source, .. } => {
                let host = self.host_of(source.url().and_then(|url| url.host_str()));
                connection_error(source, source.is_connect(), host)
            }
            HFError::Xet { .. } => self.broken(),
            HFError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                HubError::Truncated {
                    host: self.host(),
                    file: self.file.clone(),
                }
            }
            other => self.not_understood(other),
        }
    }

    /// The answer was longer than what had been asked for.
    pub fn ranges_missing(&self) -> HubError {
        HubError::RangesMissing { host: self.host() }
    }

    /// No answer came.
    pub fn timed_out(&self, after: Duration) -> HubError {
        HubError::TimedOut {
            host: self.host(),
            seconds: after.as_secs(),
        }
    }

    /// The answer did not come to its end.
    pub fn broken(&self) -> HubError {
        HubError::ConnectionLost { host: self.host() }
    }

    fn not_understood(&self, reason: &dyn Error) -> HubError {
        HubError::NotUnderstood {
            host: self.host(),
            reason: reason.to_string(),
        }
    }

    /// The Hub says in `x-error-code` what it means by a status.
    fn refusal(&self, status: u16, code: Option<&str>, url: &str) -> HubError {
        let repository = self.repository.clone();
        match (status, code) {
            (_, Some("GatedRepo")) => HubError::Gated {
                page: format!("{}/{repository}", self.endpoint),
                repository,
            },
            (_, Some("RepoNotFound")) => HubError::RepositoryMissing { repository },
            (401, _) => HubError::TokenNeeded,
            (403, _) => HubError::Forbidden,
            (404, _) if !self.file.is_empty() => HubError::FileMissing {
                repository,
                file: self.file.clone(),
            },
            (404, _) if !repository.is_empty() => HubError::RepositoryMissing { repository },
            (404, _) => HubError::AddressUnknown {
                host: self.host(),
                url: url.to_owned(),
            },
            (429, _) => HubError::RateLimited { seconds: None },
            (408 | 500.., _) => HubError::ServerFailed {
                host: self.host(),
                status,
            },
            _ => HubError::Refused {
                host: self.host(),
                status,
            },
        }
    }

    /// The Hub may send us on to another host.
    fn host_of(&self, host: Option<&str>) -> String {
        host.map_or_else(|| self.host(), str::to_owned)
    }

    fn host(&self) -> String {
        let rest = self.endpoint.split("://").last().unwrap_or_default();
        let host = rest.split('/').next().unwrap_or_default();
        // As it stands in the errors of the transport, without the port.
        let is_port = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit());
        match host.rsplit_once(':') {
            Some((name, end)) if is_port(end) => name.to_owned(),
            _ => host.to_owned(),
        }
    }
}

/// The errors below the transport have no types of their own here; their words and kinds must do.
fn connection_error(error: &dyn Error, while_connecting: bool, host: String) -> HubError {
    let mut words = String::new();
    let mut source = Some(error);
    let mut innermost = String::new();
    while let Some(error) = source {
        innermost = error.to_string();
        words.push_str(&innermost.to_lowercase());
        words.push('\n');
        source = error.source();
    }
    let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
    if says(&["certificate", "tls", "handshake", "invalid peer"]) {
        HubError::Untrusted {
            host,
            reason: innermost,
        }
    } else if says(&["dns error", "failed to lookup"]) {
        HubError::NameUnresolved { host }
    } else if while_connecting {
        HubError::Unreachable { host }
    } else {
        HubError::ConnectionLost { host }
    }
}

/// Whether a body could not be read because it did not come whole, and not because it made no sense.
fn is_broken_body(error: &dyn Error) -> bool {
    let mut source = error.source();
    while let Some(error) = source {
        if error.is::<serde_json::Error>() {
            return false;
        }
        source = error.source();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{HubError, Subject, connection_error};

    fn subject(file: &str) -> Subject {
        Subject {
            endpoint: "https://hub.example".to_owned(),
            repository: "owner/name".to_owned(),
            file: file.to_owned(),
        }
    }

    #[test]
    fn every_refusal_has_its_own_sentence() {
        let rows = [
            (
                401,
                None,
                "",
                "the Hub wants a valid token (401): set HF_TOKEN",
            ),
            (
                401,
                Some("GatedRepo"),
                "",
                "owner/name is gated: accept its licence at https://hub.example/owner/name and set HF_TOKEN",
            ),
            (
                401,
                Some("RepoNotFound"),
                "",
                "there is no repository owner/name on the Hub, or it is private and HF_TOKEN does not open it",
            ),
            (
                403,
                None,
                "",
                "this token may not do that on the Hub (403): HF_TOKEN needs the right to read",
            ),
            (404, None, "a.gguf", "there is no file a.gguf in owner/name"),
            (
                429,
                None,
                "",
                "the Hub has been asked too often (429): try again in a few minutes",
            ),
            (
                502,
                None,
                "",
                "hub.example has a fault of its own (502): try again later",
            ),
            (418, None, "", "hub.example refused the request (418)"),
        ];
        for (status, code, file, sentence) in rows {
            let error = subject(file).refusal(status, code, "");
            assert_eq!(error.to_string(), sentence, "{status}");
        }
    }

    #[test]
    fn a_connection_that_fails_says_how() {
        let host = || "hub.example".to_owned();
        let rows = [
            (
                "invalid peer certificate: Expired",
                true,
                "is not safe: invalid peer certificate: Expired",
            ),
            ("dns error", true, "could not be resolved"),
            (
                "Connection refused (os error 111)",
                true,
                "could not be reached",
            ),
            ("connection reset by peer", false, "broke off"),
        ];
        for (words, while_connecting, end) in rows {
            let source = std::io::Error::other(words);
            let error = connection_error(&source, while_connecting, host());
            assert!(error.to_string().ends_with(end), "{error}");
        }
    }

    #[test]
    fn what_may_pass_is_tried_again_and_what_may_not_is_not() {
        let host = || "hub.example".to_owned();
        assert!(HubError::ConnectionLost { host: host() }.passes());
        assert!(!HubError::Forbidden.passes());
        assert!(
            !HubError::Untrusted {
                host: host(),
                reason: String::new()
            }
            .passes()
        );
    }
}
