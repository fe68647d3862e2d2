//! Errors of the Hub: what happened, then what to do.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::Barrier;
use super::http::CallError;
use super::proxy::Proxy;
use crate::generation::{ByteSize, formatting::io_words};

/// Why a search, listing or download failed. Every message can be shown to the user.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error("{name:?} is not a repository name; write it as OWNER/NAME")]
    NameMalformed { name: String },

    #[error("{repository} has no model that Quartet can open: {reason}")]
    NothingToOpen { repository: String, reason: String },

    #[error("{reason}")]
    Unopenable { reason: String },

    #[error("Quartet can’t open {file}; choose a GGUF file or a folder with safetensors")]
    FileUnopenable { file: String },

    #[error("{repository} has several models; choose one of these: {}", .names.join(", "))]
    ChoiceNeeded {
        repository: String,
        names: Vec<String>,
    },

    #[error("{repository} is gated: accept its license at {page} and set HF_TOKEN")]
    Gated { repository: String, page: String },

    #[error(
        "the Hub has no repository {repository}, or it is private; check the name or set HF_TOKEN"
    )]
    RepositoryMissing { repository: String },

    #[error("{repository} has no file named {file}")]
    FileMissing { repository: String, file: String },

    #[error("the Hub requires a valid access token (401): set HF_TOKEN")]
    TokenNeeded,

    #[error("the Hub denied access (403): set HF_TOKEN to a token with read permission")]
    Forbidden,

    #[error("{host} did not find this address (404)\n{url}")]
    AddressUnknown { host: String, url: String },

    #[error("too many requests to the Hub (429): try again {}", in_words(*.seconds))]
    RateLimited { seconds: Option<u64> },

    #[error("{host} returned a server error ({status})")]
    ServerFailed { host: String, status: u16 },

    #[error("{host} refused the download link ({status}), which may have expired; try again")]
    LinkRefused { host: String, status: u16 },

    #[error("{host} refused the request ({status})")]
    Refused { host: String, status: u16 },

    #[error("{host} did not respond for {}", seconds_in_words(*.seconds))]
    TimedOut { host: String, seconds: u64 },

    #[error("could not resolve {host}; check the network connection")]
    NameUnresolved { host: String },

    #[error("could not connect to {host}; check the network connection")]
    Unreachable { host: String },

    #[error("the connection to {host} is not secure: {reason}")]
    Untrusted { host: String, reason: String },

    #[error("the connection to {host} was lost")]
    ConnectionLost { host: String },

    #[error("{host} sent less of {file} than requested")]
    Truncated { host: String, file: String },

    #[error("{host} does not support range requests, which Quartet needs for downloads")]
    RangesUnsupported { host: String },

    #[error("{host} sent an unexpected response: {reason}")]
    UnexpectedResponse { host: String, reason: String },

    #[error("{file} has the wrong checksum and was deleted; download it again")]
    ChecksumWrong { file: String },

    #[error("not enough disk space: {} needed, {} free\n{}", ByteSize(*.needed), ByteSize(*.free), .folder.display())]
    DiskTooFull {
        needed: u64,
        free: u64,
        folder: PathBuf,
    },

    #[error("the disk is full; free some space and try again\n{}", .path.display())]
    DiskFull { path: PathBuf },

    #[error("could not write to the cache folder: {}\n{}", io_words(.source), .path.display())]
    CacheNotWritable { path: PathBuf, source: io::Error },

    #[error("could not read the cache folder: {reason}\n{}", .path.display())]
    CacheUnreadable { path: PathBuf, reason: String },

    #[error("another program is already downloading {file}")]
    Locked { file: String },

    #[error("{repository} is not in the cache folder, and {barrier}\n{}", .folder.display())]
    NotCached {
        repository: String,
        barrier: Barrier,
        folder: PathBuf,
    },

    #[error("could not connect to {host} through the proxy {proxy}; check {variable}")]
    ProxyUnreachable {
        host: String,
        proxy: String,
        variable: &'static str,
    },

    /// The environment rules out any request.
    #[error(transparent)]
    Barred(#[from] Barrier),

    #[error("could not set up the connection to the Hub: {reason}")]
    Unusable { reason: String },
}

fn in_words(seconds: Option<u64>) -> String {
    seconds.map_or_else(
        || "in a few minutes".to_owned(),
        |seconds| format!("in {}", seconds_in_words(seconds)),
    )
}

fn seconds_in_words(seconds: u64) -> String {
    match seconds {
        1 => "1 second".to_owned(),
        _ => format!("{seconds} seconds"),
    }
}

