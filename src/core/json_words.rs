//! What is wrong with a JSON text, in JSON's words instead of Rust's and its parser's.

use serde_json::Error;
use serde_json::error::Category;

/// What is wrong with the syntax, by the start of the parser's message.
const SYNTAX: &[(&str, &str)] = &[
    ("EOF while parsing a list", "it ends within a list"),
    ("EOF while parsing a string", "it ends within a string"),
    ("EOF while parsing an object", "it ends within an object"),
    (
        "EOF while parsing a value",
        "it ends where a value is missing",
    ),
    ("EOF", "it ends too early"),
    (
        "control character",
        "a string contains a line break or another control character",
    ),
    ("expected `\"`", "a quotation mark is missing"),
    ("expected `,` or `]`", "a comma or ] is missing"),
    ("expected `,` or `}`", "a comma or } is missing"),
    ("expected `:`", "a colon is missing"),
    ("expected ident", "an unknown word"),
    ("expected value", "a value is missing"),
    ("invalid escape", "a string has an unknown escape"),
    ("invalid number", "a malformed number"),
    (
        "invalid unicode code point",
        "a string has an escape that is no character",
    ),
    ("key must be a string", "a name is not in quotation marks"),
    (
        "lone leading surrogate",
        "a string has an escape that is no character",
    ),
    ("number out of range", "a number is too large"),
    ("recursion limit exceeded", "it is nested too deeply"),
    ("trailing characters", "something follows the end"),
    ("trailing comma", "a comma too many"),
    (
        "unexpected end of hex escape",
        "a string has an escape that is no character",
    ),
];

/// Describes why a JSON text could not be read: "a comma or ] is missing, at line 3, column 7".
pub fn json_words(error: &Error) -> String {
    let reason = json_reason(error);
    match (error.line(), error.column()) {
        (0, _) => reason,
        (1, 0) => "it is empty".to_owned(),
        _ => format!("{reason}, at {}", json_place(error)),
    }
}

/// Returns where a JSON text could not be read any further: "line 3, column 7".
pub fn json_place(error: &Error) -> String {
    format!("line {}, column {}", error.line(), error.column())
}

/// Describes why a JSON text could not be read, without the place.
pub fn json_reason(error: &Error) -> String {
    let message = error.to_string();
    match error.classify() {
        // Files are read before they are parsed.
        Category::Io => "it could not be read".to_owned(),
        Category::Data => reader_words(&message),
        Category::Eof | Category::Syntax => syntax_words(&message)
            .unwrap_or("it is malformed")
            .to_owned(),
    }
}

/// Rewrites the message of a parser of JSON or TOML, without the place: about the syntax, a field
/// that is missing or unknown, or a value of the wrong type. Other messages stay as they are.
pub fn reader_words(message: &str) -> String {
    let message = match message.rsplit_once(" at line ") {
        Some((message, _place)) => message,
        None => message,
    };
    if let Some(words) = syntax_words(message) {
        return words.to_owned();
    }
    for (start, words) in [
        ("duplicate field `", "occurs twice"),
        ("missing field `", "is missing"),
    ] {
        let rest = message.strip_prefix(start);
        if let Some(name) = rest.and_then(|rest| rest.split('`').next()) {
            return format!("‘{name}’ {words}");
        }
    }
    if message.starts_with("data did not match any variant") {
        return "a value of the wrong kind".to_owned();
    }
    let words = unknown_words(message).or_else(|| type_words(message));
    words.unwrap_or_else(|| message.to_owned())
}

fn syntax_words(message: &str) -> Option<&'static str> {
    let known = SYNTAX.iter().find(|(start, _)| message.starts_with(start));
    known.map(|(_, words)| *words)
}

/// Rewrites a message about a name that is none of the known ones.
fn unknown_words(message: &str) -> Option<String> {
    let starts = ["unknown field `", "unknown variant `"];
    let rest = starts.iter().find_map(|start| message.strip_prefix(start));
    // Every second part is a name between two backquotes.
    let mut names = rest?.split('`').step_by(2);
    let unknown = names.next()?;
    let known: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let known = match known.as_slice() {
        [] => String::new(),
        [only] => format!("; known is {only}"),
        known => format!("; known are {}", known.join(", ")),
    };
    Some(format!("‘{unknown}’ is unknown{known}"))
}

