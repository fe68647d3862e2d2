//! What a lesson can read about the times with and without the KV cache.

use std::fmt::Debug;

use super::field::{Field, field};
use super::lesson::Curve;
use super::value::Value;

/// The times of generating a text with the KV cache and without it.
pub trait CacheTimes: Debug {
    /// Returns how many tokens the whole text has.
    fn n_text(&self) -> usize;

    /// Returns the points of a curve: lengths of the text, and milliseconds for the next token.
    fn points(&self, curve: Curve) -> Vec<(f64, f64)>;

    /// Describes the line through the points of a curve.
    fn line_words(&self, curve: Curve) -> Option<String>;

    /// Returns whether both wrote the same tokens, at the lengths that were compared.
    fn is_same_text(&self) -> Option<bool>;
}

/// A field of a KV cache measurement.
pub(super) type CacheField = Field<dyn CacheTimes>;

/// All fields of a measurement.
pub(super) const CACHE_FIELDS: &[CacheField] = &[
    field("length", "the length of the whole text, in tokens", |lab| {
        Some(Value::count(lab.n_text()))
    }),
    field(
        "first_with",
        "the time of the first token with the cache, in milliseconds",
        |lab| first(&lab.points(Curve::WithCache)),
    ),
    field(
        "last_with",
        "the time of the last token with the cache, in milliseconds",
        |lab| last(&lab.points(Curve::WithCache)),
    ),
    field(
        "first_without",
        "the time of the first token without the cache, in milliseconds",
        |lab| first(&lab.points(Curve::WithoutCache)),
    ),
    field(
        "last_without",
        "the time of the last token without the cache, in milliseconds",
        |lab| last(&lab.points(Curve::WithoutCache)),
    ),
    field(
        "line_with",
        "the line through the times with the cache, such as \"0.31 ms + 0.08 ms per 100 tokens\"",
        |lab| lab.line_words(Curve::WithCache).map(Value::Text),
    ),
    field(
        "line_without",
        "the line through the times without the cache",
        |lab| lab.line_words(Curve::WithoutCache).map(Value::Text),
    ),
    field(
        "same",
        "whether both wrote the same tokens, at the lengths that were compared",
        |lab| lab.is_same_text().map(Value::Flag),
    ),
];

fn first(points: &[(f64, f64)]) -> Option<Value> {
    points.first().map(|(_, ms)| Value::plain(*ms))
}

fn last(points: &[(f64, f64)]) -> Option<Value> {
    points.last().map(|(_, ms)| Value::plain(*ms))
}

#[cfg(test)]
mod tests {
    use super::{CACHE_FIELDS, CacheTimes, Value};
    use crate::lessons::Curve;
    use crate::lessons::field::{assert_documented, named};

    /// Times that grow with the length of the text without the cache, and hardly with it.
    #[derive(Debug)]
    struct Times;

    impl CacheTimes for Times {
        fn n_text(&self) -> usize {
            110
        }

        fn points(&self, curve: Curve) -> Vec<(f64, f64)> {
            let slope = match curve {
                Curve::WithCache => 0.001,
                Curve::WithoutCache => 0.3,
            };
            let lengths = [11.0, 60.0, 109.0];
            lengths.map(|length| (length, 0.3 + slope * length)).into()
        }

        fn line_words(&self, curve: Curve) -> Option<String> {
            (curve == Curve::WithCache).then(|| "0.30 ms + 0.10 ms per 100 tokens".to_owned())
        }

        fn is_same_text(&self) -> Option<bool> {
            Some(true)
        }
    }

    #[test]
    fn the_documentation_lists_every_name() {
        assert_documented("cache", CACHE_FIELDS);
    }

    #[test]
    fn times_are_read_from_the_measurement() {
        let value = |name: &str| named(CACHE_FIELDS, name).unwrap().value(&Times);
        let number = |name: &str| value(name).unwrap().number().unwrap();
        assert!(number("last_without") > 5.0 * number("first_without"));
        assert!(number("last_with") < 2.0 * number("first_with"));
        assert!((number("length") - 110.0).abs() < 1e-9);
        let words = "0.30 ms + 0.10 ms per 100 tokens".to_owned();
        assert_eq!(value("line_with"), Some(Value::Text(words)));
        assert_eq!(value("line_without"), None);
        assert_eq!(value("same"), Some(Value::Flag(true)));
    }
}
