//! What a grammar did to the explained token, in words.

use super::change_words;
use crate::decoding::{GrammarMode, GrammarReport};
use crate::generation::formatting::{grouped, percent, quoted};
use crate::generation::{Generation, Step};

/// Returns the report of the grammar that chose which tokens the stages saw, if one did.
pub(super) fn mask(step: &Step) -> Option<&GrammarReport> {
    let report = step.trace.grammar.as_deref();
    report.filter(|report| report.masked)
}

/// Returns the token's probability among the legal tokens, or `None` if it was not recorded.
pub(super) fn legal_prob(report: &GrammarReport, step: &Step) -> Option<f64> {
    let mut legal = report.legal.head.iter();
    Some(legal.find(|known| known.token == step.token)?.prob)
}

/// Says what the grammar did before the stages: "The grammar allowed 12 of 6,144 tokens (0.3 % of
/// the probability) and raised it to 99.5 %."
pub(super) fn grammar_words(generation: &Generation, step: &Step) -> Option<String> {
    let report = mask(step)?;
    let allowed = allowed_words(report, step);
    let redrawn = report
        .unconstrained
        .filter(|_| report.rule.mode() == GrammarMode::Check);
    Some(match redrawn {
        Some(token) => {
            let word = quoted(&generation.vocabulary.piece(token));
            format!(
                "The first draw, {word}, was illegal, so the token was drawn again with a new coin. \
                 {allowed}"
            )
        }
        None => allowed,
    })
}

fn allowed_words(report: &GrammarReport, step: &Step) -> String {
    let trace = &step.trace;
    let [n_legal, n] = [report.n_legal(), trace.raw.n_candidates];
    let is_illegal = report.is_legal(step.token, &trace.raw) == Some(false);
    if n_legal >= n {
        return "The grammar allowed every token.".to_owned();
    }
    let [legal, all] = [n_legal, n].map(|n| grouped(f64::from(n)));
    if report.is_forced() && !is_illegal {
        return format!("The grammar allowed only this one of {all} tokens.");
    }
    let mass = percent(report.legal_mass(&trace.raw));
    let allowed =
        format!("The grammar allowed {legal} of {all} tokens ({mass} of the probability)");
    if is_illegal {
        return format!("{allowed}, but not this one.");
    }
    match change_words(Some(trace.raw_prob), legal_prob(report, step)) {
        Some(change) => format!("{allowed} and {change}."),
        None => format!("{allowed}."),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use crate::analysis::Why;
    use crate::decoding::testing::logits_of;
    use crate::decoding::{
        ChainConfig, Coins, GrammarDraw, GrammarKind, GrammarMode, GrammarRule, GrammarState,
        GrammarVocabulary, History, SamplerChain, TokenId,
    };
    use crate::generation::Generation;
    use crate::generation::testing::generation;

    /// A text of one token that was drawn under a grammar from the probabilities of " the", " a",
    /// " little" and " house".
    pub(in crate::analysis) fn drawn(rule: &str, mode: GrammarMode, probs: [f32; 4]) -> Generation {
        let mut text = generation(&[(" fox", 0.5)]);
        let words = text
            .vocabulary
            .iter()
            .map(|(_, piece)| piece.bytes.clone())
            .collect();
        let words = GrammarVocabulary::new(words, &[TokenId(0)]).unwrap();
        let rule = Arc::new(GrammarRule::new(GrammarKind::Regex, rule).with_mode(mode));
        let mut state = GrammarState::new(&rule, &Arc::new(words)).unwrap();
        let legal = state.legal().unwrap();
        let mut all = [1e-9_f32; 8];
        all[1..5].copy_from_slice(&probs);
        let logits = logits_of(&all);
        let draw = GrammarDraw {
            rule: &rule,
            legal: &legal,
            logits: &logits,
        };
        text.config.chain = ChainConfig {
            grammar: Some(Arc::clone(&rule)),
            ..ChainConfig::sampled([])
        };
        let mut chain = SamplerChain::new(text.config.chain.clone());
        let coins = Coins {
            seed: 42,
            position: 3,
        };
        let sampled = draw.sample(&mut chain, History::empty(), coins).unwrap();
        text.steps[0].token = sampled.token;
        text.steps[0].piece = text.vocabulary.piece(sampled.token);
        text.steps[0].trace = Arc::new(sampled.trace);
        text
    }

    #[test]
    fn a_mask_that_decides_the_token_is_explained() {
        let probs = [0.9, 0.05, 0.0498, 0.0002];
        let text = drawn(" (little|house)", GrammarMode::Mask, probs);
        let why = Why::of(&[Some(&text)], 0, 0).unwrap();
        assert!(
            why.story.starts_with(
                "The model ranked it 3rd of 8 tokens, at 5.0 %. The grammar allowed 2 of 8 tokens \
                 (5.0 % of the probability) and raised it to 99.6 %. "
            ),
            "{}",
            why.story
        );
        assert_eq!(
            why.margin,
            "Among the legal tokens, the model put ‘little’ 5.52 nats ahead of ‘house’."
        );
    }

    #[test]
    fn a_check_that_fails_says_what_was_drawn_first() {
        let probs = [0.9998, 0.0001, 0.00005, 0.00005];
        let text = drawn(" house", GrammarMode::Check, probs);
        let why = Why::of(&[Some(&text)], 0, 0).unwrap();
        assert!(
            why.story.contains(
                "The first draw, ‘the’, was illegal, so the token was drawn again with a new coin. \
                 The grammar allowed only this one of 8 tokens. "
            ),
            "{}",
            why.story
        );
        assert_eq!(why.margin, "");
        let text = drawn(" the", GrammarMode::Check, probs);
        let story = Why::of(&[Some(&text)], 0, 0).unwrap().story;
        assert!(!story.contains("grammar"), "{story}");
    }
}
