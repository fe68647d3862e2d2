//! What several answers to one prompt are worth: the majority of some of them, or any of them.

use std::collections::BTreeMap;

use crate::decoding::SplitMix64;

/// The most additions for which the probability of a majority is summed exactly.
const MAX_ADDITIONS: f64 = 2e6;

/// The most answers whose subsets can be counted in a float.
const MAX_COUNTED: usize = 1000;

/// Otherwise, how many subsets of the answers are drawn.
const N_SUBSETS: usize = 4096;

const SEED: u64 = 2203;

/// An answer to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupedAnswer {
    /// Answers that say the same have the same group.
    pub group: usize,
    pub is_right: bool,
}

/// The answers that say the same.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    n: usize,
    n_right: usize,
}

impl Group {
    fn right_share(self) -> f64 {
        self.n_right as f64 / self.n.max(1) as f64
    }
}

/// Returns the probability that the majority of `n` of these answers, drawn without replacement, is
/// right (self-consistency: Wang et al. 2022, "Self-consistency improves chain of thought reasoning
/// in language models"). The largest group is the majority, and equally large ones are as likely to
/// win. Returns `None` if `n` is 0 or there are fewer answers.
///
/// As a mean over all subsets, it is an unbiased estimate of the accuracy of a majority of `n`. It is
/// summed exactly, or estimated from drawn subsets if that would take long.
pub fn majority_accuracy(answers: &[GroupedAnswer], n: usize) -> Option<f64> {
    if n == 0 || n > answers.len() {
        return None;
    }
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for answer in answers {
        let group = groups.entry(answer.group).or_default();
        group.n += 1;
        group.n_right += usize::from(answer.is_right);
    }
    let groups: Vec<Group> = groups.into_values().collect();
    let largest = groups.iter().map(|group| group.n).max().unwrap_or_default();
    if n == answers.len() {
        // There is only one way to choose all answers.
        let winners = groups.iter().filter(|group| group.n == largest);
        let n_winners = winners.clone().count() as f64;
        return Some(winners.map(|group| group.right_share()).sum::<f64>() / n_winners);
    }
    let n_groups = groups.len();
    let loops = [n_groups, n_groups, largest.min(n), n, n].map(|n| n as f64);
    let is_cheap = loops.iter().product::<f64>() <= MAX_ADDITIONS;
    Some(if is_cheap && answers.len() <= MAX_COUNTED {
        exact_majority(&groups, answers.len(), n)
    } else {
        drawn_majority(&groups, answers.len(), n)
    })
}

/// Sums the probability that each group wins with each number of answers.
fn exact_majority(groups: &[Group], n_answers: usize, n: usize) -> f64 {
    let mut right_ways = 0.0;
    for (index, winner) in groups.iter().enumerate() {
        if winner.n_right == 0 {
            continue;
        }
        let (before, after) = groups.split_at(index);
        let others = before.iter().chain(after.iter().skip(1));
        let others: Vec<usize> = others.map(|group| group.n).collect();
        let ways = (1..=winner.n.min(n))
            .map(|most| binomial(winner.n, most) * ways_to_lose(&others, most, n - most));
        right_ways += winner.right_share() * ways.sum::<f64>();
    }
    right_ways / binomial(n_answers, n)
}

/// Returns in how many ways `n` answers can be chosen from groups of these sizes with at most `most`
/// of each. A way with t groups of `most` counts as 1 / (1 + t), the probability that the tie goes to
/// another group of `most`.
fn ways_to_lose(sizes: &[usize], most: usize, n: usize) -> f64 {
    // By the number of ties and the number of answers.
    let mut ways = vec![vec![0.0; n + 1]; n / most + 1];
    if let Some(none) = ways.first_mut().and_then(|row| row.first_mut()) {
        *none = 1.0;
    }
    for size in sizes {
        let mut more = vec![vec![0.0; n + 1]; ways.len()];
        for chosen in 0..=most.min(*size) {
            let factor = binomial(*size, chosen);
            let n_more_ties = usize::from(chosen == most);
            for (from, to) in ways.iter().zip(more.iter_mut().skip(n_more_ties)) {
                for (from, to) in from.iter().zip(to.iter_mut().skip(chosen)) {
                    *to += factor * from;
                }
            }
        }
        ways = more;
    }
    let all = ways
        .iter()
        .zip(1_u32..)
        .filter_map(|(row, n_tied)| Some(row.last()? / f64::from(n_tied)));
    all.sum()
}

/// Returns the number of subsets of this size.
fn binomial(n: usize, size: usize) -> f64 {
    let factors = (0..size.min(n - size)).map(|index| (n - index) as f64 / (index + 1) as f64);
    factors.product()
}

/// Estimates the probability that the majority is right from subsets drawn at random.
fn drawn_majority(groups: &[Group], n_answers: usize, n: usize) -> f64 {
    let indexed = groups.iter().enumerate();
    let mut answers: Vec<usize> = indexed
        .flat_map(|(index, group)| vec![index; group.n])
        .collect();
    let mut random = SplitMix64::new(SEED);
    let mut counts = vec![0_usize; groups.len()];
    let mut sum = 0.0;
    for _ in 0..N_SUBSETS {
        counts.fill(0);
        for index in 0..n {
            answers.swap(index, index + random.below(n_answers - index));
        }
        for answer in answers.iter().take(n) {
            if let Some(count) = counts.get_mut(*answer) {
                *count += 1;
            }
        }
        let most = counts.iter().max().copied().unwrap_or_default();
        let winners = groups
            .iter()
            .zip(&counts)
            .filter(|(_, count)| **count == most);
        let (n_winners, right) = winners.fold((0.0, 0.0), |(n_winners, right), (group, _)| {
            (n_winners + 1.0, right + group.right_share())
        });
        sum += right / n_winners;
    }
    sum / N_SUBSETS as f64
}

/// Returns the unbiased estimate of the probability that at least one of `k` answers is right, from
/// `n` answers of which `n_right` are right: 1 − C(n − c, k) / C(n, k) (Chen et al. 2021, "Evaluating
/// large language models trained on code"). Returns `None` if there are fewer than `k` answers.
pub fn pass_at_k(n: usize, n_right: usize, k: usize) -> Option<f64> {
    let n_wrong = n.checked_sub(n_right)?;
    if k > n {
        return None;
    }
    if n_wrong < k {
        return Some(1.0);
    }
    // As a sum of logarithms, small probabilities keep their digits.
    let logs = (n_wrong + 1..=n).map(|index| (-(k as f64) / index as f64).ln_1p());
    Some(-logs.sum::<f64>().exp_m1())
}
