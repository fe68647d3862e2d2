//! Stages that drop candidates, on a distribution whose tail is only bounded.
//!
//! All but typical-p and XTC keep the candidates from the most likely down to a last one, which
//! depends on the mass of the tail: the heavier it is, the earlier some stages end, and the later
//! others do. So the lightest and the heaviest possible tail give two ends, and the true one lies
//! between them. Candidates up to the first end stay, those after the second one go, and any number
//! of those in between may stay: they become the new tail, whose mass is between zero and their sum.
//! A draw that this does not change is certain, even if the number of candidates left is not.
//!
//! Top-nσ, min-k, tail-free and dynamic temperature depend on the logits of all tokens, however
//! unlikely these are, so a head alone never decides them.

use super::recorded::Recorded;
use super::tail::{ROUNDING, Tail};
use crate::decoding::filters::top_h::N_CONSIDERED;
use crate::decoding::filters::{EtaCutoff, MinP, TopP, TypicalP, Xtc};
use crate::decoding::rules::{Equal, Mass, TopPZero, TypicalRule};
use crate::decoding::{Candidate, Filter, StageContext};

/// The rounding error of the 32-bit sum of up to 256 probabilities, which top-p compares.
const TOP_P_ROUNDING: f64 = 1e-5;

/// The rounding error of the entropy of a large vocabulary, in nats.
const ENTROPY_ROUNDING: f64 = 2e-5;

impl<'a> Recorded<'a> {
    /// Applies a filter that drops candidates. Returns whether what it drops is bounded.
    pub(super) fn cut(
        &mut self,
        filter: &Filter,
        context: StageContext<'_>,
        tail: Tail<'a>,
    ) -> bool {
        let rules = context.rules;
        if rules.min_keep > 1 {
            return false;
        }
        match filter {
            Filter::TopP(top_p) if rules.top_p_mass == Mass::Kept => {
                if top_p.p > 0.0 || rules.top_p_zero == TopPZero::KeepsBest {
                    self.keep_p(*top_p, tail);
                }
                true
            }
            // Such a min-p has no effect.
            Filter::MinP(min_p) if min_p.p >= 1.0 && rules.min_p_equal == Equal::Cut => true,
            Filter::MinP(min_p) => {
                self.keep_near_best(*min_p, context, tail);
                true
            }
            Filter::TopH(_) => {
                // It looks at no more candidates than these.
                let is_known = self.head.n_kept() >= N_CONSIDERED;
                if is_known {
                    filter.apply(context, &mut self.head);
                    self.tail = None;
                }
                is_known
            }
            Filter::TypicalP(typical) if rules.typical == TypicalRule::Reached => {
                self.keep_typical(*typical, tail)
            }
            Filter::Xtc(xtc) => self.drop_top(*xtc, context, tail),
            _ => {
                let thresholds = self.thresholds(filter, tail);
                if let Some(thresholds) = thresholds {
                    self.keep_from(thresholds, tail);
                }
                thresholds.is_some()
            }
        }
    }

    fn keep_p(&mut self, top_p: TopP, tail: Tail<'a>) {
        let (least, most) = self.tail_shares(tail);
        let p = f64::from(top_p.p);
        let from = (p - TOP_P_ROUNDING) * (1.0 + least);
        let to = (p + TOP_P_ROUNDING) * (1.0 + most);
        let soonest = self.head.crossing(|sum| sum >= from);
        let latest = self.head.crossing(|sum| sum >= to);
        if let Some(soonest) = soonest {
            let latest = latest.map(|latest| latest.candidate);
            self.keep_between(soonest.candidate, latest, tail);
        } else {
            // The head and at most the tokens up to the one that reaches p.
            let ln_head = self.head.softmax().log_sum_exp;
            let (held_least, held_most) = ((from - 1.0).max(0.0), (to - 1.0).max(0.0));
            let last = (f64::from(tail.max_logit) - ln_head).exp();
            self.tail = Some(Tail {
                ln_least: held_least.ln() + ln_head,
                ln_most: tail.ln_most.min((held_most + last).ln() + ln_head),
                shape: None,
                ..tail
            });
        }
    }

    fn keep_near_best(&mut self, min_p: MinP, context: StageContext<'_>, tail: Tail<'a>) {
        let bar = self.head.best().logit + min_p.p.ln();
        Filter::MinP(min_p).apply(context, &mut self.head);
        // If no logit of the tail reaches the threshold, all of it goes; otherwise any part may.
        self.tail = (tail.max_logit >= bar).then_some(Tail {
            ln_least: f64::NEG_INFINITY,
            shape: None,
            ..tail
        });
    }

