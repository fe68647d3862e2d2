//! Figures of each step of a text: what the chain kept, how long it took, and the ranks of its
//! tokens.

use crate::decoding::Trace;
use crate::generation::{Generation, Step};

/// The largest rank of each bin of [`rank_counts`] except the last, which has no limit.
const RANK_LIMITS: [u32; 6] = [1, 3, 10, 30, 100, 1000];

/// The labels of the bins of ranks.
pub const RANK_BINS: [&str; 7] = [
    "1",
    "2–3",
    "4–10",
    "11–30",
    "31–100",
    "101–1,000",
    "> 1,000",
];

/// The probability mass, before the chain, of the tokens that the chain kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptMass {
    /// From 0 to 1.
    pub value: f64,
    /// Whether all kept tokens were recorded. Otherwise the value is a lower bound.
    pub exact: bool,
}

impl KeptMass {
    /// Computes the mass at one step.
    pub fn of(trace: &Trace) -> Self {
        let n_kept = trace.n_known_kept();
        if n_kept.is_some() && n_kept >= trace.n_known_candidates() {
            return Self {
                value: 1.0,
                exact: true,
            };
        }
        let head = trace.raw.head.iter().enumerate();
        let kept = head.filter(|(index, _)| trace.head_final_prob(*index).is_some());
        let (n, value) = kept.fold((0, 0.0), |(n, sum), (_, token)| (n + 1, sum + token.prob));
        Self {
            value: f64::min(value, 1.0),
            exact: n_kept.is_some_and(|n_kept| n >= n_kept),
        }
    }
}

/// Returns the milliseconds between a token and the one before it, or `None` for the first token,
/// which waits for prefill.
pub fn token_millis(steps: &[Step], index: usize) -> Option<f64> {
    let before = steps.get(index.checked_sub(1)?)?;
    let step = steps.get(index)?;
    Some((step.time.at_secs - before.time.at_secs) * 1000.0)
}

/// Returns the bin of a rank, which counts from 1.
pub fn rank_bin(rank: u32) -> usize {
    RANK_LIMITS.partition_point(|limit| *limit < rank)
}

/// Counts a text's tokens by their ranks before the chain. Tokens picked by hand are left out.
pub fn rank_counts(generation: &Generation) -> [usize; RANK_BINS.len()] {
    let mut counts = [0; RANK_BINS.len()];
    for step in &generation.steps {
        if step.trace.draw.is_by_hand() {
            continue;
        }
        let bin = step.trace.known_rank().map(rank_bin);
        if let Some(count) = bin.and_then(|bin| counts.get_mut(bin)) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{KeptMass, rank_bin, rank_counts, token_millis};
    use crate::decoding::filters::TopK;
    use crate::decoding::testing::logits_of;
    use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Trace};
    use crate::generation::testing::generation;

    fn trace(chain: ChainConfig, n: usize) -> Trace {
        let halves = std::iter::successors(Some(0.5_f32), |prob| Some(prob / 2.0));
        let probs: Vec<f32> = halves.take(n).collect();
        let coins = Coins {
            seed: 1,
            position: 0,
        };
        let sampled = SamplerChain::new(chain).sample(&logits_of(&probs), History::empty(), coins);
        sampled.unwrap().trace
    }

    #[test]
    fn the_kept_mass_is_measured_before_the_chain() {
        let top_k = |k| ChainConfig::sampled([Filter::TopK(TopK { k })]);
        let mass = KeptMass::of(&trace(top_k(2), 12));
        assert!(mass.exact && (mass.value - 0.75).abs() < 1e-3, "{mass:?}");
        let all = KeptMass::of(&trace(ChainConfig::sampled([]), 12));
        assert!(all.exact && (all.value - 1.0).abs() < 1e-12);
        let greedy = KeptMass::of(&trace(ChainConfig::greedy(), 12));
        assert!(greedy.exact && (greedy.value - 0.5).abs() < 1e-3);
        // More tokens are kept than were recorded.
        let most = KeptMass::of(&trace(top_k(70), 80));
        assert!(!most.exact && most.value > 0.99, "{most:?}");
    }

    #[test]
    fn ranks_are_counted_in_bins() {
        let bins = [1, 2, 3, 4, 10, 11, 100, 101, 1000, 1001].map(rank_bin);
        assert_eq!(bins, [0, 1, 1, 2, 2, 3, 4, 5, 5, 6]);
        let mut text = generation(&[(" a", 0.5), (" fox", 0.5), (".", 0.5)]);
        for (step, rank) in text.steps.iter_mut().zip([1, 40, 2000]) {
            Arc::make_mut(&mut step.trace).raw_rank = rank;
        }
        Arc::make_mut(&mut text.steps[2].trace).draw.picked = crate::decoding::Picked::ByHand;
        assert_eq!(rank_counts(&text), [1, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn the_first_token_has_no_time() {
        let text = generation(&[(" a", 0.5), (" fox", 0.5)]);
        assert_eq!(token_millis(&text.steps, 0), None);
        let millis = token_millis(&text.steps, 1).unwrap();
        assert!((millis - 2.5).abs() < 1e-9, "{millis}");
        assert_eq!(token_millis(&text.steps, 2), None);
    }
}
