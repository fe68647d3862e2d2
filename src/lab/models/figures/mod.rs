//! What two models make of the same text: how far apart their distributions are, where their top
//! tokens differ, and which differences change the tokens that are picked.

mod spans;
#[cfg(test)]
pub(crate) mod testing;
mod words;

use std::sync::Arc;

use crate::analysis::sweep::quantile;
use crate::decoding::TokenId;
use crate::generation::{ModelInfo, PieceKind};
use crate::lab::models::{ComparedToken, ComparisonFacts, DistributionGap, PredictedToken};

pub(crate) use self::words::nats;

/// The tokens that two models, A and B, have predicted so far.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedModels {
    pub models: [Arc<ModelInfo>; 2],
    /// The settings whose choices are compared: "greedy", "T 0.7, seed 42".
    pub settings: Vec<String>,
    pub facts: ComparisonFacts,
    /// The tokens that each model predicted, in order.
    pub predicted: [Vec<PredictedToken>; 2],
    /// How the distributions differ at each token; empty if the models tokenize the text
    /// differently.
    pub gaps: Vec<DistributionGap>,
}

/// A summary of the Kullback–Leibler divergences of a text, in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Divergences {
    pub mean: f64,
    pub median: f64,
    /// The 99th percentile: one token in a hundred diverges more.
    pub p99: f64,
    pub largest: f64,
    /// The index of the token with the largest divergence.
    pub largest_at: usize,
}

impl ComparedModels {
    /// Creates a comparison in which no token has been predicted.
    pub const fn new(
        models: [Arc<ModelInfo>; 2],
        settings: Vec<String>,
        facts: ComparisonFacts,
    ) -> Self {
        Self {
            models,
            settings,
            facts,
            predicted: [Vec::new(), Vec::new()],
            gaps: Vec::new(),
        }
    }

    /// Adds the next token.
    pub fn add(&mut self, token: ComparedToken) {
        let [of_a, of_b] = &mut self.predicted;
        match token {
            ComparedToken::Both { predicted, gap } => {
                let [a, b] = *predicted;
                of_a.push(a);
                of_b.push(b);
                self.gaps.push(gap);
            }
            ComparedToken::One {
                model: 0,
                predicted,
            } => of_a.push(*predicted),
            ComparedToken::One { predicted, .. } => of_b.push(*predicted),
        }
    }

    /// Returns how many tokens were predicted, by both models together if they tokenize the text
    /// differently.
    pub fn n_predicted(&self) -> usize {
        if self.facts.has_same_tokens {
            self.gaps.len()
        } else {
            self.predicted.iter().map(Vec::len).sum()
        }
    }

    /// Returns how many tokens will have been predicted at the end.
    pub fn n_to_predict(&self) -> usize {
        if self.facts.has_same_tokens {
            self.facts.n_tokens[0]
        } else {
            self.facts.n_tokens.iter().sum()
        }
    }

    fn tokens(&self, model: usize) -> &[PredictedToken] {
        self.predicted.get(model).map_or(&[], Vec::as_slice)
    }

    /// Returns the surprise of the text that a model has read, in bits: −log2 of its probability.
    pub fn bits(&self, model: usize) -> f64 {
        let bits: f64 = self.tokens(model).iter().map(PredictedToken::bits).sum();
        // A sum of zeros must not be shown as −0.
        bits + 0.0
    }

    /// Returns the perplexity, `exp` of the mean surprise of a token in nats (Jelinek et al. 1977,
    /// "Perplexity"), or `None` before the first token.
    pub fn perplexity(&self, model: usize) -> Option<f64> {
        let n = self.tokens(model).len();
        (n > 0).then(|| (self.bits(model) / n as f64).exp2())
    }

    /// Returns the mean surprise of a character in bits, which compares models with different
    /// tokenizers. Only characters that both models have predicted count: the first token of a text
    /// may be predicted by one of them only.
    pub fn bits_per_char(&self, model: usize) -> Option<f64> {
        let (bits, n_chars) = if self.facts.has_same_tokens {
            let tokens = self.tokens(model).iter();
            let texts = tokens.filter(|token| token.piece.kind == PieceKind::Text);
            let counts = texts.map(|token| n_chars(&token.piece.bytes));
            (self.bits(model), counts.sum::<usize>())
        } else {
            let spans = self.spans();
            let bits: f64 = spans.iter().filter_map(|span| span.bits.get(model)).sum();
            (
                bits + 0.0,
                spans.iter().map(|span| n_chars(&span.bytes)).sum(),
            )
        };
        (n_chars > 0).then(|| bits / n_chars as f64)
    }

    /// Returns the share of tokens that the model ranked first.
    pub fn top_share(&self, model: usize) -> Option<f64> {
        let tokens = self.tokens(model);
        let n_top = tokens.iter().filter(|token| token.rank == 1).count();
        (!tokens.is_empty()).then(|| n_top as f64 / tokens.len() as f64)
    }

