//! Values whose unknown fields are rejected, and values that are written but not read.

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A value that is rejected if it has fields, at any depth, that would be lost. For types that
/// otherwise ignore unknown fields.
#[derive(Clone, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Known<T>(pub(super) T);

impl<'de, T: Serialize + DeserializeOwned> Deserialize<'de> for Known<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let known: T = serde_json::from_value(given.clone()).map_err(D::Error::custom)?;
        let kept = serde_json::to_value(&known).map_err(D::Error::custom)?;
        match lost_field(&given, &kept) {
            Some(name) => Err(D::Error::custom(format!("unknown field `{name}`"))),
            None => Ok(Self(known)),
        }
    }
}

/// Finds a field that one value has and the other lacks. A field that is null or false may be
/// missing, because defaults are omitted.
fn lost_field<'a>(given: &'a Value, kept: &Value) -> Option<&'a str> {
    match (given, kept) {
        (Value::Object(given), Value::Object(kept)) => {
            given.iter().find_map(|(name, value)| match kept.get(name) {
                Some(kept) => lost_field(value, kept),
                None if matches!(value, Value::Null | Value::Bool(false)) => None,
                None => Some(name.as_str()),
            })
        }
        (Value::Array(given), Value::Array(kept)) => given
            .iter()
            .zip(kept)
            .find_map(|(given, kept)| lost_field(given, kept)),
        _ => None,
    }
}

/// A value derived from others: it is written for readers of the file, and ignored when read.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct Derived<T>(pub(super) T);

impl<'de, T: Default> Deserialize<'de> for Derived<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Ok(Self::default())
    }
}
