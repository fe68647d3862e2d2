//! What a guided step records of the two rows that were mixed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Guidance;
use crate::decoding::{Candidates, DecodingError, RankedCandidate, Softmax, TokenId, Trace};

/// The two rows of a guided step, before they were mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixture {
    /// How they were mixed.
    pub guidance: Arc<Guidance>,
    pub own: MixedRow,
    pub other: MixedRow,
}

/// What is recorded of a row that was mixed with another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedRow {
    /// The early layer that the row comes from. `None` for the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// The likeliest token and its probability.
    pub top: TokenId,
    pub top_prob: f64,
    /// The probability of the token that was picked.
    pub prob: f64,
    /// Shannon entropy of the whole row, in nats.
    pub entropy_nats: f64,
    /// The probability of each token of the mixture's recorded head.
    pub head_probs: Vec<f32>,
}

impl Mixture {
    /// Records two rows of logits for the tokens of the mixture's head, and for the token that was
    /// picked.
    pub fn of(
        guidance: &Arc<Guidance>,
        head: &[RankedCandidate],
        picked: TokenId,
        [own, other]: [&[f32]; 2],
    ) -> Result<Self, DecodingError> {
        Ok(Self {
            guidance: Arc::clone(guidance),
            own: MixedRow::of(head, picked, own)?,
            other: MixedRow::of(head, picked, other)?,
        })
    }

    /// Records the two rows of a guided step in its trace, and the early layer that the other one
    /// comes from, if it is one.
    pub fn note(
        trace: &mut Trace,
        guidance: &Arc<Guidance>,
        picked: TokenId,
        rows: [&[f32]; 2],
        layer: Option<u32>,
    ) -> Result<(), DecodingError> {
        let mut mixture = Self::of(guidance, &trace.raw.head, picked, rows)?;
        mixture.other.layer = layer;
        trace.mixture = Some(Box::new(mixture));
        Ok(())
    }

    /// Names both rows as headings, the pane's own first.
    pub fn headings(&self) -> [String; 2] {
        match self.other.layer {
            Some(layer) => ["Last layer".to_owned(), format!("Layer {layer}")],
            None => ["Own", self.guidance.against.spec().name].map(ToOwned::to_owned),
        }
    }

    /// Names both rows at the beginning of a sentence, the pane's own first.
    pub fn subjects(&self) -> [String; 2] {
        match self.other.layer {
            Some(layer) => ["The last layer".to_owned(), format!("layer {layer}")],
            None => ["The pane’s own run", "the guiding run"].map(ToOwned::to_owned),
        }
    }

    /// Returns the memory it takes, in bytes.
    pub fn n_bytes(&self) -> usize {
        let of_row = |row: &MixedRow| size_of_val(row.head_probs.as_slice());
        size_of::<Self>() + of_row(&self.own) + of_row(&self.other)
    }
}

impl MixedRow {
    fn of(
        head: &[RankedCandidate],
        picked: TokenId,
        logits: &[f32],
    ) -> Result<Self, DecodingError> {
        let mut row = Candidates::from_logits(logits)?;
        let (softmax, top) = (row.softmax(), row.best());
        let prob = |token: TokenId, softmax: &Softmax| {
            logits
                .get(token.index())
                .map_or(0.0, |logit| softmax.prob(*logit))
        };
        let in_head = head.iter();
        Ok(Self {
            layer: None,
            top: top.token,
            top_prob: softmax.prob(top.logit),
            prob: prob(picked, &softmax),
            entropy_nats: softmax.entropy_nats,
            head_probs: in_head
                .map(|ranked| prob(ranked.token, &softmax) as f32)
                .collect(),
        })
    }
}
