//! Drafts by a model: the second one, or the first layers of the model itself.

use std::time::Instant;

use super::prefill::PREFILL_CHUNK;
use super::slot::{Guess, Slot};
use super::writer::Writer as _;
use super::{EngineError, LoadedModel, Logits, Row, SequenceId};
use crate::decoding::{DraftRule, ModelDrafts, TokenId};

/// What drafts the tokens of one pane.
pub(super) struct DraftModel {
    drafts: ModelDrafts,
    /// The second model's sequence, and what it has read.
    sequence: Option<SequenceId>,
    read: Vec<TokenId>,
    /// The time that the latest drafts took.
    pub(super) secs: f64,
}

impl DraftModel {
    /// A draft model that has read nothing.
    pub(super) const fn new(drafts: ModelDrafts) -> Self {
        Self {
            drafts,
            sequence: None,
            read: Vec::new(),
            secs: 0.0,
        }
    }

    /// Drafts up to `n_max` tokens. `main` holds all tokens of the slot but the last.
    pub(super) fn guesses(
        &mut self,
        slot: &mut Slot,
        main: SequenceId,
        n_max: usize,
        model: &mut LoadedModel,
    ) -> Result<Vec<Guess>, EngineError> {
        let started_at = Instant::now();
        let n = n_max.min(self.drafts.n_drafts as usize);
        let guesses = match self.drafts.n_layers {
            _ if n == 0 => Ok(Vec::new()),
            Some(n_layers) => self.by_first_layers(slot, main, (n, n_layers as usize), model),
            None => self.by_second_model(slot, n, model),
        };
        self.secs = started_at.elapsed().as_secs_f64();
        guesses
    }

    fn by_first_layers(
        &self,
        slot: &mut Slot,
        main: SequenceId,
        (n, n_layers): (usize, usize),
        model: &mut LoadedModel,
    ) -> Result<Vec<Guess>, EngineError> {
        let last = slot.tokens().last().copied();
        let fork = model.lm.fork(main)?;
        let guesses = self.chained(slot, n, last.into_iter().collect(), |tokens| {
            model.lm.forward_first(&rows(fork, tokens), n_layers)
        });
        model.lm.close(fork);
        guesses
    }

    fn by_second_model(
        &mut self,
        slot: &mut Slot,
        n: usize,
        model: &mut LoadedModel,
    ) -> Result<Vec<Guess>, EngineError> {
        let n_vocab = model.lm.n_vocab();
        let lm = model.second_lm()?;
        let sequence = match self.sequence {
            Some(sequence) => sequence,
            None => *self.sequence.insert(lm.open()),
        };
        let text = slot.tokens();
        let same = self.read.iter().zip(text).take_while(|(a, b)| a == b);
        // The last token is always read again, because its logits are needed.
        let n_same = same.count().min(text.len().saturating_sub(1));
        if n_same < self.read.len() {
            lm.truncate(sequence, n_same)?;
            self.read.truncate(n_same);
        }
        let unread = text.get(n_same..).unwrap_or_default();
        if text.len() + n > lm.n_context() {
            return Ok(Vec::new());
        }
        if unread.len() > PREFILL_CHUNK {
            // It drafts once it has caught up, so that no pass waits for a long prompt.
            let chunk = unread.get(..PREFILL_CHUNK).unwrap_or_default();
            lm.forward(&silent_rows(sequence, chunk))?;
            self.read.extend_from_slice(chunk);
            return Ok(Vec::new());
        }
        let unread = unread.to_vec();
        let mut read = std::mem::take(&mut self.read);
        let guesses = self.chained(slot, n, unread, |tokens| {
            let logits = lm.forward(&rows(sequence, tokens))?;
            read.extend_from_slice(tokens);
            let mut row = logits.row(0).unwrap_or_default().to_vec();
            row.resize(n_vocab, f32::NEG_INFINITY);
            Ok(Logits::new(row, n_vocab))
        });
        self.read = read;
        guesses
    }

    /// Drafts token after token, each from the logits after the one before.
    fn chained(
        &self,
        slot: &mut Slot,
        n: usize,
        mut unread: Vec<TokenId>,
        mut read: impl FnMut(&[TokenId]) -> Result<Logits, EngineError>,
    ) -> Result<Vec<Guess>, EngineError> {
        let with_probs = self.drafts.rule == DraftRule::Ratio;
        let mut guesses: Vec<Guess> = Vec::new();
        while guesses.len() < n {
            let logits = read(&unread)?;
            let row = logits.row(0).unwrap_or_default();
            let guess = slot.guess(row, &guesses, with_probs)?;
            unread = vec![guess.token];
            guesses.push(guess);
        }
        Ok(guesses)
    }

    /// Gives up the second model's sequence.
    pub(super) fn close(&mut self, model: &mut LoadedModel) {
        if let Some(sequence) = self.sequence.take()
            && let Ok(lm) = model.second_lm()
        {
            lm.close(sequence);
        }
    }
}

/// Rows whose last one wants logits.
fn rows(sequence: SequenceId, tokens: &[TokenId]) -> Vec<Row> {
    let mut rows = silent_rows(sequence, tokens);
    if let Some(last) = rows.last_mut() {
        last.logits_wanted = true;
    }
    rows
}

fn silent_rows(sequence: SequenceId, tokens: &[TokenId]) -> Vec<Row> {
    let rows = tokens.iter().map(|token| Row {
        sequence,
        token: *token,
        logits_wanted: false,
    });
    rows.collect()
}
