//! What a lesson can read about the coins tossed in Lab, By hand.

use super::field::{Field, field};
use super::value::{Unit, Value};
use crate::analysis::by_hand::Draws;

/// A field of the draws made by hand.
pub(super) type HandField = Field<Draws>;

/// All fields of the draws.
pub(super) const HAND_FIELDS: &[HandField] = &[
    field("tossed", "how many coins were tossed", |draws| {
        Some(Value::Number(draws.n() as f64, Unit::Count))
    }),
    field(
        "gap",
        "the largest distance between a token’s share of the draws and its probability",
        |draws| {
            let n = draws.n() as f64;
            let gaps = draws.counts.iter();
            let gaps = gaps.map(|tally| (f64::from(tally.count) - tally.expected).abs() / n);
            (n > 0.0).then(|| Value::prob(gaps.fold(0.0, f64::max)))
        },
    ),
];

#[cfg(test)]
mod tests {
    use super::HAND_FIELDS;
    use crate::lessons::field::assert_documented;

    #[test]
    fn the_documentation_lists_every_name() {
        assert_documented("hand", HAND_FIELDS);
    }
}
