//! How well a model predicts a given text, and which of its tokens a chain could not have
//! generated.

use super::suspects::{Suspect, suspects};
use crate::decoding::Trace;
use crate::generation::formatting::{counted, grouped};
use crate::generation::{Generation, PieceKind};

/// The figures of a scored text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextScore {
    pub n_tokens: usize,
    /// The bytes of the scored tokens, special tokens excluded.
    pub n_bytes: usize,
    /// The total surprise: −log2 of the probability of the whole text before the chain.
    pub bits: f64,
    /// The number of tokens that the model ranked first.
    pub n_greedy: usize,
    /// The tokens that the chain could not have generated, in order.
    pub cuts: Vec<Cut>,
}

/// A token that the chain could not have generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The index of its step.
    pub step: usize,
    /// The grammar, the stage or the selector that dropped it, such as "top-k 40", or `None` if the
    /// record can't tell.
    pub by: Option<String>,
}

impl TextScore {
    /// Computes the figures of a text under the settings with which it was scored.
    pub fn of(generation: &Generation) -> Self {
        let steps = &generation.steps;
        let texts = steps
            .iter()
            .filter(|step| step.piece.kind == PieceKind::Text);
        let impossible = steps
            .iter()
            .enumerate()
            .filter(|(_, step)| !step.trace.draw.was_possible());
        let bits = steps
            .iter()
            .map(|step| step.trace.known_surprise_bits())
            .sum::<Option<f64>>()
            .unwrap_or(f64::NAN);
        Self {
            n_tokens: steps.len(),
            n_bytes: texts.map(|step| step.piece.bytes.len()).sum(),
            // A sum of zeros must not be shown as −0.
            bits: bits + 0.0,
            n_greedy: steps
                .iter()
                .filter(|step| step.trace.known_rank() == Some(1))
                .count(),
            cuts: impossible
                .map(|(index, step)| Cut {
                    step: index,
                    by: cut_by(generation, &step.trace),
                })
                .collect(),
        }
    }

    /// Returns the perplexity, `exp` of the mean surprise in nats (Jelinek et al. 1977,
    /// "Perplexity"), or `None` for a text without tokens.
    pub fn perplexity(&self) -> Option<f64> {
        self.bits_per_token().map(f64::exp2)
    }

    /// Returns the mean surprise of a token in bits.
    pub fn bits_per_token(&self) -> Option<f64> {
        (self.n_tokens > 0).then(|| self.bits / self.n_tokens as f64)
    }

    /// Returns the mean surprise of a byte in bits, which compares models with different
    /// tokenizers.
    pub fn bits_per_byte(&self) -> Option<f64> {
        (self.n_bytes > 0).then(|| self.bits / self.n_bytes as f64)
    }

    /// Says how much the chain could not have generated: "3 of 60 tokens could not have been
    /// generated (cut by top-k 40)".
    pub fn cut_words(&self) -> String {
        let n = counted(self.n_tokens, "token");
        if self.cuts.is_empty() {
            return match self.n_tokens {
                0 => "No token was scored".to_owned(),
                1 => "The only token could have been generated".to_owned(),
                _ => format!("All {n} could have been generated"),
            };
        }
        let mut stages: Vec<(&str, usize)> = Vec::new();
        for by in self.cuts.iter().filter_map(|cut| cut.by.as_deref()) {
            match stages.iter_mut().find(|(stage, _)| *stage == by) {
                Some((_, n)) => *n += 1,
                None => stages.push((by, 1)),
            }
        }
        let by = match stages.as_slice() {
            [] => String::new(),
            [(stage, n)] if *n == self.cuts.len() => format!(" (cut by {stage})"),
            stages => {
                let parts = stages.iter().map(|(stage, n)| format!("{n} by {stage}"));
                format!(" (cut: {})", parts.collect::<Vec<_>>().join(", "))
            }
        };
        let cut = match self.n_tokens {
            1 => "The only token".to_owned(),
            _ => format!("{} of {n}", grouped(self.cuts.len() as f64)),
        };
        format!("{cut} could not have been generated{by}")
    }
}

