//! Top-k: keep a fixed number of the most likely tokens.

use serde::{Deserialize, Serialize};

use crate::decoding::Candidates;

/// Keeps the `k` most likely candidates, of equals the ones with the lowest ids; 0 keeps all.
///
/// Fan, Lewis, Dauphin 2018, "Hierarchical Neural Story Generation".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopK {
    /// How many stay.
    pub k: u32,
}

impl TopK {
    pub(crate) fn apply(self, candidates: &mut Candidates) {
        if !self.is_neutral() {
            candidates.keep_head(self.k as usize);
        }
    }

    pub(crate) const fn is_neutral(self) -> bool {
        self.k == 0
    }
}
