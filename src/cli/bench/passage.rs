//! The text used for measurements, and sequences prefilled with the start of it.

use crate::cli::failure::Failure;
use crate::decoding::TokenId;
use crate::engine::{CausalLm, EngineError, PREFILL_CHUNK, Prompt, Row, SequenceId, Tokenizer};

/// The sentence that the text repeats; any would do.
const SENTENCE: &str =
    "Once upon a time there was a little fox who lived at the edge of a forest. ";

/// Returns a prompt of exactly `n_tokens` tokens.
pub(super) fn text(n_tokens: usize, tokenizer: &Tokenizer) -> Result<Prompt, Failure> {
    let mut text = SENTENCE.to_owned();
    loop {
        let mut tokens = tokenizer.encode(&text).map_err(|error| failure(&error))?;
        if tokens.len() >= n_tokens {
            tokens.truncate(n_tokens);
            return Ok(Prompt {
                text,
                chat: None,
                tokens,
            });
        }
        text = text.repeat(2);
    }
}

/// A prefilled sequence to fork from.
#[derive(Debug)]
pub(super) struct Passage {
    sequence: SequenceId,
    tokens: Vec<TokenId>,
}

impl Passage {
    /// Prefills the tokens.
    pub(super) fn read(tokens: Vec<TokenId>, lm: &mut dyn CausalLm) -> Result<Self, Failure> {
        let sequence = read(&tokens, lm)?;
        Ok(Self { sequence, tokens })
    }

    /// Returns a sequence holding the first `n` tokens. The caller closes it.
    pub(super) fn first(&self, n: usize, lm: &mut dyn CausalLm) -> Result<SequenceId, Failure> {
        let child = lm.fork(self.sequence).map_err(|error| failure(&error))?;
        if lm.truncate(child, n).is_ok() {
            return Ok(child);
        }
        // If the backend can't truncate, prefill again.
        lm.close(child);
        read(self.tokens.get(..n).unwrap_or_default(), lm)
    }

    /// Runs one forward pass that feeds each sequence a token and computes its logits.
    pub(super) fn step(
        &self,
        index: usize,
        sequences: &[SequenceId],
        lm: &mut dyn CausalLm,
    ) -> Result<(), Failure> {
        let tokens = self.tokens.iter().cycle().skip(index % self.tokens.len());
        let rows = sequences.iter().zip(tokens).map(|(sequence, token)| Row {
            sequence: *sequence,
            token: *token,
            logits_wanted: true,
        });
        let rows: Vec<Row> = rows.collect();
        lm.forward(&rows).map_err(|error| failure(&error))?;
        Ok(())
    }
}

fn read(tokens: &[TokenId], lm: &mut dyn CausalLm) -> Result<SequenceId, Failure> {
    let sequence = lm.open();
    for chunk in tokens.chunks(PREFILL_CHUNK) {
        let rows = chunk.iter().map(|token| Row {
            sequence,
            token: *token,
            logits_wanted: false,
        });
        let rows: Vec<Row> = rows.collect();
        lm.forward(&rows).map_err(|error| failure(&error))?;
    }
    Ok(sequence)
}

/// Wraps an engine error.
pub(super) fn failure(error: &EngineError) -> Failure {
    Failure::run(error.to_string())
}
