//! Python writes infinities into JSON, which has none; so do some configurations.

use std::borrow::Cow;

/// How Python writes them, and what transformers 5 writes instead, which every reader of JSON reads.
/// What is longer stands first.
const WRITTEN: [(&[u8], &[u8]); 3] = [
    (b"-Infinity", br#"{"__float__": "-Infinity"}"#),
    (b"Infinity", br#"{"__float__": "Infinity"}"#),
    (b"NaN", br#"{"__float__": "NaN"}"#),
];

/// The same file without them.
pub fn without_infinities(json: &[u8]) -> Cow<'_, [u8]> {
    let mut changed = Vec::new();
    let mut n_copied = 0;
    let mut index = 0;
    let mut in_text = false;
    while let Some(byte) = json.get(index) {
        let rest = json.get(index..).unwrap_or_default();
        let found = WRITTEN
            .iter()
            .find(|(old, _)| !in_text && rest.starts_with(old));
        if let Some((old, new)) = found {
            changed.extend_from_slice(json.get(n_copied..index).unwrap_or_default());
            changed.extend_from_slice(new);
            index += old.len();
            n_copied = index;
            continue;
        }
        in_text ^= *byte == b'"';
        // What a backslash stands before ends no text.
        index += if in_text && *byte == b'\\' { 2 } else { 1 };
    }
    if n_copied == 0 {
        return Cow::Borrowed(json);
    }
    changed.extend_from_slice(json.get(n_copied..).unwrap_or_default());
    Cow::Owned(changed)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::without_infinities;

    #[test]
    fn what_is_no_json_becomes_json_and_nothing_else_does() {
        for (json, expected) in [
            (
                r#"{"a": [0.0, Infinity], "b": -Infinity}"#,
                r#"{"a": [0.0, {"__float__": "Infinity"}], "b": {"__float__": "-Infinity"}}"#,
            ),
            (r"[NaN]", r#"[{"__float__": "NaN"}]"#),
        ] {
            let found = without_infinities(json.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), expected);
            serde_json::from_slice::<serde_json::Value>(&found).unwrap();
        }
        for json in [
            r#"{"Infinity": "NaN \" Infinity \\", "a": 1.0}"#,
            r#""\"#,
            "",
        ] {
            let found = without_infinities(json.as_bytes());
            assert!(matches!(found, Cow::Borrowed(_)), "{json}");
        }
    }
}
