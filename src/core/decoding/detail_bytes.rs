//! A step's detail as bytes, so that it can be saved to a file.

use std::sync::Arc;

use super::detail::{Bin, Histogram, N_BINS, Summary};
use super::{Candidate, Detail, TokenId};

/// The bytes of a detail, by its kind. All numbers are little-endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetailBytes {
    /// The logit of every token, by id.
    Whole(Vec<u8>),
    /// The number of candidates; the id and logit of each; then the histogram: its highest logit,
    /// the number of its first bin, and the token count and distances of each bin.
    Summary(Vec<u8>),
}

impl Detail {
    /// Returns the detail as bytes, or `None` if there is only the head.
    pub fn to_bytes(&self) -> Option<DetailBytes> {
        match self {
            Self::HeadOnly => None,
            Self::Whole(logits) => {
                let bytes = logits.iter().flat_map(|logit| logit.to_le_bytes());
                Some(DetailBytes::Whole(bytes.collect()))
            }
            Self::Summary(summary) => Some(DetailBytes::Summary(summary.to_bytes())),
        }
    }

    /// Reads the result of [`Detail::to_bytes`]. Returns `None` if the bytes are damaged.
    pub fn from_bytes(bytes: &DetailBytes) -> Option<Self> {
        match bytes {
            DetailBytes::Whole(bytes) => {
                let (logits, rest) = bytes.as_chunks::<4>();
                let logits = logits.iter().map(|bytes| f32::from_le_bytes(*bytes));
                let is_whole = rest.is_empty() && !logits.clone().any(f32::is_nan);
                is_whole.then(|| Self::Whole(logits.collect()))
            }
            DetailBytes::Summary(bytes) => {
                Some(Self::Summary(Arc::new(Summary::from_bytes(bytes)?)))
            }
        }
    }
}

impl Summary {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.candidates.len() as u32).to_le_bytes().to_vec();
        for candidate in &self.candidates {
            bytes.extend(candidate.token.0.to_le_bytes());
            bytes.extend(candidate.logit.to_le_bytes());
        }
        bytes.extend(self.tail.max_logit.to_le_bytes());
        bytes.extend((self.tail.start as u32).to_le_bytes());
        for bin in &self.tail.bins {
            bytes.extend(bin.n_tokens.to_le_bytes());
            bytes.extend(bin.distances.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut words = Words(bytes);
        let n_candidates = words.count()?;
        let candidates: Vec<Candidate> = (0..n_candidates)
            .map(|_| {
                let token = TokenId(words.count()?);
                let logit = words.number()?;
                Some(Candidate { token, logit })
            })
            .collect::<Option<_>>()?;
        let max_logit = words.number()?;
        let start = words.count()? as usize;
        let mut bins = Vec::new();
        while !words.0.is_empty() {
            let n_tokens = words.count()?;
            let distances = words.number()?;
            bins.push(Bin {
                n_tokens,
                distances,
            });
        }
        let is_sorted = candidates.is_sorted_by(|a, b| a.token < b.token);
        let fits = start.checked_add(bins.len())? <= N_BINS;
        let tail = Histogram {
            max_logit,
            start,
            bins,
        };
        (is_sorted && fits).then_some(Self { candidates, tail })
    }
}

/// Bytes that are read four at a time.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> Option<[u8; 4]> {
        let (word, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(*word)
    }

    fn count(&mut self) -> Option<u32> {
        self.next().map(u32::from_le_bytes)
    }

    fn number(&mut self) -> Option<f32> {
        self.next().map(f32::from_le_bytes).filter(|n| !n.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::{Detail, DetailBytes};
    use crate::decoding::Candidates;
    use crate::decoding::testing::row;

    #[test]
    fn a_detail_survives_a_round_trip_and_damage_is_noticed() {
        let logits: Vec<f32> = (0..100).flat_map(|seed| row(seed, 2.5)).collect();
        for n_bytes in [16_000, usize::MAX] {
            let mut candidates = Candidates::from_logits(&logits).unwrap();
            let detail = Detail::of(&mut candidates, 48, n_bytes);
            let bytes = detail.to_bytes().unwrap();
            assert_eq!(Detail::from_bytes(&bytes), Some(detail));
            let shorter = match bytes {
                DetailBytes::Whole(mut bytes) => {
                    bytes.pop();
                    DetailBytes::Whole(bytes)
                }
                DetailBytes::Summary(mut bytes) => {
                    bytes.pop();
                    DetailBytes::Summary(bytes)
                }
            };
            assert_eq!(Detail::from_bytes(&shorter), None);
        }
        assert_eq!(Detail::HeadOnly.to_bytes(), None);
    }
}
