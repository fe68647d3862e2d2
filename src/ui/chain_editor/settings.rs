//! The numbers of each filter and each selector, as the chain editor sets them.

use std::ops::RangeInclusive;

use crate::decoding::filters::LogitBias;
use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
use crate::decoding::{Filter, Selector};

/// One number of a filter or a selector.
#[derive(Debug, PartialEq)]
pub(super) struct Setting<'a> {
    /// What it is called beside the filter's name; empty for the one that the filter is about.
    pub name: &'static str,
    /// What it does, then what does nothing and what is usual; empty where the filter's words say it.
    pub tip: &'static str,
    /// What the slider covers.
    pub range: RangeInclusive<f64>,
    /// How many digits after the point are shown.
    pub decimals: u8,
    /// How values are spread along the slider.
    pub scale: Spread,
    /// The value at which it does nothing, if there is one.
    pub neutral: Option<f64>,
    number: Number<'a>,
}

/// A number as a chain keeps it; nothing for what is none there, or too large.
pub(super) const fn kept(value: f64) -> Option<f32> {
    let value = value as f32;
    if value.is_finite() { Some(value) } else { None }
}

/// How values are spread along a slider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// Equal ways are equal differences.
    Even,
    /// Equal ways are equal factors, and 0 stands at the left end.
    ByFactors,
}

#[derive(Debug, PartialEq)]
enum Number<'a> {
    Real(&'a mut f32),
    Count(&'a mut u32),
}

impl<'a> Setting<'a> {
    /// A number with two digits after the point.
    const fn real(range: RangeInclusive<f64>, number: &'a mut f32) -> Self {
        Self {
            name: "",
            tip: "",
            range,
            decimals: 2,
            scale: Spread::Even,
            neutral: None,
            number: Number::Real(number),
        }
    }

    const fn count(range: RangeInclusive<f64>, number: &'a mut u32) -> Self {
        Self {
            name: "",
            tip: "",
            range,
            decimals: 0,
            scale: Spread::Even,
            neutral: None,
            number: Number::Count(number),
        }
    }

    const fn named(self, name: &'static str, tip: &'static str) -> Self {
        Self { name, tip, ..self }
    }

    const fn neutral(mut self, neutral: f64) -> Self {
        self.neutral = Some(neutral);
        self
    }

    const fn by_factors(mut self, decimals: u8) -> Self {
        self.scale = Spread::ByFactors;
        self.decimals = decimals;
        self
    }

    /// The number.
    pub(super) fn value(&self) -> f64 {
        match &self.number {
            Number::Real(number) => f64::from(**number),
            Number::Count(number) => f64::from(**number),
        }
    }

    /// Sets the number; a count below nothing becomes 0, and what is no number is passed over.
    #[expect(
        clippy::cast_sign_loss,
        reason = "the value was clamped to what a count can hold"
    )]
    pub(super) const fn set(&mut self, value: f64) {
        let Some(real) = kept(value) else {
            return;
        };
        match &mut self.number {
            Number::Real(number) => **number = real,
            Number::Count(number) => {
                **number = value.round().clamp(0.0, u32::MAX as f64) as u32;
            }
        }
    }
}

