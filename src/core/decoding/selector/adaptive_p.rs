//! Adaptive-p: prefer tokens whose probability is close to a target.

use serde::{Deserialize, Serialize};

use super::learning::near;
use super::rule::{Memory, SelectorRule, Toss};
use super::{Candidates, Draw, Selector, SelectorSpec, Tosses, draw_by_coin};
use crate::decoding::Need;
use crate::decoding::dialect::Dialect;
use crate::decoding::setting::{Limits, ParamSpec, field};

/// The distance from the target within which a probability counts as close.
const WIDTH: f64 = 0.3;

/// The logit of a candidate exactly at the target, and how fast it falls on either side.
const PEAK: f64 = 5.0;
const SHARPNESS: f64 = 10.0;

/// Replaces each logit with a measure of how close its probability p is to a target t, and draws
/// from the result: `5 - 10 · d² / (1 + d)` with `d = |p - t| / 0.3`.
///
/// If the tokens drawn so far were likelier on average than the target, t moves down by the
/// difference, and otherwise up. Each older draw counts less by the factor `decay`. It needs a cut
/// before it: otherwise the many candidates with almost no probability get most of the draws.
///
/// llama.cpp 2025, pull request 17927, "implement adaptive-p sampler".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveP {
    /// The target probability, 0 to 1; below 0 it is a plain draw.
    pub target: f32,
    /// How slowly the average forgets older draws, 0 to 0.99.
    pub decay: f32,
}

impl AdaptiveP {
    pub(super) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["adaptive-p", "adaptive"],
        name: "Adaptive-p",
        label: "Adaptive-p",
        help: "Draws tokens whose probability is close to a target that adapts to what was drawn. Put a \
               mild cut before it, such as min-p 0.05.",
        formula: "logit = 5 − 10 · d² / (1 + d), d = |p − target| / 0.3",
        edges: &[
            "The target moves: it is twice the setting minus the mean probability of what was drawn, in which earlier draws fade.",
            "Below 0 it is a plain draw.",
        ],
        source: "No paper: llama.cpp 2025, \"implement adaptive-p sampler\", \
                 https://github.com/ggml-org/llama.cpp/pull/17927",
        params: &[
            ParamSpec {
                label: "Target",
                help: "The probability of the tokens to prefer: less is livelier, more is safer, and below \
                       0 it is a plain draw.",
                limits: Limits::AtMost(1.0),
                neutral: Some(-1.0),
                usual: 0.5..=0.5,
                ..ParamSpec::new(field!(Real, Selector::AdaptiveP.target))
            },
            ParamSpec {
                key: "decay",
                label: "Decay",
                help: "How much earlier draws still count; at 0 only the last one does.",
                range: 0.0..=0.99,
                limits: Limits::Between(0.0, 0.99),
                usual: 0.9..=0.9,
                ..ParamSpec::new(field!(Real, Selector::AdaptiveP.decay))
            },
        ],
        needs: &[Need::Memory],
        tosses: Tosses::One,
        reweighs: true,
        engines: Some(&[Dialect::LlamaCpp]),
        usual: Selector::AdaptiveP(Self {
            target: 0.5,
            decay: 0.9,
        }),
    };

    /// How much each earlier draw still counts.
    fn decay(self) -> f64 {
        f64::from(self.decay.clamp(0.0, 0.99))
    }

    /// Returns the sum and the weight of earlier draws. Before the first one, their average is the
    /// target.
    fn sum_and_weight(self, memory: Memory) -> [f64; 2] {
        let start = || [f64::from(self.target), 1.0].map(|value| value / (1.0 - self.decay()));
        memory.unwrap_or_else(start)
    }

    /// Whether it is a plain draw, which learns nothing.
    fn is_plain_draw(self) -> bool {
        self.target < 0.0
    }
}

impl SelectorRule for AdaptiveP {
    fn pick(&self, toss: Toss<'_>, memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        if self.is_plain_draw() {
            return draw_by_coin(toss.coins.draw(), candidates);
        }
        let [sum, weight] = self.sum_and_weight(*memory);
        let target = (2.0 * f64::from(self.target) - sum / weight).clamp(0.0, 1.0);

