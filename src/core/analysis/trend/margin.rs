//! How far the most likely token is ahead of the second.

use super::{PanelSpec, TrendAxis, TrendShape, TrendSpec};
use crate::decoding::Trace;
use crate::generation::Generation;

pub(super) const SPEC: TrendSpec = TrendSpec {
    name: "Margin",
    subtitle: "log-probability gap between the two most likely tokens, before the chain",
    hint: "How far the most likely token is ahead of the second: the difference of their log-probabilities (or logits) before the chain, in nats.",
    file_name: "margin",
    file_summary: "gap between the two most likely tokens, in nats",
    needs_times: false,
    shape: TrendShape::Lines {
        panels: &[PanelSpec {
            title: "Nats",
            axis: TrendAxis::Linear,
            values,
        }],
        words,
    },
};

/// Returns the difference between the log-probabilities of the two most likely tokens before the
/// chain, which is also the difference between their logits. Returns `None` if the second is impossible, or if a server reported
/// fewer than two tokens.
pub(in crate::analysis) fn margin_nats(trace: &Trace) -> Option<f64> {
    let [first, second, ..] = trace.raw.head.as_slice() else {
        return None;
    };
    let margin = f64::from(first.logit) - f64::from(second.logit);
    margin.is_finite().then_some(margin)
}

fn values(text: &Generation) -> Vec<Option<f64>> {
    let margins = text.steps.iter().map(|step| margin_nats(&step.trace));
    margins.collect()
}

fn words(text: &Generation, index: usize) -> Option<String> {
    Some(match margin_nats(&text.steps.get(index)?.trace) {
        Some(nats) => {
            format!(
                "{nats:.2} nats, the difference of log-probabilities (or logits) before the chain"
            )
        }
        None => "margin unknown: no second token was recorded".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{margin_nats, values, words};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{
        Candidate, ChainConfig, Coins, History, SamplerChain, ServedHead, Taken, TokenId, Trace,
    };
    use crate::generation::testing::generation;

    const COINS: Coins = Coins {
        seed: 1,
        position: 0,
    };

    fn trace(probs: &[f32]) -> Trace {
        let mut chain = SamplerChain::new(ChainConfig::greedy());
        let sampled = chain.sample(&logits_of(probs), History::empty(), COINS);
        sampled.unwrap().trace
    }

    /// Returns the trace of a step of which a server reported these tokens of a vocabulary of eight.
    fn served(probs: &[f32]) -> Trace {
        let tokens = (0..).map(TokenId).zip(logits_of(probs));
        let known = tokens.map(|(token, logit)| Candidate { token, logit });
        let head = ServedHead::new(known.collect(), 8);
        let taken = Taken::ByServer(TokenId(0));
        let mut chain = SamplerChain::new(ChainConfig::sampled([]));
        let sampled = chain.take_served(&head, History::empty(), COINS, taken);
        sampled.unwrap().trace
    }

    fn is_near(margin: Option<f64>, expected: f64) -> bool {
        margin.is_some_and(|margin| (margin - expected).abs() < 1e-6)
    }

    #[test]
    fn the_margin_is_the_difference_of_log_probabilities_before_the_chain() {
        // ln 0.8 − ln 0.2, though greedy drops the second token.
        assert!(is_near(margin_nats(&trace(&[0.2, 0.8])), 4_f64.ln()));
        assert!(is_near(margin_nats(&trace(&[0.5, 0.5])), 0.0));
    }

    #[test]
    fn one_possible_token_has_no_margin() {
        assert_eq!(margin_nats(&trace(&[1.0])), None);
        assert_eq!(margin_nats(&trace(&[1.0, 0.0])), None);
    }

    #[test]
    fn the_margin_of_a_served_step_needs_two_reported_tokens() {
        assert!(is_near(margin_nats(&served(&[0.6, 0.3])), 2_f64.ln()));
        assert_eq!(margin_nats(&served(&[0.6])), None);
    }

    #[test]
    fn a_text_has_a_margin_at_each_step_where_it_is_known() {
        let mut text = generation(&[(" a", 0.5), (" fox", 0.5)]);
        text.steps[0].trace = Arc::new(trace(&[0.8, 0.2]));
        text.steps[1].trace = Arc::new(served(&[0.6]));
        let margins = values(&text);
        assert!(is_near(margins[0], 4_f64.ln()));
        assert_eq!(margins[1..], [None]);
        let known = "1.39 nats, the difference of log-probabilities (or logits) before the chain";
        assert_eq!(words(&text, 0).as_deref(), Some(known));
        let unknown = "margin unknown: no second token was recorded";
        assert_eq!(words(&text, 1).as_deref(), Some(unknown));
        assert_eq!(words(&text, 2), None);
    }
}
