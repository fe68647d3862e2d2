//! What several answers to one prompt are worth: the majority of some of them, or any of them.

use std::collections::BTreeMap;

use crate::decoding::SplitMix64;

/// The most additions for which the probability of a majority is summed exactly.
const MAX_ADDITIONS: f64 = 2e6;

/// The most additions for which the majorities of all prompts are summed exactly.
const MAX_ALL_ADDITIONS: f64 = 4e8;

/// How many answers are drawn otherwise, over all prompts.
const N_DRAWN: usize = 20_000_000;

/// The least and the most random orders in which the answers to a prompt are drawn.
const N_ORDERS: [usize; 2] = [64, 4096];

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
    let groups = grouped(answers);
    let largest = groups.iter().map(|group| group.n).max().unwrap_or_default();
    if n == answers.len() {
        // There is only one way to choose all answers.
        let winners = groups.iter().filter(|group| group.n == largest);
        let n_winners = winners.clone().count() as f64;
        return Some(winners.map(|group| group.right_share()).sum::<f64>() / n_winners);
    }
    let is_cheap = n_additions(&groups, n) <= MAX_ADDITIONS;
    Some(if is_cheap && answers.len() <= MAX_COUNTED {
        exact_majority(&groups, answers.len(), n)
    } else {
        drawn_majority(&groups, answers.len(), n)
    })
}

/// Returns the probability that the majority of 1, 2, … answers is right, as the mean over prompts, up
/// to the smallest number of answers to any. It is summed exactly, as by [`majority_accuracy`], unless
/// that would take more than about a second: then the answers to each prompt are drawn in random
/// orders, the first n of which are a subset of n. That is unbiased, too, with a standard error of at
/// most 0.008.
pub fn majority_accuracies(prompts: &[Vec<GroupedAnswer>]) -> Vec<f64> {
    let n_max = prompts.iter().map(Vec::len).min().unwrap_or(0);
    let all_groups: Vec<Vec<Group>> = prompts.iter().map(|answers| grouped(answers)).collect();
    let additions = all_groups
        .iter()
        .flat_map(|groups| (1..=n_max).map(|n| n_additions(groups, n).min(MAX_ADDITIONS)));
    let mean_of = |sum: f64| sum / prompts.len() as f64;
    if additions.sum::<f64>() <= MAX_ALL_ADDITIONS {
        let exact = (1..=n_max).map(|n| {
            let each = prompts.iter();
            let each = each.filter_map(|answers| majority_accuracy(answers, n));
            mean_of(each.sum())
        });
        return exact.collect();
    }
    let n_answers: usize = prompts.iter().map(Vec::len).sum();
    let [least, most] = N_ORDERS;
    let n_orders = (N_DRAWN / n_answers.max(1)).clamp(least, most);
    let mut sums = vec![0.0; n_max];
    let mut random = SplitMix64::new(SEED);
    for groups in &all_groups {
        let mut answers = answers_of(groups);
        for _ in 0..n_orders {
            add_order(groups, &mut answers, &mut random, &mut sums);
        }
    }
    let orders = n_orders as f64;
    sums.into_iter().map(|sum| mean_of(sum / orders)).collect()
}

/// Puts the answers in a random order, and adds for each n how likely the majority of the first n is
/// right.
fn add_order(groups: &[Group], answers: &mut [usize], random: &mut SplitMix64, sums: &mut [f64]) {
    let n_answers = answers.len();
    let mut counts = vec![0_usize; groups.len()];
    // The largest count, how many groups have it, and the sum of their shares of right answers.
    let (mut most, mut n_winners, mut right) = (0, 0.0, 0.0);
    for (index, sum) in sums.iter_mut().enumerate() {
        answers.swap(index, index + random.below(n_answers - index));
        let Some(group) = answers.get(index).copied() else {
            return;
        };
        let (Some(count), Some(own)) = (counts.get_mut(group), groups.get(group)) else {
            return;
        };
        *count += 1;
        if *count > most {
            (most, n_winners, right) = (*count, 1.0, own.right_share());
        } else if *count == most {
            n_winners += 1.0;
            right += own.right_share();
        }
        *sum += right / n_winners;
    }
}

fn grouped(answers: &[GroupedAnswer]) -> Vec<Group> {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for answer in answers {
        let group = groups.entry(answer.group).or_default();
        group.n += 1;
        group.n_right += usize::from(answer.is_right);
    }
    groups.into_values().collect()
}

/// Returns how many additions the exact sum takes at most.
fn n_additions(groups: &[Group], n: usize) -> f64 {
    let largest = groups.iter().map(|group| group.n).max().unwrap_or_default();
    let n_groups = groups.len();
    let loops = [n_groups, n_groups, largest.min(n), n, n].map(|n| n as f64);
    loops.iter().product()
}

/// Returns the group of each answer.
fn answers_of(groups: &[Group]) -> Vec<usize> {
    let groups = groups.iter().enumerate();
    groups
        .flat_map(|(index, group)| vec![index; group.n])
        .collect()
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
    let mut answers = answers_of(groups);
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

/// Returns [`pass_at_k`] for 1, 2, … answers, up to all of them, in time that grows with their number.
pub fn pass_at_all(n: usize, n_right: usize) -> Vec<f64> {
    let n_wrong = n.saturating_sub(n_right);
    let mut log_fails = 0.0;
    let shares = (0..n).map(|drawn| {
        if drawn >= n_wrong {
            return 1.0;
        }
        // The next answer is wrong, too.
        log_fails += (-(n_right as f64) / (n - drawn) as f64).ln_1p();
        -f64::exp_m1(log_fails)
    });
    shares.collect()
}
