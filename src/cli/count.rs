//! Arguments that are counts.

use std::num::{NonZeroUsize, ParseIntError};
use std::ops::RangeInclusive;

use crate::generation::formatting::grouped;

/// More tokens than the context of any model has.
pub(crate) const N_MAX_TOKENS: u64 = 20_000_000;

/// Returns a parser of whole numbers in this range; the error names both ends.
pub(crate) fn count<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let n = text.parse().ok().filter(|n| range.contains(n));
        n.and_then(|n| T::try_from(n).ok()).ok_or_else(|| {
            let [least, most] = [range.start(), range.end()].map(|n| grouped(*n as f64));
            format!("it must be a whole number from {least} to {most}")
        })
    }
}

/// Parses a count that something else limits; the error says which values are valid.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse()
        .map_err(|_not_a_count: ParseIntError| "it must be a whole number, at least 1")
}

#[cfg(test)]
mod tests {
    use super::{at_least_one, count};

    #[test]
    fn only_whole_numbers_of_at_least_one_are_counts() {
        for (text, expected) in [("1", Some(1)), ("12", Some(12)), ("0", None), ("-1", None)] {
            assert_eq!(at_least_one(text).ok().map(usize::from), expected, "{text}");
        }
        assert!(at_least_one("many").unwrap_err().contains("at least 1"));
    }

    #[test]
    fn a_count_is_within_its_range() {
        let parse = count::<u32>(2..=4_000);
        for (text, expected) in [
            ("2", Some(2)),
            ("4000", Some(4000)),
            ("1", None),
            ("4001", None),
            ("-1", None),
            ("1e3", None),
            ("4294967298", None),
            ("99999999999999999999", None),
            ("", None),
        ] {
            assert_eq!(parse(text).ok(), expected, "{text}");
        }
        let error = parse("0").unwrap_err();
        assert_eq!(error, "it must be a whole number from 2 to 4,000");
        // A number that the range allows and the type does not.
        assert!(count::<u8>(0..=4_000)("300").is_err());
    }
}
