//! What a multi-token-prediction head has read of a sequence, and the tokens that it predicts.
//!
//! The head reads pairs: the hidden state after a token, and the token that follows it. Its keys and
//! values are in a cache of their own, so the model's own passes are the same with and without it.

use super::Decoder;
use super::backend::{Backend, Depth, MtpOutput, MtpRows};
use super::batch::Place;
use super::cache::Cache;
use super::sequence::{OpenParts, Sequence};
use crate::decoding::TokenId;
use crate::engine::{EngineError, Logits, PREFILL_CHUNK, SequenceId};

/// How many hidden states stay after the head has read them, so that the text can be cut back this
/// far.
const N_KEPT: usize = PREFILL_CHUNK;

/// What the head has read of a sequence.
#[derive(Debug)]
pub(super) struct MtpState<R> {
    /// The head's keys and values: of `n_pairs` pairs, and then of the latest drafts.
    cache: Cache<R>,
    /// How many pairs of the text the head has read.
    n_pairs: usize,
    /// The hidden states after the tokens from position `n_dropped` on, one row each.
    hidden: Vec<f32>,
    n_dropped: usize,
    /// The head's own hidden state after its latest draft.
    drafted: Vec<f32>,
}

impl<R: Default> MtpState<R> {
    /// Creates the state of a head that has read nothing.
    pub(super) fn new() -> Self {
        Self {
            cache: Cache::new(),
            n_pairs: 0,
            hidden: Vec::new(),
            n_dropped: 0,
            drafted: Vec::new(),
        }
    }

    /// Returns the head's keys and values.
    pub(super) const fn cache(&self) -> &Cache<R> {
        &self.cache
    }

    /// Forks the state, given how to fork a cache.
    pub(super) fn fork(
        &mut self,
        fork: impl FnOnce(&mut Cache<R>) -> Result<Cache<R>, EngineError>,
    ) -> Result<Self, EngineError> {
        self.cache.truncate(self.n_pairs);
        Ok(Self {
            cache: fork(&mut self.cache)?,
            n_pairs: self.n_pairs,
            hidden: self.hidden.clone(),
            n_dropped: self.n_dropped,
            drafted: Vec::new(),
        })
    }

    /// Cuts the text back to `n` tokens. Returns `None` if the hidden state after them is no longer
    /// known.
    pub(super) fn truncated(mut self, n: usize, width: usize) -> Option<Self> {
        if n == 0 {
            return Some(Self::new());
        }
        let n_left = n.checked_sub(self.n_dropped).filter(|n_left| *n_left > 0)?;
        self.hidden.truncate(n_left * width);
        self.n_pairs = self.n_pairs.min(n - 1);
        self.cache.truncate(self.n_pairs);
        Some(self)
    }

    /// Adds hidden states after the last ones.
    fn with(mut self, states: Vec<f32>) -> Self {
        self.hidden.extend(states);
        self
    }

    /// Reads the pairs that have been added, and then one whose token is not yet part of the text, if
    /// there is one. `tokens` are those of the text.
    fn read<B: Backend<Run = R>>(
        &mut self,
        tokens: &[TokenId],
        next: Option<TokenId>,
        backend: &mut B,
    ) -> Result<MtpOutput, EngineError> {
        self.cache.truncate(self.n_pairs);
        let width = self.hidden.len() / tokens.len().saturating_sub(self.n_dropped).max(1);
        let unread = tokens.get(self.n_pairs + 1..).unwrap_or_default();
        let n_unread = unread.len();
        let rows: Vec<TokenId> = unread.iter().copied().chain(next).collect();
        let states = self.hidden.chunks_exact(width.max(1));
        let states: Vec<&[f32]> = states.skip(self.n_pairs - self.n_dropped).collect();
        let mut output = MtpOutput::default();
        let mut n_left = rows.len();
        for (rows, states) in rows.chunks(PREFILL_CHUNK).zip(states.chunks(PREFILL_CHUNK)) {
            let hidden = states.get(..rows.len()).unwrap_or_default().concat();
            n_left -= rows.len();
            let rows = MtpRows {
                tokens: rows,
                hidden: &hidden,
                logits_wanted: next.is_some() && n_left == 0,
            };
            output = backend.run_mtp_head(rows, &mut self.cache)?;
        }
        self.n_pairs += n_unread;
        let n_dropped = self.n_pairs.saturating_sub(N_KEPT).max(self.n_dropped);
        self.hidden.drain(..(n_dropped - self.n_dropped) * width);
        self.n_dropped = n_dropped;
        Ok(output)
    }
}

