//! A step's entry in a file of format 1, with the piece next to every token id.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::decoding::{
    Detail, Draw, Evidence, Filter, Picked, RankedCandidate, SelectorState, StageReport, TokenId,
    Trace,
};
use crate::export::json::{N_VOCAB_MAX, ParseError};
use crate::generation::{Piece, PieceKind, Step, StepTime, Vocabulary};

/// A step's entry in the file.
#[derive(Deserialize)]
pub(super) struct StepEntry {
    token: TokenId,
    #[serde(flatten)]
    piece: NamedPiece,
    raw_prob: f64,
    final_prob: f64,
    rank: u32,
    entropy_nats: f64,
    coin: Option<f64>,
    coin_below: f64,
    // Missing in files from older versions.
    n_kept: Option<u32>,
    #[serde(default)]
    picked: Picked,
    #[serde(default)]
    selector_state: SelectorState,
    log_sum_exp: f64,
    n_candidates: u32,
    candidates: Vec<CandidateEntry>,
    stages: Vec<StageEntry>,
    survivors: Vec<SurvivorEntry>,
    time: TimeEntry,
}

/// A piece, flattened into the entry that holds its token id.
#[derive(Clone, Deserialize)]
pub(super) struct NamedPiece {
    piece: String,
    #[serde(default)]
    bytes: Option<Vec<u8>>,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct CandidateEntry {
    token: TokenId,
    #[serde(flatten)]
    piece: NamedPiece,
    logit: Option<f32>,
    raw_prob: f64,
    final_prob: Option<f64>,
}

#[derive(Deserialize)]
struct SurvivorEntry {
    token: TokenId,
    #[serde(flatten)]
    piece: NamedPiece,
    logit: Option<f32>,
    prob: f64,
}

#[derive(Deserialize)]
struct StageEntry {
    #[serde(flatten)]
    filter: Arc<Filter>,
    n_kept: u32,
    mass_removed: f64,
    entropy_nats: f64,
    probs: Vec<Option<f32>>,
}

#[derive(Deserialize)]
struct TimeEntry {
    at_secs: f64,
    forward_secs: f64,
    n_batch: usize,
}

impl StepEntry {
    /// Converts the entry to a step, and adds the pieces of its tokens to `pieces`.
    pub(super) fn into_step(self, pieces: &mut Pieces) -> Result<Step, ParseError> {
        pieces.learn(self.token, &self.piece)?;
        for candidate in &self.candidates {
            pieces.learn(candidate.token, &candidate.piece)?;
        }
        for candidate in &self.survivors {
            pieces.learn(candidate.token, &candidate.piece)?;
        }
        let n_kept = self.n_kept.unwrap_or_else(|| self.n_kept_by_stages());
        let head = self.candidates.iter();
        let final_probs = head.clone().map(|entry| entry.final_prob).collect();
        let survivors = self.survivors.iter();
        let trace = Trace {
            raw: Evidence {
                n_candidates: self.n_candidates,
                head: head
                    .map(|entry| ranked(entry.token, entry.logit, entry.raw_prob))
                    .collect(),
                log_sum_exp: self.log_sum_exp,
                entropy_nats: self.entropy_nats,
                detail: Detail::HeadOnly,
            },
            mixture: None,
            stages: self
                .stages
                .into_iter()
                .map(StageEntry::into_report)
                .collect(),
            survivors: survivors
                .map(|entry| ranked(entry.token, entry.logit, entry.prob))
                .collect(),
            head_final_probs: final_probs,
            draw: Draw {
                token: self.token,
                prob: self.final_prob,
                coin: self.coin,
                below: self.coin_below,
                n_kept,
                picked: self.picked,
            },
            raw_prob: self.raw_prob,
            raw_rank: self.rank,
            selector_state: self.selector_state,
            grammar: None,
            bounded: false,
            known: None,
        };
        Ok(Step {
            token: self.token,
            piece: self.piece.piece(),
            trace: Arc::new(trace),
            time: StepTime {
                at_secs: self.time.at_secs,
                forward_secs: self.time.forward_secs,
                n_batch: self.time.n_batch,
                mask_secs: None,
                network_secs: None,
            },
            draft: None,
            logits_hash: None,
        })
    }

    /// Reconstructs `n_kept`: what the last stage kept, or 1 if no coin was tossed.
    fn n_kept_by_stages(&self) -> u32 {
        match (self.coin, self.stages.last()) {
            (None, _) => 1,
            (Some(_), Some(stage)) => stage.n_kept,
            (Some(_), None) => self.n_candidates,
        }
    }
}

impl StageEntry {
    fn into_report(self) -> StageReport {
        StageReport {
            filter: self.filter,
            n_kept: self.n_kept,
            mass_removed: self.mass_removed,
            entropy_nats: self.entropy_nats,
            head_probs: self.probs,
        }
    }
}

impl NamedPiece {
    pub(super) fn piece(&self) -> Piece {
        Piece {
            bytes: self
                .bytes
                .clone()
                .unwrap_or_else(|| self.piece.clone().into_bytes()),
            kind: if self.special {
                PieceKind::Special
            } else {
                PieceKind::Text
            },
        }
    }
}

/// The part of a vocabulary that occurs in a file.
#[derive(Default)]
pub(super) struct Pieces(BTreeMap<TokenId, Piece>);

impl Pieces {
    /// Adds a token's piece. Fails if the token id is out of range.
    pub(super) fn learn(&mut self, token: TokenId, piece: &NamedPiece) -> Result<(), ParseError> {
        if token.0 >= N_VOCAB_MAX {
            return Err(ParseError::UnknownToken { id: token.0 });
        }
        self.0.entry(token).or_insert_with(|| piece.piece());
        Ok(())
    }

    /// Converts to a vocabulary in which all other tokens count as unknown.
    pub(super) fn into_vocabulary(self) -> Vocabulary {
        let n_tokens = self.0.keys().next_back().map_or(0, |last| last.0 + 1);
        let unknown = Vocabulary::default();
        let pieces = (0..n_tokens).map(TokenId).map(|token| {
            let known = self.0.get(&token).cloned();
            known.unwrap_or_else(|| unknown.piece(token))
        });
        Vocabulary::new(pieces.collect())
    }
}

fn ranked(token: TokenId, logit: Option<f32>, prob: f64) -> RankedCandidate {
    RankedCandidate {
        token,
        logit: logit.unwrap_or(f32::NEG_INFINITY),
        prob,
    }
}
