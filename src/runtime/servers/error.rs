//! Errors of servers: what happened, then what to do.

use std::error::Error;
use std::time::Duration;

/// Why a server could not be used, or a text could not be continued. Every message can be shown to
/// the user, and none contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    #[error("{address:?} is not the address of a server; write it as http://127.0.0.1:8080")]
    AddressMalformed { address: String },

    #[error(
        "leave the key out of the address: Quartet asks for it separately, and keeps it out of files"
    )]
    KeyInAddress,

    #[error("the environment variable {variable} holds no key")]
    KeyMissing { variable: String },

    #[error("could not set up the connection: {reason}")]
    Unusable { reason: String },

    #[error("could not connect to {host}: is the server running?")]
    Unreachable { host: String },

    #[error("could not resolve {host}; check the address")]
    NameUnresolved { host: String },

    #[error("the connection to {host} is not secure: {reason}")]
    Untrusted { host: String, reason: String },

    #[error("{host} sent no token for {seconds} s; the text so far is kept")]
    TimedOut { host: String, seconds: u64 },

    #[error("the connection to {host} was lost; the text so far is kept")]
    ConnectionLost { host: String },

    #[error("{host} requires a key ({status}), but none was given")]
    KeyNeeded { host: String, status: u16 },

    #[error("{host} refused the key ({status})")]
    KeyRefused { host: String, status: u16 },

    #[error("too many requests to {host} (429): try again {}", in_words(*.seconds))]
    RateLimited { host: String, seconds: Option<u64> },

    #[error("{host} is not ready (503){}", after_colon(.reason))]
    NotReady { host: String, reason: String },

    #[error("{host} returned a server error ({status}){}", after_colon(.reason))]
    ServerFailed {
        host: String,
        status: u16,
        reason: String,
    },

    #[error("{host} refused the request ({status}){}", after_colon(.reason))]
    Refused {
        host: String,
        status: u16,
        reason: String,
    },

    #[error("{host} redirects to {location}; use that address")]
    Redirected { host: String, location: String },

    #[error("{host} did not find {path} (404){}", after_colon(.reason))]
    NotFound {
        host: String,
        path: String,
        reason: String,
    },

    #[error("{host} sent a web page instead of JSON: is this the address of a model server?")]
    WebPage { host: String },

    #[error("{host} sent an unexpected response: {reason}")]
    Unexpected { host: String, reason: String },

    #[error("{host} sent more than {n_max_mib} MiB at once")]
    TooLarge { host: String, n_max_mib: usize },

    #[error("{host} serves no model")]
    NoModel { host: String },

    #[error("{host} has no model {model:?}; it serves {}", .names.join(", "))]
    ModelMissing {
        host: String,
        model: String,
        names: Vec<String>,
    },

    #[error("the model changed from {then:?} to {now:?} while the text was written")]
    ModelChanged { then: String, now: String },

    #[error("{host} reported token {id}, but {}", limit_of(*.n_vocab))]
    WrongId {
        host: String,
        id: i128,
        n_vocab: Option<usize>,
    },

    #[error("{host} reported token {id} twice for one step")]
    RepeatedId { host: String, id: u64 },

    #[error("{host} reported probabilities that add up to {sum}")]
    MassExceeded { host: String, sum: String },

    #[error("{host} reported a log-probability of {log_prob}, but none is above 0")]
    NoLogProb { host: String, log_prob: String },

    #[error(
        "{host} reported no probabilities for token {number}, and Quartet’s chain needs them: let the \
         server’s own sampler choose the tokens, or {remedy}"
    )]
    NoProbabilities {
        host: String,
        number: usize,
        remedy: &'static str,
    },

    #[error(
        "the token is part of a character, and {kind} can only continue a text of whole characters: let \
         its own sampler choose the tokens"
    )]
    PartOfCharacter { kind: &'static str },

    #[error("{what} needs {needed}, which {kind} does not provide")]
    Unsupported {
        what: String,
        needed: &'static str,
        kind: &'static str,
    },

    #[error("the prompt has {n_tokens} tokens, but the server reads at most {n_max}")]
    PromptTooLong { n_tokens: usize, n_max: usize },

    #[error("the prompt has no tokens; enter a text to continue")]
    PromptEmpty,

    #[error("the step could not be sampled: {reason}")]
    SamplingFailed { reason: String },
}

fn in_words(seconds: Option<u64>) -> String {
    match seconds {
        None => "in a few minutes".to_owned(),
        Some(1) => "in 1 second".to_owned(),
        Some(seconds) => format!("in {seconds} seconds"),
    }
}

fn limit_of(n_vocab: Option<usize>) -> String {
    match n_vocab {
        Some(n_vocab) => format!("its vocabulary has {n_vocab} tokens"),
        None => "no vocabulary has such a token".to_owned(),
    }
}

fn after_colon(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    }
}

impl ServerError {
    /// Returns the error to report once the server has been silent for this long.
    pub(super) fn timed_out(host: &str, after: Duration) -> Self {
        Self::TimedOut {
            host: host.to_owned(),
            seconds: after.as_secs(),
        }
    }

    /// Classifies a transport error by its text, because the underlying types are not exposed.
    pub(super) fn transport(error: &reqwest::Error, host: &str) -> Self {
        let host = host.to_owned();
        let (mut words, mut innermost) = (String::new(), String::new());
        let mut source: Option<&dyn Error> = Some(error);
        while let Some(error) = source {
            innermost = error.to_string();
            words.push_str(&innermost.to_lowercase());
            words.push('\n');
            source = error.source();
        }
        let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        if says(&[
            "certificate",
            "tls",
            "handshake",
            "fatal alert",
            "corrupt message",
        ]) {
            Self::Untrusted {
                host,
                reason: innermost,
            }
        } else if says(&["dns error", "failed to lookup"]) {
            Self::NameUnresolved { host }
        } else if error.is_connect() {
            Self::Unreachable { host }
        } else {
            Self::ConnectionLost { host }
        }
    }
}

/// Why a request ended without a result.
#[derive(Debug)]
pub(super) enum Broken {
    /// The user stopped it.
    Stopped,
    Failed(ServerError),
}

impl From<ServerError> for Broken {
    fn from(error: ServerError) -> Self {
        Self::Failed(error)
    }
}
