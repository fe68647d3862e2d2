//! The values that the bars of the score show.

use crate::generation::Generation;
use crate::state::ScoreMeasure;

/// The value of a measure at each step of a text.
#[derive(Debug, Default, PartialEq)]
pub struct ScoreValues {
    values: Vec<Option<f64>>,
    largest: f64,
    largest_finite: f64,
}

impl ScoreValues {
    /// Computes the values of a text, which depend on its steps alone.
    pub fn of(text: &Generation, measure: ScoreMeasure) -> Self {
        let values = text.steps.iter().map(|step| measure.value(step));
        let values: Vec<Option<f64>> = values.collect();
        let known = || values.iter().flatten().copied();
        let finite = known().filter(|value| value.is_finite());
        Self {
            largest: known().fold(0.0, f64::max),
            largest_finite: finite.fold(0.0, f64::max),
            values,
        }
    }

    /// Returns the values, one for each step; `None` where a server did not report it.
    pub(super) fn list(&self) -> &[Option<f64>] {
        &self.values
    }

    /// Returns the largest value and the largest finite one, each at least 0.
    pub(super) const fn largest(&self) -> [f64; 2] {
        [self.largest, self.largest_finite]
    }
}
