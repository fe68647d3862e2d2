//! What is written can be checked against each tool's own documents, and means the same when it is
//! read again.

mod reading;
mod round_trip;
mod writing;

use crate::generation::{GenerationConfig, Limits, PaneSettings, Piece, Vocabulary};

/// A pane's description as a configuration with seed 42, unless it has its own, and 200 tokens.
fn config(description: &str) -> GenerationConfig {
    let pane: PaneSettings = description
        .parse()
        .unwrap_or_else(|error| panic!("{description}: {error}"));
    GenerationConfig {
        chain: pane.chain,
        seed: pane.seed.unwrap_or(42),
        limits: Limits::default(),
    }
}

/// Eight tokens; 1, 2, 3 and 5 contain a text at which llama.cpp's DRY breaks.
fn vocabulary() -> Vocabulary {
    let pieces = ["a", "\n", ".\n", ":", "b", "**", "User", " c"];
    Vocabulary::new(pieces.map(Piece::text).to_vec())
}