/// Returns what dropped a step's token, which the chain could not have picked, or `None` if the
/// record can't tell.
fn cut_by(generation: &Generation, trace: &Trace) -> Option<String> {
    let suspects = suspects(trace);
    let [only] = suspects.as_slice() else {
        return None;
    };
    match *only {
        Suspect::Grammar => {
            let report = trace.grammar.as_ref()?;
            Some(report.rule.to_string())
        }
        Suspect::Stage(index) => {
            let stage = trace.stages.get(index)?;
            Some(stage.filter.to_string())
        }
        Suspect::Selector => Some(generation.config.chain.selector.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::TextScore;
    use crate::decoding::{
        Coins, GrammarDraw, GrammarKind, GrammarRule, GrammarState, GrammarVocabulary, History,
        SamplerChain, Taken, TokenId,
    };
    use crate::generation::Step;
    use crate::generation::testing::scored;

    #[test]
    fn a_text_has_the_perplexity_of_its_probabilities() {
        let text = scored(&[(" the", 0.5), (" fox", 0.125)], "sample");
        let score = TextScore::of(&text);
        assert!((score.bits - 4.0).abs() < 1e-5, "{}", score.bits);
        assert!((score.perplexity().unwrap() - 4.0).abs() < 1e-5);
        assert!((score.bits_per_byte().unwrap() - 0.5).abs() < 1e-6);
        assert_eq!((score.n_tokens, score.n_greedy), (2, 1));
        assert_eq!(score.cut_words(), "All 2 tokens could have been generated");
    }

    #[test]
    fn a_cut_token_names_the_stage_that_dropped_it() {
        let pieces = [(" the", 0.9), (" fox", 0.01), (" a", 0.05)];
        for (settings, words) in [
            (
                "top-k 5",
                "1 of 3 tokens could not have been generated (cut by top-k 5)",
            ),
            (
                "greedy",
                "2 of 3 tokens could not have been generated (cut by greedy)",
            ),
            (
                "top-k 5, min-p 0.2",
                "2 of 3 tokens could not have been generated (cut: 1 by top-k 5, 1 by min-p 0.2)",
            ),
        ] {
            let score = TextScore::of(&scored(&pieces, settings));
            assert_eq!(score.cut_words(), words);
        }
    }

    #[test]
    fn a_token_that_the_grammar_forbids_names_the_grammar() {
        let mut text = scored(&[(" the", 0.5)], "sample");
        let step = text.steps[0].clone();
        let logits = [0.0; 8];
        let words = text.vocabulary.iter().map(|(_, piece)| piece.bytes.clone());
        let words = GrammarVocabulary::new(words.collect(), &[TokenId(0)]).unwrap();
        let rule = Arc::new(GrammarRule::new(GrammarKind::Regex, "[.]+"));
        let legal = GrammarState::new(&rule, &Arc::new(words))
            .unwrap()
            .legal()
            .unwrap();
        let coins = Coins {
            seed: 42,
            position: 0,
        };
        let draw = GrammarDraw {
            rule: &rule,
            legal: &legal,
            logits: &logits,
        };
        let mut chain = SamplerChain::new(text.config.chain.clone());
        let given = Taken::Given(step.token);
        let taken = draw.take(&mut chain, History::empty(), coins, given);
        let trace = Arc::new(taken.unwrap().trace);
        text.steps = vec![Step { trace, ..step }].into();
        assert_eq!(
            TextScore::of(&text).cut_words(),
            "The only token could not have been generated (cut by grammar [.]+)"
        );
    }

    #[test]
    fn an_empty_text_has_no_figures() {
        let score = TextScore::of(&scored(&[], "sample"));
        assert_eq!((score.perplexity(), score.bits_per_byte()), (None, None));
    }
}