    /// Returns the lowest and the highest possible logit below which a filter drops candidates, or
    /// `None` if that is unknown or not what it does.
    fn thresholds(&mut self, filter: &Filter, tail: Tail<'a>) -> Option<[f64; 2]> {
        let [ln_light, ln_heavy] = self.ln_totals(tail);
        let prob = |[least, most]: [f64; 2]| [least.ln() + ln_light, most.ln() + ln_heavy];
        Some(match filter {
            Filter::EpsilonCutoff(cutoff) => prob([f64::from(cutoff.epsilon); 2]),
            Filter::EtaCutoff(cutoff) => prob(self.eta(*cutoff, tail)),
            Filter::TopA(top_a) => {
                let ln_squared = 2.0 * f64::from(self.head.best().logit) + f64::from(top_a.a).ln();
                [ln_squared - ln_heavy, ln_squared - ln_light]
            }
            Filter::PLess(p_less) => {
                let ln_factor = f64::from(p_less.factor).ln();
                let [ln_least, ln_most] = self.ln_squares(tail);
                [
                    ln_factor + ln_least - ln_heavy,
                    ln_factor + ln_most - ln_light,
                ]
            }
            _ => return None,
        })
    }

    /// Returns the bounds of the logarithm of the sum of `exp(logit)` over head and tail.
    fn ln_totals(&mut self, tail: Tail<'a>) -> [f64; 2] {
        let (least, most) = self.tail_shares(tail);
        let ln_head = self.head.softmax().log_sum_exp;
        [least, most].map(|share| share.ln_1p() + ln_head)
    }

    /// Returns the bounds of the logarithm of the sum of `exp(logit)²` over head and tail. That of
    /// the tail is least if its weights are equal, and most if as few as possible are not zero.
    fn ln_squares(&mut self, tail: Tail<'a>) -> [f64; 2] {
        let (least, most) = self.tail_shares(tail);
        let softmax = self.head.softmax();
        let of_head: f64 = (self.head.iter())
            .map(|next| softmax.prob(next.logit).powi(2))
            .sum();
        let largest = softmax.prob(tail.max_logit);
        [least * least / tail.n, most * largest]
            .map(|of_tail| (of_head + of_tail).ln() + 2.0 * softmax.log_sum_exp)
    }

    /// Returns the bounds of the entropy over head and tail, in nats.
    ///
    /// With the head's weights scaled to a sum of 1 and an entropy of S, and a tail of mass t, it is
    /// ln(1 + t) + (S + R) / (1 + t), where R is the sum of −w·ln w over the tail. R is at least
    /// −t·ln m, where m is the largest weight, and at most t·ln(N / t), for N equal weights. No
    /// weight of the head is below m, so S ≤ −ln m ≤ ln(N / t), and both bounds rise with t.
    fn entropies(&mut self, tail: Tail<'a>) -> [f64; 2] {
        let (least, most) = self.tail_shares(tail);
        let softmax = self.head.softmax();
        let entropy = |share: f64, surprise: f64| {
            let of_tail = if share > 0.0 { share * surprise } else { 0.0 };
            share.ln_1p() + (softmax.entropy_nats + of_tail) / (1.0 + share)
        };
        [
            entropy(least, -softmax.ln_prob(tail.max_logit)) - ENTROPY_ROUNDING,
            entropy(most, (tail.n / most).ln()) + ENTROPY_ROUNDING,
        ]
    }

    fn eta(&mut self, cutoff: EtaCutoff, tail: Tail<'a>) -> [f64; 2] {
        let [least, most] = self.entropies(tail);
        let epsilon = f64::from(cutoff.epsilon);
        [most, least].map(|entropy| epsilon.min(epsilon.sqrt() * (-entropy).exp()))
    }

    /// Keeps the candidates whose logit reaches a threshold between these, and always the best.
    fn keep_from(&mut self, [lowest, highest]: [f64; 2], tail: Tail<'a>) {
        let best = self.head.best();
        let [lowest, highest] = widened([lowest, highest]);
        let last_from = |threshold: f64| {
            let stays = self
                .head
                .iter()
                .filter(|next| f64::from(next.logit) >= threshold);
            let last = stays.reduce(|last, next| if next.comes_after(last) { next } else { last });
            last.unwrap_or(best)
        };
        let ties = f64::from(best.logit);
        let reaches_tail = f64::from(tail.max_logit) >= lowest.min(ties);
        let latest = (!reaches_tail).then(|| last_from(lowest.min(ties)));
        self.keep_between(last_from(highest.min(ties)), latest, tail);
    }

