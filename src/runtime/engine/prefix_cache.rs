//! The KV caches of earlier prompts and texts, kept so that a request with the same beginning need
//! not read it again.

use super::slot::ForwardPass;
use super::{CausalLm, SequenceId};
use crate::decoding::TokenId;

/// How much memory the kept sequences may take unless the user chose another limit.
pub const DEFAULT_PREFIX_CACHE_BYTES: u64 = 64_000_000;

/// Truncating a sequence may leave the removed tokens in memory, in runs of the KV cache that it
/// once shared with forks. Beyond the memory limit, up to this many tokens more than twice the text
/// may be left; past that, prefilling again is cheaper.
const N_MAX_LEFTOVER: usize = 512;

/// Kept sequences, within a memory limit.
///
/// The newest prompt stays regardless of the limit, because the next run usually begins with it. If
/// a backend cannot tell how much memory its sequences take, nothing else is kept.
#[derive(Debug)]
pub(super) struct PrefixCache {
    /// The least recently used comes first.
    entries: Vec<CachedPrefix>,
    n_max_bytes: u64,
}

/// A sequence, and the tokens that it holds.
#[derive(Debug)]
pub(super) struct CachedPrefix {
    pub sequence: SequenceId,
    pub tokens: Vec<TokenId>,
    pub kind: PrefixKind,
}

/// What a kept sequence holds.
#[derive(Debug)]
pub(super) enum PrefixKind {
    /// A prompt, with the logits after its last token and the pass that computed them, or `None` if
    /// it was not read to its end.
    Prompt(Option<(Vec<f32>, ForwardPass)>),
    /// A prompt and the text generated from it.
    Text,
}

impl CachedPrefix {
    const fn is_prompt(&self) -> bool {
        matches!(self.kind, PrefixKind::Prompt(_))
    }

    /// Returns whether its sequence can be continued directly: no other text needs its end.
    const fn can_be_taken(&self) -> bool {
        matches!(self.kind, PrefixKind::Text | PrefixKind::Prompt(None))
    }
}

impl PrefixCache {
    pub(super) const fn new(n_max_bytes: u64) -> Self {
        Self {
            entries: Vec::new(),
            n_max_bytes,
        }
    }

    /// Changes the memory limit.
    pub(super) fn set_limit(&mut self, n_max_bytes: u64, lm: &mut dyn CausalLm) {
        self.n_max_bytes = n_max_bytes;
        self.evict(lm);
    }

    /// Returns how much memory the kept sequences take together, in bytes. `None` if the backend
    /// can't tell.
    pub(super) fn n_bytes(&self, lm: &dyn CausalLm) -> Option<u64> {
        let sequences: Vec<SequenceId> = self.entries.iter().map(|entry| entry.sequence).collect();
        lm.n_cache_bytes(&sequences)
    }

    /// Returns the length of the longest prefix of these tokens that a kept sequence holds.
    pub(super) fn n_cached(&self, tokens: &[TokenId]) -> usize {
        let shared = self.entries.iter().map(|entry| n_shared(entry, tokens));
        shared.max().unwrap_or(0)
    }

    /// Removes and returns the prompt with exactly these tokens, if it was read to its end.
    pub(super) fn take_prompt(&mut self, tokens: &[TokenId]) -> Option<CachedPrefix> {
        let is_it = |entry: &CachedPrefix| {
            matches!(entry.kind, PrefixKind::Prompt(Some(_))) && entry.tokens == tokens
        };
        let index = self.entries.iter().position(is_it)?;
        Some(self.entries.remove(index))
    }