    /// Summarizes the divergences of all tokens, or returns `None` if there are none.
    pub fn divergences(&self) -> Option<Divergences> {
        let mut sorted: Vec<(f64, usize)> = self.gaps.iter().map(|gap| gap.kl).zip(0..).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let (largest, largest_at) = *sorted.last()?;
        let values: Vec<f64> = sorted.iter().map(|(kl, _)| *kl).collect();
        Some(Divergences {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            median: quantile(&values, 0.5)?,
            p99: quantile(&values, 0.99)?,
            largest,
            largest_at,
        })
    }

    /// Iterates over the indices of the tokens at which the models rank different tokens first.
    pub fn flips(&self) -> impl Iterator<Item = usize> {
        let [of_a, of_b] = &self.predicted;
        let pairs = self.gaps.iter().zip(of_a.iter().zip(of_b)).enumerate();
        pairs.filter_map(|(index, (_, (a, b)))| (a.top != b.top).then_some(index))
    }

    /// Returns whether A's margin at this token is below the noise, so that B's first choice may
    /// differ by chance.
    pub fn is_close(&self, index: usize) -> bool {
        let margin = self.tokens(0).get(index).map(|token| token.margin);
        let noise = self.gaps.get(index).map(|gap| gap.noise);
        margin
            .zip(noise)
            .is_some_and(|(margin, noise)| margin < noise)
    }

    /// Iterates over the positions at which these settings pick different tokens from the two
    /// models, with both tokens.
    pub fn other_choices(
        &self,
        settings: usize,
    ) -> impl Iterator<Item = (usize, [TokenId; 2])> + use<'_> {
        let gaps = self.gaps.iter().enumerate();
        gaps.filter_map(move |(index, gap)| {
            let choice = *gap.choices.get(settings)?;
            (choice[0] != choice[1]).then_some((index, choice))
        })
    }

    /// Returns the indices of the tokens, sorted by descending divergence.
    pub fn by_divergence(&self) -> Vec<usize> {
        let kl = |index: &usize| self.gaps.get(*index).map_or(0.0, |gap| gap.kl);
        let mut order: Vec<usize> = (0..self.gaps.len()).collect();
        order.sort_by(|a, b| kl(b).total_cmp(&kl(a)).then(a.cmp(b)));
        order
    }
}

/// Counts the characters of UTF-8 bytes, which may begin or end within a character.
fn n_chars(bytes: &[u8]) -> usize {
    // Each character has exactly one byte that is not a continuation byte.
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::testing::{apart, compared};
    use crate::decoding::TokenId;

    #[test]
    fn figures_are_computed_from_the_tokens() {
        let compared = compared();
        assert!((compared.bits(0) - 4.0).abs() < 1e-12 && (compared.bits(1) - 6.0).abs() < 1e-12);
        assert!((compared.perplexity(1).unwrap() - 4.0).abs() < 1e-12);
        assert!((compared.bits_per_char(0).unwrap() - 4.0 / 12.0).abs() < 1e-12);
        assert!((compared.top_share(1).unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let all = compared.divergences().unwrap();
        assert!((all.mean - 0.44 / 3.0).abs() < 1e-12);
        assert_eq!((all.median, all.largest, all.largest_at), (0.04, 0.4, 2));
        assert_eq!(compared.flips().collect::<Vec<_>>(), [2]);
        assert!(compared.is_close(2) && !compared.is_close(1));
        let choices: Vec<_> = compared.other_choices(0).collect();
        assert_eq!(choices, [(2, [TokenId(7), TokenId(5)])]);
        assert_eq!(compared.other_choices(1).count(), 0);
        assert_eq!(compared.by_divergence(), [2, 1, 0]);
    }

    #[test]
    fn a_text_that_is_split_differently_is_compared_in_spans() {
        let compared = apart();
        assert_eq!((compared.n_predicted(), compared.n_to_predict()), (5, 5));
        let spans = compared.spans();
        // B's first token has an extra byte in front, so the first common boundary comes after it.
        assert_eq!(spans.len(), 1, "{spans:?}");
        assert_eq!(spans[0].text(), " fox");
        assert_eq!(spans[0].n_tokens, [2, 1]);
        assert!((spans[0].bits[0] - 3.0).abs() < 1e-12 && (spans[0].bits[1] - 3.0).abs() < 1e-12);
        assert!(compared.divergences().is_none());
    }

    #[test]
    fn bits_per_character_leave_out_what_only_one_model_predicted() {
        let mut compared = apart();
        // The first tokens lie before the first common boundary.
        compared.predicted[0][0].ln_prob = -9.0;
        compared.predicted[1][0].ln_prob = -1.0;
        for model in [0, 1] {
            let bits = compared.bits_per_char(model).unwrap();
            assert!((bits - 0.75).abs() < 1e-12, "{bits}");
        }
        compared.predicted[1].pop();
        assert_eq!(compared.bits_per_char(0), None, "nothing is common yet");
    }
}