    /// Keeps the candidates down to an end between `soonest` and `latest`, or in the tail if that is
    /// `None`.
    fn keep_between(&mut self, soonest: Candidate, latest: Option<Candidate>, tail: Tail<'a>) {
        let latest = latest.filter(|latest| !tail.may_equal(*latest));
        // The tail may have come to equal the last recorded tokens, and then any of these may stay.
        self.sure &= !tail.may_equal(soonest);
        let may_stay = |next: &Candidate| {
            next.comes_after(soonest) && latest.is_none_or(|latest| !next.comes_after(latest))
        };
        let undecided: Vec<Candidate> = self.head.iter().filter(may_stay).collect();
        self.head.keep_through(soonest);
        let tail = latest.is_none().then_some(tail);
        self.tail = Tail::undecided(soonest, &undecided, tail);
    }

    /// Applies typical-p if the tail can neither change the order in which it takes candidates nor
    /// where it stops.
    ///
    /// It takes the candidates whose surprise is closest to the entropy until they hold p. The
    /// tail moves the entropy, and so each distance, by at most half of `width`. The result is
    /// certain if the candidate that reaches p is the same for the lightest and the heaviest tail,
    /// the ones before and after it are farther apart than that, and so is the tail.
    fn keep_typical(&mut self, typical: TypicalP, tail: Tail<'a>) -> bool {
        let [least, most] = self.entropies(tail);
        let [ln_light, ln_heavy] = self.ln_totals(tail);
        let (low, high) = (ln_light - most, ln_heavy - least);
        let center = f64::midpoint(low, high);
        let [low, high] = widened([low, high]);
        let width = high - low;
        let distance = |logit: f32| (f64::from(logit) - center).abs();
        let softmax = self.head.softmax();
        let mut nearest: Vec<Candidate> = self.head.iter().collect();
        nearest.sort_by(|a, b| distance(a.logit).total_cmp(&distance(b.logit)));
        let p = f64::from(typical.p);
        let end_at = |threshold: f64| {
            let mut sum = 0.0;
            nearest.iter().position(|next| {
                sum += softmax.prob(next.logit);
                sum >= threshold
            })
        };
        let (least, most) = self.tail_shares(tail);
        let soonest = end_at((p - TOP_P_ROUNDING) * (1.0 + least));
        let latest = end_at((p + TOP_P_ROUNDING) * (1.0 + most));
        let Some(end) = soonest.filter(|_| soonest == latest) else {
            return false;
        };
        let of = |index: usize| nearest.get(index).map(|next| distance(next.logit));
        let Some(of_end) = of(end) else {
            return false;
        };
        let before = end.checked_sub(1).and_then(of);
        let is_apart = before.is_none_or(|before| of_end - before > width)
            && of(end + 1).is_none_or(|after| after - of_end > width)
            && center - f64::from(tail.max_logit) > of_end + width;
        if !is_apart {
            return false;
        }
        let mut kept: Vec<Candidate> = nearest.drain(..=end).collect();
        kept.sort_unstable_by_key(|next| next.token);
        self.head.keep_these(&kept);
        self.tail = None;
        true
    }

    /// Applies XTC, unless the tail may change how many candidates are likely enough.
    fn drop_top(&mut self, xtc: Xtc, context: StageContext<'_>, tail: Tail<'a>) -> bool {
        let coin = context.coins.stage(context.n_chance_before);
        if coin >= f64::from(xtc.probability) {
            return true;
        }
        let ln_threshold = f64::from(xtc.threshold).ln();
        let totals = self.ln_totals(tail).map(|ln_total| ln_threshold + ln_total);
        let [lowest, highest] = widened(totals);
        let reaching = |threshold: f64| {
            let reaches = |next: &Candidate| f64::from(next.logit) >= threshold;
            self.head.iter().filter(reaches).count()
        };
        let n_top = reaching(highest);
        let is_known = n_top == reaching(lowest) && f64::from(tail.max_logit) < lowest;
        if is_known {
            self.head.drop_head(n_top.saturating_sub(1));
        }
        is_known
    }
}

/// Adds the rounding error of a sum and of a 32-bit logit to both ends of a range of logits.
fn widened([low, high]: [f64; 2]) -> [f64; 2] {
    let rounding = |logit: f64| 2.0 * ROUNDING + logit.abs() * f64::from(f32::EPSILON);
    [low - rounding(low), high + rounding(high)]
}
