//! What can be measured about the turns of a conversation, one after the other.

use std::collections::HashSet;

use crate::decoding::TokenId;
use crate::generation::Generation;

/// How long the sequences of tokens are that count as repeated.
const N_SEQUENCE: usize = 4;

/// The measures of one turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnMetrics {
    pub n_tokens: usize,
    /// The mean of −log2(p), where p is the probability before the chain. `None` if one of them is
    /// unknown, or without tokens.
    pub surprise_bits: Option<f64>,
    /// The fraction of its sequences of four tokens that an earlier answer of the conversation has.
    /// `None` in the first turn, and if it has fewer than four tokens.
    pub repeated: Option<f64>,
}

/// Returns the measures of the turns of a conversation, oldest first.
pub fn turn_metrics(latest: &Generation) -> Vec<TurnMetrics> {
    let mut earlier: HashSet<[TokenId; N_SEQUENCE]> = HashSet::new();
    let turns = latest.turns().into_iter().enumerate();
    turns
        .map(|(index, turn)| {
            let sequences = sequences_of(turn);
            let n_known = sequences.iter().filter(|it| earlier.contains(*it)).count();
            let n_tokens = turn.steps.len();
            let steps = turn.steps.iter();
            let bits: Option<f64> = steps.map(|step| step.trace.known_surprise_bits()).sum();
            let metrics = TurnMetrics {
                n_tokens,
                surprise_bits: bits
                    .filter(|_| n_tokens > 0)
                    .map(|bits| bits / n_tokens as f64),
                repeated: (index > 0 && !sequences.is_empty())
                    .then(|| n_known as f64 / sequences.len() as f64),
            };
            earlier.extend(sequences);
            metrics
        })
        .collect()
}

/// Returns all sequences of four tokens of a text, in order.
fn sequences_of(text: &Generation) -> Vec<[TokenId; N_SEQUENCE]> {
    let tokens: Vec<TokenId> = text.steps.iter().map(|step| step.token).collect();
    let windows = tokens.windows(N_SEQUENCE);
    windows
        .filter_map(|window| window.try_into().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::turn_metrics;
    use crate::generation::testing::generation;

    #[test]
    fn repetition_is_counted_across_turns() {
        let words = [
            (" a", 0.5),
            (" b", 0.5),
            (" c", 0.25),
            (" d", 0.25),
            (" e", 0.5),
        ];
        let first = generation(&words);
        let second = generation(&words[..4]).following(Some(Arc::new(first)));
        let third = generation(&words[..2]).following(Some(Arc::new(second)));
        let metrics = turn_metrics(&third);
        let n_tokens: Vec<usize> = metrics.iter().map(|turn| turn.n_tokens).collect();
        assert_eq!(n_tokens, [5, 4, 2]);
        let repeated: Vec<Option<f64>> = metrics.iter().map(|turn| turn.repeated).collect();
        assert_eq!(repeated, [None, Some(1.0), None]);
        assert!(metrics[0].surprise_bits.is_some_and(|bits| bits > 1.0));
    }

    #[test]
    fn new_words_are_no_repetition() {
        let first = generation(&[(" a", 0.5), (" b", 0.5), (" c", 0.5), (" d", 0.5)]);
        let mut second = first.clone();
        second.steps[0].token = second.steps[3].token;
        let second = second.following(Some(Arc::new(first)));
        assert_eq!(turn_metrics(&second)[1].repeated, Some(0.0));
    }
}
