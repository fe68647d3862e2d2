//! Small sweeps for tests.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a helper that fails fails the test that called it"
)]

use super::{Axis, Parameter, SweepSetup};
use crate::decoding::{ChainConfig, FilterKind, TokenId};
use crate::generation::{FinishReason, Limits, SweepText, TokenMeasures};

/// A sweep over temperature and top-p, or over temperature alone if `n_columns` is 0.
pub fn setup(n_rows: usize, n_columns: usize, n_seeds: usize) -> SweepSetup {
    let axis = |kind, ends, n| Axis::range(Parameter::Filter(kind, 0), ends, n).unwrap();
    SweepSetup {
        base: ChainConfig::sampled([]),
        rows: axis(FilterKind::Temperature, [0.5, 1.0], n_rows),
        columns: (n_columns > 0).then(|| axis(FilterKind::TopP, [0.8, 1.0], n_columns)),
        seed: 42,
        n_seeds,
        limits: Limits {
            max_new_tokens: 3,
            ..Limits::default()
        },
    }
}

/// A text of these tokens, each with a surprise of 1 bit; only the first is the top token.
pub fn text(cell: usize, seed: usize, tokens: &[u32]) -> SweepText {
    let measures = |place| TokenMeasures {
        surprise_bits: 1.0,
        entropy_bits: 2.0,
        is_top: place == 0,
    };
    SweepText {
        prompt: 0,
        cell,
        seed,
        tokens: tokens.iter().copied().map(TokenId).collect(),
        measures: (0..tokens.len()).map(measures).collect(),
        finish: FinishReason::MaxTokens,
        grammar_complete: None,
    }
}
