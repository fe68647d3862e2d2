//! What is known about the tokens that were not recorded individually.

use super::ROUNDING;
use crate::decoding::detail::{Histogram, Summary};
use crate::decoding::{Candidate, Evidence, TokenId};

/// What is known about the tokens that were not recorded. A mass is a sum of `exp(logit)`, stored
/// as its natural logarithm.
#[derive(Clone, Copy)]
pub(in crate::decoding) struct Tail<'a> {
    /// The largest possible number of tokens.
    pub(in crate::decoding) n: f64,
    pub(super) ln_least: f64,
    pub(super) ln_most: f64,
    /// The logit of `last`. No token of the tail has a larger one, and `last` precedes those that
    /// have the same.
    pub(super) max_logit: f32,
    /// The last recorded token.
    pub(super) last: TokenId,
    /// Whether recorded tokens have fallen into the tail.
    pub(in crate::decoding) mixed: bool,
    /// `None` if no histogram was recorded or a stage has dropped part of the tail.
    pub(super) shape: Option<Shape<'a>>,
}

/// A histogram of the tail, and how the tail has changed since it was recorded.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    histogram: &'a Histogram,
    /// The largest recorded logit.
    max_logit: f64,
    /// The factor by which all logits have been multiplied.
    power: f64,
    /// At most this many tokens have fallen below their recorded logit.
    n_lowered: f64,
    /// This many recorded tokens have fallen into the tail.
    n_sunk: f64,
}

impl<'a> Tail<'a> {
    /// Returns the tail below the head, or `None` if the head holds every candidate.
    pub(super) fn below_head(evidence: &Evidence) -> Option<Self> {
        let last = evidence.head.last()?;
        let last = Candidate {
            token: last.token,
            logit: last.logit,
        };
        let known = evidence.head.iter().map(|ranked| ranked.prob).sum();
        Self::below(evidence, last, evidence.head.len(), known)
    }

    /// Returns the tail below the candidates of a summary.
    pub(super) fn below_summary(evidence: &Evidence, summary: &'a Summary) -> Option<Self> {
        let named = &summary.candidates;
        let last =
            named.iter().copied().reduce(
                |last, next| {
                    if next.comes_after(last) { next } else { last }
                },
            )?;
        let probs = named
            .iter()
            .map(|next| (f64::from(next.logit) - evidence.log_sum_exp).exp());
        let tail = Self::below(evidence, last, named.len(), probs.sum())?;
        let shape = Shape {
            histogram: &summary.tail,
            max_logit: f64::from(last.logit),
            power: 1.0,
            n_lowered: 0.0,
            n_sunk: 0.0,
        };
        let (ln_least, ln_most) = shape.ln_masses();
        Some(Self {
            ln_least: tail.ln_least.max(ln_least),
            ln_most: tail.ln_most.min(ln_most),
            shape: Some(shape),
            ..tail
        })
    }

    /// Returns the tail below `last`, given the number of known candidates and the sum of their
    /// probabilities.
    fn below(evidence: &Evidence, last: Candidate, n_known: usize, known: f64) -> Option<Self> {
        let n = f64::from(evidence.n_candidates) - n_known as f64;
        let unknown = 1.0 - known;
        let ln_most = (unknown + ROUNDING).ln() + evidence.log_sum_exp;
        (n > 0.0).then(|| Self {
            n,
            ln_least: (unknown - ROUNDING).max(0.0).ln() + evidence.log_sum_exp,
            ln_most: ln_most.min(n.ln() + f64::from(last.logit)),
            max_logit: last.logit,
            last: last.token,
            mixed: false,
            shape: None,
        })
    }

    /// Divides all logits by a temperature.
    ///
    /// If only the sum of the weights `w` is known, the sum of their powers `w^a` is bounded by two
    /// extremes: all weights equal, and as few nonzero weights as possible. Which one is the larger
    /// depends on whether `a` exceeds 1. A histogram narrows the bounds.
    pub(super) fn heated(self, temperature: f32) -> Self {
        let power = 1.0 / f64::from(temperature);
        let few = |ln_mass: f64| ln_mass + (power - 1.0) * f64::from(self.max_logit);
        let equal = |ln_mass: f64| self.n.ln() + power * (ln_mass - self.n.ln());
        let (ln_least, ln_most) = if power > 1.0 {
            (equal(self.ln_least), few(self.ln_most))
        } else {
            (few(self.ln_least), equal(self.ln_most))
        };
        let shape = self.shape.map(|shape| Shape {
            power: shape.power * power,
            ..shape
        });
        let (shape_least, shape_most) = match shape {
            Some(shape) => shape.ln_masses(),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        };
        Self {
            ln_least: ln_least.max(shape_least),
            ln_most: ln_most.min(shape_most),
            max_logit: self.max_logit / temperature,
            shape,
            ..self
        }
    }

    /// Lowers at most `n_seen` of the tokens, by an unknown amount.
    pub(super) fn lowered(self, n_seen: usize) -> Self {
        let ln_lost = (n_seen as f64).ln() + f64::from(self.max_logit);
        let left = (1.0 - (ln_lost - self.ln_least).exp()).max(0.0);
        Self {
            ln_least: self.ln_least + left.ln(),
            shape: self.shape.map(|shape| Shape {
                n_lowered: shape.n_lowered + n_seen as f64,
                ..shape
            }),
            ..self
        }
    }

    /// Adds recorded tokens that have fallen into the tail.
    pub(super) fn joined_by(self, sunk: &[Candidate]) -> Self {
        let logits = || sunk.iter().map(|next| f64::from(next.logit));
        let n_sunk = sunk.len() as f64;
        Self {
            n: self.n + n_sunk,
            ln_least: logits().fold(self.ln_least, ln_sum),
            ln_most: logits().fold(self.ln_most, ln_sum),
            mixed: true,
            shape: self.shape.map(|shape| Shape {
                n_sunk: shape.n_sunk + n_sunk,
                ..shape
            }),
            ..self
        }
    }
}

impl Shape<'_> {
    /// Returns the bounds of the mass, as natural logarithms.
    fn ln_masses(&self) -> (f64, f64) {
        let (ln_least, ln_most) = self.histogram.ln_masses(self.power);
        let ln_largest = self.power * self.max_logit;
        let ln_lost = self.n_lowered.ln() + ln_largest;
        let left = (1.0 - (ln_lost - ln_least).exp()).max(0.0);
        let ln_most = ln_sum(ln_most, self.n_sunk.ln() + ln_largest);
        (ln_least + left.ln() - ROUNDING, ln_most + ROUNDING)
    }
}

/// Returns `ln(exp(a) + exp(b))` without overflow.
fn ln_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp().ln_1p()
    }
}
