//! SynthID-Text: a watermark that lets the candidates compete in a tournament.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::watermark::{LayerKeys, Tournament, is_repeated};
use crate::decoding::{Candidates, Filter, FilterKind, Need, StageContext, TokenId};

/// How many tokens back a context still counts as repeated, as in transformers.
const N_REMEMBERED: usize = 1024;

/// Assigns each candidate one random bit per key, derived from the key, the last `window` generated
/// tokens and the candidate. For each key in turn, it multiplies the probabilities by 1 + g − G: g
/// is the candidate's bit, and G the probability of all candidates whose bit is 1. So candidates
/// with a 1 become as much likelier as if two candidates drawn at random met and a 1 won, while
/// averaged over all keys, each keeps its own probability. A window of 0 has no effect.
///
/// If the same tokens preceded an earlier draw in the text, nothing changes. The prompt does not
/// count: before the first generated token, the context is padded with token 0.
///
/// Dathathri et al. 2024, "Scalable watermarking for identifying large language model outputs".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SynthId {
    /// How many tokens before a candidate determine its bits.
    pub window: u32,
    /// The secret numbers, one per layer of the tournament, which a detector must know.
    pub keys: LayerKeys,
}

impl SynthId {
    /// The name of the stage.
    pub const NAME: &str = "SynthID-Text";

    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["synth-id", "synthid"],
        chip: "synth-id",
        name: Self::NAME,
        summary: "Leaves a watermark",
        help: "Leaves a watermark: candidates compete in a tournament whose matches are decided by \
               the keys and this many preceding tokens.",
        formula: "p · (1 + g − G) for each key in turn",
        edges: &[
            "g is the token’s bit for the key, and G the probability of all tokens whose bit is 1.",
            "If the same tokens came before an earlier draw in the text, nothing changes.",
            "The prompt does not count: before the first generated token, the context is padded with token 0.",
        ],
        source: "Dathathri et al. 2024, \"Scalable watermarking for identifying large language model \
                 outputs\", https://doi.org/10.1038/s41586-024-08025-4",
        phase: Phase::Adjust,
        ranking: Ranking::Changes,
        cuts_support: false,
        params: &[ParamSpec {
            unit: "tokens",
            range: 0.0..=8.0,
            limits: Limits::Between(0.0, 64.0),
            neutral: Some(0.0),
            usual: 4.0..=4.0,
            decimals: 0,
            ..ParamSpec::new(field!(Count, Filter::SynthId.window))
        }],
        tool_keys: &[(&[Dialect::Transformers], &["ngram_len"])],
        needs: &[Need::TokenIds],
        ..FilterSpec::new(FilterKind::SynthId, || {
            Filter::SynthId(Self {
                window: 4,
                keys: LayerKeys::USUAL,
            })
        })
    };
}

impl FilterRule for SynthId {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let (generated, window) = (context.history.generated(), self.window as usize);
        if is_repeated(&remembered(generated, window), window) {
            return;
        }
        let tournament = Tournament::new();
        let softmax = candidates.softmax();
        let hash = Tournament::hash_of(generated, window);
        let possible = candidates
            .iter()
            .filter(|next| next.logit > f32::NEG_INFINITY);
        let mut players: Vec<Player> = possible
            .map(|next| Player {
                token: next.token,
                logit: next.logit,
                bits: tournament.bits(hash, next.token, &self.keys),
                prob: softmax.prob(next.logit),
                factor: 1.0,
            })
            .collect();
        for layer in 0..self.keys.len() {
            let won = |player: &Player| f64::from(player.bits >> layer & 1);
            let share: f64 = players.iter().map(|player| won(player) * player.prob).sum();
            for player in &mut players {
                let factor = 1.0 + won(player) - share;
                player.prob *= factor;
                player.factor *= factor;
            }
        }
        let changed = players.iter().map(|player| {
            let logit = f64::from(player.logit) + player.factor.ln();
            (player.token, logit as f32)
        });
        candidates.set_logits(&changed.collect::<Vec<_>>());
    }

    fn is_neutral(&self) -> bool {
        self.window == 0 || self.keys.is_empty()
    }
}

/// Returns the tokens whose contexts are remembered, with the padding before the first one: a later
/// run of token 0 repeats it, as in transformers (`SynthIDTextWatermarkLogitsProcessor`, 5.24.0).
fn remembered(generated: &[TokenId], window: usize) -> Vec<TokenId> {
    let n_most = N_REMEMBERED + window;
    let n_padding = n_most.saturating_sub(generated.len()).min(window);
    let start = generated.len().saturating_sub(n_most);
    let recent = generated.get(start..).unwrap_or_default();
    let padding = std::iter::repeat_n(TokenId(0), n_padding);
    padding.chain(recent.iter().copied()).collect()
}

/// A candidate in the tournament.
struct Player {
    token: TokenId,
    logit: f32,
    /// Its bit for each layer, starting from the lowest.
    bits: u32,
    prob: f64,
    /// What its probability has been multiplied by.
    factor: f64,
}

#[cfg(test)]
mod tests {
    use super::SynthId;
    use crate::decoding::testing::{apply, check_filter_after, logits_of, token_ids};
    use crate::decoding::watermark::LayerKeys;
    use crate::decoding::{Candidates, Filter};

    const P: [f32; 5] = [0.3, 0.25, 0.2, 0.15, 0.1];

    const MARK: Filter = Filter::SynthId(SynthId {
        window: 2,
        keys: LayerKeys::USUAL,
    });

    #[test]
    fn a_context_that_equals_the_padding_is_repeated() {
        // The contexts were (0, 0), (0, 3), (3, 0), …
        for history in [&[0, 0][..], &[7, 0, 0], &[3, 5, 0, 3], &[7, 8, 9, 7, 8]] {
            check_filter_after(&MARK, history, &P, &P);
        }
        for history in [&[][..], &[0, 3], &[7, 0, 3], &[3, 5, 0, 4]] {
            let mut candidates = Candidates::from_logits(&logits_of(&P)).unwrap();
            apply(&MARK, &token_ids(history), &mut candidates);
            let softmax = candidates.softmax();
            let moved = candidates
                .iter()
                .map(|candidate| softmax.prob(candidate.logit))
                .zip(P)
                .any(|(prob, before)| (prob - f64::from(before)).abs() > 1e-3);
            assert!(moved, "{history:?}");
        }
    }
}