impl HubError {
    /// Returns whether a retry may succeed.
    pub(super) const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { seconds: None }
                | Self::ServerFailed { .. }
                | Self::LinkRefused { .. }
                | Self::TimedOut { .. }
                | Self::ConnectionLost { .. }
                | Self::Truncated { .. }
        )
    }

    /// Returns whether the Hub can't be reached at all.
    pub(super) const fn is_offline(&self) -> bool {
        matches!(
            self,
            Self::NameUnresolved { .. } | Self::Unreachable { .. } | Self::ProxyUnreachable { .. }
        )
    }

    /// Returns the error for a file or folder of the cache that could not be written.
    pub(super) fn writing(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.kind() == io::ErrorKind::StorageFull {
            Self::DiskFull { path }
        } else {
            Self::CacheNotWritable { path, source }
        }
    }
}

/// What a call is about, for its error message.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub endpoint: String,
    /// Empty if the call concerns no repository.
    pub repository: String,
    /// Empty if the call concerns no file.
    pub file: String,
    /// The proxy between this computer and the endpoint.
    pub proxy: Option<Proxy>,
}

impl Subject {
    /// Translates the failure of a call.
    pub(super) fn error(&self, error: &CallError) -> HubError {
        match error {
            CallError::Transport(error) => self.transport_error(error),
            CallError::Refused {
                status: 429,
                retry_after: Some(pause),
                ..
            } => HubError::RateLimited {
                seconds: Some(pause.as_secs()),
            },
            CallError::Refused {
                status, code, url, ..
            } => self.refusal(*status, code.as_deref(), url),
            CallError::Unexpected(reason) => self.unexpected_response(reason),
            CallError::Truncated => HubError::Truncated {
                host: self.host(),
                file: self.file.clone(),
            },
            CallError::RangeIgnored => HubError::RangesUnsupported { host: self.host() },
        }
    }

    /// Translates a failure to send a request or to receive a response.
    fn transport_error(&self, error: &reqwest::Error) -> HubError {
        let host = self.host_of(error.url().and_then(|url| url.host_str()));
        if error.is_timeout() {
            return HubError::ConnectionLost { host };
        }
        if error.is_redirect() || error.is_builder() {
            return self.unexpected_response(&innermost(error));
        }
        match (
            connection_error(error, error.is_connect(), host),
            &self.proxy,
        ) {
            (HubError::NameUnresolved { host } | HubError::Unreachable { host }, Some(proxy)) => {
                HubError::ProxyUnreachable {
                    host,
                    proxy: proxy.address.clone(),
                    variable: proxy.variable,
                }
            }
            (error, _) => error,
        }
    }

    /// Returns the error to report once the server has been silent for this long.
    pub(super) fn timed_out(&self, after: Duration) -> HubError {
        HubError::TimedOut {
            host: self.host(),
            seconds: after.as_secs(),
        }
    }

    /// Returns the error for a response that ended early.
    pub(super) fn connection_lost(&self) -> HubError {
        HubError::ConnectionLost { host: self.host() }
    }

    /// Returns the error for a response that does not follow the Hub's API.
    pub(super) fn unexpected_response(&self, reason: &str) -> HubError {
        HubError::UnexpectedResponse {
            host: self.host(),
            reason: reason.to_owned(),
        }
    }

