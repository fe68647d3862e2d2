//! The distribution of one step as a server reports it, checked and converted to a head.

use super::{Connection, ServerError, ServerKind};
use crate::decoding::{ASSUMED_VOCABULARY, Candidate, ServedHead, TokenId};
use crate::generation::Piece;

/// vLLM and OpenAI report −9999, and llama-server the lowest float, for a probability that is zero
/// or was not computed. No real log-probability comes close.
const LEAST_LOG_PROB: f64 = -9990.0;

/// How far the sum of the probabilities may exceed 1, due to rounding.
const EXCESS: f64 = 0.01;

/// A token with its log-probability.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReportedToken {
    /// `None` if the server identifies tokens by their texts.
    pub id: Option<u64>,
    /// `None` if the server identifies tokens by their ids.
    pub bytes: Option<Vec<u8>>,
    pub log_prob: f64,
}

/// The most likely tokens of one step, and the one that the server's sampler chose.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reported {
    pub top: Vec<ReportedToken>,
    pub sampled: Option<ReportedToken>,
}

impl Reported {
    /// Returns whether any of the most likely tokens has a probability.
    pub(super) fn has_probs(&self) -> bool {
        self.top.iter().any(ReportedToken::is_possible)
    }
}

impl ReportedToken {
    fn is_possible(&self) -> bool {
        self.log_prob > LEAST_LOG_PROB
    }
}

/// A reported step, with Quartet's token ids.
#[derive(Debug, Clone)]
pub(super) struct CheckedStep {
    pub head: ServedHead,
    /// The token that the server's sampler chose.
    pub sampled: Option<TokenId>,
}

/// Checks what a server reported. `n_asked` is the number of tokens that were requested.
pub(super) fn checked(
    reported: &Reported,
    n_asked: usize,
    connection: &Connection,
) -> Result<CheckedStep, ServerError> {
    let mut head: Vec<Candidate> = Vec::new();
    let possible = reported.top.iter().filter(|token| token.is_possible());
    for token in possible {
        let candidate = candidate(token, connection)?;
        match head.iter_mut().find(|other| other.token == candidate.token) {
            None => head.push(candidate),
            Some(_) if connection.kind().has_ids() => {
                return Err(ServerError::RepeatedId {
                    host: connection.host().to_owned(),
                    id: u64::from(candidate.token.0),
                });
            }
            // Two tokens with the same text can't be told apart.
            Some(same) => same.logit = ln_sum(same.logit, candidate.logit),
        }
    }
    let sampled = reported.sampled.as_ref();
    let sampled = sampled
        .map(|token| candidate(token, connection))
        .transpose()?;
    // vLLM adds the sampled token to the n most likely ones if it is not among them.
    head.sort_by(|a, b| b.logit.total_cmp(&a.logit));
    if head.len() > n_asked
        && let Some(sampled) = sampled
        && head.last().is_some_and(|last| last.token == sampled.token)
    {
        head.pop();
    }
    let sum: f64 = head.iter().map(|known| f64::from(known.logit).exp()).sum();
    if sum > 1.0 + EXCESS {
        return Err(ServerError::MassExceeded {
            host: connection.host().to_owned(),
            sum: format!("{sum:.3}"),
        });
    }
    let n_vocab = connection.info().n_vocab.unwrap_or(ASSUMED_VOCABULARY);
    let mut head = ServedHead::new(head, n_vocab);
    if names_all(reported, connection) {
        head = head.whole();
    }
    if let Some(sampled) = sampled {
        head = head.with(sampled);
    }
    let sampled = sampled.map(|sampled| sampled.token);
    Ok(CheckedStep { head, sampled })
}

/// Returns whether the tokens that were not reported are impossible. llama-server sorts impossible
/// tokens last and reports them like the others.
fn names_all(reported: &Reported, connection: &Connection) -> bool {
    let info = connection.info();
    let is_impossible = |token: &ReportedToken| !token.is_possible();
    let names_impossible =
        info.kind == ServerKind::LlamaServer && reported.top.iter().any(is_impossible);
    names_impossible
        || info
            .n_vocab
            .is_some_and(|n_vocab| reported.top.len() >= n_vocab)
}

fn candidate(token: &ReportedToken, connection: &Connection) -> Result<Candidate, ServerError> {
    let bytes = token.bytes.as_deref().unwrap_or_default();
    let id = match token.id {
        Some(id) => {
            let known = connection.check_id(id)?;
            if !bytes.is_empty() {
                connection.learn(known, Piece::text(bytes));
            }
            known
        }
        None => connection.intern(bytes),
    };
    Ok(Candidate {
        token: id,
        logit: token.log_prob.min(0.0) as f32,
    })
}

fn ln_sum(a: f32, b: f32) -> f32 {
    (f64::from(a).exp() + f64::from(b).exp()).ln() as f32
}
