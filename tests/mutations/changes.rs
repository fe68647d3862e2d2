//! Every change of one field of a JSON document.

use serde_json::{Value, json};

/// Of longer arrays, only the first and the last entry are changed.
const N_LONGEST: usize = 3;

/// One changed document.
pub(crate) struct Change {
    /// What was changed and how: "panes.0.steps.2.coin changed".
    pub what: String,
    /// The path without indices, and what was done: "panes.steps.coin".
    pub field: String,
    pub document: Value,
}

/// Words that stand for each other, by the name of their field.
const ALTERNATIVES: [(&str, &[&str]); 13] = [
    (
        "picked",
        &["by_hand", "given", "by_beams", "by_ratio", "by_server"],
    ),
    (
        "finish_reason",
        &[
            "end_of_text",
            "stop_string",
            "grammar_complete",
            "max_tokens",
            "context_full",
            "cancelled",
            "paused",
            "scored",
            "error",
        ],
    ),
    ("fate", &["running", "ended", "dropped"]),
    ("change", &["by_hand", "settings", "seed"]),
    ("end_of_text", &["stops", "ignored"]),
    ("implementation", &["candle_transformers", "server"]),
    ("dialect", &["llama.cpp", "transformers", "vllm"]),
    ("selector", &["greedy", "multinomial", "gumbel-max"]),
    ("filter", &["temperature", "top-k", "top-p", "min-p"]),
    ("rule", &["same_coin", "ratio"]),
    ("mode", &["mask", "check"]),
    ("kind", &["regex", "lark", "json_schema"]),
    ("scope", &["all", "generated"]),
];

/// Fields that may be added, by the name of the field that holds them or of its list.
fn additions(holder: &str) -> Vec<(&'static str, Value)> {
    match holder {
        "steps" => vec![
            ("coin", json!(0.25)),
            ("coin_below", json!(0.25)),
            ("picked", json!("by_hand")),
            ("bounded", json!(true)),
            ("n_candidates", json!(7)),
            ("piece", json!({"piece": "king"})),
            ("mask_secs", json!(0.5)),
            ("network_secs", json!(0.5)),
            ("draft", json!({"n_drafts": 1, "place": 0, "token": 5})),
        ],
        "vocabulary" => vec![("special", json!(true)), ("bytes", json!([120]))],
        "prompt" => vec![("chat", json!({"system": "", "rendered": "x"}))],
        "" => vec![
            ("title", json!("A title")),
            ("finished_at", json!(1_700_000_000)),
        ],
        "panes" => vec![("finish_detail", json!("x"))],
        _ => Vec::new(),
    }
}

/// Returns the document with each of its fields changed, one at a time.
pub(crate) fn changes(document: &Value) -> Vec<Change> {
    let mut all = Vec::new();
    let mut path = Vec::new();
    visit(document, document, &mut path, &mut all);
    all
}

fn visit(root: &Value, value: &Value, path: &mut Vec<String>, all: &mut Vec<Change>) {
    for (how, changed) in changed_values(path, value) {
        let mut document = root.clone();
        if let Some(place) = document.pointer_mut(&pointer(path)) {
            *place = changed;
        }
        all.push(change(path, how, document));
    }
    match value {
        Value::Object(fields) => {
            for name in fields.keys() {
                let mut without = fields.clone();
                without.remove(name);
                path.push(name.clone());
                let mut document = root.clone();
                let holder = path.get(..path.len() - 1).unwrap_or_default();
                if let Some(place) = document.pointer_mut(&pointer(holder)) {
                    *place = Value::Object(without);
                }
                all.push(change(path, "removed", document));
                if let Some(value) = fields.get(name) {
                    visit(root, value, path, all);
                }
                path.pop();
            }
            let holder = path
                .iter()
                .rev()
                .find(|part| part.parse::<usize>().is_err());
            for (name, added) in additions(holder.map_or("", String::as_str)) {
                if fields.contains_key(name) {
                    continue;
                }
                let mut document = root.clone();
                if let Some(Value::Object(fields)) = document.pointer_mut(&pointer(path)) {
                    fields.insert(name.to_owned(), added);
                }
                path.push(name.to_owned());
                all.push(change(path, "added", document));
                path.pop();
            }
        }
        Value::Array(values) => {
            for index in sampled(values.len()) {
                path.push(index.to_string());
                if let Some(value) = values.get(index) {
                    visit(root, value, path, all);
                }
                path.pop();
            }
        }
        _ => {}
    }
}

