//! How to reach a server: its address, kind, model and key.

use std::fmt;
use std::time::Duration;

use super::{ServerError, ServerKind};

/// How to reach a server, and what to request from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// `http://127.0.0.1:8080`; a path such as `/v1` at the end is fine.
    pub address: String,
    /// `None` to detect it.
    pub kind: Option<ServerKind>,
    /// `None` for the first model that the server lists.
    pub model: Option<String>,
    pub key: Option<KeySource>,
    pub sampled_by: SampledBy,
    /// How many log-probabilities to request for each token; `None` for the kind's default.
    pub n_probs: Option<usize>,
    /// How long a server may send no token before the request fails, whatever else it sends.
    pub timeout: Duration,
}

impl ServerConfig {
    /// Returns the default settings for the server at an address.
    pub fn at(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            kind: None,
            model: None,
            key: None,
            sampled_by: SampledBy::Chain,
            n_probs: None,
            timeout: Duration::from_mins(2),
        }
    }
}

/// What chooses the tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SampledBy {
    /// Quartet's own chain, given the head that the server reports: one request per token.
    #[default]
    Chain,
    /// The server's sampler, with the settings that it supports: one request per text.
    Server,
}

/// Where the key of a server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    Typed(Key),
    /// The environment variable with this name holds it.
    Variable(String),
}

impl KeySource {
    /// Returns the key; fails if the variable holds none.
    pub fn key(&self) -> Result<Key, ServerError> {
        match self {
            Self::Typed(key) => Ok(key.clone()),
            Self::Variable(variable) => match std::env::var(variable) {
                Ok(key) if !key.trim().is_empty() => Ok(Key::new(&key)),
                _ => Err(ServerError::KeyMissing {
                    variable: variable.clone(),
                }),
            },
        }
    }
}

/// An API key that a server requires. It is never shown, written or serialized.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Creates a key, without surrounding whitespace.
    pub fn new(secret: &str) -> Self {
        Self(secret.trim().to_owned())
    }

    pub(super) fn secret(&self) -> &str {
        &self.0
    }

    /// Returns a text in which the key, if it occurs, is replaced by an ellipsis.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        text.replace(&self.0, "…")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, KeySource, ServerConfig};

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::new(" sk-secret\n");
        assert_eq!(key.secret(), "sk-secret");
        let config = ServerConfig {
            key: Some(KeySource::Typed(key.clone())),
            ..ServerConfig::at("http://127.0.0.1")
        };
        assert!(!format!("{config:?}").contains("secret"));
        assert_eq!(key.hidden_in("bad key sk-secret!"), "bad key …!");
    }
}
