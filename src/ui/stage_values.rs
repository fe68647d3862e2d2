//! What the chain editor knows of each filter: its one number, the range of its slider, its words.

use std::ops::RangeInclusive;

use crate::decoding::Filter;
use crate::decoding::filters::{
    FrequencyPenalty, MinP, PresencePenalty, RepetitionPenalty, Temperature, TopK, TopP, Window,
};

/// How a filter's number is edited, and explained.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StageWords {
    /// What the slider covers.
    pub range: RangeInclusive<f64>,
    /// How many digits after the point are shown.
    pub decimals: usize,
    /// What it does, in a few words.
    pub short: &'static str,
    /// What it does; what does nothing, and what is usual.
    pub long: &'static str,
}

/// How this filter's number is edited, and explained.
pub(super) const fn words_of(filter: &Filter) -> StageWords {
    let (range, decimals, short, long) = match filter {
        Filter::RepetitionPenalty(_) => (
            1.0..=2.0,
            2,
            "Holds back tokens that have occurred",
            "Divides the score of tokens that have occurred by this factor. 1 does nothing, 1.05 to \
             1.3 is usual.",
        ),
        Filter::FrequencyPenalty(_) => (
            -2.0..=2.0,
            2,
            "Holds back tokens each time they occur",
            "Lowers a token's score by this much for each time that it has occurred. 0 does nothing, \
             0.1 to 1 is usual; below 0 it encourages.",
        ),
        Filter::PresencePenalty(_) => (
            -2.0..=2.0,
            2,
            "Holds back tokens once they occurred",
            "Lowers a token's score by this much once it has occurred. 0 does nothing, 0.1 to 1 is \
             usual; below 0 it encourages.",
        ),
        Filter::Temperature(_) => (
            0.0..=2.0,
            2,
            "Below 1 sharpens, above 1 flattens",
            "Divides all scores by this number, so that likely tokens gain below 1 and lose above \
             it. 1 does nothing, 0.5 to 1.2 is usual; 0 takes the top token.",
        ),
        Filter::TopK(_) => (
            0.0..=200.0,
            0,
            "Keeps so many of the most likely",
            "Keeps this many of the most likely tokens and cuts all others. 0 does nothing, 20 to \
             100 is usual.",
        ),
        Filter::TopP(_) => (
            0.0..=1.0,
            2,
            "Keeps the fewest that hold this share",
            "Keeps the fewest most likely tokens that together hold this share of the probability. 1 \
             does nothing, 0.8 to 0.95 is usual.",
        ),
        Filter::MinP(_) => (
            0.0..=1.0,
            2,
            "Keeps those near enough to the best",
            "Keeps tokens at least this many times as likely as the most likely one. 0 does nothing, \
             0.02 to 0.2 is usual.",
        ),
    };
    StageWords {
        range,
        decimals,
        short,
        long,
    }
}

/// A filter of each kind, in the order in which they usually stand, set to something usual.
pub(super) const fn usual() -> [Filter; 7] {
    [
        Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: 1.1,
            window: Window::LAST_64,
        }),
        Filter::FrequencyPenalty(FrequencyPenalty {
            penalty: 0.5,
            window: Window::LAST_64,
        }),
        Filter::PresencePenalty(PresencePenalty {
            penalty: 0.5,
            window: Window::LAST_64,
        }),
        Filter::Temperature(Temperature { temperature: 0.8 }),
        Filter::TopK(TopK { k: 40 }),
        Filter::TopP(TopP { p: 0.9 }),
        Filter::MinP(MinP { p: 0.05 }),
    ]
}

/// The filter's number.
pub(super) fn value(filter: &Filter) -> f64 {
    match filter {
        Filter::RepetitionPenalty(filter) => filter.penalty.into(),
        Filter::FrequencyPenalty(filter) => filter.penalty.into(),
        Filter::PresencePenalty(filter) => filter.penalty.into(),
        Filter::Temperature(filter) => filter.temperature.into(),
        Filter::TopK(filter) => filter.k.into(),
        Filter::TopP(filter) => filter.p.into(),
        Filter::MinP(filter) => filter.p.into(),
    }
}

/// Sets the filter's number.
#[expect(
    clippy::cast_sign_loss,
    reason = "a count below nothing is typed in vain and becomes 0"
)]
pub(super) fn set_value(filter: &mut Filter, value: f64) {
    match filter {
        Filter::RepetitionPenalty(filter) => filter.penalty = value as f32,
        Filter::FrequencyPenalty(filter) => filter.penalty = value as f32,
        Filter::PresencePenalty(filter) => filter.penalty = value as f32,
        Filter::Temperature(filter) => filter.temperature = value as f32,
        Filter::TopK(filter) => filter.k = value.round() as u32,
        Filter::TopP(filter) => filter.p = value as f32,
        Filter::MinP(filter) => filter.p = value as f32,
    }
}

/// Where a penalty looks, if the filter is one.
pub(super) const fn window(filter: &mut Filter) -> Option<&mut Window> {
    match filter {
        Filter::RepetitionPenalty(filter) => Some(&mut filter.window),
        Filter::FrequencyPenalty(filter) => Some(&mut filter.window),
        Filter::PresencePenalty(filter) => Some(&mut filter.window),
        Filter::Temperature(_) | Filter::TopK(_) | Filter::TopP(_) | Filter::MinP(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{set_value, usual, value, words_of};

    #[test]
    fn every_filter_starts_within_its_range_and_does_something() {
        for mut filter in usual() {
            let words = words_of(&filter);
            let before = value(&filter);
            assert!(words.range.contains(&before), "{filter}");
            assert!(!filter.is_neutral(), "{filter}");
            assert_eq!(filter.complaint(), None);
            set_value(&mut filter, before);
            assert_eq!(value(&filter), before);
        }
    }

    #[test]
    fn each_kind_is_there_once() {
        let mut names: Vec<&str> = usual().iter().map(|filter| filter.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), usual().len());
    }
}