impl<B: Backend> Decoder<B> {
    /// Adds the hidden states of a pass, whose new rows follow `n_reread` others, to what the head can
    /// read of each text. Has it read them where there are many.
    pub(super) fn follow(
        &mut self,
        parts: &mut OpenParts<B::Run>,
        places: &[Place],
        n_reread: usize,
        depth: Depth<'_>,
    ) {
        for (index, following) in parts.mtp_states.iter_mut().enumerate() {
            // The states after the first layers are of no use.
            if let Some(state) = following.take_if(|_| depth.is_all()) {
                let own = (n_reread..).zip(places);
                let own = own.filter(|(_, place)| place.cache == index);
                let states = self.backend.hidden_states(own.map(|(row, _)| row));
                *following = Some(state.with(states));
            } else {
                *following = None;
            }
        }
        // Only now, because the head replaces the states of the pass.
        for (text, following) in parts.texts.iter().zip(&mut parts.mtp_states) {
            let is_far =
                |state: &mut MtpState<B::Run>| text.tokens.len() > state.n_pairs + PREFILL_CHUNK;
            // If the head fails, the next draft starts from the beginning, and reports that it does.
            if let Some(mut state) = following.take_if(is_far)
                && state.read(&text.tokens, None, &mut self.backend).is_ok()
            {
                *following = Some(state);
            }
        }
    }

    /// Predicts the token after `token`, which follows the sequence and `n_drafted` drafts.
    pub(super) fn predict(
        &mut self,
        id: SequenceId,
        token: TokenId,
        n_drafted: usize,
    ) -> Result<Logits, EngineError> {
        if !self.backend.has_mtp_head() {
            return Err(EngineError::NoMtpHead);
        }
        let n_vocab = self.backend.facts().n_vocab;
        let sequence = self.sequences.get_mut(id)?;
        let mut state = match sequence.mtp.take() {
            Some(state) => state,
            None => reread(sequence, &mut self.backend)?,
        };
        let output = if n_drafted > 0 {
            let rows = MtpRows {
                tokens: &[token],
                hidden: &state.drafted,
                logits_wanted: true,
            };
            self.backend.run_mtp_head(rows, &mut state.cache)?
        } else {
            let tokens = &sequence.text.tokens;
            state.read(tokens, Some(token), &mut self.backend)?
        };
        state.drafted = output.hidden;
        sequence.mtp = Some(state);
        Ok(Logits::new(output.logits, n_vocab))
    }
}

/// Reads the text of a sequence again for its hidden states, which no one has kept.
fn reread<B: Backend>(
    sequence: &Sequence<B::Run>,
    backend: &mut B,
) -> Result<MtpState<B::Run>, EngineError> {
    let text = &sequence.text;
    let (mut cache, mut state) = (Cache::new(), MtpState::new());
    while cache.n_read() < text.tokens.len() {
        let n_before = cache.n_read();
        backend.read_chunk(&text.tokens, text.is_long, &mut cache)?;
        let n_rows = cache.n_read() - n_before;
        state.hidden.extend(backend.hidden_states(0..n_rows));
        let read = text.tokens.get(..cache.n_read()).unwrap_or_default();
        state.read(read, None, backend)?;
    }
    Ok(state)
}
