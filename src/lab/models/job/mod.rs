//! Reads one text with two models and compares what they predict, token by token.

mod comparing;
mod gap;

use rayon::prelude::*;

use self::gap::{gap_of, predicted};
use crate::decoding::TokenId;
use crate::engine::{EngineError, LoadedModel, Logits, PREFILL_CHUNK, Prompt, Row, SequenceId};
use crate::generation::hosts::MODEL_COMPARISON;
use crate::generation::{GenerationConfig, PieceKind};
use crate::lab::models::{ComparedToken, ComparisonFacts};

/// How many logits of both models one pass may compute, so that a pass takes at most 32 MB.
const N_LOGITS: usize = 1 << 23;

/// A text that two models read side by side.
pub struct ModelComparison {
    settings: Vec<GenerationConfig>,
    readings: [Reading; 2],
    has_same_tokens: bool,
}

/// How far one model has read the text.
struct Reading {
    tokens: Vec<TokenId>,
    /// The bytes of the tokens after the first, excluding special tokens.
    n_bytes: usize,
    sequence: Option<SequenceId>,
    n_read: usize,
}

impl ModelComparison {
    /// Tokenizes a text, or its first `n_first` tokens, for both models. If they split it
    /// differently, the second model reads the text of the first one's tokens.
    pub fn texts(
        text: &str,
        n_first: Option<usize>,
        [a, b]: [&LoadedModel; 2],
    ) -> Result<[Prompt; 2], EngineError> {
        let own = a.encode_text(text, n_first)?;
        if n_first.is_none() {
            return Ok([own, b.encode_text(text, None)?]);
        }
        let other = b.encode_text(text, n_first)?;
        if other.tokens == own.tokens {
            return Ok([own, other]);
        }
        let other = b.encode_text(&text_of(&own, a), None)?;
        Ok([own, other])
    }

    /// Starts comparing two models on texts that each has tokenized with
    /// [`LoadedModel::encode_text`]. `settings` are those whose choices are compared. Fails if any
    /// of the settings need more than one row of logits.
    pub fn new(
        texts: [Prompt; 2],
        mut settings: Vec<GenerationConfig>,
        [a, b]: [&LoadedModel; 2],
    ) -> Result<Self, EngineError> {
        for GenerationConfig { chain, .. } in &mut settings {
            *chain = a.spelled(chain)?;
            MODEL_COMPARISON.check(chain)?;
        }
        let [text_a, text_b] = texts;
        let readings = [Reading::new(text_a, a), Reading::new(text_b, b)];
        let bytes = |model: &LoadedModel, token: &TokenId| model.vocabulary.piece(*token).bytes;
        let [of_a, of_b] = readings.each_ref().map(|reading| &reading.tokens);
        let mut shared = of_a.iter();
        let has_same_tokens =
            of_a == of_b && shared.all(|token| bytes(a, token) == bytes(b, token));
        Ok(Self {
            settings,
            readings,
            has_same_tokens,
        })
    }

    /// Returns what is known before the models read the text.
    pub fn facts(&self) -> ComparisonFacts {
        ComparisonFacts {
            n_tokens: self.readings.each_ref().map(Reading::n_to_read),
            n_bytes: self.readings.each_ref().map(|reading| reading.n_bytes),
            has_same_tokens: self.has_same_tokens,
        }
    }

    /// Returns whether both models have read the text.
    pub fn is_done(&self) -> bool {
        self.readings.iter().all(Reading::is_done)
    }

