//! Reads one text into a new sequence, chunk by chunk, and measures how long that takes.

use std::time::Instant;

use crate::decoding::TokenId;
use crate::engine::{CausalLm, EngineError, Logits, Row, SequenceId};

/// A text that is being read into a new sequence.
pub(super) struct Reading {
    pub sequence: SequenceId,
    /// How many tokens to read in all.
    pub end: usize,
    /// How many tokens to read at a time.
    chunk: usize,
    logits_wanted: bool,
    pub n_read: usize,
    pub secs: f64,
    /// The logits after the last token, if they are wanted.
    pub last: Vec<f32>,
}

impl Reading {
    /// Opens a sequence for the first `end` tokens.
    pub(super) fn new(
        end: usize,
        chunk: usize,
        logits_wanted: bool,
        lm: &mut dyn CausalLm,
    ) -> Self {
        Self {
            sequence: lm.open_for(end),
            end,
            chunk,
            logits_wanted,
            n_read: 0,
            secs: 0.0,
            last: Vec::new(),
        }
    }

    /// Reads the next chunk. Returns whether everything is read.
    pub(super) fn advance(
        &mut self,
        tokens: &[TokenId],
        lm: &mut dyn CausalLm,
    ) -> Result<bool, EngineError> {
        let end = (self.n_read + self.chunk).min(self.end);
        let chunk = tokens.get(self.n_read..end).unwrap_or_default();
        let rows: Vec<Row> = (self.n_read + 1..)
            .zip(chunk)
            .map(|(n_read, token)| Row {
                sequence: self.sequence,
                token: *token,
                logits_wanted: self.logits_wanted && n_read == self.end,
            })
            .collect();
        let (logits, secs) = timed(&rows, lm)?;
        self.secs += secs;
        self.n_read = end;
        let is_done = end >= self.end;
        if is_done && self.logits_wanted {
            self.last = logits.row(0).unwrap_or_default().to_vec();
        }
        Ok(is_done)
    }
}

/// Runs a forward pass. Returns its logits and how many seconds it took.
pub(super) fn timed(rows: &[Row], lm: &mut dyn CausalLm) -> Result<(Logits, f64), EngineError> {
    let begun_at = Instant::now();
    let logits = lm.forward(rows)?;
    Ok((logits, begun_at.elapsed().as_secs_f64()))
}
