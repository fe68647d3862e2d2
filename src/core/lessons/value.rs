//! Values and their formats.

use crate::generation::formatting::{grouped, percent};

/// A value that a lesson reads from the window or the record.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Flag(bool),
    Number(f64, Unit),
    Text(String),
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// "1,024".
    Count,
    /// A probability or a share: "41 %".
    Prob,
    /// "2.31", at most three significant digits.
    Plain,
    /// As many decimals as a setting has: "0.7".
    Setting,
    /// A very small number: "3e−17".
    Tiny,
}

impl Value {
    /// Creates a count.
    pub(super) fn count(n: usize) -> Self {
        Self::Number(n as f64, Unit::Count)
    }

    /// Creates a plain number.
    pub(super) fn plain(number: f64) -> Self {
        Self::Number(number, Unit::Plain)
    }

    /// Creates a probability.
    pub(super) fn prob(prob: f64) -> Self {
        Self::Number(prob, Unit::Prob)
    }

    /// Returns the number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number, _) => Some(*number),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(true) => f.write_str("yes"),
            Self::Flag(false) => f.write_str("no"),
            Self::Text(text) => f.write_str(text),
            Self::Number(number, unit) => f.write_str(&unit.words(*number)),
        }
    }
}

impl Unit {
    fn words(self, number: f64) -> String {
        match self {
            Self::Count => grouped(number),
            Self::Prob => percent(number),
            Self::Plain => {
                let decimals = match number.abs() {
                    ..1.0 => 3,
                    ..10.0 => 2,
                    ..100.0 => 1,
                    _ => return grouped(number),
                };
                format!("{number:.decimals$}")
            }
            Self::Setting => format!("{number:.3}")
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned(),
            Self::Tiny if number >= 0.001 => format!("{number:.3}"),
            Self::Tiny => format!("{number:.0e}").replace('-', "−"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Unit, Value};

    #[test]
    fn numbers_are_formatted_by_their_unit() {
        for (number, unit, words) in [
            (6144.0, Unit::Count, "6,144"),
            (0.412, Unit::Prob, "41 %"),
            (0.05, Unit::Plain, "0.050"),
            (2.314, Unit::Plain, "2.31"),
            (23.14, Unit::Plain, "23.1"),
            (0.7, Unit::Setting, "0.7"),
            (40.0, Unit::Setting, "40"),
            (0.25, Unit::Tiny, "0.250"),
            (3.2e-17, Unit::Tiny, "3e−17"),
        ] {
            assert_eq!(Value::Number(number, unit).to_string(), words);
        }
    }
}
