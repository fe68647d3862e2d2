//! The distribution of one step as a server reports it, checked and converted to a head.

use super::ServerError;
use super::served::Served;
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
    pub id: Option<i128>,
    /// `None` if the server identifies tokens by their ids.
    pub bytes: Option<Vec<u8>>,
    /// `None` if the server reported none, or a number that stands for none.
    pub log_prob: Option<f64>,
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
        self.top
            .iter()
            .any(|token| token.known_log_prob().is_some())
    }
}

impl ReportedToken {
    /// Returns the log-probability, unless it stands for one that is zero or was not computed.
    fn known_log_prob(&self) -> Option<f64> {
        self.log_prob.filter(|log_prob| *log_prob > LEAST_LOG_PROB)
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
    served: &Served,
) -> Result<CheckedStep, ServerError> {
    let mut head: Vec<Candidate> = Vec::new();
    for token in &reported.top {
        let Some(candidate) = candidate(token, served)? else {
            continue;
        };
        match head.iter_mut().find(|other| other.token == candidate.token) {
            None => head.push(candidate),
            Some(_) if served.kind().has_ids() => {
                return Err(ServerError::RepeatedId {
                    host: served.host().to_owned(),
                    id: u64::from(candidate.token.0),
                });
            }
            // Two tokens with the same text can't be told apart.
            Some(same) => same.logit = ln_sum(same.logit, candidate.logit),
        }
    }
    let sampled = reported.sampled.as_ref();
    let sampled_id = sampled.map(|token| id_of(token, served)).transpose()?;
    let sampled = sampled.map(|token| candidate(token, served)).transpose()?;
    // A probability of 1 beside no other token is what llama-server writes for a drafted token, whose
    // probability it does not compute.
    let sampled = sampled.flatten();
    let sampled = sampled.filter(|sampled| !head.is_empty() || sampled.logit < 0.0);
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
            host: served.host().to_owned(),
            sum: format!("{sum:.3}"),
        });
    }
    let n_vocab = served.info.n_vocab.unwrap_or(ASSUMED_VOCABULARY);
    let mut head = ServedHead::new(head, n_vocab);
    if names_all(reported, served) {
        head = head.whole();
    }
    if let Some(sampled) = sampled {
        head = head.with(sampled);
    } else if let Some(token) = sampled_id {
        head = head.covering(token);
    }
    Ok(CheckedStep {
        head,
        sampled: sampled_id,
    })
}

/// Returns whether the tokens that were not reported are impossible.
fn names_all(reported: &Reported, served: &Served) -> bool {
    let info = &served.info;
    let is_impossible = |token: &ReportedToken| {
        token
            .log_prob
            .is_some_and(|log_prob| log_prob <= LEAST_LOG_PROB)
    };
    let reports_all = info.kind.api().spec().reports_all;
    let names_impossible = reports_all && reported.top.iter().any(is_impossible);
    names_impossible
        || info
            .n_vocab
            .is_some_and(|n_vocab| reported.top.len() >= n_vocab)
}

/// Returns a token with its log-probability, or `None` if it has none.
fn candidate(token: &ReportedToken, served: &Served) -> Result<Option<Candidate>, ServerError> {
    let Some(log_prob) = token.known_log_prob() else {
        return Ok(None);
    };
    if log_prob > EXCESS {
        return Err(ServerError::NoLogProb {
            host: served.host().to_owned(),
            log_prob: log_prob.to_string(),
        });
    }
    Ok(Some(Candidate {
        token: id_of(token, served)?,
        logit: log_prob.min(0.0) as f32,
    }))
}

/// Returns a token's id: the server's, or the table's if the server identifies tokens by texts.
fn id_of(token: &ReportedToken, served: &Served) -> Result<TokenId, ServerError> {
    let bytes = token.bytes.as_deref().unwrap_or_default();
    match token.id {
        Some(id) => {
            let known = served.check_id(id)?;
            if !bytes.is_empty() {
                served.learn(known, Piece::text(bytes));
            }
            Ok(known)
        }
        None if served.kind().has_ids() => Err(served.peer.unexpected("a token without an id")),
        None => Ok(served.intern(bytes)),
    }
}

fn ln_sum(a: f32, b: f32) -> f32 {
    (f64::from(a).exp() + f64::from(b).exp()).ln() as f32
}