/// Rewrites a message about a value of the wrong type: "a list instead of a whole number".
fn type_words(message: &str) -> Option<String> {
    let starts = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = starts.iter().find_map(|start| message.strip_prefix(start));
    let (found, expected) = rest?.split_once(", expected ")?;
    let found = match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        // A list that is too short for an object.
        length if length.bytes().all(|byte| byte.is_ascii_digit()) => "a list".to_owned(),
        value => literal_words(value),
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a map" => "an object",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        name if name.starts_with("struct ") => "an object",
        name if name.starts_with("tuple ") || name.starts_with("an array ") => "a list",
        name if name.contains("enum ") => "another kind of value",
        words => words,
    };
    Some(format!("{found} instead of {expected}"))
}

/// Rewrites a value such as "integer `7`" or "string \"x\"".
fn literal_words(value: &str) -> String {
    if let Some(text) = value.strip_prefix("string ") {
        return format!("the text {text}");
    }
    match value.split_once(" `") {
        Some((_kind, literal)) => literal.trim_end_matches('`').to_owned(),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::json_words;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are read")]
    struct Shape {
        count: u32,
        #[serde(default)]
        size: f64,
        #[serde(default)]
        name: String,
        #[serde(default)]
        pair: [u8; 2],
        inner: Option<Box<Shape>>,
        kind: Option<Kind>,
        either: Option<Either>,
    }

    #[derive(Debug, Deserialize)]
    enum Kind {
        #[serde(rename = "only")]
        Only,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only errors are read")]
    enum Either {
        Number(u32),
        Text(String),
    }

    #[test]
    fn an_error_names_the_mistake_in_plain_words() {
        for (json, expected) in [
            ("[]", "a list instead of an object"),
            ("7", "7 instead of an object"),
            (r#"{"count": []}"#, "a list instead of a whole number"),
            (r#"{"count": {}}"#, "an object instead of a whole number"),
            (r#"{"count": -1}"#, "-1 instead of a whole number"),
            (r#"{"count": true}"#, "true instead of a whole number"),
            (r#"{"size": "x"}"#, "the text \"x\" instead of a number"),
            (r#"{"name": null}"#, "null instead of a string"),
            (r#"{"pair": 5}"#, "5 instead of a list"),
            (r#"{"inner": 5}"#, "5 instead of an object"),
            ("{}", "‘count’ is missing"),
            (
                r#"{"mood": 5}"#,
                "‘mood’ is unknown; known are count, size, name, pair, inner, kind, either",
            ),
            (r#"{"count": 1, "count": 2}"#, "‘count’ occurs twice"),
            (r#"{"kind": "x"}"#, "‘x’ is unknown; known is only"),
            (r#"{"either": []}"#, "a value of the wrong kind"),
            (r#"{"count": "#, "it ends where a value is missing"),
            (r#"{"count": 1"#, "it ends within an object"),
            (r#"{"name": "x"#, "it ends within a string"),
            (r#"{"pair": [1"#, "it ends within a list"),
            ("Once", "a value is missing"),
            (r#"{"count" 1}"#, "a colon is missing"),
            (r#"{"count": 1 2}"#, "a comma or } is missing"),
            (r#"{"count": 1,}"#, "a comma too many"),
            ("{count: 1}", "a name is not in quotation marks"),
            (r#"{"pair": [1 2]}"#, "a comma or ] is missing"),
            (r#"{"name": "\q"}"#, "a string has an unknown escape"),
            (r#"{"inner": nul}"#, "an unknown word"),
            (r#"{"count": 1} 2"#, "something follows the end"),
            (r#"{"size": 1e999}"#, "a number is too large"),
            (
                "{\"name\": \"a\nb\"}",
                "a string contains a line break or another control character",
            ),
        ] {
            let error = serde_json::from_str::<Shape>(json).unwrap_err();
            let words = json_words(&error);
            assert!(
                words.starts_with(&format!("{expected}, at line ")),
                "{json}: {words} ({error})"
            );
        }
        let error = serde_json::from_str::<Shape>("").unwrap_err();
        assert_eq!(json_words(&error), "it is empty");
        let value = serde_json::json!({ "count": [] });
        let error = serde_json::from_value::<Shape>(value).unwrap_err();
        assert_eq!(json_words(&error), "a list instead of a whole number");
    }
}
