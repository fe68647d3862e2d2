//! The Gumbel-max watermark: a draw whose noise is derived from a key and the last tokens.

use serde::{Deserialize, Serialize};

use super::rule::{Memory, SelectorRule, Toss};
use super::{Tosses, gumbel};
use crate::decoding::dialect::Dialect;
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::trace::Draw;
use crate::decoding::watermark::{GumbelKey, context_of, is_repeated};
use crate::decoding::{Candidates, Selector, SelectorSpec};

/// Draws as Gumbel-max does, but with numbers derived from `key` and the last generated tokens
/// instead of the seed and the position. Anyone who knows the key can see that the tokens' numbers
/// are too large to be chance, while averaged over all keys, each token is drawn with its own
/// probability.
///
/// If the same tokens preceded an earlier draw in the text, the seed decides instead, as in vLLM:
/// the same numbers twice would favor repetition. The prompt does not count.
///
/// Aaronson 2022, "My AI Safety Lecture for UT Effective Altruism".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GumbelMark {
    /// The secret number, which a detector must know.
    pub key: u32,
    /// How many tokens before a draw determine its numbers.
    pub window: u32,
}

impl GumbelMark {
    /// The name of the selector.
    pub const NAME: &str = "Gumbel watermark";

    pub(in crate::decoding) const SPEC: SelectorSpec = SelectorSpec {
        keys: &["gumbel-mark", "gumbel-watermark"],
        name: Self::NAME,
        label: "Gumbel-max with a watermark",
        help: "Draws each token with its probability, by numbers derived from a key and the last \
               tokens. Anyone with the key can find the watermark; the seed matters only where the \
               text repeats itself.",
        formula: "argmax of logit − ln(−ln u), with u from the key, the last tokens and the token",
        edges: &[
            "If the same tokens came before an earlier draw in the text, ordinary coins decide.",
            "With one key, the same prompt gives the same text whatever the seed, until the text repeats itself.",
        ],
        source: "Aaronson 2022, \"My AI Safety Lecture for UT Effective Altruism\", \
                 https://scottaaronson.blog/?p=6823; on its one text for each key and \
                 prompt: Fu et al. 2024, \"GumbelSoft: Diversified Language Model Watermarking via the \
                 GumbelMax-trick\", arXiv 2402.12948",
        params: &[
            ParamSpec {
                label: "Key",
                help: "The secret number; a detector must know it.",
                range: 0.0..=1000.0,
                limits: Limits::AtLeast(0.0),
                usual: 0.0..=1000.0,
                decimals: 0,
                ..ParamSpec::new(field!(Count, Selector::GumbelMark.key))
            },
            ParamSpec {
                key: "window",
                label: "Window",
                unit: "tokens",
                help: "How many tokens before a draw determine it; more are harder to guess, and an \
                       edited word spoils more of them.",
                range: 1.0..=8.0,
                limits: Limits::Between(1.0, 64.0),
                usual: 3.0..=4.0,
                decimals: 0,
                ..ParamSpec::new(field!(Count, Selector::GumbelMark.window))
            },
        ],
        needs: &[],
        tosses: Tosses::OnePerCandidate,
        reweighs: false,
        engines: Some(&[Dialect::Vllm]),
        usual: Selector::GumbelMark(Self { key: 42, window: 4 }),
    };
}

impl SelectorRule for GumbelMark {
    fn pick(&self, toss: Toss<'_>, _memory: &mut Memory, candidates: &mut Candidates) -> Draw {
        let (generated, window) = (toss.history.generated(), self.window as usize);
        if is_repeated(generated, window) {
            return gumbel::pick(|token| toss.coins.token(token), candidates);
        }
        let numbers = GumbelKey::new(*self, &context_of(generated, window));
        gumbel::pick(|token| numbers.uniform(token), candidates)
    }

    fn ending(&self) -> String {
        format!(", leaving a watermark with key {}", self.key)
    }
}
