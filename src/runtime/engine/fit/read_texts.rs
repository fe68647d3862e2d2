//! The logits of the texts of a fit, which are read once and serve all of its chains.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::guide::Guide;
use super::super::other_rows::RowLogits;
use crate::decoding::{Against, ChainConfig, DecodingError, GrammarRule, LegalTokens, TokenId};
use crate::generation::{FitPlace, FitTokens};

/// What guides the texts of a fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuidedTexts {
    pub against: Against,
    /// What is read in place of each text's prompt.
    pub prompts: Vec<Vec<TokenId>>,
}

impl GuidedTexts {
    /// Returns what guides a text, by its index.
    pub(super) fn guide_of(&self, text: usize) -> Guide {
        let prompt = self.prompts.get(text).cloned().unwrap_or_default();
        Guide::new(self.against.clone(), prompt)
    }
}

/// The logits before each token of the texts, or of a part of them.
#[derive(Debug, Default)]
pub(super) struct ReadTexts {
    pub(super) texts: Vec<FitTokens>,
    /// The grammar whose illegal tokens have a logit of −∞.
    pub(super) grammar: Option<Arc<GrammarRule>>,
    pub(super) guided: Option<GuidedTexts>,
    /// The tokens whose logits are held, in order.
    pub(super) places: Vec<FitPlace>,
    /// One row for each of `places`.
    logits: Vec<f32>,
    /// If the texts are guided, the guide's row for each of `places`.
    others: Vec<f32>,
    /// If the texts are guided, the tokens that the grammar allows at each of `places`: the others
    /// are ruled out after the rows are mixed. Otherwise they are ruled out in `logits`.
    legal: Vec<Option<LegalTokens>>,
}

/// What a model returns for one place.
pub(super) struct ReadRow<'a> {
    pub own: &'a [f32],
    /// The guide's row.
    pub other: Option<&'a [f32]>,
    /// The tokens that the grammar allows, or `None` for all.
    pub legal: Option<LegalTokens>,
}

impl ReadTexts {
    /// Creates it without any rows.
    pub(super) fn of(texts: Vec<FitTokens>) -> Self {
        Self {
            texts,
            ..Self::default()
        }
    }

    /// Returns whether it holds the logits that `other` is going to hold.
    pub(super) fn has_read_as(&self, other: &Self) -> bool {
        self.texts == other.texts && self.grammar == other.grammar && self.guided == other.guided
    }

    /// Makes room for the rows of all texts, but at most this many.
    pub(super) fn reserve(&mut self, n_max_rows: usize, n_vocab: usize) {
        if self.logits.is_empty() {
            let fitted = self.texts.iter().map(|text| text.fitted().len());
            let n_logits = fitted.sum::<usize>().min(n_max_rows) * n_vocab;
            self.logits.reserve_exact(n_logits);
            if self.guided.is_some() {
                self.others.reserve_exact(n_logits);
            }
        }
    }

    /// Adds the row of a place.
    pub(super) fn push(&mut self, place: FitPlace, row: ReadRow<'_>) {
        self.places.push(place);
        match (row.other, row.legal) {
            (Some(other), legal) => {
                self.logits.extend_from_slice(row.own);
                self.others.extend_from_slice(other);
                self.legal.push(legal);
            }
            (None, Some(legal)) => {
                let mut masked = Vec::new();
                legal.mask(row.own, &mut masked);
                self.logits.append(&mut masked);
            }
            (None, None) => self.logits.extend_from_slice(row.own),
        }
    }

    /// Returns the logits that a chain chooses from at a place, by its index.
    pub(super) fn row(
        &self,
        index: usize,
        n_vocab: usize,
        chain: &ChainConfig,
    ) -> Result<Cow<'_, [f32]>, DecodingError> {
        let range = index * n_vocab..(index + 1) * n_vocab;
        let rows = RowLogits {
            own: self.logits.get(range.clone()).unwrap_or_default(),
            other: self.others.get(range),
        };
        let mixed = rows.for_chain(chain)?;
        Ok(match self.legal.get(index) {
            Some(Some(legal)) => {
                let mut masked = Vec::new();
                legal.mask(&mixed, &mut masked);
                Cow::Owned(masked)
            }
            Some(None) | None => mixed,
        })
    }

    /// Drops the rows, to make room for the next.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.logits.clear();
        self.others.clear();
        self.legal.clear();
    }
}
