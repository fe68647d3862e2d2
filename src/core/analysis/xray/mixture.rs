//! The columns for guidance: the two rows that were mixed, before the mixture.

use std::sync::Arc;

use super::{XrayCell, XrayColumn, XrayPlace, XrayRow, XrayTable};
use crate::decoding::{KnownCount, Trace};

impl XrayTable {
    /// Under guidance, adds columns for the two rows that were mixed, before the mixture.
    pub(super) fn with_mixture(mut self, trace: &Trace) -> Self {
        let Some(mixture) = &trace.mixture else {
            return self;
        };
        if let Some(model) = self.columns.first_mut() {
            model.at = XrayPlace::Mixture(Arc::clone(&mixture.guidance));
        }
        let rows = mixture
            .headings()
            .into_iter()
            .zip([&mixture.own, &mixture.other]);
        for (place, (heading, mixed)) in rows.enumerate() {
            let column = XrayColumn {
                at: XrayPlace::Row(heading),
                n_left: KnownCount::Exactly(trace.raw.n_candidates),
                entropy_nats: Some(mixed.entropy_nats),
                mass_removed: None,
                distortion_bits: None,
            };
            self.columns.insert(place, column);
            for row in &mut self.rows {
                let mut head = trace.raw.head.iter();
                let in_head = head
                    .position(|ranked| ranked.token == row.token)
                    .and_then(|at| mixed.head_probs.get(at))
                    .map(|prob| f64::from(*prob));
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
