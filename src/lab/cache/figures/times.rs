//! What lessons read of a measurement.

use super::CacheLab;
use super::line::Line;
use crate::lessons::{CacheTimes, Curve};

impl CacheTimes for CacheLab {
    fn n_text(&self) -> usize {
        Self::n_text(self)
    }

    fn points(&self, curve: Curve) -> Vec<(f64, f64)> {
        match curve {
            Curve::WithCache => self.on_points(),
            Curve::WithoutCache => self.off_points(),
        }
    }

    fn line_words(&self, curve: Curve) -> Option<String> {
        let line = match curve {
            Curve::WithCache => self.on_line(),
            Curve::WithoutCache => self.off_line(),
        };
        line.map(Line::words)
    }

    fn is_same_text(&self) -> Option<bool> {
        let agreement = self.agreement()?;
        Some(agreement.first_different.is_none())
    }
}
