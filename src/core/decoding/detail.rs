//! What a step records about the tokens below its head, so that what-if can answer for settings far
//! from those of the run.

use std::sync::Arc;

use super::{Candidate, Candidates, TokenId};

/// How many bins a summary spreads the tokens over, and how many span one nat. All tokens further
/// below the most likely one share the last bin.
pub(super) const N_BINS: usize = 1024;
const BINS_PER_NAT: f32 = 16.0;

/// More candidates than this are not worth the time. With 152,000 tokens, twice as many make a step
/// take half as long again, but make no more what-ifs exact.
const MAX_CANDIDATES: usize = 2048;

/// What is recorded of the tokens below [`Evidence::head`](super::Evidence).
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Detail {
    /// Only what the totals imply.
    #[default]
    HeadOnly,
    /// More candidates, and a histogram of the others.
    Summary(Arc<Summary>),
    /// The logit of every token, by id.
    Whole(Arc<[f32]>),
}

/// The most likely tokens of a distribution individually, the others as a histogram.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The most likely candidates, ordered by id.
    pub(super) candidates: Vec<Candidate>,
    pub(super) tail: Histogram,
}

/// A histogram of logits by their distance in nats from the most likely token's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Histogram {
    pub(super) max_logit: f32,
    /// The number of the first bin.
    pub(super) start: usize,
    pub(super) bins: Vec<Bin>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bin {
    pub(super) n_tokens: u32,
    /// The sum of the distances, each from the bin's near edge.
    pub(super) distances: f32,
}

impl Detail {
    /// Records as much as fits in `n_bytes`. The candidates must cover the whole vocabulary.
    pub(super) fn of(candidates: &mut Candidates, n_head: usize, n_bytes: usize) -> Self {
        if n_bytes == 0 || n_head >= candidates.softmax().n_possible {
            return Self::HeadOnly;
        }
        let n_row = size_of::<f32>().saturating_mul(candidates.n_kept());
        if n_row <= n_bytes {
            let logits = candidates.iter().map(|candidate| candidate.logit);
            return Self::Whole(logits.collect());
        }
        let summary = Summary::of(candidates, n_bytes);
        // A summary is useful only if it names more tokens than the head does.
        match summary.filter(|summary| summary.candidates.len() > n_head) {
            Some(summary) => Self::Summary(Arc::new(summary)),
            None => Self::HeadOnly,
        }
    }

    /// Returns the logit of a token, or `None` if it is not recorded here.
    pub(super) fn logit(&self, token: TokenId) -> Option<f32> {
        match self {
            Self::HeadOnly => None,
            Self::Summary(summary) => summary.logit(token),
            Self::Whole(logits) => logits.get(token.index()).copied(),
        }
    }

    /// Returns how many tokens come before this one, which must be recorded here.
    pub(super) fn n_before(&self, token: TokenId) -> Option<u32> {
        let logit = self.logit(token)?;
        let one = Candidate { token, logit };
        let n_before = match self {
            Self::HeadOnly => 0,
            Self::Summary(summary) => {
                let others = summary.candidates.iter();
                others.filter(|other| one.comes_after(**other)).count()
            }
            Self::Whole(logits) => (0..)
                .map(TokenId)
                .zip(logits.iter())
                .filter(|&(token, &logit)| one.comes_after(Candidate { token, logit }))
                .count(),
        };
        Some(n_before as u32)
    }

    /// Returns how many tokens are recorded individually.
    pub(super) fn n_tokens(&self) -> usize {
        match self {
            Self::HeadOnly => 0,
            Self::Summary(summary) => summary.candidates.len(),
            Self::Whole(logits) => logits.len(),
        }
    }

    /// Returns the memory it takes, in bytes.
    pub fn n_bytes(&self) -> usize {
        match self {
            Self::HeadOnly => 0,
            Self::Summary(summary) => {
                size_of::<Summary>()
                    + size_of_val(summary.candidates.as_slice())
                    + size_of_val(summary.tail.bins.as_slice())
            }
            Self::Whole(logits) => size_of_val::<[f32]>(logits),
        }
    }
}

impl Summary {
    /// Splits a distribution at a bin's edge so that both parts fit in `n_bytes`, or returns `None`
    /// if that leaves no candidate.
    fn of(candidates: &mut Candidates, n_bytes: usize) -> Option<Self> {
        let best = candidates.best().logit;
        let bins = bins_of(candidates, best);
        let n_used = bins.iter().rposition(|bin| bin.n_tokens > 0)? + 1;
        let (mut start, mut n_named) = (0, 0);
        for (number, bin) in bins.iter().enumerate().take(n_used) {
            let n_more = n_named + bin.n_tokens as usize;
            let n_needed = n_more * size_of::<Candidate>() + (n_used - number) * size_of::<Bin>();
            if n_more > MAX_CANDIDATES || n_needed > n_bytes {
                break;
            }
            (start, n_named) = (number + 1, n_more);
        }
        // One more bin of margin, because the edge's logit is rounded.
        let edge = best - (start + 1) as f32 / BINS_PER_NAT;
        let named = candidates.gather(edge, |candidate| bin_number(best, candidate.logit) < start);
        (!named.is_empty()).then(|| Self {
            candidates: named,
            tail: Histogram {
                max_logit: best,
                start,
                bins: bins.get(start..n_used).unwrap_or_default().to_vec(),
            },
        })
    }

