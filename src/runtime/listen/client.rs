//! What is known about the program that asks.

use std::time::{SystemTime, UNIX_EPOCH};

use hyper::header::USER_AGENT;
use hyper::http::request::Parts;

use crate::generation::formatting::cut;

/// A program that sent a request. No other header is recorded, because some hold keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Counts the requests of the endpoint, from 1.
    pub number: u64,
    /// What the program calls itself: "curl/8.5.0".
    pub user_agent: Option<String>,
    /// The method and path of the request: "POST /v1/completions".
    pub target: String,
    /// When the request arrived, in seconds since 1970.
    pub asked_at: u64,
}

impl Client {
    pub(super) fn of(head: &Parts, number: u64) -> Self {
        let user_agent = head.headers.get(USER_AGENT);
        let user_agent = user_agent.and_then(|name| name.to_str().ok());
        Self {
            number,
            user_agent: user_agent.map(|name| cut(name, 60)),
            // The query could hold a key.
            target: cut(&format!("{} {}", head.method, head.uri.path()), 60),
            asked_at: now(),
        }
    }
}

/// Returns the seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
