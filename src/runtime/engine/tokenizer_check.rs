//! Checks a `tokenizer.json` for parts that the tokenizers crate would accept although it should
//! not: parts that don't fit together, or that can take any amount of memory.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;

use crate::json_words::json_words;

/// The largest factor by which a file may lengthen a text. Ordinary files lengthen it up to
/// 33-fold, for a single ligature.
const MAX_GROWTH: f64 = 1e4;

/// The parts of the file that are checked.
#[derive(Debug, Deserialize)]
struct Parts {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
}

/// Returns the factor by which a text can grow before it is split into tokens, at least 1. Fails if
/// the file must not be used. That includes files that are malformed or contain a part twice,
/// because the crate builds each part before it reads the next.
pub(super) fn check(json: &[u8]) -> Result<f64, String> {
    let parts: Parts = serde_json::from_slice(json).map_err(|error| json_words(&error))?;
    let growth = growth_by(&parts.normalizer)? * growth_by(&parts.pre_tokenizer)?;
    check_post_processor(&parts.post_processor)?;
    if growth > MAX_GROWTH {
        return Err(format!(
            "its normalizer can lengthen a text {growth:.0}-fold"
        ));
    }
    Ok(growth)
}

/// Returns the factor by which a normalizer or pre-tokenizer can lengthen a text. Goes by the
/// fields rather than the type, because the crate does the same for types that it does not know.
fn growth_by(part: &Value) -> Result<f64, String> {
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    if part.get("length").and_then(Value::as_u64) == Some(0) {
        return Err("its FixedLength splits a text into pieces of 0 characters".to_owned());
    }
    let mut growth = 1.0;
    for key in ["normalizers", "pretokenizers"] {
        for part in part
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            growth *= growth_by(part)?;
        }
    }
    if let Some(content) = text("content") {
        growth *= growth_by_replacement(part.get("pattern"), content);
    }
    if let Some(table) = text("precompiled_charsmap") {
        growth *= growth_by_table(table)?;
    }
    // Each byte becomes a character of one or two bytes.
    if text("type") == Some("ByteLevel") || part.get("trim_offsets").is_some() {
        growth *= 2.0;
    }
    Ok(growth)
}

/// Returns the factor by which a `Replace` can lengthen a text.
fn growth_by_replacement(pattern: Option<&Value>, content: &str) -> f64 {
    let old = pattern.and_then(|pattern| pattern.get("String")?.as_str());
    let n_new = content.len() as f64;
    match old.map(str::len) {
        Some(n_old) if n_old > 0 => (n_new / n_old as f64).max(1.0),
        // A regular expression can match an empty string between any two bytes.
        _ => n_new + 1.0,
    }
}

/// Checks a `Precompiled` table: the size of its trie, the trie, and the texts that replace others,
/// each terminated by a zero byte.
fn growth_by_table(base64: &str) -> Result<f64, String> {
    let table = BASE64_STANDARD.decode(base64);
    let table = table.map_err(|error| format!("its Precompiled normalizer: {error}"))?;
    let size = table.first_chunk().map(|size| u32::from_le_bytes(*size));
    let texts = size.and_then(|size| table.get(4..)?.get(size as usize..));
    let Some(texts) = texts else {
        return Err("its Precompiled normalizer is incomplete".to_owned());
    };
    let longest = texts.split(|byte| *byte == 0).map(<[u8]>::len).max();
    Ok(longest.unwrap_or_default().max(1) as f64)
}

/// Checks that each special token that a template adds is defined.
fn check_post_processor(part: &Value) -> Result<(), String> {
    if let Some(parts) = part.get("processors").and_then(Value::as_array) {
        return parts.iter().try_for_each(check_post_processor);
    }
    let defined = part.get("special_tokens");
    let templates = ["single", "pair"].into_iter();
    let pieces = templates
        .filter_map(|key| part.get(key)?.as_array())
        .flatten();
    for name in pieces.filter_map(|piece| piece.get("SpecialToken")?.get("id")?.as_str()) {
        if defined.and_then(|defined| defined.get(name)).is_none() {
            return Err(format!(
                "its parts are inconsistent: it adds the token {name:?}, but does not define it"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    fn checked(normalizer: &Value, pre_tokenizer: &Value) -> Result<f64, String> {
        let file = json!({"normalizer": normalizer, "pre_tokenizer": pre_tokenizer});
        check(file.to_string().as_bytes())
    }

    fn replace(pattern: &Value, content: &str) -> Value {
        json!({"type": "Replace", "pattern": pattern, "content": content})
    }

    #[test]
    fn a_text_grows_by_the_product_of_all_replacements() {
        let sequence = |parts: Vec<Value>| json!({"type": "Sequence", "normalizers": parts});
        let space = replace(&json!({"String": " "}), "▁");
        let shorter = replace(&json!({"String": "``"}), "\"");
        let spaces = replace(&json!({"Regex": " {2,}"}), " ");
        let bytes = json!({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]});
        for (normalizer, pre_tokenizer, growth) in [
            (&Value::Null, &Value::Null, 1.0),
            (&space, &Value::Null, 3.0),
            (
                &sequence(vec![space.clone(), shorter, spaces]),
                &bytes,
                12.0,
            ),
            (&json!({"type": "NFC"}), &bytes, 2.0),
        ] {
            let found = checked(normalizer, pre_tokenizer).unwrap();
            assert!((found - growth).abs() < 1e-9, "{found} instead of {growth}");
        }
        let bomb = sequence(vec![replace(&json!({"String": "a"}), &"a".repeat(20)); 30]);
        // The crate treats a sequence of an unknown type as what its fields suggest.
        let mut unnamed = bomb.clone();
        unnamed["type"] = json!("Sequence?");
        for bomb in [bomb, unnamed] {
            let refused = checked(&bomb, &Value::Null).unwrap_err();
            assert!(refused.contains("can lengthen a text"), "{refused}");
        }
        let endless =
            json!({"type": "Sequence", "pretokenizers": vec![json!({"type": "ByteLevel"}); 30]});
        assert!(checked(&Value::Null, &endless).is_err());
    }

    #[test]
    fn parts_that_would_panic_are_refused() {
        let table = |base64: &str| json!({"type": "Precompiled", "precompiled_charsmap": base64});
        // A trie of 4 GB in a table of 6 bytes, and a table that is not Base64.
        for (base64, reason) in [
            ("/////wAA", "Precompiled normalizer is incomplete"),
            ("", "Precompiled normalizer is incomplete"),
            ("?", "Precompiled normalizer: Invalid symbol 63"),
        ] {
            let refused = checked(&table(base64), &Value::Null).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
        // The crate would allocate the trie before it finds the second normalizer, or the end.
        let bomb = table("/////wAA");
        for file in [
            format!(r#"{{"normalizer": {bomb}, "normalizer": null}}"#),
            format!(r#"{{"normalizer": {bomb} true}}"#),
        ] {
            let refused = check(file.as_bytes()).unwrap_err();
            assert!(refused.contains("line 1, column"), "{refused}");
        }
        // An empty trie, and the texts "abc" and "d".
        assert!(checked(&table("AAAAAGFiYwBkAA=="), &Value::Null).is_ok());
        let fixed = json!({"type": "FixedLength", "length": 0});
        assert!(
            checked(&Value::Null, &fixed)
                .unwrap_err()
                .contains("0 characters")
        );
    }
}