    fn logit(&self, token: TokenId) -> Option<f32> {
        let at = self
            .candidates
            .binary_search_by_key(&token, |candidate| candidate.token);
        Some(self.candidates.get(at.ok()?)?.logit)
    }
}

impl Histogram {
    /// Returns lower and upper bounds on the sum of `exp(logit · power)` as natural logarithms.
    ///
    /// Within a bin the sum is smallest if all logits are equal, because `exp` is convex, and
    /// largest if each lies at one of the edges.
    pub(super) fn ln_masses(&self, power: f64) -> (f64, f64) {
        let width = 1.0 / f64::from(BINS_PER_NAT);
        let (mut least, mut most) = (0.0, 0.0);
        for (number, bin) in (self.start..).zip(&self.bins) {
            let n_tokens = f64::from(bin.n_tokens);
            if bin.n_tokens == 0 {
                continue;
            }
            let near = (-power * number as f64 * width).exp();
            if number + 1 == N_BINS {
                most += n_tokens * near;
                continue;
            }
            let mean = (f64::from(bin.distances) / n_tokens).clamp(0.0, width);
            let share_far = mean / width;
            least += n_tokens * near * (-power * mean).exp();
            most += n_tokens * near * (1.0 - share_far + share_far * (-power * width).exp());
        }
        let scale = power * f64::from(self.max_logit);
        (least.ln() + scale, most.ln() + scale)
    }
}

fn bins_of(candidates: &Candidates, best: f32) -> Vec<Bin> {
    let mut bins = vec![Bin::default(); N_BINS];
    for (_, block) in candidates.blocks() {
        for &logit in block {
            let number = bin_number(best, logit);
            if logit > f32::NEG_INFINITY
                && let Some(bin) = bins.get_mut(number)
            {
                bin.n_tokens += 1;
                bin.distances += (best - logit) - number as f32 / BINS_PER_NAT;
            }
        }
    }
    bins
}

/// Returns the number of a logit's bin. It never decreases as the logit falls.
#[expect(clippy::cast_sign_loss, reason = "no logit is above the best one")]
fn bin_number(best: f32, logit: f32) -> usize {
    (((best - logit) * BINS_PER_NAT) as usize).min(N_BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::Detail;
    use crate::decoding::testing::row;
    use crate::decoding::{Candidates, TokenId};

    /// The logits of a large vocabulary, a few far above the others.
    fn large_row() -> Vec<f32> {
        (0..100).flat_map(|seed| row(seed, 2.5)).collect()
    }

    #[test]
    fn a_row_that_fits_is_recorded_in_full() {
        let logits = row(3, 2.5);
        let mut candidates = Candidates::from_logits(&logits).unwrap();
        let detail = Detail::of(&mut candidates, 48, 4 * logits.len());
        assert_eq!(detail, Detail::Whole(logits.clone().into()));
        assert_eq!(detail.n_bytes(), 4 * logits.len());
        let best = candidates.best();
        assert_eq!(detail.n_before(best.token), Some(0));
        assert_eq!(detail.logit(best.token), Some(best.logit));
    }

    #[test]
    fn a_row_that_does_not_fit_is_recorded_as_candidates_and_a_histogram() {
        let logits = large_row();
        let mut candidates = Candidates::from_logits(&logits).unwrap();
        let detail = Detail::of(&mut candidates, 48, 16_000);
        let n_named = detail.n_tokens();
        assert!(n_named > 1000, "{n_named}");
        assert!(detail.n_bytes() <= 16_200, "{}", detail.n_bytes());
        for (n_before, candidate) in candidates.head(n_named).to_vec().into_iter().enumerate() {
            assert_eq!(detail.logit(candidate.token), Some(candidate.logit));
            assert_eq!(detail.n_before(candidate.token), Some(n_before as u32));
        }
        assert_eq!(detail.logit(TokenId(u32::MAX)), None);
    }

    #[test]
    fn the_histogram_bounds_the_tail_at_every_temperature() {
        let logits = large_row();
        let mut candidates = Candidates::from_logits(&logits).unwrap();
        let Detail::Summary(summary) = Detail::of(&mut candidates, 48, 16_000) else {
            panic!("the row fits");
        };
        for temperature in [0.2, 0.5, 1.0, 1.5, 2.0, 5.0_f64] {
            let power = 1.0 / temperature;
            let tail = (0..)
                .map(TokenId)
                .zip(&logits)
                .filter(|(token, _)| summary.logit(*token).is_none());
            let mass: f64 = tail
                .map(|(_, logit)| (f64::from(*logit) * power).exp())
                .sum();
            let (least, most) = summary.tail.ln_masses(power);
            assert!(least - 1e-6 <= mass.ln() && mass.ln() <= most + 1e-6);
            assert!(most - least < 2e-3 * power * power, "T {temperature}");
        }
    }

    #[test]
    fn equal_logits_are_not_worth_a_summary() {
        let mut candidates = Candidates::from_logits(&vec![0.0; 9000]).unwrap();
        let detail = Detail::of(&mut candidates, 48, 16_000);
        assert_eq!(detail, Detail::HeadOnly);
    }
}
