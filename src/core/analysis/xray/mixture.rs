//! The columns for guidance: the two rows that were mixed, before the mixture.

use super::{XrayCell, XrayColumn, XrayPlace, XrayRow, XrayTable};
use crate::decoding::{Against, KnownCount, Trace};

/// One of the two rows that guidance mixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MixedWith {
    /// The pane's own row, which the other one guides.
    Own,
    /// The same model after another prompt.
    OtherPrompt,
    /// The second model.
    OtherModel,
}

impl MixedWith {
    /// Returns the heading of its column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "Own",
            Self::OtherPrompt => "Second prompt",
            Self::OtherModel => "Second model",
        }
    }
}

impl XrayTable {
    /// Under guidance, adds columns for the two rows that were mixed, before the mixture.
    pub(super) fn with_mixture(mut self, trace: &Trace) -> Self {
        let Some(mixture) = &trace.mixture else {
            return self;
        };
        let guidance = &mixture.guidance;
        if let Some(model) = self.columns.first_mut() {
            model.at = XrayPlace::Mixture(guidance.scale);
        }
        let other = match guidance.against {
            Against::Prompt(_) => MixedWith::OtherPrompt,
            Against::Model => MixedWith::OtherModel,
        };
        let rows = [(MixedWith::Own, &mixture.own), (other, &mixture.other)];
        for (place, (with, mixed)) in rows.into_iter().enumerate() {
            let column = XrayColumn {
                at: XrayPlace::Row(with),
                n_left: KnownCount::Exactly(trace.raw.n_candidates),
                entropy_nats: Some(mixed.entropy_nats),
                mass_removed: None,
                distortion_bits: None,
            };
            self.columns.insert(place, column);
            for row in &mut self.rows {
                let mut head = trace.raw.head.iter();
                let in_head = head.position(|ranked| ranked.token == row.token);
                let in_head = in_head.and_then(|at| mixed.head_probs.get(at));
                let in_head = in_head.map(|prob| f64::from(*prob));
                let picked = (row.token == trace.draw.token).then_some(mixed.prob);
                let prob = in_head.or(picked);
                row.cells
                    .insert(place, prob.map_or(XrayCell::Unknown, XrayCell::Kept));
            }
        }
        self
    }

    /// Returns the probability of a row's token before the chain.
    pub fn raw_prob(&self, row: &XrayRow) -> Option<f64> {
        let is_raw =
            |column: &XrayColumn| matches!(column.at, XrayPlace::Model | XrayPlace::Mixture(_));
        match row.cells.get(self.columns.iter().position(is_raw)?)? {
            XrayCell::Kept(prob) => Some(*prob),
            _ => None,
        }
    }
}
