//! The tokens still in play at one step: never empty, sorted only as far as somebody asked.

use super::{DecodingError, TokenId};

/// One token still in play, with its score as the stages before have left it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The token.
    pub token: TokenId,
    /// Its score: the larger, the likelier. −∞ is a probability of zero.
    pub logit: f32,
}

/// What the softmax over all candidates needs, computed in one pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Softmax {
    /// The largest logit.
    pub max_logit: f32,
    /// Natural logarithm of the sum of `exp(logit)`.
    pub log_sum_exp: f64,
    /// Shannon entropy of the distribution, in nats.
    pub entropy_nats: f64,
}

/// All tokens still in play.
///
/// Order is by logit, largest first, then by token id, smallest first. A head of that order is
/// kept sorted and grows by doubling as it is asked for; the tail stays unsorted, because sorting
/// a vocabulary of 150,000 at each step would cost more than the rest of the step's arithmetic.
#[derive(Debug, Clone)]
pub struct Candidates {
    entries: Vec<Candidate>,
    n_sorted: usize,
    softmax: Option<Softmax>,
}

impl Candidates {
    /// Every token of the vocabulary, from its row of logits.
    pub fn from_logits(logits: &[f32]) -> Result<Self, DecodingError> {
        let n_bad = logits
            .iter()
            .filter(|logit| logit.is_nan() || **logit == f32::INFINITY)
            .count();
        if logits.is_empty() {
            return Err(DecodingError::Empty);
        }
        if n_bad > 0 {
            return Err(DecodingError::NotNumbers { n_bad });
        }
        if logits.iter().all(|logit| *logit == f32::NEG_INFINITY) {
            return Err(DecodingError::NothingPossible);
        }
        let entries = logits
            .iter()
            .enumerate()
            .map(|(index, &logit)| Candidate {
                token: TokenId(index as u32),
                logit,
            })
            .collect();
        Ok(Self {
            entries,
            n_sorted: 0,
            softmax: None,
        })
    }

    /// How many are in play; at least one.
    pub fn n_kept(&self) -> usize {
        self.entries.len()
    }

    /// The most likely one.
    pub fn best(&mut self) -> Candidate {
        match self.head(1) {
            [best, ..] => *best,
            [] => unreachable!("candidates are never empty"),
        }
    }

    /// The `n` most likely, in order; all of them where there are fewer.
    pub fn head(&mut self, n: usize) -> &[Candidate] {
        let n = n.min(self.entries.len());
        if n > self.n_sorted {
            self.sort_head(n);
        }
        self.entries.get(..n).unwrap_or_default()
    }

    /// All in play, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Candidate> {
        self.entries.iter()
    }

    /// The softmax over those in play.
    pub fn softmax(&mut self) -> Softmax {
        if let Some(softmax) = self.softmax {
            return softmax;
        }
        let softmax = softmax_of(&self.entries);
        self.softmax = Some(softmax);
        softmax
    }

    /// Keeps the `n` most likely, at least one.
    pub fn keep_head(&mut self, n: usize) {
        let n = n.max(1);
        if n < self.entries.len() {
            self.head(n);
            self.entries.truncate(n);
            self.n_sorted = self.n_sorted.min(n);
            self.softmax = None;
        }
    }

    /// Keeps those for which `keep` says so; the most likely one stays whatever it says.
    pub fn retain(&mut self, mut keep: impl FnMut(&Candidate) -> bool) {
        let best = self.best().token;
        let mut index = 0;
        let mut n_sorted_kept = 0;
        let n_sorted = self.n_sorted;
        self.entries.retain(|candidate| {
            let kept = candidate.token == best || keep(candidate);
            n_sorted_kept += usize::from(kept && index < n_sorted);
            index += 1;
            kept
        });
        self.n_sorted = n_sorted_kept;
        self.softmax = None;
    }

    /// Gives every candidate a new logit. NaN counts as −∞.
    pub fn map_logits(&mut self, mut new_logit: impl FnMut(&Candidate) -> f32) {
        for candidate in &mut self.entries {
            let logit = new_logit(candidate);
            candidate.logit = if logit.is_nan() {
                f32::NEG_INFINITY
            } else {
                logit
            };
        }
        self.n_sorted = 0;
        self.softmax = None;
    }

    fn sort_head(&mut self, n: usize) {
        let n = n.next_power_of_two().max(64).min(self.entries.len());
        if n < self.entries.len() {
            self.entries.select_nth_unstable_by(n, most_likely_first);
        }
        if let Some(head) = self.entries.get_mut(..n) {
            head.sort_unstable_by(most_likely_first);
        }
        self.n_sorted = n;
    }
}

fn most_likely_first(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.logit
        .total_cmp(&a.logit)
        .then_with(|| a.token.cmp(&b.token))
}

fn softmax_of(entries: &[Candidate]) -> Softmax {
    let max_logit = entries
        .iter()
        .map(|candidate| candidate.logit)
        .fold(f32::NEG_INFINITY, f32::max);
    let (mut mass, mut weighted) = (0_f64, 0_f64);
    for candidate in entries {
        let below = f64::from(candidate.logit - max_logit);
        if below > f64::NEG_INFINITY {
            let share = below.exp();
            mass += share;
            weighted += share * below;
        }
    }
    Softmax {
        max_logit,
        log_sum_exp: f64::from(max_logit) + mass.ln(),
        entropy_nats: (mass.ln() - weighted / mass).max(0.0),
    }
}

impl Softmax {
    /// The probability of a candidate with this logit.
    pub fn prob(&self, logit: f32) -> f64 {
        (f64::from(logit) - self.log_sum_exp).exp()
    }
}
