//! A hash of whole rows of logits, which tells whether a replay computed every one of them again.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

/// XXH3-128 of one row of logits, or of the two rows that guidance mixes, as little-endian 32-bit
/// floats, before any mask and any stage.
///
/// It notices differences; it is no seal, because whoever changes a file can compute it again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LogitsHash(u128);

impl LogitsHash {
    /// Hashes the row of a step.
    pub fn of(row: &[f32]) -> Self {
        Self(xxh3_128(&bytes_of(row)))
    }

    /// Hashes the row of a guided step, then the one that guided it.
    pub fn of_guided(own: &[f32], other: &[f32]) -> Self {
        let mut hash = Xxh3Default::new();
        hash.update(&bytes_of(own));
        hash.update(&bytes_of(other));
        Self(hash.digest128())
    }
}

/// Returns the row as little-endian bytes, without a copy where memory has them in that order.
fn bytes_of(row: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(row))
    } else {
        Cow::Owned(row.iter().flat_map(|logit| logit.to_le_bytes()).collect())
    }
}

impl fmt::Display for LogitsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for LogitsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogitsHash({self})")
    }
}

/// Why a text is no hash of logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash of logits has 32 lowercase hexadecimal digits")]
pub struct NoLogitsHash;

impl FromStr for LogitsHash {
    type Err = NoLogitsHash;

    fn from_str(text: &str) -> Result<Self, NoLogitsHash> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(is_digit) {
            return Err(NoLogitsHash);
        }
        u128::from_str_radix(text, 16)
            .map(Self)
            .map_err(|_overflow| NoLogitsHash)
    }
}

impl TryFrom<String> for LogitsHash {
    type Error = NoLogitsHash;

    fn try_from(text: String) -> Result<Self, NoLogitsHash> {
        text.parse()
    }
}

impl From<LogitsHash> for String {
    fn from(hash: LogitsHash) -> Self {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{LogitsHash, NoLogitsHash};

    #[test]
    fn hashes_are_those_of_the_reference_implementation() {
        // From xxhsum -H2 over the same bytes.
        for (row, hash) in [
            (&[][..], "99aa06d3014798d86001c324468d497f"),
            (&[1.0, -2.5, 0.0][..], "bbb1d753e541d01267761070173446a6"),
            (&[0.5; 300][..], "76d28974f2cbecb744df31aaeac7272b"),
        ] {
            assert_eq!(LogitsHash::of(row).to_string(), hash);
            assert_eq!(hash.parse(), Ok(LogitsHash::of(row)));
        }
    }

    #[test]
    fn one_bit_of_one_logit_changes_the_hash() {
        let row = vec![0.25_f32; 151_936];
        let mut other = row.clone();
        other[151_935] = f32::from_bits(0.25_f32.to_bits() ^ 1);
        assert_ne!(LogitsHash::of(&row), LogitsHash::of(&other));
        // Negative zero is another number.
        assert_ne!(LogitsHash::of(&[0.0]), LogitsHash::of(&[-0.0]));
    }

    #[test]
    fn guided_steps_hash_both_rows_in_order() {
        let (own, other) = ([1.0, 2.0], [3.0, 4.0]);
        let hash = LogitsHash::of_guided(&own, &other);
        assert_eq!(hash, LogitsHash::of(&[1.0, 2.0, 3.0, 4.0]));
        assert_ne!(hash, LogitsHash::of_guided(&other, &own));
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        for text in [
            "",
            "99AA06D3014798D86001C324468D497F",
            "+9aa06d3014798d86001c324468d497f",
            "0",
        ] {
            assert_eq!(text.parse::<LogitsHash>(), Err(NoLogitsHash), "{text}");
        }
    }
}