/// The numbers of a filter, the one that it is about first. A filter of lists has none.
pub(super) fn settings_of(filter: &mut Filter) -> Vec<Setting<'_>> {
    let share = |number| Setting::real(0.0..=1.0, number);
    match filter {
        Filter::LogitBias(_) => Vec::new(),
        Filter::RepetitionPenalty(filter) => {
            vec![Setting::real(1.0..=2.0, &mut filter.penalty).neutral(1.0)]
        }
        Filter::FrequencyPenalty(filter) => {
            vec![Setting::real(-2.0..=2.0, &mut filter.penalty).neutral(0.0)]
        }
        Filter::PresencePenalty(filter) => {
            vec![Setting::real(-2.0..=2.0, &mut filter.penalty).neutral(0.0)]
        }
        Filter::NoRepeatNgram(filter) => {
            vec![Setting::count(0.0..=10.0, &mut filter.n).neutral(0.0)]
        }
        Filter::Dry(filter) => vec![
            Setting::real(0.0..=2.0, &mut filter.multiplier).neutral(0.0),
            Setting::real(1.0..=4.0, &mut filter.base).named("Base", DRY_BASE),
            Setting::count(1.0..=10.0, &mut filter.allowed_length).named("From length", DRY_LENGTH),
        ],
        Filter::Temperature(filter) => {
            vec![Setting::real(0.0..=2.0, &mut filter.temperature).neutral(1.0)]
        }
        Filter::DynamicTemperature(filter) => vec![
            Setting::real(0.0..=2.0, &mut filter.temperature).neutral(1.0),
            (Setting::real(0.0..=2.0, &mut filter.range).named("Range", DYNAMIC_RANGE))
                .neutral(0.0),
            Setting::real(0.0..=4.0, &mut filter.exponent).named("Exponent", DYNAMIC_EXPONENT),
        ],
        Filter::QuadraticSmoothing(filter) => vec![
            Setting::real(0.0..=2.0, &mut filter.factor).neutral(0.0),
            Setting::real(1.0..=3.0, &mut filter.curve).named("Curve", QUADRATIC_CURVE),
        ],
        Filter::TopK(filter) => {
            vec![(Setting::count(1.0..=1000.0, &mut filter.k).by_factors(0)).neutral(0.0)]
        }
        Filter::TopP(filter) => vec![share(&mut filter.p).neutral(1.0)],
        Filter::MinP(filter) => {
            vec![(Setting::real(0.001..=1.0, &mut filter.p).by_factors(3)).neutral(0.0)]
        }
        Filter::TypicalP(filter) => vec![share(&mut filter.p).neutral(1.0)],
        Filter::TopNSigma(filter) => {
            vec![Setting::real(0.0..=5.0, &mut filter.n).neutral(0.0)]
        }
        Filter::EpsilonCutoff(filter) => vec![small_prob(&mut filter.epsilon)],
        Filter::EtaCutoff(filter) => vec![small_prob(&mut filter.epsilon)],
        Filter::Xtc(filter) => vec![
            share(&mut filter.probability).neutral(0.0),
            Setting::real(0.0..=0.5, &mut filter.threshold).named("Threshold", XTC_THRESHOLD),
        ],
        Filter::TopA(filter) => vec![share(&mut filter.a).neutral(0.0)],
        Filter::TailFree(filter) => vec![share(&mut filter.z).neutral(1.0)],
    }
}

fn small_prob(number: &mut f32) -> Setting<'_> {
    (Setting::real(0.0001..=0.1, number).by_factors(4)).neutral(0.0)
}

/// The numbers of a selector.
pub(super) fn settings_of_selector(selector: &mut Selector) -> Vec<Setting<'_>> {
    match selector {
        Selector::Greedy | Selector::Multinomial | Selector::GumbelMax => Vec::new(),
        Selector::MirostatV1(MirostatV1 { tau, eta })
        | Selector::MirostatV2(MirostatV2 { tau, eta }) => vec![
            Setting::real(0.0..=10.0, tau).named("Surprise, bits", MIROSTAT_TAU),
            (Setting::real(0.001..=1.0, eta).by_factors(3)).named("Learning rate", MIROSTAT_ETA),
        ],
        Selector::AdaptiveP(AdaptiveP { target, decay }) => vec![
            (Setting::real(0.0..=1.0, target).named("Target", ADAPTIVE_TARGET)).neutral(-1.0),
            Setting::real(0.0..=0.99, decay).named("Decay", ADAPTIVE_DECAY),
        ],
    }
}

const DRY_BASE: &str = "The penalty grows by this factor with each token that a repetition gets \
                        longer. 1 does not let it grow, 1.75 is usual.";
const DRY_LENGTH: &str = "A repetition is held back once it is so many tokens long. No length does \
                          nothing; 2 is usual, more lets short phrases return.";
