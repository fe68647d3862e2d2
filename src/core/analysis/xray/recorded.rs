//! What a recorded step adds to the table of its stages.

use super::{XrayCell, XrayColumn, XrayTable, grammar_column};

use crate::decoding::{Evidence, GrammarReport, KnownCount, Trace};

impl XrayTable {
    /// Removes what the model’s column says about tokens that a server did not name.
    pub(super) fn with_known(mut self, trace: &Trace) -> Self {
        if let Some(model) = self.columns.first_mut() {
            model.n_left = trace.n_known_candidates().into();
            model.entropy_nats = trace.known_entropy_nats();
        }
        // A count beyond the named tokens depends on the size of the vocabulary.
        let n_named = trace.raw.head.len();
        let is_assumed = |count: KnownCount| match count {
            KnownCount::Exactly(n) | KnownCount::AtMost(n) => n as usize > n_named,
            KnownCount::Unknown => false,
        };
        for column in &mut self.columns {
            if trace.n_known_candidates().is_none() && is_assumed(column.n_left) {
                column.n_left = KnownCount::Unknown;
            }
        }
        self
    }

    /// Adds a column for a check after the draw. It changes no probability.
    pub(super) fn add_check(&mut self, report: &GrammarReport, raw: &Evidence) {
        let last = self.columns.last();
        let (n_left, entropy_nats) = last.map_or((KnownCount::Unknown, None), |last| {
            (last.n_left, last.entropy_nats)
        });
        self.columns.push(XrayColumn {
            n_left,
            entropy_nats,
            ..grammar_column(report, raw)
        });
        for row in &mut self.rows {
            let before = row
                .cells
                .iter()
                .rev()
                .find(|cell| **cell != XrayCell::Muted);
            row.cells.push(match before {
                Some(XrayCell::Kept(prob)) if report.is_legal(row.token, raw) == Some(false) => {
                    XrayCell::Cut(Some(*prob))
                }
                Some(XrayCell::Cut(_)) | None => XrayCell::Gone,
                Some(before) => *before,
            });
        }
    }
}
