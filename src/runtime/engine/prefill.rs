//! Prefill: reuses what the KV cache already holds of a prompt, and reads the rest in chunks.

use std::time::Instant;

use super::prefix_cache::{CachedPrefix, PrefixCache, PrefixKind};
use super::slot::ForwardPass;
use super::{CausalLm, EngineError, Row, SequenceId};
use crate::decoding::TokenId;

/// How many tokens one prefill pass reads. Larger chunks would hardly be faster, and a request to
/// stop waits for at most one chunk.
pub const PREFILL_CHUNK: usize = 128;

/// A prompt or a text that the model is reading or has read.
#[derive(Debug)]
pub(super) struct Prefill {
    /// Holds the first `n_read` tokens, and is not shared with any slot.
    sequence: SequenceId,
    /// The tokens to read; never empty.
    tokens: Vec<TokenId>,
    /// How many tokens are in the KV cache. At least `n_reused`, at most all of them.
    n_read: usize,
    /// How many tokens were in the KV cache when this prefill began.
    n_reused: usize,
    /// The seconds spent in forward passes for these tokens.
    secs: f64,
    /// Whether the logits after the last token are needed.
    logits_wanted: bool,
    /// The logits after the last token and the pass that computed them, once they are known.
    last: Option<(Vec<f32>, ForwardPass)>,
}

impl Prefill {
    /// Starts prefilling a prompt, which must not be empty, including the logits after it. Reuses
    /// the longest prefix that the cache holds.
    pub(super) fn prompt(
        tokens: Vec<TokenId>,
        cache: &mut PrefixCache,
        lm: &mut dyn CausalLm,
    ) -> Self {
        if let Some(cached) = cache.take_prompt(&tokens)
            && let PrefixKind::Prompt(last) = cached.kind
        {
            return Self {
                last,
                ..Self::new(cached.sequence, tokens.len(), tokens)
            };
        }
        // The last token is always read again, because its logits are needed.
        let n_max = tokens.len().saturating_sub(1);
        let (sequence, n_reused) = cache.reuse(&tokens, n_max, false, lm);
        Self::new(sequence, n_reused, tokens)
    }

    /// Starts prefilling a text that a slot continues. Its logits are not needed: the slot feeds
    /// its last token, which is not among `tokens`, to the next pass of the batch. `others_follow`
    /// if a queued text begins with the same tokens.
    pub(super) fn text(
        tokens: Vec<TokenId>,
        others_follow: bool,
        cache: &mut PrefixCache,
        lm: &mut dyn CausalLm,
    ) -> Self {
        let (sequence, n_reused) = cache.reuse(&tokens, tokens.len(), others_follow, lm);
        Self {
            logits_wanted: false,
            ..Self::new(sequence, n_reused, tokens)
        }
    }

    const fn new(sequence: SequenceId, n_reused: usize, tokens: Vec<TokenId>) -> Self {
        Self {
            sequence,
            tokens,
            n_read: n_reused,
            n_reused,
            secs: 0.0,
            logits_wanted: true,
            last: None,
        }
    }

    /// Returns whether everything has been read.
    pub(super) const fn is_done(&self) -> bool {
        self.n_read == self.tokens.len()
    }

    /// Converts to what the cache keeps: the tokens read so far.
    pub(super) fn into_cached(mut self) -> CachedPrefix {
        self.tokens.truncate(self.n_read);
        CachedPrefix {
            sequence: self.sequence,
            tokens: self.tokens,
            kind: PrefixKind::Prompt(self.last),
        }
    }

    /// Runs the forward pass of the next chunk.
    pub(super) fn read_chunk(&mut self, lm: &mut dyn CausalLm) -> Result<(), EngineError> {
        let n_after = (self.n_read + PREFILL_CHUNK).min(self.tokens.len());
        let chunk = self.tokens.get(self.n_read..n_after).unwrap_or_default();
        let rows: Vec<Row> = (self.n_read + 1..)
            .zip(chunk)
            .map(|(n_read, token)| Row {
                sequence: self.sequence,
                token: *token,
                logits_wanted: self.logits_wanted && n_read == self.tokens.len(),
            })
            .collect();
        let started_at = Instant::now();
        let logits = lm.forward(&rows)?;
        let forward_secs = started_at.elapsed().as_secs_f64();
        self.n_read = n_after;
        self.secs += forward_secs;
        if self.is_done() && self.logits_wanted {
            let pass = ForwardPass {
                secs: forward_secs,
                n_batch: 1,
            };
            self.last = Some((logits.row(0).unwrap_or_default().to_vec(), pass));
        }
        Ok(())
    }

    /// Returns the logits after the last token and the pass that computed them, or `None` if they
    /// are not known yet or not needed.
    pub(super) fn last_logits(&self) -> Option<(&[f32], ForwardPass)> {
        self.last
            .as_ref()
            .map(|(logits, pass)| (logits.as_slice(), *pass))
    }

    /// Returns the sequence that holds the tokens read so far.
    pub(super) const fn sequence(&self) -> SequenceId {
        self.sequence
    }

    /// Returns how many tokens are in the KV cache, including reused ones.
    pub(super) const fn n_read(&self) -> usize {
        self.n_read
    }

    /// Returns the tokens to read.
    pub(super) fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// Returns how many tokens there are to read.
    pub(super) const fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Returns how many tokens were read for this prompt, excluding reused ones.
    pub(super) const fn n_prefilled(&self) -> usize {
        self.n_read - self.n_reused
    }

    /// Returns the seconds spent in forward passes for this prompt.
    pub(super) const fn secs(&self) -> f64 {
        self.secs
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::Prefill;
    use crate::decoding::TokenId;
    use crate::engine::prefix_cache::PrefixCache;
    use crate::engine::{Compute, Synthetic};

    #[test]
    fn a_prompt_edited_from_top_to_bottom_does_not_fill_the_memory() {
        const N: usize = 400;
        let tiny = Synthetic::find("tiny", "f32", 1).unwrap();
        let mut keep_going = |_| ControlFlow::Continue(());
        let mut model = tiny
            .open(&Compute::on_cpu(), &mut keep_going)
            .unwrap()
            .unwrap();
        let lm = &mut *model.lm;
        let mut tokens = vec![TokenId(1); N];
        let mut cache = PrefixCache::new(0);
        let mut n_restarts = 0;
        for place in (10..N).step_by(30) {
            tokens[place] = TokenId(2);
            let is_first = place == 10;
            let mut prefill = Prefill::prompt(tokens.clone(), &mut cache, lm);
            assert!([0, place].contains(&prefill.n_read()), "{place}");
            n_restarts += usize::from(!is_first && prefill.n_read() == 0);
            while prefill.last_logits().is_none() {
                prefill.read_chunk(lm).unwrap();
            }
            let fork = lm.fork(prefill.sequence()).unwrap();
            lm.close(fork);
            assert!(lm.n_held(prefill.sequence()) <= 2 * N + 512);
            cache.keep(prefill.into_cached(), lm);
        }
        assert!((1..=4).contains(&n_restarts), "{n_restarts}");
    }
}
