//! The values of other tools' settings, independent of the format.

/// Settings to export, by their names in the tool, in the order of the output.
pub(super) type NamedValues = Vec<(&'static str, Value)>;

/// A value of JSON, Python, a command line or a Modelfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// JSON's `null` or Python's `None`.
    Null,
    Bool(bool),
    /// A number as it was written, so that no digit is lost or invented.
    Number(String),
    /// A string, without its quotes.
    Text(String),
    /// A list or a Python tuple.
    List(Vec<Self>),
    /// Key-value pairs, in order.
    Map(Vec<(Self, Self)>),
    /// A Python expression that is not a literal, unevaluated.
    Code(String),
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a list of strings.
    pub(super) fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Formats the value as JSON on one line.
    pub(super) fn json(&self) -> String {
        self.written("null", "true", "false")
    }

    /// Formats the value as Python on one line.
    pub(super) fn python(&self) -> String {
        self.written("None", "True", "False")
    }

    fn written(&self, null: &str, yes: &str, no: &str) -> String {
        let nested = |value: &Self| value.written(null, yes, no);
        match self {
            Self::Null => null.to_owned(),
            Self::Bool(true) => yes.to_owned(),
            Self::Bool(false) => no.to_owned(),
            Self::Number(written) | Self::Code(written) => written.clone(),
            // Every JSON escape is valid in Python too.
            Self::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(nested).collect();
                format!("[{}]", values.join(", "))
            }
            Self::Map(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", nested(key), nested(value)))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

impl std::fmt::Display for Value {
    /// Shows the value as on a command line: a string without quotes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            other => f.write_str(&other.json()),
        }
    }
}

/// Uses the fewest digits that identify the number: 0.9, not 0.8999999762.
impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<bool> for Value {
    fn from(boolean: bool) -> Self {
        Self::Bool(boolean)
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(boolean) => Self::Bool(boolean),
            serde_json::Value::Number(number) => Self::Number(number.to_string()),
            serde_json::Value::String(text) => Self::Text(text),
            serde_json::Value::Array(values) => {
                Self::List(values.into_iter().map(Self::from).collect())
            }
            serde_json::Value::Object(entries) => {
                let pairs = entries.into_iter();
                Self::Map(
                    pairs
                        .map(|(key, value)| (Self::Text(key), Self::from(value)))
                        .collect(),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn numbers_use_the_fewest_digits() {
        for (number, expected) in [
            (0.9_f32, "0.9"),
            (1.0, "1"),
            (0.05, "0.05"),
            (-2.5, "-2.5"),
            (1e-9, "0.000000001"),
        ] {
            assert_eq!(Value::from(number).json(), expected);
        }
    }

    #[test]
    fn json_and_python_have_different_keywords() {
        let list = Value::List(vec![
            Value::Null,
            Value::Bool(true),
            Value::text("a\n\"b\""),
            Value::Map(vec![(Value::text("13"), Value::from(-2.5))]),
        ]);
        assert_eq!(list.json(), r#"[null, true, "a\n\"b\"", {"13": -2.5}]"#);
        assert_eq!(list.python(), r#"[None, True, "a\n\"b\"", {"13": -2.5}]"#);
    }
}
