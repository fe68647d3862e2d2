//! Mirostat: keep the surprise of the text near a target, by cutting more or less.

use serde::{Deserialize, Serialize};

use super::learning::near;
use super::rule::{Memory, SelectorRule, Toss};
use super::{Candidates, Draw, Selector, SelectorSpec, Tosses, bits, draw_by_coin};
use crate::decoding::Need;
use crate::decoding::dialect::Dialect;
use crate::decoding::setting::{Field, Limits, ParamSpec, Scale, field};

const ENGINES: Option<&[Dialect]> = Some(&[Dialect::LlamaCpp, Dialect::Ollama]);

/// How many of the most likely candidates the estimate of version 1 looks at.
const N_ESTIMATED: usize = 100;

/// Estimates from the 100 most likely candidates how fast the probabilities fall (Zipf's exponent
/// s), keeps the k most likely that should yield the target surprise, and draws from them.
///
/// `k = ((s - 1) · 2^μ / (1 - n^(1 - s)))^(1 / s)`. μ starts at 2 τ, and after each draw
/// `μ ← μ - η · (surprise - τ)`, in bits.
///
/// Basu, Ramachandran, Keskar, Varshney 2020, "Mirostat: A Neural Text Decoding Algorithm that
/// Directly Controls Perplexity".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MirostatV1 {
    /// The target surprise τ, in bits.
    pub tau: f32,
    /// The learning rate η.
    pub eta: f32,
}

/// Drops every candidate more surprising than μ except the most likely one, and draws from the
/// rest. μ is learned as in version 1.
///
/// Basu, Ramachandran, Keskar, Varshney 2020, "Mirostat: A Neural Text Decoding Algorithm that
/// Directly Controls Perplexity"; version 2 as in its authors' code.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MirostatV2 {
    /// The target surprise τ, in bits.
    pub tau: f32,
    /// The learning rate η.
    pub eta: f32,
}

const fn target(field: Field<Selector>) -> ParamSpec<Selector> {
    ParamSpec {
        label: "Target surprise",
        unit: "bits",
        help: "How surprising each token should be on average: less is safer, more is livelier.",
        range: 0.0..=10.0,
        limits: Limits::AtLeast(0.0),
        usual: 5.0..=5.0,
        ..ParamSpec::new(field)
    }
}

const fn learning_rate(field: Field<Selector>) -> ParamSpec<Selector> {
    ParamSpec {
        key: "eta",
        label: "Learning rate",
        help: "How much each miss corrects the next token; at 0 it never learns.",
        range: 0.001..=1.0,
        limits: Limits::AtLeast(0.0),
        usual: 0.1..=0.1,
        decimals: 3,
        scale: Scale::Logarithmic,
        ..ParamSpec::new(field)
    }
}

impl MirostatV1 {
    pub(super) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["mirostat-1", "mirostat-v1"],
        name: "Mirostat v1",
        label: "Mirostat v1",
        help: "Keeps enough of the most likely tokens to hold the surprise near a target, estimating \
               how fast the probabilities fall. It is usually used without other cuts.",
        formula: "k = ((s − 1) · 2^μ / (1 − n^(1 − s)))^(1 / s); μ ← μ − η · (surprise − τ)",
        edges: &[
            "μ starts at 2 τ. s is Zipf’s exponent, estimated from the 100 most likely tokens, and n is the number of tokens.",
            "It remembers μ from draw to draw, so a draw depends on those before it.",
        ],
        source: "Basu, Ramachandran, Keskar, Varshney 2020, \"Mirostat: A Neural Text Decoding Algorithm \
                 that Directly Controls Perplexity\", arXiv 2007.14966",
        params: &[
            target(field!(Real, Selector::MirostatV1.tau)),
            learning_rate(field!(Real, Selector::MirostatV1.eta)),
        ],
        needs: &[Need::Memory],
        tosses: Tosses::One,
        reweighs: true,
        engines: ENGINES,
        usual: Selector::MirostatV1(Self { tau: 5.0, eta: 0.1 }),
    };
}

impl SelectorRule for MirostatV1 {
    fn pick(&self, toss: Toss<'_>, memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        let mu = mu(*memory, self.tau);
        let n_kept = k_for(zipf_exponent(candidates), mu, candidates.n_kept());
        candidates.keep_head(n_kept);
        let draw = draw_by_coin(toss.coins.draw(), candidates);
        *memory = Some(learned(*memory, self.tau, self.eta, &draw));
        draw
    }

