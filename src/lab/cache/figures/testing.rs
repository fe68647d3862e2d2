//! A measurement with round numbers, for tests.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a helper that fails fails the test that called it"
)]

use super::CacheLab;
use crate::decoding::TokenId;
use crate::generation::CacheShape;
use crate::lab::cache::{CacheFacts, CacheSample, PaneCost};

/// A prompt of 10 tokens, followed by 100 generated tokens.
pub(crate) fn facts() -> CacheFacts {
    CacheFacts {
        n_prompt: 10,
        n_tokens: 100,
        shape: Some(CacheShape {
            n_layers: 8,
            n_kv_heads: 4,
            head_dim: 32,
            n_head_bytes: 256,
            format: "f32".to_owned(),
            n_state_bytes: 0,
        }),
        off_lengths: (2..=10).map(|step| 10 * step).chain([109]).collect(),
        read_lengths: vec![1, 10, 110],
        n_panes: 4,
    }
}

/// All samples, with times that lie exactly on two lines.
pub(crate) fn samples() -> Vec<CacheSample> {
    let on = (11..110).map(|length| CacheSample::On {
        length,
        token: TokenId(7),
        secs: (0.3 + 0.001 * length as f64) / 1e3,
        n_bytes: Some(8192 * (length as u64).next_multiple_of(16)),
    });
    let off = facts()
        .off_lengths
        .into_iter()
        .map(|length| CacheSample::Off {
            length,
            secs: 0.3 * length as f64 / 1e3,
            largest_difference: 4e-6,
            is_same_token: true,
        });
    let reads = [1, 10, 110].map(|length| CacheSample::Read {
        length,
        parallel_secs: 1e-4 * length as f64,
        one_by_one_secs: 3e-4 * length as f64,
    });
    let cost = |n_reads: usize| PaneCost {
        n_reads,
        secs: 0.003 * n_reads as f64,
        n_bytes: Some(90_000 * n_reads as u64),
    };
    let panes = CacheSample::Panes {
        shared: cost(1),
        apart: cost(4),
    };
    on.chain(reads).chain([panes]).chain(off).collect()
}

/// The whole measurement.
pub(crate) fn lab() -> CacheLab {
    let mut lab = CacheLab::new(facts());
    for sample in samples() {
        lab.add(&sample);
    }
    lab
}
