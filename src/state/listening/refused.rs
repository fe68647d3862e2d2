//! Requests for which nothing was written. Repeated ones share a row.

use std::collections::VecDeque;

use crate::listen::{Client, Outcome};

/// A request for which nothing was written, or several in a row for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequest {
    /// What the program calls itself.
    pub program: Option<String>,
    /// The method and path: "POST /v1/completions".
    pub target: String,
    /// The prompt or the last message; empty if the request could not be read.
    pub asked: String,
    /// When the last of them arrived, in seconds since 1970.
    pub asked_at: u64,
    /// "400: n must be an integer". Can be shown to the user.
    pub reason: String,
    /// Whether it was only turned away because too many others were open, or the program left.
    pub was_early: bool,
    /// How many there were.
    pub n_times: usize,
}

impl RefusedRequest {
    /// Adds a request to the list, whose first row is the latest.
    pub(super) fn list(
        refused: &mut VecDeque<Self>,
        client: &Client,
        asked: String,
        outcome: &Outcome,
    ) {
        let (reason, was_early) = match outcome {
            Outcome::Refused(error) => (format!("{}: {error}", error.status), error.status == 429),
            Outcome::LeftWaiting => ("The program left before its turn".to_owned(), true),
            Outcome::Written { .. } => ("Stopped before the first token".to_owned(), true),
        };
        let request = Self {
            program: client.user_agent.clone(),
            target: client.target.clone(),
            asked,
            asked_at: client.asked_at,
            reason,
            was_early,
            n_times: 1,
        };
        match refused.front_mut() {
            Some(last) if last.is_like(&request) => {
                last.n_times += 1;
                last.asked_at = request.asked_at;
            }
            _ => refused.push_front(request),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        (&self.program, &self.target, &self.asked, &self.reason)
            == (&other.program, &other.target, &other.asked, &other.reason)
    }
}