    fn learn(&self, memory: Memory, _prob_before: f64, draw: &Draw) -> Memory {
        Some(learned(memory, self.tau, self.eta, draw))
    }

    fn follows(&self, now: Memory, before: Memory, draw: &Draw, _prob_before: Option<f64>) -> bool {
        is_learned(now, learned(before, self.tau, self.eta, draw))
    }

    fn ending(&self) -> String {
        ending(self.tau)
    }
}

impl MirostatV2 {
    pub(super) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["mirostat", "mirostat-2", "mirostat-v2"],
        name: "Mirostat v2",
        label: "Mirostat v2",
        help: "Drops tokens that are too surprising, and moves the threshold after each draw to keep the \
               surprise near a target. It is usually used without other cuts.",
        formula: "keep a token if −log2 p ≤ μ; μ ← μ − η · (surprise − τ)",
        edges: &[
            "μ starts at 2 τ, and the most likely token always stays.",
            "It remembers μ from draw to draw, so a draw depends on those before it.",
        ],
        source: "Basu, Ramachandran, Keskar, Varshney 2020, \"Mirostat: A Neural Text Decoding Algorithm \
                 that Directly Controls Perplexity\", arXiv 2007.14966; version 2 from its authors’ \
                 code",
        params: &[
            target(field!(Real, Selector::MirostatV2.tau)),
            learning_rate(field!(Real, Selector::MirostatV2.eta)),
        ],
        needs: &[Need::Memory],
        tosses: Tosses::One,
        reweighs: true,
        engines: ENGINES,
        usual: Selector::MirostatV2(Self { tau: 5.0, eta: 0.1 }),
    };
}

impl SelectorRule for MirostatV2 {
    fn pick(&self, toss: Toss<'_>, memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        let mu = mu(*memory, self.tau);
        let softmax = candidates.softmax();
        let bar = (softmax.log_sum_exp - mu * std::f64::consts::LN_2) as f32;
        if softmax.max_logit < bar {
            // Tokens tied with the most likely one are dropped too.
            candidates.keep_head(1);
        } else {
            candidates.keep_from(bar);
        }
        let draw = draw_by_coin(toss.coins.draw(), candidates);
        *memory = Some(learned(*memory, self.tau, self.eta, &draw));
        draw
    }

    fn learn(&self, memory: Memory, _prob_before: f64, draw: &Draw) -> Memory {
        Some(learned(memory, self.tau, self.eta, draw))
    }

    fn follows(&self, now: Memory, before: Memory, draw: &Draw, _prob_before: Option<f64>) -> bool {
        is_learned(now, learned(before, self.tau, self.eta, draw))
    }

    fn ending(&self) -> String {
        ending(self.tau)
    }
}

fn mu(memory: Memory, tau: f32) -> f64 {
    memory.map_or(2.0 * f64::from(tau), |[mu, _]| mu)
}

/// Moves μ against the excess of the surprise over its target.
fn learned(memory: Memory, tau: f32, eta: f32, draw: &Draw) -> [f64; 2] {
    let excess_bits = bits(draw.prob) - f64::from(tau);
    [mu(memory, tau) - f64::from(eta) * excess_bits, 0.0]
}

fn is_learned(now: Memory, [expected, _]: [f64; 2]) -> bool {
    now.is_some_and(|[mu, rest]| near(mu, expected) && rest == 0.0)
}

fn ending(tau: f32) -> String {
    format!(", keeping the surprise near {tau} bits")
}

/// Returns the slope of ln p against ln rank, by least squares over the differences between
/// successive candidates, or `None` if fewer than two are possible.
fn zipf_exponent(candidates: &mut Candidates) -> Option<f64> {
    let head = candidates.head(N_ESTIMATED);
    let (mut products, mut squares) = (0.0, 0.0);
    for (pair, rank) in head.windows(2).zip(1_u32..) {
        if let [a, b] = pair
            && b.logit > f32::NEG_INFINITY
        {
            let wider = (f64::from(rank + 1) / f64::from(rank)).ln();
            products += wider * (f64::from(a.logit) - f64::from(b.logit));
            squares += wider * wider;
        }
    }
    (squares > 0.0).then(|| products / squares)
}

