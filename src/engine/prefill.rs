//! Prefill: reuses what the KV cache already holds of a prompt, and reads the rest in chunks.

use std::time::Instant;

use super::slot::ForwardPass;
use super::{CausalLm, EngineError, Row, SequenceId};
use crate::decoding::TokenId;

/// How many tokens one prefill pass reads. Larger chunks would hardly be faster, and a request to
/// stop waits for one chunk at most.
pub const PREFILL_CHUNK: usize = 128;

/// Truncating a sequence may leave the removed tokens in memory, in runs of the KV cache that it
/// once shared with forks. Up to this many tokens beyond twice the prompt's length, keeping them is
/// cheaper than prefilling again.
const N_MAX_LEFTOVER: usize = 512;

/// A prompt that the model is reading or has read.
#[derive(Debug)]
pub(super) struct Prefill {
    /// Holds the first `n_read` tokens of the prompt, and is not shared with any slot.
    sequence: SequenceId,
    /// The prompt's tokens; never empty.
    tokens: Vec<TokenId>,
    /// How many tokens are in the KV cache. At least `n_reused`, at most all of them.
    n_read: usize,
    /// How many tokens were in the KV cache when this prefill began.
    n_reused: usize,
    /// The seconds spent in forward passes for this prompt.
    secs: f64,
    /// The logits after the last token and the pass that computed them. `Some` exactly when the
    /// whole prompt has been read.
    last: Option<(Vec<f32>, ForwardPass)>,
}

impl Prefill {
    /// Starts to prefill `tokens`, which must not be empty. Reuses the longest prefix that
    /// `cached_prompt` has already read.
    pub fn begin(tokens: Vec<TokenId>, cached_prompt: Option<Self>, lm: &mut dyn CausalLm) -> Self {
        let (sequence, n_reused, last) = match cached_prompt {
            Some(cached) if cached.last.is_some() && cached.tokens == tokens => {
                (cached.sequence, tokens.len(), cached.last)
            }
            Some(cached) => {
                let (sequence, n_reused) = cached.truncate_to(&tokens, lm);
                (sequence, n_reused, None)
            }
            None => (lm.open_for(tokens.len()), 0, None),
        };
        Self {
            sequence,
            tokens,
            n_read: n_reused,
            n_reused,
            secs: 0.0,
            last,
        }
    }

    /// Truncates the sequence to the prefix that it shares with `tokens`. Returns it, and how many
    /// tokens it still holds. The last token is always read again, because its logits are needed.
    fn truncate_to(self, tokens: &[TokenId], lm: &mut dyn CausalLm) -> (SequenceId, usize) {
        let read = self.tokens.iter().take(self.n_read);
        let n_shared = read.zip(tokens).take_while(|(a, b)| a == b).count();
        let n_reused = n_shared.min(tokens.len().saturating_sub(1));
        let n_max_held = 2 * tokens.len() + N_MAX_LEFTOVER;
        let n_new = tokens.len() - n_reused;
        if let Ok(n_kept) = lm.truncate_for(self.sequence, n_reused, tokens.len())
            && lm.n_held(self.sequence) + n_new <= n_max_held
        {
            return (self.sequence, n_kept);
        }
        // The backend cannot truncate, or holds too much of earlier prompts: start over.
        lm.close(self.sequence);
        (lm.open_for(tokens.len()), 0)
    }

    /// Runs the forward pass of the next chunk.
    pub fn read_chunk(&mut self, lm: &mut dyn CausalLm) -> Result<(), EngineError> {
        let n_after = (self.n_read + PREFILL_CHUNK).min(self.tokens.len());
        let chunk = self.tokens.get(self.n_read..n_after).unwrap_or_default();
        let rows: Vec<Row> = (self.n_read + 1..)
            .zip(chunk)
            .map(|(n_read, token)| Row {
                sequence: self.sequence,
                token: *token,
                logits_wanted: n_read == self.tokens.len(),
            })
            .collect();
        let started_at = Instant::now();
        let logits = lm.forward(&rows)?;
        let forward_secs = started_at.elapsed().as_secs_f64();
        self.n_read = n_after;
        self.secs += forward_secs;
        if n_after == self.tokens.len() {
            let pass = ForwardPass {
                secs: forward_secs,
                n_batch: 1,
            };
            self.last = Some((logits.row(0).unwrap_or_default().to_vec(), pass));
        }
        Ok(())
    }

    /// Returns the logits after the last token and the pass that computed them, or `None` if the
    /// prompt has not been read to its end.
    pub fn last_logits(&self) -> Option<(&[f32], ForwardPass)> {
        self.last
            .as_ref()
            .map(|(logits, pass)| (logits.as_slice(), *pass))
    }

    /// The sequence that holds the prompt. Slots get forks of it.
    pub const fn sequence(&self) -> SequenceId {
        self.sequence
    }

    /// How many tokens are in the KV cache, reused ones included.
    pub const fn n_read(&self) -> usize {
        self.n_read
    }

    /// How many tokens were read for this prompt, reused ones excluded.
    pub const fn n_prefilled(&self) -> usize {
        self.n_read - self.n_reused
    }

    /// The seconds spent in forward passes for this prompt.
    pub const fn secs(&self) -> f64 {
        self.secs
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::{N_MAX_LEFTOVER, Prefill};
    use crate::decoding::TokenId;
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
        let mut cached: Option<Prefill> = None;
        let mut n_restarts = 0;
        for place in (10..N).step_by(30) {
            tokens[place] = TokenId(2);
            let is_first = cached.is_none();
            let mut prefill = Prefill::begin(tokens.clone(), cached.take(), lm);
            assert!([0, place].contains(&prefill.n_read()), "{place}");
            n_restarts += usize::from(!is_first && prefill.n_read() == 0);
            while prefill.last_logits().is_none() {
                prefill.read_chunk(lm).unwrap();
            }
            let fork = lm.fork(prefill.sequence()).unwrap();
            lm.close(fork);
            assert!(lm.n_held(prefill.sequence()) <= 2 * N + N_MAX_LEFTOVER);
            cached = Some(prefill);
        }
        assert!((1..=4).contains(&n_restarts), "{n_restarts}");
    }
}