    /// Returns a sequence that holds the longest prefix of these tokens, up to `n_max`, that any
    /// kept one holds, and the length of that prefix. The sequence belongs to the caller. If the
    /// kept one `stays`, it is forked even if it holds nothing else, because another request is
    /// about to need it.
    pub(super) fn reuse(
        &mut self,
        tokens: &[TokenId],
        n_max: usize,
        stays: bool,
        lm: &mut dyn CausalLm,
    ) -> (SequenceId, usize) {
        let shared = (0..).zip(&self.entries);
        let best = shared
            .map(|(index, entry)| (n_shared(entry, tokens).min(n_max), index))
            .max()
            .filter(|(n_shared, _)| *n_shared > 0);
        let sequence = best.and_then(|(n_shared, index)| {
            let sequence = self.take_or_fork(index, n_shared, stays, lm)?;
            self.truncated(sequence, n_shared, tokens.len(), lm)
        });
        sequence.unwrap_or_else(|| (lm.open_for(tokens.len()), 0))
    }

    /// Keeps a sequence for reuse, and evicts others if the memory limit requires it.
    pub(super) fn keep(&mut self, new: CachedPrefix, lm: &mut dyn CausalLm) {
        let is_contained = |entry: &CachedPrefix| {
            !entry.is_prompt() && !new.is_prompt() && entry.tokens.starts_with(&new.tokens)
        };
        if new.tokens.is_empty() || self.entries.iter().any(is_contained) {
            return lm.close(new.sequence);
        }
        self.entries.retain(|entry| {
            let is_obsolete = entry.can_be_taken() && new.tokens.starts_with(&entry.tokens);
            if is_obsolete {
                lm.close(entry.sequence);
            }
            !is_obsolete
        });
        self.entries.push(new);
        self.evict(lm);
    }

    /// Closes all kept sequences.
    pub(super) fn clear(&mut self, lm: &mut dyn CausalLm) {
        for entry in self.entries.drain(..) {
            lm.close(entry.sequence);
        }
    }

    /// Takes the sequence of an entry that holds nothing but the shared tokens, or forks it.
    fn take_or_fork(
        &mut self,
        index: usize,
        n_shared: usize,
        stays: bool,
        lm: &mut dyn CausalLm,
    ) -> Option<SequenceId> {
        let entry = self.entries.remove(index);
        if entry.can_be_taken() && entry.tokens.len() == n_shared && !stays {
            return Some(entry.sequence);
        }
        let fork = lm.fork(entry.sequence).ok();
        // It is now the most recently used.
        self.entries.push(entry);
        fork
    }

    /// Truncates a sequence to its first `n` tokens. Returns it with the number of tokens that it
    /// still holds. Closes it and returns `None` if it is better to start over.
    fn truncated(
        &self,
        sequence: SequenceId,
        n: usize,
        n_expected: usize,
        lm: &mut dyn CausalLm,
    ) -> Option<(SequenceId, usize)> {
        let n_max_held = 2 * n_expected + N_MAX_LEFTOVER;
        if let Ok(n_kept) = lm.truncate_for(sequence, n, n_expected)
            && (lm.n_held(sequence) + n_expected - n_kept <= n_max_held || self.fits(sequence, lm))
        {
            return Some((sequence, n_kept));
        }
        // The backend cannot truncate, or holds too much of earlier texts.
        lm.close(sequence);
        None
    }

    fn fits(&self, sequence: SequenceId, lm: &dyn CausalLm) -> bool {
        let n_bytes = lm.n_cache_bytes(&[sequence]);
        n_bytes.is_some_and(|n_bytes| n_bytes <= self.n_max_bytes)
    }

    fn evict(&mut self, lm: &mut dyn CausalLm) {
        while self.n_bytes(lm).is_none_or(|n| n > self.n_max_bytes) {
            let newest_prompt = self.entries.iter().rposition(CachedPrefix::is_prompt);
            let oldest = (0..self.entries.len()).find(|index| Some(*index) != newest_prompt);
            match oldest {
                Some(index) => lm.close(self.entries.remove(index).sequence),
                None => return,
            }
        }
    }
}

fn n_shared(entry: &CachedPrefix, tokens: &[TokenId]) -> usize {
    let pairs = entry.tokens.iter().zip(tokens);
    pairs.take_while(|(a, b)| a == b).count()
}
