//! What two rows of logits predict, and how they differ.

use crate::decoding::{Candidates, Coins, DecodingError, History, SamplerChain, TokenId, raw_rank};
use crate::engine::EngineError;
use crate::generation::{GenerationConfig, Vocabulary};
use crate::lab::models::{DistributionGap, PredictedToken};

/// The number of A's most likely tokens between which distances are compared.
const N_TOP: u32 = 10;

/// Describes how a row of logits predicts a token.
pub(super) fn predicted(
    logits: &[f32],
    token: TokenId,
    vocabulary: &Vocabulary,
) -> Result<PredictedToken, EngineError> {
    let mut candidates = Candidates::from_logits(logits).map_err(invalid)?;
    let softmax = candidates.softmax();
    let logit = candidates.logit(token).unwrap_or(f32::NEG_INFINITY);
    let [top, second] = [1, 2].map(|rank| candidates.nth_best(rank));
    Ok(PredictedToken {
        token,
        piece: vocabulary.piece(token),
        ln_prob: softmax.ln_prob(logit),
        rank: raw_rank(logits, token, logit),
        top: top.token,
        top_piece: vocabulary.piece(top.token),
        margin: f64::from(top.logit) - f64::from(second.logit),
    })
}

/// Compares the rows of A and B after the tokens `before`.
pub(super) fn gap_of(
    rows: [&[f32]; 2],
    before: &[TokenId],
    settings: &[GenerationConfig],
) -> Result<DistributionGap, EngineError> {
    // Embedding tables are padded differently.
    let n_shared = rows[0].len().min(rows[1].len());
    let shared = rows.map(|row| row.get(..n_shared).unwrap_or_default());
    let of = |row| Candidates::from_logits(row).map_err(invalid);
    let (mut a, mut b) = (of(shared[0])?, of(shared[1])?);
    let (of_a, of_b) = (a.softmax(), b.softmax());
    let ln_probs = |[own, other]: [f32; 2]| [of_a.ln_prob(own), of_b.ln_prob(other)];
    let pairs = shared[0].iter().zip(shared[1]);
    let terms = pairs.map(|(own, other)| {
        let [ln_p, ln_q] = ln_probs([*own, *other]);
        let p = ln_p.exp();
        if p > 0.0 { p * (ln_p - ln_q) } else { 0.0 }
    });
    // Rounding can make a sum of zeros negative.
    let kl = terms.sum::<f64>().max(0.0);
    let top = (1..=N_TOP.min(n_shared as u32)).map(|rank| a.nth_best(rank));
    let changes = top.filter_map(|candidate| {
        let other = *shared[1].get(candidate.token.index())?;
        let [ln_p, ln_q] = ln_probs([candidate.logit, other]);
        let change = ln_q - ln_p;
        change.is_finite().then_some(change)
    });
    Ok(DistributionGap {
        kl,
        noise: spread_of_pairs(&changes.collect::<Vec<_>>()),
        choices: settings
            .iter()
            .map(|config| choices(rows, before, config))
            .collect::<Result<_, _>>()?,
    })
}

/// Returns the root mean square difference between pairs of these numbers.
fn spread_of_pairs(numbers: &[f64]) -> f64 {
    let n = numbers.len();
    if n < 2 {
        return 0.0;
    }
    let mean = numbers.iter().sum::<f64>() / n as f64;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    // The mean over pairs is twice the unbiased variance.
    (2.0 * squares / (n - 1) as f64).sqrt()
}

/// Returns the tokens that the settings pick from both rows with the same coin. A selector that
/// adapts to its picks starts afresh at each token.
fn choices(
    rows: [&[f32]; 2],
    before: &[TokenId],
    config: &GenerationConfig,
) -> Result<[TokenId; 2], EngineError> {
    let position = before.len();
    let history = History::new(before, 1);
    let coins = Coins {
        seed: config.seed,
        position: position as u64,
    };
    let pick = |row| {
        let mut chain = SamplerChain::new(config.chain.clone());
        let picked = chain.sample_token(row, history, coins);
        picked.map_err(|source| EngineError::SamplingFailed { position, source })
    };
    let [own, other] = rows;
    Ok([pick(own)?, pick(other)?])
}

fn invalid(source: DecodingError) -> EngineError {
    EngineError::SamplingFailed {
        position: 0,
        source,
    }
}
