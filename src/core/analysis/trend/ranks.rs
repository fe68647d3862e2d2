//! How often each rank was taken.

use super::{TrendShape, TrendSpec};
use crate::generation::Generation;

pub(super) const SPEC: TrendSpec = TrendSpec {
    name: "Ranks",
    subtitle: "before the chain, share of each text’s tokens",
    hint: "How often each text takes the model’s first, second, … choice.",
    file_name: "ranks",
    file_summary: "how often each rank was picked",
    needs_times: false,
    shape: TrendShape::Ranks,
};

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

    use super::{rank_bin, rank_counts};
    use crate::generation::testing::generation;

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
}
