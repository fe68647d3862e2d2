//! Where a running sum of probability reaches a share, without sorting what lies before it.

use super::{Candidate, Candidates};

/// Up to this many of the most likely are sorted and walked; beyond, shelves are quicker.
const N_WALKED: usize = 256;

/// How many shelves the candidates are put on by their logit, and how many of them one nat spans.
const N_SHELVES: usize = 4096;
const PER_NAT: f32 = 128.0;

/// The candidate with which a sum of probabilities, from the most likely on, first passes a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The candidate.
    pub candidate: Candidate,
    /// Its probability.
    pub prob: f64,
    /// The sum of all before it.
    pub below: f64,
}

impl Candidates {
    /// The first possible candidate, from the most likely on, with which the sum of probabilities is
    /// enough. `enough` must be true of every sum above one of which it is true.
    ///
    /// Where that is not soon, candidates are put on shelves by their logit, the sum is taken by
    /// shelf, and only the shelf on which it is reached is sorted.
    pub fn crossing(&mut self, enough: impl Fn(f64) -> bool) -> Option<Crossing> {
        let softmax = self.softmax();
        let head = self.head(N_WALKED).to_vec();
        if let Some(crossing) = walk(&head, 0.0, |logit| softmax.prob(logit), &enough) {
            return Some(crossing);
        }
        let mut before: f64 = head
            .iter()
            .map(|candidate| softmax.prob(candidate.logit))
            .sum();
        let last = *head.last()?;
        if head.len() == self.n_kept() || last.logit == f32::NEG_INFINITY {
            return None;
        }
        let prob_of = softmax.quick_probs();
        let mut shelves = vec![0.0; N_SHELVES];
        self.row.for_each_from(f32::MIN, |index, logit| {
            if comes_after(last, self.candidate(index, logit))
                && let Some(mass) = shelves.get_mut(shelf(last.logit, logit))
            {
                *mass += prob_of(logit);
            }
        });
        let mut number = 0;
        for (index, mass) in shelves.iter().enumerate() {
            if enough(before + mass) {
                break;
            }
            before += mass;
            number = index + 1;
        }
        let mut found = Vec::new();
        self.row.for_each_from(f32::MIN, |index, logit| {
            let candidate = self.candidate(index, logit);
            if shelf(last.logit, logit) == number && comes_after(last, candidate) {
                found.push(candidate);
            }
        });
        found.sort_unstable_by(|a, b| b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token)));
        walk(&found, before, &prob_of, &enough).or_else(|| last_of(&found, before, &prob_of))
    }

    fn candidate(&self, index: usize, logit: f32) -> Candidate {
        let token = self.token_at(index);
        Candidate { token, logit }
    }
}

fn shelf(first: f32, logit: f32) -> usize {
    #[expect(
        clippy::cast_sign_loss,
        reason = "no candidate that is asked for lies above the first"
    )]
    let number = ((first - logit) * PER_NAT) as usize;
    number.min(N_SHELVES - 1)
}

fn comes_after(last: Candidate, candidate: Candidate) -> bool {
    candidate.logit < last.logit || (candidate.logit <= last.logit && candidate.token > last.token)
}

fn walk(
    sorted: &[Candidate],
    mut below: f64,
    prob_of: impl Fn(f32) -> f64,
    enough: impl Fn(f64) -> bool,
) -> Option<Crossing> {
    for &candidate in sorted {
        let prob = prob_of(candidate.logit);
        if prob > 0.0 && enough(below + prob) {
            return Some(Crossing {
                candidate,
                prob,
                below,
            });
        }
        below += prob;
    }
    None
}

/// Where rounding kept the sum of a shelf a hair below that of its parts, the last of it.
fn last_of(sorted: &[Candidate], below: f64, prob_of: impl Fn(f32) -> f64) -> Option<Crossing> {
    let (&candidate, before) = sorted.split_last()?;
    let below = below + before.iter().map(|next| prob_of(next.logit)).sum::<f64>();
    let prob = prob_of(candidate.logit);
    Some(Crossing {
        candidate,
        prob,
        below,
    })
}

#[cfg(test)]
mod tests {
    use super::Candidates;

    #[test]
    fn shelves_find_what_a_full_sort_finds() {
        for spread in [0.5, 3.0, 12.0, 200.0] {
            let logits: Vec<f32> = (0..20_000_u32)
                .map(|i| (i.wrapping_mul(2_654_435_761) >> 20) as f32 / 4096.0 * spread)
                .collect();
            let mut sorted = Candidates::from_logits(&logits).unwrap();
            let softmax = sorted.softmax();
            let order = sorted.head(20_000).to_vec();
            for share in [0.0, 0.1, 0.5, 0.9, 0.999, 0.999_999] {
                let mut candidates = Candidates::from_logits(&logits).unwrap();
                let crossing = candidates.crossing(|sum| sum >= share).unwrap();
                let rank = order
                    .iter()
                    .position(|next| *next == crossing.candidate)
                    .unwrap();
                let before: f64 = order[..rank]
                    .iter()
                    .map(|next| softmax.prob(next.logit))
                    .sum();
                assert!((crossing.below - before).abs() < 1e-6, "{spread}, {share}");
                assert!(before < share + 1e-6 && before + crossing.prob > share - 1e-6);
            }
        }
    }

    #[test]
    fn a_sum_that_is_never_enough_has_no_crossing() {
        let mut candidates = Candidates::from_logits(&[0.0, 1.0]).unwrap();
        assert_eq!(candidates.crossing(|sum| sum > 2.0), None);
    }
}
