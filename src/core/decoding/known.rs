//! What is known of a step of which a server reported only a part of the distribution.
//!
//! The tokens that the server did not name share the remaining probability, in a way that only the
//! server knows. A number is known if the two extremes agree on it: the rest spread evenly over all
//! other tokens, and heaped on as few tokens as their rank allows.

use serde::{Deserialize, Serialize};

use super::{StageReport, Trace};

/// How far two numbers may differ that count as the same: far below what is shown.
const TOLERANCE: f64 = 1e-5;

/// A drawn token with at least this probability fixes the other probabilities to three digits.
const FIRM_PROB: f64 = 0.01;

/// A candidate's probability after the chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FinalProb {
    Kept(f64),
    Cut,
    /// It depends on tokens that the server did not name.
    Unknown,
}

/// The numbers of a step that do not depend on what a server left out, or `None` for those that do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownPart {
    /// `None` if the server did not report the size of its vocabulary.
    pub n_candidates: Option<u32>,
    pub entropy_nats: Option<f64>,
    /// `None` if the server reported no probability for the token.
    pub raw_prob: Option<f64>,
    /// `None` if the token is not among those that the server named.
    pub raw_rank: Option<u32>,
    pub final_prob: Option<f64>,
    pub n_kept: Option<u32>,
    /// One for each stage.
    pub stages: Vec<KnownStageNumbers>,
}

/// The numbers of one stage that do not depend on what a server left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownStageNumbers {
    pub n_kept: Option<u32>,
    pub mass_removed: Option<f64>,
    pub entropy_nats: Option<f64>,
}

impl KnownStageNumbers {
    /// Returns the numbers of a stage that are all known.
    pub fn all(report: &StageReport) -> Self {
        Self {
            n_kept: Some(report.n_kept),
            mass_removed: Some(report.mass_removed),
            entropy_nats: Some(report.entropy_nats),
        }
    }

    /// Returns whether none is missing.
    pub fn is_whole(&self) -> bool {
        self.n_kept.is_some() && self.mass_removed.is_some() && self.entropy_nats.is_some()
    }
}

impl KnownPart {
    /// Returns what a trace states for certain, where every number is known.
    pub(super) fn all(trace: &Trace) -> Self {
        Self {
            n_candidates: Some(trace.raw.n_candidates),
            entropy_nats: Some(trace.raw.entropy_nats),
            raw_prob: Some(trace.raw_prob),
            raw_rank: Some(trace.raw_rank),
            final_prob: Some(trace.draw.prob),
            n_kept: Some(trace.draw.n_kept),
            stages: trace.stages.iter().map(KnownStageNumbers::all).collect(),
        }
    }

    /// Keeps the numbers on which another trace of the same step agrees.
    pub(super) fn agree_with(&mut self, other: &Trace) {
        keep_near(&mut self.entropy_nats, other.raw.entropy_nats);
        keep_near(&mut self.final_prob, other.draw.prob);
        keep_same(&mut self.n_kept, other.draw.n_kept);
        for (known, report) in self.stages.iter_mut().zip(&other.stages) {
            keep_same(&mut known.n_kept, report.n_kept);
            keep_near(&mut known.mass_removed, report.mass_removed);
            keep_near(&mut known.entropy_nats, report.entropy_nats);
        }
    }

    /// Forgets counts that exceed the tokens that were named, for a vocabulary of unknown size.
    pub(super) fn forget_counts_above(&mut self, n_named: usize) {
        self.n_candidates = None;
        let counts = self.stages.iter_mut().map(|stage| &mut stage.n_kept);
        for count in counts.chain([&mut self.n_kept]) {
            *count = count.filter(|count| *count as usize <= n_named);
        }
    }

    /// Returns whether nothing is missing, so that a step needs no such note.
    pub fn is_whole(&self) -> bool {
        let counts = [self.n_candidates, self.raw_rank, self.n_kept];
        let numbers = [self.entropy_nats, self.raw_prob, self.final_prob];
        counts.iter().all(Option::is_some)
            && numbers.iter().all(Option::is_some)
            && self.stages.iter().all(KnownStageNumbers::is_whole)
    }
}

