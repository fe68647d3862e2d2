//! The two rows of a guided step in a file of format 2.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decoding::{Guidance, MixedRow, Mixture, Trace};
use crate::export::json::ParseError;

/// The rows that were mixed, and how.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MixtureEntry {
    /// `None` if it is the guidance in the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guidance: Option<Guidance>,
    own: MixedRow,
    other: MixedRow,
}

impl MixtureEntry {
    pub(super) fn of(trace: &Trace, known: Option<&Arc<Guidance>>) -> Option<Self> {
        let mixture = trace.mixture.as_deref()?;
        let is_known = known.is_some_and(|known| *known == mixture.guidance);
        Some(Self {
            guidance: (!is_known).then(|| Guidance::clone(&mixture.guidance)),
            own: mixture.own.clone(),
            other: mixture.other.clone(),
        })
    }

    pub(super) fn into_mixture(self, known: Option<&Arc<Guidance>>) -> Result<Mixture, ParseError> {
        let guidance = self.guidance.map(Arc::new).or_else(|| known.cloned());
        let guidance = guidance.ok_or_else(|| ParseError::damaged("a mixture has no guidance"))?;
        Ok(Mixture {
            guidance,
            own: self.own,
            other: self.other,
        })
    }
}
