//! Numbers in answers: the last one, and how near it must be.

use super::CheckError;
use super::words::brief;

/// A number that the last number of an answer must be, or be near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberRule {
    pub(super) value: f64,
    /// The greatest difference that is still right. At 0 the numbers must be the same.
    pub(super) tolerance: f64,
}

impl NumberRule {
    /// Reads `42` or `42 within 0.5`, which begins at a column of its check.
    pub(super) fn parse(source: &str, column: usize) -> Result<Self, CheckError> {
        let (value, tolerance) = match source.split_once("within") {
            Some((value, tolerance)) => (number(value), number(tolerance)),
            None => (number(source), Some(0.0)),
        };
        match (value, tolerance) {
            (Some(value), Some(tolerance)) if tolerance >= 0.0 => Ok(Self { value, tolerance }),
            _ => {
                let value = brief(source);
                Err(CheckError::InvalidNumber { value, column })
            }
        }
    }

    /// Returns whether a number is near enough. A rounding error at the limit doesn't matter.
    pub(super) fn holds(self, found: f64) -> bool {
        let rounding = if self.tolerance > 0.0 {
            2.0 * f64::EPSILON * self.value.abs().max(found.abs())
        } else {
            0.0
        };
        (found - self.value).abs() <= self.tolerance + rounding
    }

    pub(super) fn written(self) -> String {
        let value = written(self.value);
        if self.tolerance > 0.0 {
            format!("{value} within {}", written(self.tolerance))
        } else {
            value
        }
    }
}

/// Reads a count of words, which begins at a column of its check.
pub(super) fn count(source: &str, column: usize) -> Result<usize, CheckError> {
    let count: Option<usize> = source.trim().parse().ok();
    count.ok_or_else(|| {
        let value = brief(source);
        CheckError::InvalidCount { value, column }
    })
}

/// Writes a number so that it reads back as the same.
pub(super) fn written(number: f64) -> String {
    let size = number.abs();
    if size > 0.0 && !(1e-6..1e15).contains(&size) {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}

/// Reads a text that is one finite number.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.trim_start_matches(['+', '-', '−']);
    let is_one_sign = text.chars().count() - unsigned.chars().count() <= 1;
    let is_whole = is_one_sign && end_of_number(unsigned.as_bytes(), 0) == unsigned.len();
    let is_number = is_whole && !unsigned.is_empty();
    let value = is_number.then(|| last_number(text)).flatten();
    value.filter(|value| value.is_finite())
}

/// Returns the last number of a text: with a sign, separators of thousands, decimals and an exponent.
///
/// Digits in a word, as in CO2, are none; nor is the hyphen of 3-4 a sign.
pub(super) fn last_number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let mut last = None;
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        if byte.is_ascii_alphabetic() || *byte == b'_' {
            index = end_of_word(bytes, index);
            continue;
        }
        let end = end_of_number(bytes, index);
        if end > index {
            last = Some((index, end));
        }
        index = end.max(index + 1);
    }
    let (start, end) = last?;
    let digits = text.get(start..end)?.replace(',', "");
    let value: f64 = digits.parse().ok()?;
    Some(if is_negative(text.get(..start)?) {
        -value
    } else {
        value
    })
}

/// Returns whether a number after this text has a minus sign.
fn is_negative(before: &str) -> bool {
    let unsigned = before.strip_suffix(['-', '−']);
    unsigned.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == ')'))
}

/// Returns the end of a word with its digits, as in `v1.5`.
fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while bytes
        .get(end)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        || (bytes.get(end) == Some(&b'.') && n_digits(bytes, end + 1) > 0)
    {
        end += 1;
    }
    end
}

/// Returns the end of the number without sign that starts at a byte, or `start` if none does.
fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let n_first = n_digits(bytes, start);
    let mut end = start + n_first;
    while (1..=3).contains(&n_first)
        && bytes.get(end) == Some(&b',')
        && n_digits(bytes, end + 1) == 3
    {
        end += 4;
    }
    if bytes.get(end) == Some(&b'.') {
        let n_decimals = n_digits(bytes, end + 1);
        end += if n_decimals > 0 { n_decimals + 1 } else { 0 };
    }
    if end > start && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let has_sign = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        let first = end + 1 + usize::from(has_sign);
        let n_exponent = n_digits(bytes, first);
        end = if n_exponent > 0 {
            first + n_exponent
        } else {
            end
        };
    }
    end
}

fn n_digits(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
