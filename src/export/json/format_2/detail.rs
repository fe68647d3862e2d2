//! What a step records below its head, as base64.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::decoding::{Detail, DetailBytes};
use crate::export::json::ParseError;

/// A step's detail.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DetailEntry {
    /// All logits by token id, as 32-bit little-endian floats.
    Logits(String),
    /// More candidates and a histogram, in the layout of [`DetailBytes::Summary`].
    Summary(String),
}

impl DetailEntry {
    pub(super) fn of(detail: &Detail) -> Option<Self> {
        Some(match detail.to_bytes()? {
            DetailBytes::Whole(bytes) => Self::Logits(BASE64_STANDARD.encode(bytes)),
            DetailBytes::Summary(bytes) => Self::Summary(BASE64_STANDARD.encode(bytes)),
        })
    }

    pub(super) fn into_detail(self) -> Result<Detail, ParseError> {
        let decoded = |text: String| BASE64_STANDARD.decode(text).ok();
        let bytes = match self {
            Self::Logits(text) => decoded(text).map(DetailBytes::Whole),
            Self::Summary(text) => decoded(text).map(DetailBytes::Summary),
        };
        let detail = bytes.as_ref().and_then(Detail::from_bytes);
        detail.ok_or_else(|| ParseError::damaged("a step’s detail can’t be decoded"))
    }
}
