//! The JSON body of a request. Its fields are taken one by one, and null counts as unset.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::ApiError;
use crate::json_words::json_words;

/// The fields of a request that have not been taken yet.
#[derive(Debug)]
pub(super) struct Body(Map<String, Value>);

/// The value of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    AtMost(usize),
    Unlimited,
}

impl Body {
    /// Parses the body of a request, which must be an object.
    pub(super) fn parse(json: &[u8]) -> Result<Self, ApiError> {
        match serde_json::from_slice(json) {
            Ok(Value::Object(fields)) => Ok(Self::of(fields)),
            Ok(_) => Err(ApiError::invalid("The body must be a JSON object")),
            Err(error) => {
                let reason = json_words(&error);
                Err(ApiError::invalid(format!(
                    "The body is not valid JSON: {reason}"
                )))
            }
        }
    }

    pub(super) fn of(mut fields: Map<String, Value>) -> Self {
        fields.retain(|_, value| !value.is_null());
        Self(fields)
    }

    /// Takes a field.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Returns a copy of the fields but these.
    pub(super) fn without(&self, names: &[&str]) -> Map<String, Value> {
        let fields = self.0.iter();
        let fields = fields.filter(|(name, _)| !names.contains(&name.as_str()));
        fields
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Puts a field back that was only looked at.
    pub(super) fn put_back(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Takes a field that must be true or false.
    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        let read = |value: &Value| value.as_bool();
        self.read(name, "true or false", read)
    }

    /// Takes a field that must be a limit: an integer of at least 0, or −1 for none.
    pub(super) fn limit(&mut self, name: &str) -> Result<Option<Limit>, ApiError> {
        self.read(name, "an integer of at least -1", |value| {
            match (value.as_u64(), value.as_i64()) {
                (Some(n), _) => Some(Limit::AtMost(usize::try_from(n).unwrap_or(usize::MAX))),
                (None, Some(-1)) => Some(Limit::Unlimited),
                _ => None,
            }
        })
    }

    /// Takes a field that must be a count in this range.
    pub(super) fn count(
        &mut self,
        name: &str,
        range: RangeInclusive<usize>,
    ) -> Result<Option<usize>, ApiError> {
        let kind = format!("an integer from {} to {}", range.start(), range.end());
        self.read(name, &kind, |value| {
            let n = usize::try_from(value.as_u64()?).ok();
            n.filter(|n| range.contains(n))
        })
    }

    /// Takes a field that must be a string.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        self.read(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    /// Takes a field that must be an object.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, ApiError> {
        self.read(name, "an object", |value| value.as_object().cloned())
    }

    /// Takes a field that must be a string or a list of strings.
    pub(super) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, ApiError> {
        self.read(name, "a string or a list of strings", |value| match value {
            Value::String(text) => Some(vec![text.clone()]),
            Value::Array(texts) => texts
                .iter()
                .map(|text| text.as_str().map(str::to_owned))
                .collect(),
            _ => None,
        })
    }

    /// Takes a field if its value changes nothing, and fails for any other value.
    pub(super) fn harmless(
        &mut self,
        name: &str,
        changes_nothing: impl Fn(&Value) -> bool,
    ) -> Result<(), ApiError> {
        match self.take(name) {
            Some(value) if !changes_nothing(&value) => Err(ApiError::invalid_field(
                name,
                format!("{name} {} is not supported", shown(&value)),
            )),
            _ => Ok(()),
        }
    }

    /// Fails if a field has not been taken.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        match self.0.keys().next() {
            Some(name) => {
                let message = format!("{name} is not supported");
                Err(ApiError::invalid_field(name, message))
            }
            None => Ok(()),
        }
    }

    /// Returns the fields that have not been taken.
    pub(super) fn into_rest(self) -> Map<String, Value> {
        self.0
    }

    fn read<T>(
        &mut self,
        name: &str,
        kind: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let found = read(&value).ok_or_else(|| {
            let message = format!("{name} must be {kind}, not {}", shown(&value));
            ApiError::invalid_field(name, message)
        })?;
        Ok(Some(found))
    }
}

/// Formats a value for a message, cut if it is long.
pub(super) fn shown(value: &Value) -> String {
    crate::generation::formatting::cut(&value.to_string(), 60)
}
