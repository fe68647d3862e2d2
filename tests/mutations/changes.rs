//! Every change of one field of a JSON document.

use serde_json::{Map, Value, json};

/// Of longer arrays, only the first and the last entry are changed.
const N_LONGEST: usize = 3;

/// One changed document.
pub(crate) struct Change {
    /// What was changed and how: "panes.0.steps.2.coin changed".
    pub what: String,
    /// The path without indices: "panes.steps.coin".
    pub field: String,
    pub bytes: Vec<u8>,
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
            "interrupted",
            "paused",
            "scored",
            "by_server",
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
        "panes" => vec![
            ("finish_detail", json!("x")),
            ("grammar_complete", json!(true)),
            ("not_applied", json!(["top-k 40"])),
        ],
        _ => Vec::new(),
    }
}

/// Changes each field of a document, one at a time, and passes on each changed document.
pub(crate) fn each_change(document: &Value, check: &mut dyn FnMut(&Change)) {
    let mut changer = Changer {
        root: document.clone(),
        path: Vec::new(),
        check,
    };
    changer.visit(document);
}

/// A document that is changed, and the place of the change.
struct Changer<'a> {
    root: Value,
    path: Vec<String>,
    check: &'a mut dyn FnMut(&Change),
}

impl Changer<'_> {
    /// Changes this value, which is at the path, and all values in it.
    fn visit(&mut self, value: &Value) {
        for (how, changed) in changed_values(&self.path, value) {
            self.change(self.path.len(), how, changed);
        }
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.path.push(name.clone());
                    self.remove(fields, name, value);
                    self.visit(value);
                    self.path.pop();
                }
                self.add_fields(fields);
            }
            Value::Array(values) => {
                for index in sampled(values.len()) {
                    self.path.push(index.to_string());
                    if let Some(value) = values.get(index) {
                        self.visit(value);
                    }
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    /// Removes the field at the path. A null may be missing, except where a missing number is that
    /// of the vocabulary.
    fn remove(&mut self, fields: &Map<String, Value>, name: &str, value: &Value) {
        if value.is_null() && name != "n_candidates" {
            return;
        }
        let mut without = fields.clone();
        without.remove(name);
        self.change(self.path.len() - 1, "removed", Value::Object(without));
    }

    /// Adds fields that these lack.
    fn add_fields(&mut self, fields: &Map<String, Value>) {
        let holder = name_of(&self.path).unwrap_or_default().to_owned();
        for (name, added) in additions(&holder) {
            if fields.contains_key(name) {
                continue;
            }
            let mut with = fields.clone();
            with.insert(name.to_owned(), added);
            self.path.push(name.to_owned());
            self.change(self.path.len() - 1, "added", Value::Object(with));
            self.path.pop();
        }
    }

    /// Replaces the value at the first part of the path while the change is checked.
    fn change(&mut self, n_path: usize, how: &str, changed: Value) {
        let pointer = pointer(&self.path[..n_path]);
        let place = self.root.pointer_mut(&pointer).unwrap();
        let before = std::mem::replace(place, changed);
        let is_name = |part: &&String| part.parse::<usize>().is_err();
        let names: Vec<&str> = (self.path.iter().filter(is_name))
            .map(String::as_str)
            .collect();
        let change = Change {
            what: format!("{} {how}", self.path.join(".")),
            field: names.join("."),
            bytes: serde_json::to_vec(&self.root).unwrap(),
        };
        (self.check)(&change);
        *self.root.pointer_mut(&pointer).unwrap() = before;
    }
}

/// Returns the name of the field at a path, or of the list that it is in.
fn name_of(path: &[String]) -> Option<&str> {
    let mut parts = path.iter().rev();
    let name = parts.find(|part| part.parse::<usize>().is_err());
    name.map(String::as_str)
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
    let name = name_of(path);
    let known = ALTERNATIVES
        .iter()
        .find(|(field, _)| name.is_some_and(|name| name == *field));
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
