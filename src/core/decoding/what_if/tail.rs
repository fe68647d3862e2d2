//! What is known about the tokens that were not recorded individually, with the proof that it holds.
//!
//! Let the head hold the most likely tokens, each with a known weight `w = exp(logit)`, and the tail
//! the other N, with a total weight of M. No weight of the tail exceeds m, that of the last recorded
//! token.
//!
//! 1. **Mass.** M is the recorded total minus the head.
//! 2. **Temperature** T turns each weight into `w^a` with a = 1/T. If a > 1, then
//!    `N·(M/N)^a ≤ Σ w^a ≤ m^(a−1)·M`: on the left, because a convex function of a mean is at most
//!    the mean of the function (Jensen); on the right, because `w^a = w^(a−1)·w ≤ m^(a−1)·w`. If
//!    a < 1, both inequalities are reversed. Tokens of probability zero, which N may count, change
//!    neither: they add nothing to the right side, and a larger N only widens the other bound.
//! 3. **Share.** Beside a head of weight H, the tail holds at most B/(H+B) of the probability if its
//!    mass is at most B, and every token of the head has a probability between w/(H+B) and w/(H+b) if
//!    it is at least b.
//! 4. **Coin.** A coin u picks the first candidate at which the cumulative weight exceeds u·(H+M).
//!    Recorded tokens come first, so their cumulative weights are known, and the picked one comes no
//!    sooner the larger M is. If the lightest and the heaviest tail pick the same one, so does the
//!    true tail.
//! 5. **Cuts** are bounded in the same way: see [`cuts`](super::cuts).
//!
//! **Rounding.** Weights of recorded tokens are rounded as in a real run, because the same operations
//! compute them. Sums differ in order: the relative error of a total is below [`ROUNDING`] (blocks
//! of 64 in 32 bits, blocks in 64 bits, exponentials within 2e-7), which widens masses and coins. A
//! server sums in 32 bits, so that its probabilities can be off by n·2^-24 altogether, for n tokens
//! ([`slack`]; 6,144 probabilities of llama-server added up to 1.00002). Dividing by a temperature
//! rounds each logit of the tail by up to 2^-24 of itself, which widens its mass
//! ([`Tail::heated`]). It can also make two logits equal that were not, so that their ids decide
//! which comes first: a token that the tail may have come to equal is never a certain answer
//! ([`Tail::may_equal`]).

use crate::decoding::detail::{Histogram, Summary};
use crate::decoding::{Candidate, Evidence, ServedHead, TokenId};

/// The relative rounding error of a sum of probabilities.
pub(super) const ROUNDING: f64 = 2e-6;

/// If the sum of all `exp(logit)` is as close to 1 as this, the logits are log-probabilities.
const NEAR_ONE: f64 = 0.02;

/// Tokens that are this many nats below the most likely one have no measurable weight.
const WEIGHTLESS_NATS: f64 = 100.0;

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
    /// Whether logits of the tail may have been rounded to that of `last`, so that it no longer
    /// precedes them.
    pub(super) tied: bool,
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
        let n = f64::from(evidence.n_candidates) - evidence.head.len() as f64;
        Self::below(last, n, known, evidence.log_sum_exp, slack(evidence))
    }

    /// Returns the tail below the tokens that a server reported, or `None` if these are all.
    pub(super) fn below_served(head: &ServedHead) -> Option<Self> {
        let known = head.candidates();
        let last = *known.last()?;
        let probs = known.iter().map(|next| f64::from(next.logit).exp());
        let n = (head.n_vocab() as f64 - known.len() as f64).max(0.0);
        let slack = served_slack(head.n_vocab() as f64);
        let tail = Self::below(last, n, probs.sum(), 0.0, slack);
        tail.filter(|_| !head.is_whole())
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
        let n = f64::from(evidence.n_candidates) - named.len() as f64;
        let (sum, total) = (probs.sum(), evidence.log_sum_exp);
        let tail = Self::below(last, n, sum, total, slack(evidence))?;
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

    /// Returns the tail of `n` tokens below `last`, given the sum of the known probabilities, the
    /// logarithm of the total weight, and how far these probabilities may be off altogether.
    fn below(last: Candidate, n: f64, known: f64, ln_total: f64, slack: f64) -> Option<Self> {
        let unknown = 1.0 - known;
        let ln_most = (unknown.max(0.0) + slack).ln() + ln_total;
        (n > 0.0).then(|| Self {
            n,
            ln_least: (unknown - slack).max(0.0).ln() + ln_total,
            ln_most: ln_most.min(n.ln() + f64::from(last.logit)),
            max_logit: last.logit,
            last: last.token,
            mixed: false,
            tied: false,
            shape: None,
        })
    }

    /// Returns a tail of `undecided` candidates, of which any number may be left, and of another
    /// tail after them. `last` precedes all of them. Returns `None` if there are none.
    pub(super) fn undecided(
        last: Candidate,
        undecided: &[Candidate],
        after: Option<Self>,
    ) -> Option<Self> {
        if undecided.is_empty() {
            let nothing_sure = |tail| Self {
                ln_least: f64::NEG_INFINITY,
                shape: None,
                ..tail
            };
            return after.map(nothing_sure);
        }
        let logits = undecided.iter().map(|next| f64::from(next.logit));
        let (n_after, ln_after) =
            after.map_or((0.0, f64::NEG_INFINITY), |tail| (tail.n, tail.ln_most));
        Some(Self {
            n: undecided.len() as f64 + n_after,
            ln_least: f64::NEG_INFINITY,
            ln_most: logits.fold(ln_after, ln_sum),
            max_logit: last.logit,
            last: last.token,
            mixed: true,
            tied: false,
            shape: None,
        })
    }

    /// Whether logits of the tail may have been rounded to that of a recorded candidate, so that it
    /// is unknown which comes first.
    pub(super) fn may_equal(self, candidate: Candidate) -> bool {
        self.tied && candidate.logit <= self.max_logit
    }

    /// Lowers all logits by an unknown amount, to at most `max_logit`.
    pub(super) fn capped(self, max_logit: f32) -> Self {
        Self {
            ln_least: f64::NEG_INFINITY,
            ln_most: self.n.ln() + f64::from(max_logit),
            max_logit,
            tied: true,
            shape: None,
            ..self
        }
    }

    /// Divides all logits by a temperature. A histogram narrows the bounds of the module's proof.
    ///
    /// Rounding changes the weight of a token by a factor of exp(ε·|logit|), where ε is 2^-24, and
    /// that of a token more than 100 nats below the largest does not count. 32-bit division never
    /// changes the order of two numbers, but can make them equal.
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
        let max_logit = self.max_logit / temperature;
        let rounding = f64::from(f32::EPSILON) * (f64::from(max_logit).abs() + WEIGHTLESS_NATS);
        Self {
            ln_least: ln_least.max(shape_least) - rounding,
            ln_most: ln_most.min(shape_most) + rounding,
            max_logit,
            tied: true,
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

/// Returns how far the recorded probabilities may be off altogether.
///
/// Logits whose weights add up to 1 are log-probabilities that another program computed.
fn slack(evidence: &Evidence) -> f64 {
    let ln_total = evidence.log_sum_exp.abs();
    if ln_total < NEAR_ONE {
        ln_total + served_slack(f64::from(evidence.n_candidates))
    } else {
        ROUNDING
    }
}

/// Returns how far a server's probabilities of `n` tokens may be off altogether: adding n numbers in
/// 32 bits, one by one, loses or gains at most this share.
fn served_slack(n: f64) -> f64 {
    n * f64::from(f32::EPSILON) / 2.0 + ROUNDING
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
