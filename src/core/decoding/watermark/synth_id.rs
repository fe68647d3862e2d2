//! The bits of SynthID-Text, as transformers draws them, and the keys that determine them.

use serde::{Deserialize, Serialize};

use super::torch_random::MersenneTwister;
use crate::decoding::TokenId;

/// The size of the table that maps a hash to a bit, and the seed of the table.
const TABLE_SIZE: u64 = 1 << 16;
const TABLE_SEED: u32 = 0;

/// The numbers of the linear congruential generator that hashes tokens and keys.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1;

/// The secret numbers of SynthID-Text, one per layer, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct LayerKeys {
    keys: [u32; Self::MAX],
    n: u8,
}

impl LayerKeys {
    /// The most layers that a tournament can have.
    pub const MAX: usize = 32;

    /// The keys of transformers' example.
    pub const USUAL: Self = {
        let mut keys = [0; Self::MAX];
        if let Some(usual) = keys.first_chunk_mut() {
            *usual = [654, 400, 836, 123, 340, 443, 597, 160, 57];
        }
        Self { keys, n: 9 }
    };

    /// Returns these keys, or `None` if there are more than [`Self::MAX`].
    pub fn new(keys: &[u32]) -> Option<Self> {
        let mut all = [0; Self::MAX];
        all.get_mut(..keys.len())?.copy_from_slice(keys);
        Some(Self {
            keys: all,
            n: keys.len() as u8,
        })
    }

    /// The keys, one per layer.
    pub fn as_slice(&self) -> &[u32] {
        self.keys.get(..self.n.into()).unwrap_or_default()
    }

    /// The number of layers.
    pub const fn len(&self) -> usize {
        self.n as usize
    }

    /// Whether there is no layer.
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }
}

impl From<LayerKeys> for Vec<u32> {
    fn from(keys: LayerKeys) -> Self {
        keys.as_slice().to_vec()
    }
}

impl TryFrom<Vec<u32>> for LayerKeys {
    type Error = String;

    fn try_from(keys: Vec<u32>) -> Result<Self, String> {
        let most = Self::MAX;
        Self::new(&keys).ok_or_else(|| format!("SynthID-Text has at most {most} keys"))
    }
}

impl std::fmt::Display for LayerKeys {
    /// "654 400 836".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<String> = self.as_slice().iter().map(u32::to_string).collect();
        f.write_str(&keys.join(" "))
    }
}

/// Draws the bits of candidates.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::decoding) struct Tournament {
    /// A random bit for each remainder of a hash.
    table: Vec<bool>,
}

impl Tournament {
    pub(in crate::decoding) fn new() -> Self {
        let mut generator = MersenneTwister::new(TABLE_SEED);
        Self {
            table: (0..TABLE_SIZE)
                .map(|_| generator.random() % 2 == 1)
                .collect(),
        }
    }

    /// Returns the hash of the last `window` generated tokens. Token 0 stands for missing ones.
    pub(in crate::decoding) fn hash_of(generated: &[TokenId], window: usize) -> u64 {
        let start = generated.len().saturating_sub(window);
        let tokens = generated.get(start..).unwrap_or_default();
        let missing = std::iter::repeat_n(0, window - tokens.len());
        let all = missing.chain(tokens.iter().map(|token| u64::from(token.0)));
        all.fold(1, hashed)
    }

    /// Returns a candidate's bit for each key, starting from the lowest.
    pub(in crate::decoding) fn bits(&self, hash: u64, token: TokenId, keys: &LayerKeys) -> u32 {
        let hash = hashed(hash, token.0.into());
        let bits = keys.as_slice().iter().zip(0_u32..).map(|(key, layer)| {
            let place = hashed(hash, (*key).into()) % TABLE_SIZE;
            let bit = self.table.get(place as usize).copied().unwrap_or_default();
            u32::from(bit) << layer
        });
        bits.sum()
    }
}

const fn hashed(hash: u64, data: u64) -> u64 {
    hash.wrapping_add(data)
        .wrapping_mul(MULTIPLIER)
        .wrapping_add(INCREMENT)
}
