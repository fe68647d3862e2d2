//! Where settings lie among those that are varied.

use super::axis::{Axis, Parameter};
use crate::decoding::ChainConfig;

impl Axis {
    /// Returns the index of a value among the values of the axis, with a fraction if it lies between
    /// two of them: 1.5 is halfway from the second to the third. `None` if it lies outside.
    pub fn position(&self, value: f64) -> Option<f64> {
        if let [only] = self.values() {
            return ((only - value).abs() < 1e-9).then_some(0.0);
        }
        let pairs = self.values().windows(2).enumerate();
        pairs.into_iter().find_map(|(index, pair)| {
            let [from, to] = pair else { return None };
            let share = (value - from) / (to - from);
            (-1e-9..=1.0 + 1e-9)
                .contains(&share)
                .then(|| index as f64 + share.clamp(0.0, 1.0))
        })
    }
}

/// Returns the positions of a chain on these axes, if all its other settings are those of `base`. A
/// filter that it lacks counts with its neutral value.
pub fn positions(axes: &[&Axis], base: &ChainConfig, chain: &ChainConfig) -> Option<Vec<f64>> {
    let (mut base, mut same) = (base.clone(), chain.clone());
    let mut positions = Vec::new();
    for axis in axes {
        let parameter = axis.parameter;
        let value = parameter.get(chain).or_else(|| parameter.neutral())?;
        positions.push(axis.position(value)?);
        parameter.set(&mut base, value);
        parameter.set(&mut same, value);
    }
    let is_same = base.active().eq(same.active())
        && base.selector == same.selector
        && base.rules == same.rules
        && base.grammar == same.grammar
        && base.guidance == same.guidance;
    is_same.then_some(positions)
}

impl Parameter {
    /// Returns the value at which it changes nothing, if it has one.
    fn neutral(self) -> Option<f64> {
        let Self::Filter(kind, index) = self else {
            return None;
        };
        let neutral = kind.spec().params.get(index)?.neutral?;
        Some(f64::from(neutral))
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Parameter, positions};
    use crate::decoding::filters::{Temperature, TopK, TopP};
    use crate::decoding::{ChainConfig, Filter, FilterKind};

    fn axis(kind: FilterKind, values: &[f64]) -> Axis {
        Axis::of(Parameter::Filter(kind, 0), values.to_vec()).unwrap()
    }

    #[test]
    fn a_value_lies_between_its_neighbors() {
        let rising = axis(FilterKind::Temperature, &[0.2, 0.4, 0.8]);
        let falling = axis(FilterKind::Temperature, &[0.8, 0.4, 0.2]);
        for (axis, value, expected) in [
            (&rising, 0.2, Some(0.0)),
            (&rising, 0.3, Some(0.5)),
            (&rising, 0.7, Some(1.75)),
            (&rising, 0.8, Some(2.0)),
            (&rising, 0.9, None),
            (&falling, 0.7, Some(0.25)),
            (&falling, 0.1, None),
        ] {
            let found = axis.position(value);
            let is_near = match (found, expected) {
                (Some(found), Some(expected)) => f64::abs(found - expected) < 1e-9,
                (found, expected) => found == expected,
            };
            assert!(is_near, "{value}: {found:?}");
        }
        let one = axis(FilterKind::Temperature, &[0.5]);
        assert_eq!([one.position(0.5), one.position(0.6)], [Some(0.0), None]);
    }

    #[test]
    fn only_chains_that_differ_in_nothing_else_have_a_position() {
        let rows = axis(FilterKind::Temperature, &[0.5, 1.0]);
        let columns = axis(FilterKind::TopP, &[0.5, 1.0]);
        let temperature = |value| Filter::Temperature(Temperature { temperature: value });
        let top_p = |p| Filter::TopP(TopP { p });
        let base = ChainConfig::sampled([temperature(0.7), top_p(0.9)]);
        let at = |chain: &ChainConfig| positions(&[&rows, &columns], &base, chain);
        assert_eq!(at(&ChainConfig::sampled([])), Some(vec![1.0, 1.0]));
        let halfway = ChainConfig::sampled([temperature(0.75), top_p(0.75)]);
        assert_eq!(at(&halfway), Some(vec![0.5, 0.5]));
        let other = ChainConfig::sampled([Filter::TopK(TopK { k: 40 })]);
        assert_eq!(at(&other), None, "top-k is on no axis");
        assert_eq!(at(&ChainConfig::greedy()), None, "no draw");
        assert_eq!(at(&ChainConfig::sampled([temperature(0.2)])), None);
    }
}
