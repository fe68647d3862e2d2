//! Exported settings match each tool's documentation, and mean the same when imported again.

mod drafts;
mod pastes;
mod reading;
mod round_trip;
mod thoughts;
mod writing;

use crate::generation::{GenerationConfig, Limits, PaneSettings, Piece, Vocabulary};

/// Parses a pane's description; the default seed is 42, and the limit is 200 tokens.
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

/// Eight tokens, of which 1, 2, 3 and 5 contain one of llama.cpp's default sequence breakers.
fn vocabulary() -> Vocabulary {
    let pieces = ["a", "\n", ".\n", ":", "b", "**", "User", " c"];
    Vocabulary::new(pieces.map(Piece::text).to_vec())
}
