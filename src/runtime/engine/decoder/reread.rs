//! Reads tokens of a sequence again: all of them, if its keys must be rotated differently, or those
//! after a state that was restored.

use super::Decoder;
use super::backend::Backend;
use super::batch::Place;
use super::cache::Cache;
use super::sequence::Text;
use crate::engine::{EngineError, PREFILL_CHUNK, Row, SequenceId};

/// The rows of a pass: first the tokens that sequences must read again, then the new ones.
pub(super) struct PassRows {
    pub rows: Vec<Row>,
    pub places: Vec<Place>,
}

impl PassRows {
    /// Adds the tokens that the caches lack to the new rows.
    pub(super) fn new<R: Default>(
        new: &[Row],
        places: &[Place],
        texts: &[Text],
        caches: &[Cache<R>],
    ) -> Self {
        let mut pass = Self {
            rows: Vec::new(),
            places: Vec::new(),
        };
        for (index, (text, cache)) in texts.iter().zip(caches).enumerate() {
            let lacking = text.tokens.iter().enumerate().skip(cache.n_read());
            for (position, token) in lacking {
                pass.rows.push(Row {
                    sequence: SequenceId(0),
                    token: *token,
                    logits_wanted: false,
                });
                pass.places.push(Place {
                    cache: index,
                    position,
                    is_long: text.is_long,
                });
            }
        }
        pass.rows.extend(new);
        pass.places.extend(places);
        pass
    }

    /// Returns how many rows belong to the cache with this index.
    pub(super) fn n_rows_of(&self, cache: usize) -> usize {
        let places = self.places.iter();
        places.filter(|place| place.cache == cache).count()
    }
}

impl<B: Backend> Decoder<B> {
    /// Returns the length up to which a text counts as short, or `None` if the model rotates all
    /// texts alike.
    fn n_max_short(&self) -> Option<usize> {
        let rotations = self.backend.facts().rotations.iter();
        let long = rotations.filter_map(|rotation| rotation.long.as_ref());
        long.map(|long| long.n_max_short).min()
    }

    pub(super) fn is_long_text(&self, n_tokens: usize) -> bool {
        self.n_max_short().is_some_and(|n_max| n_tokens > n_max)
    }

    /// Re-reads at most one chunk of a sequence. Returns whether there was anything to re-read, not
    /// counting the few tokens that the next pass reads along with its rows. `index` is that of the
    /// sequence's cache among the places.
    pub(super) fn reread_chunk(
        &mut self,
        id: SequenceId,
        index: usize,
        places: &[Place],
    ) -> Result<bool, EngineError> {
        let n_max_short = self.n_max_short();
        let sequence = self.sequences.get_mut(id)?;
        let text = &mut sequence.text;
        let is_long = n_max_short.is_some_and(|n_max| becomes_long(places, index, text, n_max));
        if is_long == text.is_long {
            let is_far_back = lacks_chunk(text, &sequence.cache);
            if is_far_back {
                self.backend
                    .read_chunk(&text.tokens, is_long, &mut sequence.cache)?;
            }
            return Ok(is_far_back);
        }
        if text.tokens.is_empty() {
            return Ok(false);
        }
        let mut reread = sequence.reread.take().unwrap_or_else(Cache::new);
        self.backend
            .read_chunk(&text.tokens, is_long, &mut reread)?;
        if reread.n_read() < text.tokens.len() {
            sequence.reread = Some(reread);
        } else {
            sequence.cache = reread;
            text.is_long = is_long;
        }
        Ok(true)
    }

    /// Re-reads every sequence that these rows turn from a short text into a long one, or back,
    /// since all its keys must be rotated alike.
    pub(super) fn reread_changed(
        &mut self,
        places: &mut [Place],
        texts: &mut [Text],
        caches: &mut [Cache<B::Run>],
    ) -> Result<(), EngineError> {
        let Some(n_max_short) = self.n_max_short() else {
            return Ok(());
        };
        for (index, (text, cache)) in texts.iter_mut().zip(caches).enumerate() {
            let is_long = becomes_long(places, index, text, n_max_short);
            if is_long != text.is_long {
                let mut reread = Cache::new();
                while reread.n_read() < text.tokens.len() {
                    self.backend
                        .read_chunk(&text.tokens, is_long, &mut reread)?;
                }
                *cache = reread;
                text.is_long = is_long;
            }
            for place in places.iter_mut().filter(|place| place.cache == index) {
                place.is_long = is_long;
            }
        }
        Ok(())
    }

    /// Re-reads tokens after restored states, as long as more than a chunk of them is lacking.
    pub(super) fn reread_missing(
        &mut self,
        texts: &[Text],
        caches: &mut [Cache<B::Run>],
    ) -> Result<(), EngineError> {
        for (text, cache) in texts.iter().zip(caches) {
            while lacks_chunk(text, cache) {
                self.backend.read_chunk(&text.tokens, text.is_long, cache)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a text counts as long once these rows have been read.
fn becomes_long(places: &[Place], index: usize, text: &Text, n_max_short: usize) -> bool {
    let mut own = places.iter().filter(|place| place.cache == index);
    text.n_expected > n_max_short || own.any(|place| place.position >= n_max_short)
}

/// Returns whether a cache lacks so many tokens of its text that they deserve a pass of their own.
fn lacks_chunk<R: Default>(text: &Text, cache: &Cache<R>) -> bool {
    text.tokens.len() >= cache.n_read() + PREFILL_CHUNK
}
