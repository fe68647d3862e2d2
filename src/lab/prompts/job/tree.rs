//! The probability of all spellings of an answer, the likeliest first.

use rayon::prelude::*;

use super::spelling::{Next, Spelled};
use crate::decoding::{ChainLikelihood, DecodingError, History, TokenId};
use crate::lab::prompts::{ExactShare, Spelling};

/// How many beginnings of answers the model reads at most.
const N_MAX_READ: usize = 256;

/// Beginnings that are together less likely than this are left out.
const NEGLIGIBLE: f64 = 1e-7;

/// How many spellings are kept for show.
const N_KEPT: usize = 8;

/// A beginning of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Beginning {
    pub tokens: Vec<TokenId>,
    bytes: Vec<u8>,
    /// The probability of its tokens up to each of them, under each chain.
    prefix_probs: Vec<Vec<f64>>,
    /// Its probability under each chain.
    probs: Vec<f64>,
}

impl Beginning {
    /// The largest of its probabilities.
    fn prob(&self) -> f64 {
        self.probs.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the probabilities up to each token of it and of one more.
    fn prefix_probs_with(&self, next: &[f64]) -> Vec<Vec<f64>> {
        [&self.prefix_probs[..], &[next.to_vec()]].concat()
    }
}

/// The beginnings that are known, and the spellings that were added up.
pub(super) struct SpellingTree {
    /// The least likely first.
    open: Vec<Beginning>,
    /// The probability of the spellings so far, under each chain.
    right: Vec<f64>,
    spellings: Vec<Spelling>,
    n_read: usize,
    /// How many tokens an answer has room for, with the one that ends it.
    n_max_tokens: usize,
}

impl SpellingTree {
    pub(super) fn new(n_chains: usize, n_max_tokens: usize) -> Self {
        let nothing = Beginning {
            tokens: Vec::new(),
            bytes: Vec::new(),
            prefix_probs: Vec::new(),
            probs: vec![1.0; n_chains],
        };
        Self {
            open: if n_max_tokens > 0 {
                vec![nothing]
            } else {
                Vec::new()
            },
            right: vec![0.0; n_chains],
            spellings: Vec::new(),
            n_read: 0,
            n_max_tokens,
        }
    }

    /// Takes the likeliest beginnings, at most `n`. None are left once the rest does not matter.
    pub(super) fn take(&mut self, n: usize) -> Vec<Beginning> {
        let rest: f64 = self.open.iter().map(Beginning::prob).sum();
        if rest <= NEGLIGIBLE {
            return Vec::new();
        }
        let n = n.min(N_MAX_READ.saturating_sub(self.n_read));
        let taken = self.open.split_off(self.open.len().saturating_sub(n));
        self.n_read += taken.len();
        taken
    }

    /// Goes on from a beginning, with the logits after it.
    pub(super) fn grow(
        &mut self,
        beginning: &Beginning,
        after: After<'_>,
        chains: &mut [ChainLikelihood],
        spelled: &Spelled<'_>,
    ) -> Result<(), DecodingError> {
        let next = spelled.next(&beginning.bytes);
        let tokens: Vec<TokenId> = next.iter().map(|(token, _)| *token).collect();
        let before = [after.prompt, &beginning.tokens].concat();
        let history = History::new(&before, after.prompt.len());
        let ln_probs: Vec<Vec<f64>> = chains
            .par_iter_mut()
            .map(|chain| chain.ln_probs(after.logits, history, &tokens))
            .collect::<Result<_, _>>()?;
        let probs_of = |index: usize| -> Vec<f64> {
            let of_chain = ln_probs.iter().zip(&beginning.probs);
            of_chain
                .map(|(row, prob)| prob * row.get(index).map_or(0.0, |ln_prob| ln_prob.exp()))
                .collect()
        };
        let mut ended = vec![0.0; beginning.probs.len()];
        for (index, (token, next)) in next.into_iter().enumerate() {
            let probs = probs_of(index);
            match next {
                Next::Right { is_end: true } => add(&mut ended, &probs),
                Next::Right { is_end: false } => {
                    self.found(Spelling {
                        tokens: [&beginning.tokens[..], &[token]].concat(),
                        prefix_probs: beginning.prefix_probs_with(&probs),
                        probs,
                    });
                }
                Next::Open => self.push(beginning, token, probs, spelled),
            }
        }
        self.found(Spelling {
            tokens: beginning.tokens.clone(),
            prefix_probs: beginning.prefix_probs.clone(),
            probs: ended,
        });
        Ok(())
    }

    /// Adds a longer beginning, unless no chain writes it or nothing has room after it.
    fn push(
        &mut self,
        beginning: &Beginning,
        token: TokenId,
        probs: Vec<f64>,
        spelled: &Spelled<'_>,
    ) {
        let piece = spelled.vocabulary.piece(token);
        let longer = Beginning {
            tokens: [&beginning.tokens[..], &[token]].concat(),
            bytes: [&beginning.bytes[..], &piece.bytes].concat(),
            prefix_probs: beginning.prefix_probs_with(&probs),
            probs,
        };
        if longer.prob() > 0.0 && longer.tokens.len() < self.n_max_tokens {
            let index = self
                .open
                .partition_point(|other| other.prob() <= longer.prob());
            self.open.insert(index, longer);
        }
    }

    /// Adds a spelling, unless no chain writes it.
    fn found(&mut self, spelling: Spelling) {
        let best = |probs: &[f64]| probs.iter().copied().fold(0.0, f64::max);
        if best(&spelling.probs) <= 0.0 {
            return;
        }
        add(&mut self.right, &spelling.probs);
        self.spellings.push(spelling);
        self.spellings
            .sort_by(|a, b| best(&b.probs).total_cmp(&best(&a.probs)));
        self.spellings.truncate(N_KEPT);
    }

    /// Returns the share of each chain, and the likeliest spellings.
    pub(super) fn into_found(self) -> (Vec<ExactShare>, Vec<Spelling>) {
        let mut rest = vec![0.0; self.right.len()];
        for beginning in &self.open {
            add(&mut rest, &beginning.probs);
        }
        let shares = self.right.iter().zip(rest).map(|(right, rest)| ExactShare {
            at_least: right.min(1.0),
            at_most: (right + rest).min(1.0),
        });
        (shares.collect(), self.spellings)
    }
}

/// What the model predicts after a beginning.
#[derive(Clone, Copy)]
pub(super) struct After<'a> {
    /// The tokens of the prompt.
    pub prompt: &'a [TokenId],
    pub logits: &'a [f32],
}

fn add(sums: &mut [f64], values: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}
