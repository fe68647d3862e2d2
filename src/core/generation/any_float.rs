//! Numbers in JSON, which has neither infinities nor NaN: those are written as words. For
//! `#[serde(with = "any_float")]`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Finite(f64),
    /// The number as Rust formats it: `-inf`.
    Word(String),
}

impl From<f64> for Stored {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Self::Finite(number)
        } else {
            Self::Word(number.to_string())
        }
    }
}

impl Stored {
    fn number<E: serde::de::Error>(self) -> Result<f64, E> {
        match self {
            Self::Finite(number) => Ok(number),
            Self::Word(word) => word
                .parse()
                .map_err(|_error| E::custom(format!("{word:?} is not a number"))),
        }
    }
}

/// Writes a number.
pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Stored::from(*number).serialize(serializer)
}

/// Reads a number.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Stored::deserialize(deserializer)?.number()
}

/// Such numbers in single precision.
pub mod single {
    use serde::{Deserializer, Serializer};

    /// Writes a number.
    pub fn serialize<S: Serializer>(number: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        super::serialize(&f64::from(*number), serializer)
    }

    /// Reads a number.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number was written in single precision"
    )]
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        super::deserialize(deserializer).map(|number| number as f32)
    }
}

/// Lists of such numbers.
pub mod list {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Stored;

    /// Writes a list.
    pub fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|number| Stored::from(*number)))
    }

    /// Reads a list.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<Stored>::deserialize(deserializer)?.into_iter();
        numbers.map(Stored::number).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    struct Numbers {
        #[serde(with = "super")]
        one: f64,
        #[serde(with = "super::single")]
        single: f32,
        #[serde(with = "super::list")]
        many: Vec<f64>,
    }

    #[test]
    fn every_number_is_read_as_it_was_written() {
        for number in [0.1, -7.0, 1e-300, f64::INFINITY, f64::NEG_INFINITY] {
            let many = vec![number, 1.0];
            let (one, single) = (number, number as f32);
            let json = serde_json::to_string(&Numbers { one, single, many }).unwrap();
            let read: Numbers = serde_json::from_str(&json).unwrap();
            assert_eq!(read.one.to_bits(), number.to_bits(), "{json}");
            assert_eq!(read.single.to_bits(), single.to_bits(), "{json}");
            assert_eq!(read.many[0].to_bits(), number.to_bits(), "{json}");
        }
        assert!(serde_json::from_str::<Numbers>(r#"{"one":"fox","single":1,"many":[]}"#).is_err());
    }
}
