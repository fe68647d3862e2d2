//! SynthID-Text: a watermark that lets the candidates compete in a tournament.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::watermark::{LayerKeys, Tournament, is_repeated};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext, TokenId};

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
        source: "Dathathri et al. 2024, \"Scalable watermarking for identifying large language model \
                 outputs\"",
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
        let remembered = generated.len().saturating_sub(N_REMEMBERED + window);
        let recent = generated.get(remembered..).unwrap_or_default();
        if is_repeated(recent, window) {
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
