//! Counts that can't be zero.

use std::num::{NonZeroUsize, ParseIntError};

/// Reads a count, as clap does, with a refusal that says what would be right.
pub(super) fn at_least_1(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse()
        .map_err(|_not_a_count: ParseIntError| "it must be a whole number of at least 1")
}

#[cfg(test)]
mod tests {
    use super::at_least_1;

    #[test]
    fn only_whole_numbers_from_1_on_are_counts() {
        for (text, expected) in [("1", Some(1)), ("12", Some(12)), ("0", None), ("-1", None)] {
            assert_eq!(at_least_1(text).ok().map(usize::from), expected, "{text}");
        }
        assert!(at_least_1("many").unwrap_err().contains("at least 1"));
    }
}
