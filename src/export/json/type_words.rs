//! Errors about a value of the wrong type, in JSON's words instead of Rust's.

/// Describes a parser's message about a value of the wrong type: "a list instead of a whole
/// number". Returns `None` for other messages.
pub(super) fn type_words(message: &str) -> Option<String> {
    let starts = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = starts.iter().find_map(|start| message.strip_prefix(start));
    let (found, expected) = rest?.split_once(", expected ")?;
    let place = expected.rfind(" at line ").unwrap_or(expected.len());
    let expected = expected.get(..place)?;
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        // A list that is too short for an object.
        length if length.bytes().all(|byte| byte.is_ascii_digit()) => "a list",
        value => value,
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a map" => "an object",
        "a sequence" => "a list",
        name if name.starts_with("struct ") => "an object",
        name if name.starts_with("tuple ") || name.starts_with("an array ") => "a list",
        name if name.contains("enum ") => "another kind of value",
        words => words,
    };
    Some(format!("{found} instead of {expected}"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::type_words;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only errors are read")]
    struct Shape {
        count: u32,
        size: f64,
        name: String,
        pair: [u8; 2],
        inner: Option<Box<Shape>>,
    }

    #[test]
    fn no_error_names_a_type_of_rust() {
        for (json, expected) in [
            ("[]", "a list instead of an object"),
            ("7", "integer `7` instead of an object"),
            (r#"{"count": []}"#, "a list instead of a whole number"),
            (r#"{"count": {}}"#, "an object instead of a whole number"),
            (r#"{"count": -1}"#, "integer `-1` instead of a whole number"),
            (r#"{"size": "x"}"#, "string \"x\" instead of a number"),
            (r#"{"name": null}"#, "null instead of a string"),
            (r#"{"pair": 5}"#, "integer `5` instead of a list"),
            (r#"{"inner": 5}"#, "integer `5` instead of an object"),
        ] {
            let error = serde_json::from_str::<Shape>(json).unwrap_err();
            let words = type_words(&error.to_string());
            assert_eq!(words.as_deref(), Some(expected), "{json}: {error}");
        }
        let error = serde_json::from_str::<Shape>("{}").unwrap_err();
        assert_eq!(type_words(&error.to_string()), None);
    }
}
