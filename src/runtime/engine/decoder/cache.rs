//! The KV cache of a sequence: a list of shared, immutable runs and one private, growing tail; and
//! the states of its layers without attention.
//!
//! This file maps positions to runs. How a run stores keys and values is up to the backend.

use std::sync::Arc;

use super::recurrent::{LayerStates, RecurrentStates};

/// The KV cache of one sequence. `R` holds the keys and values of a run of consecutive tokens, for
/// all layers.
///
/// Positions that a forward pass has written but not committed don't count, and the next pass
/// overwrites them. So a failed pass leaves no trace.
#[derive(Debug)]
pub(crate) struct Cache<R> {
    /// The runs before the tail, in the order of their positions. None is empty.
    shared: Vec<Span<R>>,
    tail: R,
    /// How many tokens of the tail are committed.
    n_tail: usize,
    /// The states of the layers without attention, after the committed tokens.
    states: RecurrentStates,
}

/// The first tokens of a run that other sequences may share.
#[derive(Debug)]
struct Span<R> {
    run: Arc<R>,
    n_tokens: usize,
    /// How many tokens the run holds, including those cut off from this span.
    n_held: usize,
}

impl<R> Clone for Span<R> {
    fn clone(&self) -> Self {
        Self {
            run: Arc::clone(&self.run),
            n_tokens: self.n_tokens,
            n_held: self.n_held,
        }
    }
}

