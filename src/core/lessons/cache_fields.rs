//! What a lesson can read about the times with and without the KV cache.

use super::field::{Field, field};
use super::lesson::Curve;
use super::value::Value;
use crate::analysis::cache_lab::CacheLab;

/// A field of a KV cache measurement.
pub(super) type CacheField = Field<CacheLab>;

/// All fields of a measurement.
pub(super) const CACHE_FIELDS: &[CacheField] = &[
    field("length", "the length of the whole text, in tokens", |lab| {
        Some(Value::count(lab.n_text()))
    }),
    field(
        "first_with",
        "the time of the first token with the cache, in milliseconds",
        |lab| first(&Curve::WithCache.points(lab)),
    ),
    field(
        "last_with",
        "the time of the last token with the cache, in milliseconds",
        |lab| last(&Curve::WithCache.points(lab)),
    ),
    field(
        "first_without",
        "the time of the first token without the cache, in milliseconds",
        |lab| first(&Curve::WithoutCache.points(lab)),
    ),
    field(
        "last_without",
        "the time of the last token without the cache, in milliseconds",
        |lab| last(&Curve::WithoutCache.points(lab)),
    ),
    field(
        "line_with",
        "the line through the times with the cache, such as \"0.31 ms + 0.08 ms per 100 tokens\"",
        |lab| Some(Value::Text(lab.on_line()?.words())),
    ),
    field(
        "line_without",
        "the line through the times without the cache",
        |lab| Some(Value::Text(lab.off_line()?.words())),
    ),
    field(
        "same",
        "whether both wrote the same tokens, at the lengths that were compared",
        |lab| {
            let agreement = lab.agreement()?;
            Some(Value::Flag(agreement.first_different.is_none()))
        },
    ),
];

impl Curve {
    /// Returns the points of the curve: lengths of the text, and milliseconds.
    pub fn points(self, lab: &CacheLab) -> Vec<(f64, f64)> {
        match self {
            Self::WithCache => lab.on_points(),
            Self::WithoutCache => lab.off_points(),
        }
    }
}

fn first(points: &[(f64, f64)]) -> Option<Value> {
    points.first().map(|(_, ms)| Value::plain(*ms))
}

fn last(points: &[(f64, f64)]) -> Option<Value> {
    points.last().map(|(_, ms)| Value::plain(*ms))
}

#[cfg(test)]
mod tests {
    use super::{CACHE_FIELDS, Value};
    use crate::analysis::cache_lab::testing::lab;
    use crate::lessons::field::{assert_documented, named};

    #[test]
    fn the_documentation_lists_every_name() {
        assert_documented("cache", CACHE_FIELDS);
    }

    #[test]
    fn times_are_read_from_the_measurement() {
        let lab = lab();
        let number = |name: &str| {
            let field = named(CACHE_FIELDS, name).unwrap();
            field.value(&lab).unwrap().number().unwrap()
        };
        assert!(number("last_without") > 5.0 * number("first_without"));
        assert!(number("last_with") < 2.0 * number("first_with"));
        assert!((number("length") - 110.0).abs() < 1e-9);
        let line = named(CACHE_FIELDS, "line_with").unwrap().value(&lab);
        let words = "0.30 ms + 0.10 ms per 100 tokens".to_owned();
        assert_eq!(line, Some(Value::Text(words)));
    }
}