fn keep_near(known: &mut Option<f64>, other: f64) {
    *known = known.filter(|known| (known - other).abs() < TOLERANCE);
}

fn keep_same(known: &mut Option<u32>, other: u32) {
    *known = known.filter(|known| *known == other);
}

impl Trace {
    /// Returns the size of the vocabulary, or `None` if the server did not report it.
    pub fn n_known_candidates(&self) -> Option<u32> {
        let known = self.known.as_deref();
        known.map_or(Some(self.raw.n_candidates), |known| known.n_candidates)
    }

    /// Returns the entropy before the chain, in nats, or `None` if it depends on tokens that the
    /// server did not name.
    pub fn known_entropy_nats(&self) -> Option<f64> {
        let known = self.known.as_deref();
        known.map_or(Some(self.raw.entropy_nats), |known| known.entropy_nats)
    }

    /// Returns the token's probability before the chain, or `None` if the server reported none.
    pub fn known_raw_prob(&self) -> Option<f64> {
        let known = self.known.as_deref();
        known.map_or(Some(self.raw_prob), |known| known.raw_prob)
    }

    /// Returns the token's surprise before the chain, −log2(p) in bits, or `None` if the server
    /// reported no probability.
    pub fn known_surprise_bits(&self) -> Option<f64> {
        // A certain token has a surprise of 0, not of −0.
        self.known_raw_prob().map(|prob| 0.0 - prob.log2())
    }

    /// Returns the token's rank before the chain, or `None` if the server did not name it.
    pub fn known_rank(&self) -> Option<u32> {
        let known = self.known.as_deref();
        known.map_or(Some(self.raw_rank), |known| known.raw_rank)
    }

    /// Returns the token's probability after the chain, or `None` if it depends on tokens that the
    /// server did not name.
    pub fn known_final_prob(&self) -> Option<f64> {
        let known = self.known.as_deref();
        known.map_or(Some(self.draw.prob), |known| known.final_prob)
    }

    /// Returns whether the probabilities after the chain do not depend on tokens that the server did
    /// not name.
    pub fn knows_final_probs(&self) -> bool {
        let Some(known) = self.known.as_deref() else {
            return true;
        };
        let last = known.stages.last();
        let entropy_nats = last.map_or(known.entropy_nats, |last| last.entropy_nats);
        known.n_kept == Some(1)
            || entropy_nats.is_some()
            || known.final_prob.is_some_and(|prob| prob >= FIRM_PROB)
    }

    /// Returns the probability after the chain of the candidate at `index` of `raw.head`.
    pub fn known_head_final(&self, index: usize) -> FinalProb {
        let is_known = self.knows_final_probs();
        match self.head_final_prob(index) {
            Some(prob) if is_known => FinalProb::Kept(prob),
            None if is_known || self.n_known_kept().is_some() => FinalProb::Cut,
            _ => FinalProb::Unknown,
        }
    }

    /// Returns the drawn token's probability after the chain.
    pub fn known_draw_final(&self) -> FinalProb {
        match self.known_final_prob() {
            Some(prob) if prob > 0.0 => FinalProb::Kept(prob),
            Some(_) => FinalProb::Cut,
            None => FinalProb::Unknown,
        }
    }

    /// Returns how many tokens could have been picked, or `None` if that depends on tokens that the
    /// server did not name.
    pub fn n_known_kept(&self) -> Option<u32> {
        let known = self.known.as_deref();
        known.map_or(Some(self.draw.n_kept), |known| known.n_kept)
    }

    /// Returns what is known about the stage at this index.
    pub fn known_stage(&self, index: usize) -> KnownStageNumbers {
        match &self.known {
            Some(known) => known.stages.get(index).copied().unwrap_or_default(),
            None => self
                .stages
                .get(index)
                .map(KnownStageNumbers::all)
                .unwrap_or_default(),
        }
    }
}