fn sampled(n: usize) -> Vec<usize> {
    if n <= N_LONGEST {
        return (0..n).collect();
    }
    vec![0, n - 1]
}

fn pointer(path: &[String]) -> String {
    let parts = path
        .iter()
        .map(|part| part.replace('~', "~0").replace('/', "~1"));
    parts.fold(String::new(), |pointer, part| pointer + "/" + &part)
}

fn change(path: &[String], how: &str, document: Value) -> Change {
    let names: Vec<&str> = (path.iter().map(String::as_str))
        .filter(|part| part.parse::<usize>().is_err())
        .collect();
    Change {
        what: format!("{} {how}", path.join(".")),
        field: names.join("."),
        document,
    }
}

/// Returns other values for a field.
fn changed_values(path: &[String], value: &Value) -> Vec<(&'static str, Value)> {
    match value {
        Value::Null => vec![("set", json!(0.5))],
        Value::Bool(flag) => vec![("flipped", json!(!flag))],
        Value::Number(number) => changed_numbers(number),
        Value::String(text) => changed_texts(path, text),
        Value::Array(values) => changed_arrays(values),
        Value::Object(_) => Vec::new(),
    }
}

fn changed_numbers(number: &serde_json::Number) -> Vec<(&'static str, Value)> {
    if let Some(n) = number.as_u64() {
        let mut changed = vec![("plus 1", json!(n.wrapping_add(1)))];
        changed.extend((n > 0).then(|| ("minus 1", json!(n - 1))));
        return changed;
    }
    let x = number.as_f64().unwrap_or_default();
    vec![
        ("plus 0.001", json!(x + 0.001)),
        ("negated", json!(-x - 1.0)),
    ]
}

fn changed_texts(path: &[String], text: &str) -> Vec<(&'static str, Value)> {
    let mut changed = vec![("with another letter", json!(other_letter(text)))];
    let name = path
        .iter()
        .rev()
        .find(|part| part.parse::<usize>().is_err());
    let known = ALTERNATIVES
        .iter()
        .find(|(field, _)| name.is_some_and(|name| name == field));
    let others = known.map(|(_, words)| *words).unwrap_or_default();
    let others = others.iter().filter(|word| **word != text);
    changed.extend(others.map(|word| ("replaced", json!(word))));
    changed
}

/// Changes the last letter or digit, so that a hash stays a hash.
fn other_letter(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    match letters.iter_mut().rev().find(|c| c.is_ascii_alphanumeric()) {
        Some(c) => *c = if *c == 'a' { 'b' } else { 'a' },
        None => letters.push('a'),
    }
    letters.into_iter().collect()
}

fn changed_arrays(values: &[Value]) -> Vec<(&'static str, Value)> {
    let mut changed = Vec::new();
    if values.is_empty() {
        return changed;
    }
    for index in [0, values.len() - 1] {
        let mut fewer = values.to_vec();
        let entry = fewer.remove(index);
        changed.push(("with an entry less", Value::Array(fewer)));
        let mut more = values.to_vec();
        more.insert(index, entry);
        changed.push(("with an entry twice", Value::Array(more)));
    }
    for pair in [0, values.len().saturating_sub(2)] {
        if values.get(pair) != values.get(pair + 1) && pair + 1 < values.len() {
            let mut swapped = values.to_vec();
            swapped.swap(pair, pair + 1);
            changed.push(("with two entries swapped", Value::Array(swapped)));
        }
    }
    changed
}