impl<R: Default> Cache<R> {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        Self {
            shared: Vec::new(),
            tail: R::default(),
            n_tail: 0,
            states: RecurrentStates::default(),
        }
    }

    /// Returns the number of committed tokens.
    pub(crate) fn n_read(&self) -> usize {
        self.n_shared() + self.n_tail
    }

    /// Returns the number of tokens in shared runs, which is the position where the tail begins.
    pub(crate) fn n_shared(&self) -> usize {
        self.shared.iter().map(|span| span.n_tokens).sum()
    }

    /// Returns the number of committed tokens in the tail.
    pub(crate) const fn n_tail(&self) -> usize {
        self.n_tail
    }

    /// Returns the number of tokens for which memory is held, including tokens cut off from shared
    /// runs.
    pub(crate) fn n_held(&self) -> usize {
        self.shared.iter().map(|span| span.n_held).sum::<usize>() + self.n_tail
    }

    /// Iterates over the runs that are held in memory, in whole or in part. The address tells
    /// whether two caches share a run.
    pub(crate) fn held_runs(&self) -> impl Iterator<Item = (*const R, &R)> {
        let shared = self.shared.iter().map(|span| &*span.run);
        let runs = shared.chain(std::iter::once(&self.tail));
        runs.map(|run| (std::ptr::from_ref(run), run))
    }

    /// Returns the private tail, to be written from position [`Self::n_read`].
    pub(crate) const fn tail_mut(&mut self) -> &mut R {
        &mut self.tail
    }

    /// Returns the private tail.
    pub(crate) const fn tail(&self) -> &R {
        &self.tail
    }

    /// Counts tokens as read, after their keys and values were written to the tail.
    pub(crate) const fn commit(&mut self, n_tokens: usize) {
        self.n_tail += n_tokens;
    }

    /// Iterates over the runs in the order of their positions, each with the number of its tokens
    /// among the first `n_visible`.
    pub(crate) fn runs(&self, n_visible: usize) -> impl Iterator<Item = (&R, usize)> {
        let shared = self.shared_runs();
        let tail = std::iter::once((&self.tail, usize::MAX));
        let mut n_left = n_visible;
        shared.chain(tail).map_while(move |(run, n_tokens)| {
            let n_seen = n_tokens.min(n_left);
            n_left -= n_seen;
            (n_seen > 0).then_some((run, n_seen))
        })
    }

    /// Iterates over the shared runs in the order of their positions, each with its number of
    /// tokens.
    pub(crate) fn shared_runs(&self) -> impl Iterator<Item = (&R, usize)> {
        self.shared.iter().map(|span| (&*span.run, span.n_tokens))
    }

    /// Forks the cache. The tail becomes a shared run, and both caches grow new tails, so neither
    /// can write where the other reads.
    pub(crate) fn fork(&mut self) -> Self {
        self.share_tail();
        Self {
            shared: self.shared.clone(),
            tail: R::default(),
            n_tail: 0,
            states: self.states.fork(self.n_read()),
        }
    }

    /// Forks the cache with a copy of its tail, which the caller has made.
    pub(crate) fn fork_with(&self, tail: R) -> Self {
        Self {
            shared: self.shared.clone(),
            tail,
            n_tail: self.n_tail,
            states: self.states.fork(self.n_read()),
        }
    }

    /// Turns the tail into a shared run, which can no longer grow, and starts a new one.
    pub(crate) fn share_tail(&mut self) {
        if self.n_tail > 0 {
            self.shared.push(Span {
                run: Arc::new(std::mem::take(&mut self.tail)),
                n_tokens: self.n_tail,
                n_held: self.n_tail,
            });
            self.n_tail = 0;
        }
    }

    /// Prepares for a pass that reads `n_rows` tokens, after which the text has `n_text` tokens that
    /// it has had before.
    pub(crate) fn begin_pass(&mut self, n_rows: usize, n_text: usize) {
        self.states.begin_pass(self.n_read(), n_rows, n_text);
    }

    /// Keeps what a successful pass has noted.
    pub(crate) fn end_pass(&mut self) {
        self.states.end_pass();
    }

    /// Undoes a failed pass. If there are states, which it may have changed, this leaves fewer
    /// tokens than before.
    pub(crate) fn abandon_pass(&mut self) {
        let n_kept = self.states.restore(self.n_read());
        self.truncate_runs(n_kept);
    }

    /// Returns the state of a layer without attention, which has `n_values` numbers.
    pub(crate) fn layer_states(&mut self, layer: usize, n_values: usize) -> LayerStates<'_> {
        let n_read = self.n_read();
        self.states.layer_mut(layer, n_values, n_read)
    }

    /// Iterates over the states that are held in memory, with their sizes in bytes. The address
    /// tells whether two caches share one.
    pub(crate) fn held_states(&self) -> impl Iterator<Item = (usize, u64)> {
        self.states.held()
    }

    /// Drops all but the first `n` tokens, or more: a state can't be truncated, so if there are
    /// layers without attention, the latest kept state at or before `n` is restored.
    pub(crate) fn truncate(&mut self, n: usize) {
        if n < self.n_read() {
            let n_kept = self.states.restore(n);
            self.truncate_runs(n_kept);
        }
    }

    /// Drops all but the first `n` tokens of keys and values. A shared run is cut, not copied.
    fn truncate_runs(&mut self, n: usize) {
        let n_shared = self.n_shared();
        if n >= n_shared {
            self.n_tail = self.n_tail.min(n - n_shared);
            return;
        }
        self.n_tail = 0;
        let mut n_left = n;
        for span in &mut self.shared {
            span.n_tokens = span.n_tokens.min(n_left);
            n_left -= span.n_tokens;
        }
        self.shared.retain(|span| span.n_tokens > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::Cache;

    /// A run that stores only its tokens.
    #[derive(Debug, Default)]
    struct Tokens(Vec<char>);

    fn read(cache: &mut Cache<Tokens>, text: &str) {
        let n_tail = cache.n_tail;
        cache.tail_mut().0.truncate(n_tail);
        cache.tail_mut().0.extend(text.chars());
        cache.commit(text.len());
    }

    fn text(cache: &Cache<Tokens>, n_visible: usize) -> String {
        let runs = cache.runs(n_visible);
        runs.flat_map(|(run, n)| run.0.iter().take(n)).collect()
    }

    #[test]
    fn forks_diverge_without_affecting_each_other() {
        let mut parent = Cache::new();
        read(&mut parent, "abc");
        let mut child = parent.fork();
        read(&mut parent, "PQ");
        read(&mut child, "xyz");
        let mut grandchild = child.fork();
        child.truncate(4);
        read(&mut child, "!");
        read(&mut grandchild, "?");
        assert_eq!(text(&parent, parent.n_read()), "abcPQ");
        assert_eq!(text(&child, child.n_read()), "abcx!");
        assert_eq!(text(&grandchild, grandchild.n_read()), "abcxyz?");
        assert_eq!(grandchild.n_read(), 7);
    }

    #[test]
    fn a_cache_can_be_truncated_at_any_position() {
        for n in 0..=8 {
            let mut cache = Cache::new();
            read(&mut cache, "abc");
            cache.fork();
            read(&mut cache, "de");
            cache.fork();
            read(&mut cache, "f");
            cache.truncate(n);
            assert_eq!(
                text(&cache, cache.n_read()),
                "abcdef".chars().take(n).collect::<String>()
            );
            assert_eq!(cache.n_read(), n.min(6));
            let n_held = if n == 0 {
                0
            } else if n <= 3 {
                3
            } else {
                5 + usize::from(n > 5)
            };
            assert_eq!(cache.n_held(), n_held, "{n}");
            read(&mut cache, "z");
            assert!(text(&cache, cache.n_read()).ends_with('z'));
        }
    }

    #[test]
    fn runs_end_at_the_last_visible_token() {
        let mut cache = Cache::new();
        read(&mut cache, "abc");
        cache.fork();
        read(&mut cache, "de");
        assert_eq!(text(&cache, 2), "ab");
        assert_eq!(text(&cache, 4), "abcd");
        assert_eq!(text(&cache, 0), "");
    }
}