        let mut before = candidates.clone();
        let softmax = candidates.softmax();
        candidates.map_logits(|logit| closeness(logit, softmax.prob(logit), target));
        let draw = draw_by_coin(toss.coins.draw(), candidates);

        let prob = before
            .logit(draw.token)
            .map_or(0.0, |logit| before.softmax().prob(logit));
        *memory = self.learn(*memory, prob, &draw);
        draw
    }

    fn learn(&self, memory: Memory, prob_before: f64, _draw: &Draw) -> Memory {
        if self.is_plain_draw() {
            return memory;
        }
        let [sum, weight] = self.sum_and_weight(memory);
        Some([
            prob_before + self.decay() * sum,
            1.0 + self.decay() * weight,
        ])
    }

    fn follows(&self, now: Memory, before: Memory, _draw: &Draw, prob_before: Option<f64>) -> bool {
        if self.is_plain_draw() {
            return now == before;
        }
        let Some([sum, weight]) = now else {
            return false;
        };
        let [sum_before, weight_before] = self.sum_and_weight(before);
        let prob = sum - self.decay() * sum_before;
        let is_prob = match prob_before {
            Some(expected) => (prob - expected).abs() <= 1e-5,
            None => (-1e-9..=1.0 + 1e-9).contains(&prob),
        };
        near(weight, 1.0 + self.decay() * weight_before) && is_prob
    }

    fn ending(&self) -> String {
        if self.is_plain_draw() {
            return String::new();
        }
        let percent = (f64::from(self.target) * 10_000.0).round() / 100.0;
        format!(", preferring tokens that are about {percent} % likely")
    }
}

/// The logit by which a candidate is drawn; an impossible one stays impossible.
fn closeness(logit: f32, prob: f64, target: f64) -> f32 {
    if logit > f32::NEG_INFINITY {
        let distance = (prob - target).abs() / WIDTH;
        (PEAK - SHARPNESS * distance * distance / (1.0 + distance)) as f32
    } else {
        logit
    }
}

#[cfg(test)]
mod tests {
    use super::AdaptiveP;
    use crate::decoding::Selector;
    use crate::decoding::testing::{check_draws, draws, logits_of};

    #[test]
    fn the_first_draw_prefers_tokens_at_the_target() {
        let probs = [0.7_f64, 0.2, 0.1, 0.0];
        let weights = probs.map(|prob| {
            let distance = (prob - 0.2).abs() / 0.3;
            (5.0 - 10.0 * distance * distance / (1.0 + distance)).exp()
        });
        let total: f64 = weights.iter().take(3).sum();
        let mut expected = weights.map(|weight| (weight / total) as f32);
        expected[3] = 0.0;
        let selector = Selector::AdaptiveP(AdaptiveP {
            target: 0.2,
            decay: 0.9,
        });
        check_draws(selector, &probs.map(|prob| prob as f32), &expected);
    }

    #[test]
    fn a_target_below_zero_is_a_plain_draw() {
        let selector = Selector::AdaptiveP(AdaptiveP {
            target: -1.0,
            decay: 0.9,
        });
        check_draws(selector, &[0.6, 0.3, 0.1], &[0.6, 0.3, 0.1]);
    }

    #[test]
    fn the_average_probability_approaches_its_target() {
        let logits = logits_of(&[0.5, 0.2, 0.1, 0.1, 0.05, 0.05]);
        for target in [0.15, 0.3] {
            let selector = Selector::AdaptiveP(AdaptiveP { target, decay: 0.9 });
            let draws = draws(selector, &logits, 2000);
            let probs = draws.iter().map(|draw| logits[draw.token.index()].exp());
            let mean = probs.map(f64::from).sum::<f64>() / draws.len() as f64;
            assert!((mean - f64::from(target)).abs() < 0.05, "{target}: {mean}");
        }
    }
}