    /// Reads the next part of the text with both models, or with one of them if they split it into
    /// different tokens. Returns the tokens that were predicted.
    pub fn advance(
        &mut self,
        [a, b]: [&mut LoadedModel; 2],
    ) -> Result<Vec<ComparedToken>, EngineError> {
        let n_logits = a.lm.n_vocab().max(b.lm.n_vocab()).max(1);
        let n_rows = (N_LOGITS / 2 / n_logits).clamp(1, PREFILL_CHUNK);
        let [of_a, of_b] = &mut self.readings;
        if !self.has_same_tokens {
            let (model, reading, index) = if of_a.is_done() {
                (b, of_b, 1)
            } else {
                (a, of_a, 0)
            };
            let start = reading.n_read;
            let logits = reading.read(n_rows, model)?;
            let of_row = |(row, position): (usize, usize)| {
                let (logits, token) = row_of(&logits, row, reading, position)?;
                Some(
                    predicted(logits, token, &model.vocabulary).map(|predicted| {
                        let predicted = Box::new(predicted);
                        ComparedToken::One {
                            model: index,
                            predicted,
                        }
                    }),
                )
            };
            return rows(&logits, start).filter_map(of_row).collect();
        }
        let start = of_a.n_read;
        let logits = [of_a.read(n_rows, a)?, of_b.read(n_rows, b)?];
        let settings = &self.settings;
        let tokens = of_a.tokens.as_slice();
        let of_row = |(row, position): (usize, usize)| {
            let (own, token) = row_of(&logits[0], row, of_a, position)?;
            let (other, _) = row_of(&logits[1], row, of_b, position)?;
            let both = || {
                let of_own = predicted(own, token, &a.vocabulary)?;
                let of_other = predicted(other, token, &b.vocabulary)?;
                let before = tokens.get(..position).unwrap_or_default();
                Ok(ComparedToken::Both {
                    predicted: Box::new([of_own, of_other]),
                    gap: gap_of([own, other], before, settings)?,
                })
            };
            Some(both())
        };
        rows(&logits[0], start).filter_map(of_row).collect()
    }

    /// Frees the caches.
    pub fn close(&mut self, models: [&mut LoadedModel; 2]) {
        for (reading, model) in self.readings.iter_mut().zip(models) {
            if let Some(sequence) = reading.sequence.take() {
                model.lm.close(sequence);
            }
        }
    }
}

impl Reading {
    fn new(text: Prompt, model: &LoadedModel) -> Self {
        let pieces = text.tokens.iter().skip(1);
        let pieces = pieces.map(|token| model.vocabulary.piece(*token));
        let texts = pieces.filter(|piece| piece.kind == PieceKind::Text);
        Self {
            n_bytes: texts.map(|piece| piece.bytes.len()).sum(),
            tokens: text.tokens,
            sequence: None,
            n_read: 0,
        }
    }

    /// The last token is never read, because nothing follows it.
    fn n_to_read(&self) -> usize {
        self.tokens.len().saturating_sub(1)
    }

    fn is_done(&self) -> bool {
        self.n_read >= self.n_to_read()
    }

    /// Reads the next tokens, and returns the logits after each.
    fn read(&mut self, n_rows: usize, model: &mut LoadedModel) -> Result<Logits, EngineError> {
        let n_to_read = self.n_to_read();
        let sequence = *self
            .sequence
            .get_or_insert_with(|| model.lm.open_for(n_to_read));
        let end = (self.n_read + n_rows).min(n_to_read);
        let read = self.tokens.get(self.n_read..end).unwrap_or_default();
        let row = |token: &TokenId| Row {
            sequence,
            token: *token,
            logits_wanted: true,
        };
        let rows: Vec<Row> = read.iter().map(row).collect();
        let logits = model.lm.forward(&rows)?;
        self.n_read = end;
        Ok(logits)
    }
}

/// Returns the rows of a pass, each with the position of the token that follows it.
fn rows(logits: &Logits, start: usize) -> impl ParallelIterator<Item = (usize, usize)> + use<> {
    let n_rows = logits.n_rows();
    (0..n_rows)
        .into_par_iter()
        .map(move |row| (row, start + row + 1))
}

/// Returns a row of logits and the token that follows it.
fn row_of<'a>(
    logits: &'a Logits,
    row: usize,
    reading: &Reading,
    position: usize,
) -> Option<(&'a [f32], TokenId)> {
    let token = reading.tokens.get(position)?;
    Some((logits.row(row)?, *token))
}

/// Returns the text of these tokens, without special tokens.
fn text_of(prompt: &Prompt, model: &LoadedModel) -> String {
    let pieces = prompt.tokens.iter();
    let pieces = pieces.map(|token| model.vocabulary.piece(*token));
    let texts = pieces.filter(|piece| piece.kind == PieceKind::Text);
    let bytes: Vec<u8> = texts.flat_map(|piece| piece.bytes).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
