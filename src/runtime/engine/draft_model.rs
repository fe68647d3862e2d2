//! Drafts from a model: the second one, or a part of the model itself.

use std::time::Instant;

use super::guess::Guess;
use super::other_rows::comparable;
use super::prefill::PREFILL_CHUNK;
use super::slot::Slot;
use super::{EngineError, LoadedModel, Logits, Row, SequenceId};
use crate::decoding::{DraftRule, Drafter, ModelDrafts, TokenId};

/// The model that drafts the tokens of one pane.
pub(super) struct DraftModel {
    drafts: ModelDrafts,
    /// The second model's sequence, and what it has read.
    sequence: Option<SequenceId>,
    read: Vec<TokenId>,
    /// The tokens that it reads next.
    unread: Vec<TokenId>,
    /// How many tokens it drafts for the next pass. 0 while it catches up with a long text.
    n_wanted: usize,
    /// The vocabulary size of the main model.
    n_vocab: usize,
    /// How long the latest drafts took, in seconds.
    pub(super) secs: f64,
}

impl DraftModel {
    /// Creates a draft model that has read nothing.
    pub(super) const fn new(drafts: ModelDrafts) -> Self {
        Self {
            drafts,
            sequence: None,
            read: Vec::new(),
            unread: Vec::new(),
            n_wanted: 0,
            n_vocab: 0,
            secs: 0.0,
        }
    }

    /// Prepares to draft up to `n_max` tokens. `main` holds all tokens of the slot but the last.
    /// A part of the model itself drafts right away; the second model drafts in passes that all
    /// panes share.
    pub(super) fn prepare(
        &mut self,
        slot: &mut Slot,
        main: SequenceId,
        n_max: usize,
        model: &mut LoadedModel,
    ) -> Result<Vec<Guess>, EngineError> {
        self.secs = 0.0;
        self.unread.clear();
        self.n_wanted = 0;
        let n = n_max.min(self.drafts.n_drafts as usize);
        let started_at = Instant::now();
        let guesses = match self.drafts.drafter {
            _ if n == 0 => return Ok(Vec::new()),
            Drafter::SecondModel => {
                self.prepare_second(slot.tokens(), n, model)?;
                return Ok(Vec::new());
            }
            Drafter::FirstLayers(n_layers) => {
                let sequence = model.lm.fork(main)?;
                let guesses = self.one_by_one(slot, n, |token, _| {
                    let row = Row {
                        sequence,
                        token,
                        logits_wanted: true,
                    };
                    model.lm.forward_first(&[row], n_layers as usize)
                });
                model.lm.close(sequence);
                guesses
            }
            Drafter::MtpHead => self.one_by_one(slot, n, |token, n_drafted| {
                model.lm.draft_with_mtp_head(main, token, n_drafted)
            }),
        };
        self.secs = started_at.elapsed().as_secs_f64();
        guesses
    }

    /// Adds the next rows of the second model. Requests logits for the last one if a token is to be
    /// drafted from them.
    pub(super) fn push_rows(&self, rows: &mut Vec<Row>) {
        let Some(sequence) = self.sequence else {
            return;
        };
        let n_unread = self.unread.len();
        let unread = self.unread.iter().enumerate();
        rows.extend(unread.map(|(place, token)| Row {
            sequence,
            token: *token,
            logits_wanted: self.n_wanted > 0 && place + 1 == n_unread,
        }));
    }

    /// Drafts a token from the logits that follow these rows.
    pub(super) fn note(
        &mut self,
        slot: &mut Slot,
        guesses: &mut Vec<Guess>,
        logits: Option<&[f32]>,
    ) -> Result<(), EngineError> {
        self.read.append(&mut self.unread);
        let Some(row) = logits.filter(|_| guesses.len() < self.n_wanted) else {
            return Ok(());
        };
        let row = comparable(row, self.n_vocab);
        let guess = slot.guess(&row, guesses, self.drafts.rule == DraftRule::Ratio)?;
        let token = guess.token;
        guesses.push(guess);
        if guesses.len() < self.n_wanted {
            self.unread.push(token);
        }
        Ok(())
    }

    /// Drafts tokens one by one, each from the logits that `after` returns for the previous one and
    /// the number of drafts before it.
    fn one_by_one(
        &self,
        slot: &mut Slot,
        n: usize,
        mut after: impl FnMut(TokenId, usize) -> Result<Logits, EngineError>,
    ) -> Result<Vec<Guess>, EngineError> {
        let with_probs = self.drafts.rule == DraftRule::Ratio;
        let mut next = slot.tokens().last().copied();
        let mut guesses: Vec<Guess> = Vec::new();
        while let Some(token) = next.take().filter(|_| guesses.len() < n) {
            let logits = after(token, guesses.len())?;
            let row = logits.row(0).unwrap_or_default();
            let guess = slot.guess(row, &guesses, with_probs)?;
            next = Some(guess.token);
            guesses.push(guess);
        }
        Ok(guesses)
    }

    /// Determines which tokens of a text the second model must read before it can draft.
    fn prepare_second(
        &mut self,
        text: &[TokenId],
        n: usize,
        model: &mut LoadedModel,
    ) -> Result<(), EngineError> {
        self.n_vocab = model.lm.n_vocab();
        let lm = model.second_lm()?;
        let sequence = match self.sequence {
            Some(sequence) => sequence,
            None => *self.sequence.insert(lm.open()),
        };
        let same = self.read.iter().zip(text).take_while(|(a, b)| a == b);
        // The last token is always read again, because its logits are needed.
        let n_same = same.count().min(text.len().saturating_sub(1));
        if n_same < self.read.len() {
            lm.truncate(sequence, n_same)?;
            self.read.truncate(n_same);
        }
        if text.len() + n > lm.n_context() {
            return Ok(());
        }
        let unread = text.get(n_same..).unwrap_or_default();
        // It drafts once it has caught up, so that no pass waits for a long prompt.
        self.n_wanted = if unread.len() > PREFILL_CHUNK { 0 } else { n };
        self.unread.extend(unread.iter().take(PREFILL_CHUNK));
        Ok(())
    }

    /// Closes the second model's sequence.
    pub(super) fn close(&mut self, model: &mut LoadedModel) {
        if let Some(sequence) = self.sequence.take()
            && let Ok(lm) = model.second_lm()
        {
            lm.close(sequence);
        }
    }
}
