//! Green list: a watermark that makes some tokens likelier, depending on the text before them.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::watermark::GreenTokens;
use crate::decoding::{Candidates, Filter, FilterKind, Need, StageContext, TokenId};

/// With "selfhash", how many of the most likely candidates can be green, as in transformers.
const N_CONSIDERED: usize = 40;

/// Adds `bias` to the logits of the green tokens: a share of the vocabulary that a random generator
/// picks, seeded by `key` and the preceding tokens. 0 has no effect.
///
/// With a window of 1, the seed is the last token ("lefthash" in transformers). With a larger one it
/// is a hash of that many tokens, the candidate included ("selfhash"), and only the 40 most likely
/// candidates can be green.
///
/// Kirchenbauer, Geiping, Wen, Katz, Miers, Goldstein 2023, "A Watermark for Large Language Models"
/// and, for larger windows, "On the Reliability of Watermarks for Large Language Models".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GreenList {
    /// What is added to the logit of a green token (δ).
    pub bias: f32,
    /// The share of the vocabulary that is green (γ), between 0 and 1.
    pub ratio: f32,
    /// The secret number, which a detector must know.
    pub key: u32,
    /// How many tokens determine the list.
    pub window: u32,
}

impl GreenList {
    /// The name of the stage.
    pub const NAME: &str = "Green list";

    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["green-list"],
        chip: "green-list",
        name: Self::NAME,
        summary: "Leaves a watermark",
        help: "Leaves a watermark: raises the logits of some tokens, chosen by the key and the \
               text before them, by this much.",
        formula: "logit + bias if the token is green",
        edges: &[
            "With a window of 1, the last token picks the green ones.",
            "With a larger window, the tokens in it and the candidate itself decide, and only the 40 most likely candidates can be green.",
            "Nothing happens before the text has as many tokens as the window.",
        ],
        source: "Kirchenbauer, Geiping, Wen, Katz, Miers, Goldstein 2023, \"A Watermark for Large \
                 Language Models\", arXiv 2301.10226",
        phase: Phase::Adjust,
        ranking: Ranking::Changes,
        cuts_support: false,
        params: &[
            ParamSpec {
                range: 0.0..=10.0,
                limits: Limits::AtLeast(0.0),
                neutral: Some(0.0),
                usual: 1.0..=2.0,
                decimals: 1,
                ..ParamSpec::new(field!(Real, Filter::GreenList.bias))
            },
            ParamSpec {
                key: "ratio",
                label: "Ratio",
                help: "The share of the vocabulary that is green.",
                range: 0.05..=0.95,
                limits: Limits::Open(0.0, 1.0),
                usual: 0.25..=0.5,
                ..ParamSpec::new(field!(Real, Filter::GreenList.ratio))
            },
            ParamSpec {
                key: "key",
                label: "Key",
                help: "The secret number that picks the green tokens; a detector must know it.",
                range: 0.0..=1000.0,
                limits: Limits::AtLeast(0.0),
                usual: 0.0..=1000.0,
                decimals: 0,
                ..ParamSpec::new(field!(Count, Filter::GreenList.key))
            },
            ParamSpec {
                key: "window",
                label: "Window",
                unit: "tokens",
                help: "How many tokens determine the list: 1 is the token before, more include the \
                       token itself.",
                range: 1.0..=8.0,
                limits: Limits::Between(1.0, 64.0),
                usual: 1.0..=4.0,
                decimals: 0,
                ..ParamSpec::new(field!(Count, Filter::GreenList.window))
            },
        ],
        tool_keys: &[(
            &[Dialect::Transformers],
            &["bias", "greenlist_ratio", "hashing_key", "context_width"],
        )],
        needs: &[Need::TokenIds],
        ..FilterSpec::new(FilterKind::GreenList, || {
            Filter::GreenList(Self {
                bias: 2.0,
                ratio: 0.25,
                key: 42,
                window: 1,
            })
        })
    };

    /// Whether a token's own id helps decide whether it is green.
    pub(in crate::decoding) const fn hashes_itself(&self) -> bool {
        self.window > 1
    }

    /// How many tokens before a token decide whether it is green.
    pub(in crate::decoding) const fn n_before(&self) -> usize {
        if self.hashes_itself() {
            self.window as usize - 1
        } else {
            1
        }
    }

    /// How many tokens of a vocabulary are green, rounded down.
    #[expect(
        clippy::cast_sign_loss,
        reason = "the ratio is validated to be above 0"
    )]
    pub fn n_green(&self, n_vocab: u32) -> u32 {
        // In 64 bits from the decimal digits, as Python reads them: 0.1 of 200 is 20.
        let ratio: f64 = self.ratio.to_string().parse().unwrap_or_default();
        (f64::from(n_vocab) * ratio) as u32
    }
}

impl FilterRule for GreenList {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let tokens = context.history.tokens();
        let green = GreenTokens::new(*self, context.n_vocab);
        // transformers waits for one token more than it needs.
        if tokens.len() < self.window as usize {
            return;
        }
        let raised: Vec<(TokenId, f32)> = if self.hashes_itself() {
            let head = candidates.head(N_CONSIDERED).iter().copied();
            head.filter(|next| green.is_green(tokens, next.token) == Some(true))
                .map(|next| (next.token, next.logit + self.bias))
                .collect()
        } else {
            let Some(last) = tokens.last() else {
                return;
            };
            let is_green = green.after(*last);
            let all = candidates.iter();
            all.filter(|next| is_green.get(next.token.index()) == Some(&true))
                .map(|next| (next.token, next.logit + self.bias))
                .collect()
        };
        candidates.set_logits(&raised);
    }

    fn is_neutral(&self) -> bool {
        self.bias <= 0.0
    }
}
