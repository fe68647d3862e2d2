//! The `format` keyword of JSON Schema: patterns that are stricter than the library's, and formats
//! that are ignored.

use serde_json::{Map, Value, json};

/// The formats that are compiled. JSON Schema says to ignore all others.
const KNOWN: [&str; 10] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uri",
    "uuid",
];

/// A day that exists: February has a 29th only in leap years.
const DATE: &str = "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])\
    |(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)\
    |02-(?:0[1-9]|1[0-9]|2[0-8]))\
    |(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";

/// The fraction of a second.
const FRACTION: &str = r"(?:\.[0-9]+)?";

/// Keywords whose values are maps from names to schemas.
const MAPS: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Keywords whose values are data, in which `format` is only a name.
const DATA: [&str; 6] = [
    "const",
    "default",
    "enum",
    "example",
    "examples",
    "x-guidance",
];

/// Replaces the formats of a schema and of its parts. Returns the names of those that are ignored,
/// each once.
pub(super) fn replace_formats(schema: &mut Value) -> Vec<String> {
    let mut ignored = Vec::new();
    replace_in(schema, &mut ignored);
    ignored.sort();
    ignored.dedup();
    ignored
}

fn replace_in(schema: &mut Value, ignored: &mut Vec<String>) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(|part| replace_in(part, ignored)),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if let (true, Value::Object(parts)) = (MAPS.contains(&key.as_str()), &mut *value) {
                    parts
                        .values_mut()
                        .for_each(|part| replace_in(part, ignored));
                } else if !DATA.contains(&key.as_str()) {
                    replace_in(value, ignored);
                }
            }
            replace_own(fields, ignored);
        }
        _ => {}
    }
}

/// Replaces the format of one schema.
fn replace_own(fields: &mut Map<String, Value>, ignored: &mut Vec<String>) {
    let Some(format) = fields.get("format").and_then(Value::as_str) else {
        return;
    };
    let pattern = match format {
        "date" => DATE.to_owned(),
        "time" => time(),
        "date-time" => format!("{DATE}[tT]{}", time()),
        known if KNOWN.contains(&known) => return,
        unknown => {
            ignored.push(unknown.to_owned());
            fields.remove("format");
            return;
        }
    };
    fields.remove("format");
    let pattern = json!(format!("^(?:{pattern})$"));
    if fields.contains_key("pattern") {
        let both = fields.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(all) = both {
            all.push(json!({ "pattern": pattern }));
        }
    } else {
        fields.insert("pattern".to_owned(), pattern);
    }
}

/// Returns the pattern of a time of day with its offset (RFC 3339, section 5.6). Leap seconds are
/// inserted at 23:59:60 UTC only, which is another time of day at another offset. They are
/// recognized at offsets of whole quarter hours, as all time zones have had since there are leap
/// seconds.
fn time() -> String {
    let mut leaps = vec![format!("23:59:60{FRACTION}[zZ]")];
    for hour in 0..24 {
        for minute in [0, 15, 30, 45] {
            let offset = hour * 60 + minute;
            for (sign, local) in [(r"\+", 1439 + offset), ("-", 1439 + 1440 - offset)] {
                let (local_hour, local_minute) = (local / 60 % 24, local % 60);
                leaps.push(format!(
                    "{local_hour:02}:{local_minute:02}:60{FRACTION}{sign}{hour:02}:{minute:02}"
                ));
            }
        }
    }
    format!(
        "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]{FRACTION}\
         (?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])|{})",
        leaps.join("|")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{KNOWN, replace_formats};
    use crate::decoding::{GrammarKind, GrammarRule};

    fn accepts(schema: &Value, text: &str) -> bool {
        let rule = GrammarRule::new(GrammarKind::Schema, &schema.to_string());
        rule.accepts(format!("\"{text}\"").as_bytes()).unwrap()
    }

    #[test]
    fn leap_seconds_are_at_the_end_of_a_day_in_utc() {
        for (text, is_valid) in [
            ("1998-12-31T23:59:60Z", true),
            ("1998-12-31t23:59:60.5z", true),
            ("1998-12-31T15:59:60.123-08:00", true),
            ("1999-01-01T00:59:60+01:00", true),
            ("1999-01-01T05:29:60+05:30", true),
            ("1999-01-01T05:44:60+05:45", true),
            ("1998-12-31T20:29:60-03:30", true),
            ("1998-12-31T23:59:60+00:00", true),
            ("1998-12-31T21:30:60Z", false),
            ("1998-12-31T23:58:60Z", false),
            ("1998-12-31T22:59:60Z", false),
            ("1998-12-31T23:59:60+01:00", false),
            ("1998-12-31T23:59:61Z", false),
            ("1998-12-31T21:30:59Z", true),
            ("1998-12-31T21:30:59.25+23:59", true),
            ("1998-12-31T24:00:00Z", false),
            ("1998-12-31T21:30:59", false),
        ] {
            let found = accepts(&json!({ "type": "string", "format": "date-time" }), text);
            assert_eq!(found, is_valid, "{text}");
            let time = text.split(['t', 'T']).nth(1).unwrap();
            let found = accepts(&json!({ "type": "string", "format": "time" }), time);
            assert_eq!(found, is_valid, "{time}");
        }
    }

    #[test]
    fn only_days_that_exist_are_dates() {
        for (text, is_valid) in [
            ("2024-02-29", true),
            ("2000-02-29", true),
            ("2023-02-29", false),
            ("1900-02-29", false),
            ("2023-02-28", true),
            ("2023-04-31", false),
            ("2023-12-31", true),
            ("2023-13-01", false),
        ] {
            let found = accepts(&json!({ "type": "string", "format": "date" }), text);
            assert_eq!(found, is_valid, "{text}");
        }
    }

    #[test]
    fn a_pattern_beside_a_format_still_counts() {
        let schema = json!({ "type": "string", "format": "date", "pattern": "^2024" });
        assert!(accepts(&schema, "2024-02-29") && !accepts(&schema, "2023-02-28"));
        assert!(!accepts(&schema, "2024-02-30"));
    }

    #[test]
    fn every_known_format_can_be_compiled_and_any_other_is_ignored() {
        for format in KNOWN {
            let schema = json!({ "type": "string", "format": format });
            assert!(!accepts(&schema, "nonsense!"), "{format}");
        }
        for format in ["nonsense", "json-pointer", "idn-email", "unknown"] {
            assert!(
                accepts(&json!({ "format": format }), "anything"),
                "{format}"
            );
        }
    }

    #[test]
    fn ignored_formats_are_named_once() {
        let schema = json!({ "anyOf": [{ "format": "b" }, { "format": "a" }, { "format": "b" }] });
        let rule = |kind| GrammarRule::new(kind, &schema.to_string());
        assert_eq!(rule(GrammarKind::Schema).ignored_formats(), ["a", "b"]);
        assert!(rule(GrammarKind::Lark).ignored_formats().is_empty());
    }

    #[test]
    fn a_format_counts_only_in_a_schema() {
        let mut schema = json!({
            "properties": {
                "format": { "format": "odd" },
                "when": { "anyOf": [{ "format": "odd" }, { "format": "strange" }] },
            },
            "const": { "format": "kept" },
            "$defs": { "x": { "items": { "format": "email" } } },
        });
        assert_eq!(replace_formats(&mut schema), ["odd", "strange"]);
        assert_eq!(schema["const"]["format"], "kept");
        assert_eq!(schema["$defs"]["x"]["items"]["format"], "email");
        assert_eq!(schema["properties"]["format"], json!({}));
    }
}
