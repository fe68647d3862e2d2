//! Flat YAML: one `key: value` per line. Nested maps, lists over several lines and anchors are not
//! settings, so a text with them is not read.

use super::value::Value;

/// Returns the entries of a text in which every line is a comment or `key: value`.
pub(super) fn entries(text: &str) -> Option<Vec<(String, Value)>> {
    let lines = text.lines().filter(|line| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with('#') || line == "---")
    });
    let entries: Option<Vec<_>> = lines.map(entry).collect();
    entries.filter(|entries| !entries.is_empty())
}

fn entry(line: &str) -> Option<(String, Value)> {
    let (key, value) = line.split_once(':')?;
    let is_indented = key.starts_with([' ', '\t']);
    let key = key.trim_end();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_key = !key.is_empty() && key.chars().all(is_name);
    let is_separate = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_separate && !is_indented).then(|| (key.replace('-', "_"), scalar(value.trim())))
}

/// Parses a value. A list or map on one line is read as JSON.
fn scalar(written: &str) -> Value {
    let is_quoted =
        |quote: char| written.len() >= 2 && written.starts_with(quote) && written.ends_with(quote);
    if is_quoted('\'') {
        let inner = written.get(1..written.len() - 1).unwrap_or_default();
        return Value::Text(inner.replace("''", "'"));
    }
    if is_quoted('"') || written.starts_with(['[', '{']) {
        let json = serde_json::from_str::<serde_json::Value>(written);
        return json.map_or_else(|_not_json| Value::text(written), Value::from);
    }
    // A comment needs a space before it.
    let plain = written.split(" #").next().unwrap_or_default().trim();
    match plain {
        "" | "~" | "null" => Value::Null,
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        number if number.parse::<f64>().is_ok() => Value::Number(number.to_owned()),
        text => Value::text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn flat_entries_are_read_and_anything_else_is_not() {
        let text = "# mild\n---\ntemperature: 0.7 # warm\ntop-p: .9\nstop: [\"a\", \"b: c\"]\n\
                    do_sample: true\nseed: null\nname: 'it''s'\nfree: a b\n";
        let read = entries(text).unwrap();
        let shown: Vec<String> = read
            .iter()
            .map(|(key, value)| format!("{key}={}", value.json()))
            .collect();
        assert_eq!(
            shown.join(" "),
            "temperature=0.7 top_p=.9 stop=[\"a\", \"b: c\"] do_sample=true seed=null \
             name=\"it's\" free=\"a b\""
        );
        for text in [
            "",
            "# only a comment",
            "a sentence: with a colon\nand one without",
            "two words: 1",
            "temperature:0.7",
            "sampling:\n  temperature: 0.7",
            "https://example.com",
        ] {
            assert_eq!(entries(text), None, "{text}");
        }
    }
}
