//! How often a fit's intervals hold the settings that texts were written with, on made-up rows of
//! logits.

use quartet::analysis::sweep::{Axis, Parameter};
use quartet::decoding::{
    ChainConfig, ChainLikelihood, Coins, FilterKind, History, SamplerChain, TokenId,
};
use quartet::generation::{FitPlace, FitTokens, Likelihood, PaneSettings};
use quartet::lab::fit::{Fit, FitSetup};

const N_VOCAB: u32 = 24;
const N_TOKENS: usize = 24;

/// What is varied, over which values, and the true value.
pub(crate) type Case = (FilterKind, [f64; 2], f64);

pub(crate) const CASES: [Case; 5] = [
    (FilterKind::TopP, [0.25, 1.0], 0.8),
    (FilterKind::MinP, [0.01, 0.46], 0.1),
    (FilterKind::TypicalP, [0.25, 1.0], 0.7),
    (FilterKind::TopK, [1.0, 16.0], 8.0),
    (FilterKind::Temperature, [0.2, 2.0], 0.9),
];

/// Returns rows of logits that are as uneven as a model's.
fn rows(text: u64) -> Vec<Vec<f32>> {
    let rows = (0..N_TOKENS as u64).map(|step| {
        let coins = Coins {
            seed: 1000 + text,
            position: step,
        };
        let logit = |token| (coins.token(TokenId(token)).ln() * 1.5) as f32;
        (0..N_VOCAB).map(logit).collect()
    });
    rows.collect()
}

fn written(chain: &ChainConfig, rows: &[Vec<f32>], seed: u64) -> Vec<TokenId> {
    let mut chain = SamplerChain::new(chain.clone());
    let steps = rows.iter().zip(0..);
    let tokens = steps.map(|(row, position)| {
        let coins = Coins { seed, position };
        let token = chain.sample_token(row, History::new(&[], 0), coins);
        token.unwrap()
    });
    tokens.collect()
}

fn likelihood(chain: &ChainConfig, rows: &[Vec<f32>], tokens: &[TokenId]) -> Likelihood {
    let mut chain = ChainLikelihood::new(chain).unwrap();
    let mut ln_prob = 0.0;
    for (step, (row, token)) in rows.iter().zip(tokens).enumerate() {
        ln_prob += chain.ln_prob(row, History::new(&[], 0), *token).unwrap();
        if ln_prob.is_infinite() {
            let ruled_out = Some(FitPlace { text: 0, step });
            return Likelihood { ln_prob, ruled_out };
        }
    }
    Likelihood {
        ln_prob,
        ruled_out: None,
    }
}

/// Returns the share of intervals that hold the true value, and the share that would hold it if
/// they reached only 1.92 nats below the best.
pub(crate) fn coverage(n_texts: u64, (kind, ends, truth): Case) -> [f64; 2] {
    let parameter = Parameter::Filter(kind, 0);
    let sampled = "sample".parse::<PaneSettings>().unwrap().chain;
    let setup = FitSetup {
        base: sampled.clone(),
        rows: Axis::range(parameter, ends, 16).unwrap(),
        columns: None,
    };
    let mut chain = sampled;
    parameter.set(&mut chain, truth);
    let mut held = [0.0; 2];
    for text in 0..n_texts {
        let rows = rows(text);
        let tokens = written(&chain, &rows, text);
        let mut fit = Fit::new(setup.clone());
        fit.set_texts(vec![FitTokens {
            tokens: tokens.clone(),
            n_prompt: 0,
            n_left_out: 0,
        }]);
        while let Some(chains) = fit.next_batch() {
            for (index, chain) in chains.iter().enumerate() {
                fit.add(index, likelihood(chain, &rows, &tokens));
            }
        }
        let interval = fit.intervals().unwrap()[0];
        held[0] += f64::from(u8::from(interval.low <= truth && truth <= interval.high));
        let drop =
            fit.best().unwrap().likelihood.ln_prob - likelihood(&chain, &rows, &tokens).ln_prob;
        held[1] += f64::from(u8::from(drop <= 1.92));
    }
    held.map(|n| n / n_texts as f64)
}
