//! Refuses numbers in a JSON Schema that the library would round: it keeps all of them as 64-bit
//! floats, and the limits of integers as 64-bit integers made from those.

use super::error::{GrammarError, TextPlace};

/// Up to here, every integer is a 64-bit float.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Fails at the first number that would be rounded. `text` is valid JSON.
pub(super) fn check_numbers(text: &str) -> Result<(), GrammarError> {
    let is_of_number = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let mut rest = text;
    while let Some(offset) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (_, found) = rest.split_at(offset);
        if let Some(string) = found.strip_prefix('"') {
            rest = after_string(string);
            continue;
        }
        let end = found.find(|c| !is_of_number(c)).unwrap_or(found.len());
        let (number, after) = found.split_at(end);
        if !is_exact(number) {
            let place = TextPlace::of_byte(text, text.len() - found.len());
            return Err(GrammarError::at(place, reason(number)));
        }
        rest = after;
    }
    Ok(())
}

fn reason(number: &str) -> String {
    format!(
        "{number} can’t be kept exactly; leave out limits beyond ±9007199254740992 (2⁵³), and \
         write at most 15 digits"
    )
}

/// Returns what follows the closing quote of a string.
fn after_string(string: &str) -> &str {
    let mut is_escaped = false;
    let end = string.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.and_then(|end| string.get(end + 1..))
        .unwrap_or_default()
}

/// Returns whether the nearest float is written in the same decimal digits.
fn is_exact(number: &str) -> bool {
    match number.parse::<f64>() {
        Ok(float) if float.abs() <= LARGEST_EXACT => {
            decimal(number) == decimal(&format!("{float:e}"))
        }
        _ => false,
    }
}

/// Returns the digits of a number without zeros around them, and the power of ten of the last one.
/// Returns `None` for an exponent without end.
fn decimal(number: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let unsigned = mantissa.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    let n_zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let exponent = exponent.parse::<i64>().ok()?;
    let last = exponent
        .checked_add(n_zeros)?
        .checked_sub(i64::try_from(fraction.len()).ok()?)?;
    Some((mantissa.starts_with('-'), significant.to_owned(), last))
}

#[cfg(test)]
mod tests {
    use super::check_numbers;

    #[test]
    fn a_number_is_kept_exactly_or_refused() {
        for number in [
            "0",
            "-0",
            "-0.0",
            "0e9",
            "7",
            "-7",
            "10",
            "0.1",
            "-0.25",
            "1.50",
            "1e3",
            "1E+3",
            "2.5e-3",
            "0.000001",
            "9007199254740991",
            "9007199254740992",
            "-9007199254740992",
            "1e15",
            "123456789.123456",
            "1e-300",
        ] {
            for schema in [number.to_owned(), format!("{{\"minimum\":{number}}}")] {
                assert_eq!(check_numbers(&schema), Ok(()), "{schema}");
            }
        }
        for number in [
            "9007199254740993",
            "-9007199254740993",
            "9223372036854775807",
            "1e20",
            "-1e20",
            "12345678901234567890123",
            "9007199254740992.5",
            "0.1000000000000000055",
            "1.00000000000000000001",
            "1e400",
            "-1e400",
            "1e-400",
            "1e-99999999999999999999",
            "5e-324001",
        ] {
            let schema = format!("{{\n\"maximum\": {number}}}");
            let error = check_numbers(&schema).unwrap_err().to_string();
            let expected = format!("Line 2, column 12: {number} can’t be kept exactly");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn digits_in_strings_are_no_numbers() {
        let schema = r#"{"a1e400": "9007199254740993 \" 1e400", "b\\": [1, "\\", 2]}"#;
        assert_eq!(check_numbers(schema), Ok(()));
    }
}
