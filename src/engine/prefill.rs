//! A prompt on its way into the model: what of it was still in the cache, and the rest in chunks.

use std::time::Instant;

use super::lane::Pass;
use super::{CausalLm, EngineError, Row, SequenceId};
use crate::decoding::TokenId;

/// How many tokens of a prompt are read at once. More would not make reading faster by much, and a
/// cancel waits for one chunk at most.
pub const PREFILL_CHUNK: usize = 128;

/// A prompt that was mended from top to bottom leaves what was cut off in memory. Up to this many
/// tokens, and as many as the prompt has, that is cheaper than reading again.
const MOST_LEFT_OVER: usize = 512;

/// A prompt that the model is reading or has read.
#[derive(Debug)]
pub(super) struct Prefill {
    sequence: SequenceId,
    tokens: Vec<TokenId>,
    n_read: usize,
    n_reused: usize,
    secs: f64,
    last: Option<(Vec<f32>, Pass)>,
}

impl Prefill {
    /// Begins to read `tokens`, which are not empty. As many of them as `kept` has read already, from
    /// the first on, are not read again.
    pub fn begin(tokens: Vec<TokenId>, kept: Option<Self>, lm: &mut dyn CausalLm) -> Self {
        let (sequence, n_reused, last) = match kept {
            Some(kept) if kept.last.is_some() && kept.tokens == tokens => {
                (kept.sequence, tokens.len(), kept.last)
            }
            Some(kept) => {
                let (sequence, n_reused) = kept.cut_to(&tokens, lm);
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

    /// The sequence, cut to what it shares with `tokens`. The last of these is left to be read: its
    /// scores are wanted.
    fn cut_to(self, tokens: &[TokenId], lm: &mut dyn CausalLm) -> (SequenceId, usize) {
        let read = self.tokens.iter().take(self.n_read);
        let n_shared = read.zip(tokens).take_while(|(a, b)| a == b).count();
        let n_reused = n_shared.min(tokens.len().saturating_sub(1));
        let most = 2 * tokens.len() + MOST_LEFT_OVER;
        let n_new = tokens.len() - n_reused;
        if let Ok(n_kept) = lm.truncate_for(self.sequence, n_reused, tokens.len())
            && lm.n_held(self.sequence) + n_new <= most
        {
            return (self.sequence, n_kept);
        }
        // A backend that can't go back, or that holds on to too much of earlier prompts, reads the
        // prompt from its beginning.
        lm.close(self.sequence);
        (lm.open_for(tokens.len()), 0)
    }

    /// Reads the next chunk.
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
            let pass = Pass {
                forward_secs,
                n_batch: 1,
            };
            self.last = Some((logits.row(0).unwrap_or_default().to_vec(), pass));
        }
        Ok(())
    }

    /// The scores after the last token, and the pass that gave them, once all is read.
    pub fn scores(&self) -> Option<(&[f32], Pass)> {
        self.last
            .as_ref()
            .map(|(logits, pass)| (logits.as_slice(), *pass))
    }

    /// The sequence that holds what was read.
    pub const fn sequence(&self) -> SequenceId {
        self.sequence
    }

    /// How many tokens are in the cache.
    pub const fn n_read(&self) -> usize {
        self.n_read
    }

    /// How many tokens were read for this prompt, and in how many seconds.
    pub const fn cost(&self) -> (usize, f64) {
        (self.n_read - self.n_reused, self.secs)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::{MOST_LEFT_OVER, Prefill};
    use crate::decoding::TokenId;
    use crate::engine::{Compute, Synthetic};

    #[test]
    fn a_prompt_that_is_mended_from_top_to_bottom_does_not_fill_the_memory() {
        const N: usize = 400;
        let tiny = Synthetic::find("tiny", "f32", 1).unwrap();
        let mut to_the_end = |_| ControlFlow::Continue(());
        let mut model = tiny
            .open(&Compute::on_cpu(), &mut to_the_end)
            .unwrap()
            .unwrap();
        let lm = &mut *model.lm;
        let mut tokens = vec![TokenId(1); N];
        let mut kept: Option<Prefill> = None;
        let mut n_begun_again = 0;
        for place in (10..N).step_by(30) {
            tokens[place] = TokenId(2);
            let begins = kept.is_none();
            let mut prefill = Prefill::begin(tokens.clone(), kept.take(), lm);
            assert!([0, place].contains(&prefill.n_read()), "{place}");
            n_begun_again += usize::from(!begins && prefill.n_read() == 0);
            while prefill.scores().is_none() {
                prefill.read_chunk(lm).unwrap();
            }
            let pane = lm.fork(prefill.sequence()).unwrap();
            lm.close(pane);
            assert!(lm.n_held(prefill.sequence()) <= 2 * N + MOST_LEFT_OVER);
            kept = Some(prefill);
        }
        assert!((1..=4).contains(&n_begun_again), "{n_begun_again}");
    }
}
