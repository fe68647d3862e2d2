//! The numbers of each filter, as the chain editor sets them.

use std::ops::RangeInclusive;

use crate::decoding::Filter;
use crate::decoding::filters::Window;

/// One number of a filter.
#[derive(Debug, PartialEq)]
pub(super) struct Setting<'a> {
    /// What it is called beside the filter's name; empty for the one that the filter is about.
    pub name: &'static str,
    /// What the slider covers.
    pub range: RangeInclusive<f64>,
    /// How many digits after the point are shown.
    pub decimals: u8,
    /// Whether the slider moves by factors.
    pub logarithmic: bool,
    number: Number<'a>,
}

#[derive(Debug, PartialEq)]
enum Number<'a> {
    Real(&'a mut f32),
    Count(&'a mut u32),
}

impl<'a> Setting<'a> {
    const fn real(
        name: &'static str,
        range: RangeInclusive<f64>,
        decimals: u8,
        number: &'a mut f32,
    ) -> Self {
        Self {
            name,
            range,
            decimals,
            logarithmic: false,
            number: Number::Real(number),
        }
    }

    const fn count(name: &'static str, range: RangeInclusive<f64>, number: &'a mut u32) -> Self {
        Self {
            name,
            range,
            decimals: 0,
            logarithmic: false,
            number: Number::Count(number),
        }
    }

    /// The number.
    pub(super) fn value(&self) -> f64 {
        match &self.number {
            Number::Real(number) => f64::from(**number),
            Number::Count(number) => f64::from(**number),
        }
    }

    /// Sets the number; a count below nothing becomes 0.
    #[expect(
        clippy::cast_sign_loss,
        reason = "the value was clamped to what a count can hold"
    )]
    pub(super) const fn set(&mut self, value: f64) {
        match &mut self.number {
            Number::Real(number) => **number = value as f32,
            Number::Count(number) => {
                **number = value.round().clamp(0.0, u32::MAX as f64) as u32;
            }
        }
    }
}

/// The numbers of a filter, the one that it is about first. A filter of lists has none.
pub(super) fn settings_of(filter: &mut Filter) -> Vec<Setting<'_>> {
    match filter {
        Filter::LogitBias(_) => Vec::new(),
        Filter::RepetitionPenalty(filter) => {
            vec![Setting::real("", 1.0..=2.0, 2, &mut filter.penalty)]
        }
        Filter::FrequencyPenalty(filter) => {
            vec![Setting::real("", -2.0..=2.0, 2, &mut filter.penalty)]
        }
        Filter::PresencePenalty(filter) => {
            vec![Setting::real("", -2.0..=2.0, 2, &mut filter.penalty)]
        }
        Filter::NoRepeatNgram(filter) => vec![Setting::count("", 0.0..=10.0, &mut filter.n)],
        Filter::Dry(filter) => vec![
            Setting::real("", 0.0..=2.0, 2, &mut filter.multiplier),
            Setting::real("base", 1.0..=3.0, 2, &mut filter.base),
            Setting::count("free length", 1.0..=10.0, &mut filter.allowed_length),
        ],
        Filter::Temperature(filter) => {
            vec![Setting::real("", 0.0..=2.0, 2, &mut filter.temperature)]
        }
        Filter::DynamicTemperature(filter) => vec![
            Setting::real("", 0.0..=2.0, 2, &mut filter.temperature),
            Setting::real("range", 0.0..=2.0, 2, &mut filter.range),
            Setting::real("exponent", 0.0..=4.0, 2, &mut filter.exponent),
        ],
        Filter::QuadraticSmoothing(filter) => vec![
            Setting::real("", 0.0..=2.0, 2, &mut filter.factor),
            Setting::real("curve", 1.0..=3.0, 2, &mut filter.curve),
        ],
        Filter::TopK(filter) => vec![Setting::count("", 0.0..=200.0, &mut filter.k)],
        Filter::TopP(filter) => vec![Setting::real("", 0.0..=1.0, 2, &mut filter.p)],
        Filter::MinP(filter) => vec![Setting::real("", 0.0..=1.0, 2, &mut filter.p)],
        Filter::TypicalP(filter) => vec![Setting::real("", 0.0..=1.0, 2, &mut filter.p)],
        Filter::TopNSigma(filter) => vec![Setting::real("", 0.0..=5.0, 2, &mut filter.n)],
        Filter::EpsilonCutoff(filter) => vec![by_factors(&mut filter.epsilon)],
        Filter::EtaCutoff(filter) => vec![by_factors(&mut filter.epsilon)],
        Filter::Xtc(filter) => vec![
            Setting::real("", 0.0..=1.0, 2, &mut filter.probability),
            Setting::real("threshold", 0.0..=0.5, 2, &mut filter.threshold),
        ],
        Filter::TopA(filter) => vec![Setting::real("", 0.0..=1.0, 2, &mut filter.a)],
        Filter::TailFree(filter) => vec![Setting::real("", 0.0..=1.0, 2, &mut filter.z)],
    }
}

/// A small probability.
fn by_factors(number: &mut f32) -> Setting<'_> {
    Setting {
        logarithmic: true,
        ..Setting::real("", 0.0001..=0.1, 4, number)
    }
}

/// Where a filter looks back, if it does.
pub(super) const fn window_of(filter: &mut Filter) -> Option<&mut Window> {
    match filter {
        Filter::RepetitionPenalty(filter) => Some(&mut filter.window),
        Filter::FrequencyPenalty(filter) => Some(&mut filter.window),
        Filter::PresencePenalty(filter) => Some(&mut filter.window),
        Filter::NoRepeatNgram(filter) => Some(&mut filter.window),
        Filter::Dry(filter) => Some(&mut filter.window),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::settings_of;
    use crate::ui::stage_words::{COMMON, RARE};

    #[test]
    fn every_number_starts_within_its_range_and_can_be_set() {
        for mut filter in COMMON.into_iter().chain(RARE).map(|usual| usual()) {
            let name = filter.name();
            assert!(!filter.is_neutral(), "{name}");
            assert_eq!(filter.complaint(), None, "{name}");
            let before = filter.clone();
            let settings = settings_of(&mut filter);
            assert!(!settings.is_empty(), "{name}");
            for mut setting in settings {
                let value = setting.value();
                assert!(setting.range.contains(&value), "{name} {}", setting.name);
                setting.set(value);
            }
            assert_eq!(filter, before);
        }
    }
}