    /// Translates an HTTP status; the Hub refines it in the `x-error-code` header.
    fn refusal(&self, status: u16, code: Option<&str>, url: &str) -> HubError {
        let repository = self.repository.clone();
        if let (401 | 403 | 404 | 410, None, Some(host)) = (status, code, self.other_host(url)) {
            return HubError::LinkRefused { host, status };
        }
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

    /// Returns the host of a URL to which the Hub has redirected, or `None` if it is the Hub's own.
    fn other_host(&self, url: &str) -> Option<String> {
        let (_, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let (_, own) = self.endpoint.split_once("://")?;
        let own = own.split('/').next()?;
        (authority != own).then(|| without_port(authority).to_owned())
    }

    /// Returns the host that failed, which a redirect may have changed.
    fn host_of(&self, host: Option<&str>) -> String {
        host.map_or_else(|| self.host(), str::to_owned)
    }

    fn host(&self) -> String {
        let rest = self.endpoint.split("://").last().unwrap_or_default();
        let host = rest.split('/').next().unwrap_or_default();
        without_port(host).to_owned()
    }
}

/// Returns a host without its port, as transport errors name it.
fn without_port(host: &str) -> &str {
    let is_port = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit());
    match host.rsplit_once(':') {
        Some((name, end)) if is_port(end) => name,
        _ => host,
    }
}

/// Words in the errors of rustls, its certificate verifier and other TLS libraries when the server
/// was reached but the connection could not be secured.
const TLS_SIGNS: &[&str] = &[
    "certificate",
    "tls",
    "ssl",
    "handshake",
    "fatal alert",
    "corrupt message",
    "oversized message",
    "invalid peer",
    "peer is incompatible",
    "peer misbehaved",
    "peer doesn't support",
];

/// Classifies a transport error by its text, because the underlying error types are not exposed.
fn connection_error(error: &dyn Error, while_connecting: bool, host: String) -> HubError {
    let mut words = String::new();
    let mut source = Some(error);
    while let Some(error) = source {
        words.push_str(&error.to_string().to_lowercase());
        words.push('\n');
        source = error.source();
    }
    let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
    if says(TLS_SIGNS) {
        HubError::Untrusted {
            host,
            reason: innermost(error),
        }
    } else if says(&["dns error", "failed to lookup"]) {
        HubError::NameUnresolved { host }
    } else if while_connecting {
        HubError::Unreachable { host }
    } else {
        HubError::ConnectionLost { host }
    }
}

/// Returns the message of an error's first cause.
fn innermost(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::{HubError, Subject, connection_error};

    fn subject(file: &str) -> Subject {
        Subject {
            endpoint: "https://hub.example".to_owned(),
            repository: "owner/name".to_owned(),
            file: file.to_owned(),
            proxy: None,
        }
    }

    #[test]
    fn every_http_error_has_its_own_message() {
        let rows = [
            (
                401,
                None,
                "",
                "the Hub requires a valid access token (401): set HF_TOKEN",
            ),
            (
                401,
                Some("GatedRepo"),
                "",
                "owner/name is gated: accept its license at https://hub.example/owner/name and set HF_TOKEN",
            ),
            (
                401,
                Some("RepoNotFound"),
                "",
                "the Hub has no repository owner/name, or it is private; check the name or set HF_TOKEN",
            ),
            (
                403,
                None,
                "",
                "the Hub denied access (403): set HF_TOKEN to a token with read permission",
            ),
            (404, None, "a.gguf", "owner/name has no file named a.gguf"),
            (
                429,
                None,
                "",
                "too many requests to the Hub (429): try again in a few minutes",
            ),
            (502, None, "", "hub.example returned a server error (502)"),
            (418, None, "", "hub.example refused the request (418)"),
        ];
        for (status, code, file, sentence) in rows {
            let error = subject(file).refusal(status, code, "");
            assert_eq!(error.to_string(), sentence, "{status}");
        }
    }

    #[test]
    fn an_expired_link_is_not_mistaken_for_a_refusal_by_the_hub() {
        let of = |status, url: &str| subject("a.gguf").refusal(status, None, url);
        let error = of(403, "https://cdn.example:8080/blob?signature=x");
        assert_eq!(
            error.to_string(),
            "cdn.example refused the download link (403), which may have expired; try again"
        );
        assert!(error.is_transient());
        assert!(matches!(
            of(404, "https://cdn.example/blob"),
            HubError::LinkRefused { .. }
        ));
        let own = of(403, "https://hub.example/owner/name/resolve/main/a.gguf");
        assert!(matches!(own, HubError::Forbidden), "{own}");
    }

    #[test]
    fn connection_errors_are_classified() {
        let host = || "hub.example".to_owned();
        let rows = [
            (
                "invalid peer certificate: Expired",
                true,
                "is not secure: invalid peer certificate: Expired",
            ),
            (
                "dns error",
                true,
                "could not resolve hub.example; check the network connection",
            ),
            (
                "Connection refused (os error 111)",
                true,
                "could not connect to hub.example; check the network connection",
            ),
            (
                "received fatal alert: ProtocolVersion",
                true,
                "is not secure: received fatal alert: ProtocolVersion",
            ),
            (
                "peer is incompatible: NoCipherSuitesInCommon",
                true,
                "is not secure: peer is incompatible: NoCipherSuitesInCommon",
            ),
            ("connection reset by peer", false, "was lost"),
        ];
        for (words, while_connecting, end) in rows {
            let source = std::io::Error::other(words);
            let error = connection_error(&source, while_connecting, host());
            assert!(error.to_string().ends_with(end), "{error}");
        }
    }

    #[test]
    fn only_transient_errors_are_retried() {
        let host = || "hub.example".to_owned();
        assert!(HubError::ConnectionLost { host: host() }.is_transient());
        assert!(!HubError::Forbidden.is_transient());
        assert!(
            !HubError::Untrusted {
                host: host(),
                reason: String::new()
            }
            .is_transient()
        );
    }
}