const DYNAMIC_RANGE: &str = "How far the temperature may go to either side of its middle. 0 keeps \
                             it there, 0.5 is usual.";
const DYNAMIC_EXPONENT: &str = "How the temperature follows the doubt: above 1 it rises later, \
                                below 1 sooner. 1 follows in proportion and is usual.";
const QUADRATIC_CURVE: &str = "How much faster scores fall that are far below the best. 1 adds \
                               nothing and is usual, 3 is the most.";
const XTC_THRESHOLD: &str = "Only tokens at least this likely can be cut, and only where there are \
                             two of them. Above 0.5 nothing is ever cut, 0.1 is usual.";
const MIROSTAT_TAU: &str = "The surprise of each token is held near so many bits: less is safer, \
                            more is livelier. No value does nothing; 5 is usual.";
const MIROSTAT_ETA: &str = "How much of each miss is made good at the next token. 0 never learns, \
                            0.1 is usual.";
const ADAPTIVE_TARGET: &str = "Tokens about this likely are preferred: less is livelier, more is \
                               safer. Below 0 it is a plain draw, 0.5 is in the middle.";
const ADAPTIVE_DECAY: &str = "How much of what was drawn before still counts at the next token. 0 \
                              looks at the last draw alone, 0.9 is usual.";

/// Sets a filter to where it does nothing.
pub(super) fn neutralize(filter: &mut Filter) {
    if let Filter::LogitBias(filter) = filter {
        *filter = LogitBias::default();
    }
    for mut setting in settings_of(filter) {
        if let Some(neutral) = setting.neutral {
            setting.set(neutral);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw::SELECTORS;
    use super::super::usual::{COMMON, RARE};
    use super::super::words::{long_draw_words, long_words};
    use super::{neutralize, settings_of, settings_of_selector};
    use crate::decoding::Filter;

    fn usual() -> impl Iterator<Item = Filter> {
        COMMON.into_iter().chain(RARE).map(|usual| usual())
    }

    #[test]
    fn every_number_starts_within_its_range_and_can_be_set() {
        for mut filter in usual() {
            let name = filter.name();
            let has_lists = matches!(filter, Filter::LogitBias(_));
            assert_eq!(filter.is_neutral(), has_lists, "{name}");
            assert_eq!(filter.complaint(), None, "{name}");
            let before = filter.clone();
            let settings = settings_of(&mut filter);
            assert_eq!(settings.is_empty(), has_lists, "{name}");
            for mut setting in settings {
                let value = setting.value();
                assert!(setting.range.contains(&value), "{name} {}", setting.name);
                setting.set(value);
                setting.set(f64::NAN);
            }
            assert_eq!(filter, before);
        }
        for mut selector in SELECTORS {
            assert_eq!(selector.complaint(), None);
            for setting in settings_of_selector(&mut selector) {
                assert!(setting.range.contains(&setting.value()), "{}", setting.name);
            }
        }
    }

    #[test]
    fn what_is_set_to_neutral_does_nothing() {
        for mut filter in usual() {
            neutralize(&mut filter);
            assert!(filter.is_neutral(), "{filter}");
            assert_eq!(filter.complaint(), None, "{filter}");
        }
    }

    #[test]
    fn every_control_says_what_it_does_and_then_what_is_usual() {
        let mut tips: Vec<&str> = usual().map(|filter| long_words(&filter)).collect();
        tips.extend(SELECTORS.iter().map(long_draw_words));
        for mut filter in usual() {
            tips.extend(
                settings_of(&mut filter)
                    .iter()
                    .skip(1)
                    .map(|setting| setting.tip),
            );
        }
        for mut selector in SELECTORS {
            tips.extend(
                settings_of_selector(&mut selector)
                    .iter()
                    .map(|setting| setting.tip),
            );
        }
        for tip in tips {
            assert_eq!(tip.matches(". ").count(), 1, "{tip}");
            assert!(tip.ends_with('.'), "{tip}");
        }
    }
}
