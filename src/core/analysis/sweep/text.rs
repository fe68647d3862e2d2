//! The figures of one text of a sweep.

use serde::{Deserialize, Serialize};

use crate::analysis::text_loop::find_loop;
use crate::analysis::text_metrics::distinct;
use crate::generation::{FinishReason, SweepText, TokenMeasures};

/// The figures of one text. A mean is `None` if the text has no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TextFigures {
    pub n_tokens: usize,
    /// The mean surprise of its tokens before the chain, in bits.
    pub surprise_bits: Option<f64>,
    /// The mean entropy of the distributions before the chain, in bits.
    pub entropy_bits: Option<f64>,
    /// The number of distinct bigrams divided by the number of bigrams.
    pub distinct_2: Option<f64>,
    /// The share of 4-grams that occurred earlier in the text: Welleck et al. 2020, "Neural Text
    /// Generation with Unlikelihood Training", where it is called seq-rep-4.
    pub repetition: Option<f64>,
    /// Whether a passage repeats at least three times in a row.
    pub has_loop: bool,
    /// Whether it ended by itself, with an end-of-text token, a stop sequence or a
    /// complete grammar.
    pub has_ended: bool,
    /// Whether its grammar accepts it. `None` without a grammar.
    pub grammar_complete: Option<bool>,
    /// The share of tokens that the model ranked first.
    pub greedy_share: Option<f64>,
    /// The number of tokens before the first one that greedy decoding would not have picked.
    pub first_fork: usize,
}

impl TextFigures {
    /// Computes the figures of a complete text.
    pub fn of(text: &SweepText) -> Self {
        let measures = &text.measures;
        let n = measures.len() as f64;
        let mean = |value: fn(&TokenMeasures) -> f32| {
            let sum: f64 = measures.iter().map(|token| f64::from(value(token))).sum();
            // A sum of zeros must not be shown as −0.
            (!measures.is_empty()).then(|| sum / n + 0.0)
        };
        let fork = measures.iter().position(|token| !token.is_top);
        Self {
            n_tokens: text.tokens.len(),
            surprise_bits: mean(|token| token.surprise_bits),
            entropy_bits: mean(|token| token.entropy_bits),
            distinct_2: distinct(&text.tokens, 2),
            repetition: distinct(&text.tokens, 4).map(|share| 1.0 - share),
            has_loop: find_loop(&text.tokens).is_some(),
            has_ended: matches!(
                text.finish,
                FinishReason::EndOfText
                    | FinishReason::StopString { .. }
                    | FinishReason::GrammarComplete
            ),
            grammar_complete: text.grammar_complete,
            greedy_share: mean(|token| f32::from(u8::from(token.is_top))),
            first_fork: fork.unwrap_or(measures.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TextFigures;
    use crate::decoding::TokenId;
    use crate::generation::{FinishReason, SweepText, TokenMeasures};

    fn text(tokens: &[(u32, f32, bool)], finish: FinishReason) -> SweepText {
        SweepText {
            prompt: 0,
            cell: 0,
            seed: 0,
            tokens: tokens.iter().map(|(id, ..)| TokenId(*id)).collect(),
            measures: tokens
                .iter()
                .map(|(_, surprise_bits, is_top)| TokenMeasures {
                    surprise_bits: *surprise_bits,
                    entropy_bits: 2.0,
                    is_top: *is_top,
                })
                .collect(),
            finish,
            grammar_complete: None,
        }
    }

    #[test]
    fn the_figures_follow_from_the_tokens() {
        let tokens = [
            (1, 1.0, true),
            (2, 0.0, true),
            (1, 3.0, false),
            (2, 0.0, true),
        ];
        let figures = TextFigures::of(&text(&tokens, FinishReason::EndOfText));
        assert_eq!(figures.n_tokens, 4);
        assert_eq!(figures.surprise_bits, Some(1.0));
        assert_eq!(figures.entropy_bits, Some(2.0));
        assert_eq!(figures.greedy_share, Some(0.75));
        assert_eq!(figures.first_fork, 2);
        // The bigrams 1 2, 2 1, 1 2.
        assert!((figures.distinct_2.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(figures.repetition, Some(0.0));
        assert!(figures.has_ended && !figures.has_loop);
    }

    #[test]
    fn a_loop_repeats_itself_and_does_not_end() {
        let tokens = [(7, 0.0, true); 16];
        let figures = TextFigures::of(&text(&tokens, FinishReason::MaxTokens));
        assert!(figures.has_loop && !figures.has_ended);
        // 12 of 13 4-grams occurred before.
        assert!((figures.repetition.unwrap() - 12.0 / 13.0).abs() < 1e-12);
        assert_eq!(figures.first_fork, 16, "all of it is greedy");
    }

    #[test]
    fn an_empty_text_has_no_means() {
        let figures = TextFigures::of(&text(&[], FinishReason::Cancelled));
        assert_eq!((figures.surprise_bits, figures.greedy_share), (None, None));
        assert_eq!((figures.distinct_2, figures.n_tokens), (None, 0));
    }
}
