//! Compares the decoder, through the engine's public interface, with candle-transformers on the
//! same weights.

mod allocation;
mod broken_files;
mod broken_headers;
mod chat;
mod embedded;
pub(crate) mod fixture;
mod forward;
mod gguf_tokenizer;
mod outline;
mod raw_gguf;
mod sequences;
mod several_files;

use quartet::decoding::TokenId;
use quartet::engine::{CausalLm, Row, SequenceId};

/// Feeds tokens and returns the logits after each of them.
pub(crate) fn read(lm: &mut dyn CausalLm, sequence: SequenceId, tokens: &[u32]) -> Vec<Vec<f32>> {
    let rows: Vec<Row> = tokens.iter().map(|token| row(sequence, *token)).collect();
    read_rows(lm, &rows)
}

fn read_rows(lm: &mut dyn CausalLm, rows: &[Row]) -> Vec<Vec<f32>> {
    let logits = lm.forward(rows).unwrap();
    (0..logits.n_rows())
        .map(|index| logits.row(index).unwrap().to_vec())
        .collect()
}

const fn row(sequence: SequenceId, token: u32) -> Row {
    Row {
        sequence,
        token: TokenId(token),
        logits_wanted: true,
    }
}

fn assert_near(found: &[Vec<f32>], expected: &[Vec<f32>], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= tolerance,
                "{found}, not {expected}"
            );
        }
    }
}

fn argmax(logits: &[f32]) -> u32 {
    let best = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b]));
    best.unwrap() as u32
}
