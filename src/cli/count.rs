//! Arguments that are counts of at least one.

use std::num::{NonZeroUsize, ParseIntError};

/// Parses a count; the error says which values are valid.
pub(super) fn at_least_one(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse()
        .map_err(|_not_a_count: ParseIntError| "it must be a whole number, at least 1")
}

#[cfg(test)]
mod tests {
    use super::at_least_one;

    #[test]
    fn only_whole_numbers_of_at_least_one_are_counts() {
        for (text, expected) in [("1", Some(1)), ("12", Some(12)), ("0", None), ("-1", None)] {
            assert_eq!(at_least_one(text).ok().map(usize::from), expected, "{text}");
        }
        assert!(at_least_one("many").unwrap_err().contains("at least 1"));
    }
}
