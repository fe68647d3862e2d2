//! Replaces the infinities and NaNs that Python writes into JSON files, although JSON does not
//! allow them.

use std::borrow::Cow;

/// What Python writes, longer texts first, and the valid JSON that transformers 5 writes instead.
const REPLACEMENTS: [(&[u8], &[u8]); 3] = [
    (b"-Infinity", br#"{"__float__": "-Infinity"}"#),
    (b"Infinity", br#"{"__float__": "Infinity"}"#),
    (b"NaN", br#"{"__float__": "NaN"}"#),
];

/// Returns the same JSON with every infinity and NaN outside strings replaced.
pub(super) fn without_infinities(json: &[u8]) -> Cow<'_, [u8]> {
    let mut changed = Vec::new();
    let mut n_copied = 0;
    let mut index = 0;
    let mut in_string = false;
    while let Some(byte) = json.get(index) {
        let rest = json.get(index..).unwrap_or_default();
        let found = REPLACEMENTS
            .iter()
            .find(|(old, _)| !in_string && rest.starts_with(old));
        if let Some((old, new)) = found {
            changed.extend_from_slice(json.get(n_copied..index).unwrap_or_default());
            changed.extend_from_slice(new);
            index += old.len();
            n_copied = index;
            continue;
        }
        in_string ^= *byte == b'"';
        // An escaped quotation mark does not end a string.
        index += if in_string && *byte == b'\\' { 2 } else { 1 };
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
    fn infinities_become_valid_json_and_nothing_else_changes() {
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