#[expect(clippy::cast_sign_loss, reason = "k is clamped to 1 or more")]
fn k_for(exponent: Option<f64>, mu: f64, n_kept: usize) -> usize {
    let Some(s) = exponent else { return 1 };
    let excess = s - 1.0;
    let n = n_kept as f64;
    // As the excess approaches zero, (1 - n^-excess) / excess approaches ln n.
    let shrink = if excess.abs() < 1e-9 {
        n.ln()
    } else {
        (1.0 - n.powf(-excess)) / excess
    };
    let k = (mu.exp2() / shrink).powf(1.0 / s);
    if k.is_nan() {
        n_kept
    } else {
        k.clamp(1.0, n) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{MirostatV1, MirostatV2, k_for, zipf_exponent};
    use crate::decoding::testing::{check_draws, draws};
    use crate::decoding::{Candidates, Coins, History, Selector, SelectorState};

    /// Probabilities that fall as 1 / rank^1.3.
    fn zipf(n: u32) -> Vec<f32> {
        (1..=n).map(|rank| -1.3 * (rank as f32).ln()).collect()
    }

    fn mean_surprise(selector: Selector) -> f64 {
        let draws = draws(selector, &zipf(5000), 4000);
        let bits: f64 = draws.iter().map(|draw| -draw.prob.log2()).sum();
        bits / draws.len() as f64
    }

    #[test]
    fn the_surprise_stays_near_its_target() {
        for tau in [2.0, 3.0, 5.0] {
            for selector in [
                Selector::MirostatV1(MirostatV1 { tau, eta: 0.1 }),
                Selector::MirostatV2(MirostatV2 { tau, eta: 0.1 }),
            ] {
                let mean = mean_surprise(selector);
                assert!((mean - f64::from(tau)).abs() < 0.1, "{selector}: {mean}");
            }
        }
    }

    #[test]
    fn the_exponent_of_a_zipf_distribution_is_estimated() {
        let mut candidates = Candidates::from_logits(&zipf(5000)).unwrap();
        let exponent = zipf_exponent(&mut candidates).unwrap();
        assert!((exponent - 1.3).abs() < 1e-4, "{exponent}");
        // ((0.3 · 2^6) / (1 - 5000^-0.3))^(1 / 1.3)
        assert_eq!(k_for(Some(1.3), 6.0, 5000), 10);
        assert_eq!(k_for(Some(1.0), 6.0, 5000), 7);
        assert_eq!(k_for(None, 6.0, 1), 1);
    }

    #[test]
    fn the_first_draw_is_a_plain_draw_from_the_unsurprising_tokens() {
        // μ is 2 · 1 bits, so only probabilities of at least 0.25 stay.
        let selector = Selector::MirostatV2(MirostatV2 { tau: 1.0, eta: 0.0 });
        check_draws(selector, &[0.5, 0.3, 0.15, 0.05], &[0.625, 0.375, 0.0, 0.0]);
        let selector = Selector::MirostatV1(MirostatV1 {
            tau: 20.0,
            eta: 0.0,
        });
        check_draws(selector, &[0.5, 0.3, 0.15, 0.05], &[0.5, 0.3, 0.15, 0.05]);
    }

    #[test]
    fn of_equally_surprising_tokens_one_is_left() {
        // μ is 2 · 0.2 bits, and the surprise of each is 1 bit.
        let selector = Selector::MirostatV2(MirostatV2 { tau: 0.2, eta: 0.0 });
        for position in 0..50 {
            let mut candidates = Candidates::from_logits(&[1.0, 1.0]).unwrap();
            let coins = Coins { seed: 9, position };
            let mut state = SelectorState::default();
            let draw = selector.pick(coins, History::empty(), &mut state, &mut candidates);
            assert_eq!((draw.token.index(), candidates.n_kept()), (0, 1));
        }
    }

    #[test]
    fn a_single_candidate_is_picked_and_learned_from() {
        let mut state = SelectorState::default();
        let selector = Selector::MirostatV1(MirostatV1 { tau: 5.0, eta: 0.1 });
        for position in 0..3 {
            let mut candidates = Candidates::from_logits(&[1.0]).unwrap();
            let draw = selector.pick(
                Coins { seed: 0, position },
                History::empty(),
                &mut state,
                &mut candidates,
            );
            assert_eq!(draw.token.0, 0);
        }
        assert_eq!(state.memory.map(|[mu, _]| (mu * 10.0).round()), Some(115.0));
    }
}
