//! Reads rows of logits from the command line or from JSON.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{Arguments, Failure};
use crate::analysis::by_hand::LogitRow;
use crate::cli::text_input::read_text;
use crate::decoding::TokenId;
use crate::json_words::json_words;

/// The accepted forms of JSON.
const SHAPES: &str = "a list of numbers, {\"logits\": […], \"history\": […], \"n_prompt\": n}, or a \
                      list of such objects";

/// The largest JSON: a hundred rows over a vocabulary of 200,000.
const MAX_BYTES: u64 = 256_000_000;

/// JSON text and its origin, which is `None` if the argument itself is the JSON.
struct Json {
    text: String,
    origin: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with logits")]
struct Entry {
    logits: Vec<Value>,
    history: Option<Vec<TokenId>>,
    n_prompt: Option<usize>,
}

/// Reads the rows that the arguments specify.
pub(super) fn read(arguments: &Arguments) -> Result<Vec<LogitRow>, Failure> {
    let defaults = LogitRow {
        logits: Vec::new(),
        history: ids(arguments.history.as_deref().unwrap_or_default())?,
        n_prompt: arguments.prompt_tokens,
    };
    let Some(json) = json(&arguments.logits)? else {
        let logits = scores(&arguments.logits)?;
        return Ok(vec![LogitRow { logits, ..defaults }]);
    };
    rows(&json.text, &defaults).map_err(|reason| match json.origin {
        Some(origin) => Failure::run(format!("{reason}\n{origin}")),
        None => Failure::run(reason),
    })
}

/// Parses rows from JSON. Missing fields are taken from `defaults`.
fn rows(json: &str, defaults: &LogitRow) -> Result<Vec<LogitRow>, String> {
    let mut rows = Vec::new();
    for (entry, number) in entries(json)?.into_iter().zip(1..) {
        let logits: Result<Vec<f32>, String> = entry.logits.iter().map(score).collect();
        rows.push(LogitRow {
            logits: logits.map_err(|reason| format!("row {number}: {reason}"))?,
            history: entry.history.unwrap_or_else(|| defaults.history.clone()),
            n_prompt: entry.n_prompt.unwrap_or(defaults.n_prompt),
        });
    }
    Ok(rows)
}

fn entries(json: &str) -> Result<Vec<Entry>, String> {
    let refused = |error: serde_json::Error| {
        let reason = json_words(&error);
        format!("the scores are not {SHAPES}: {reason}")
    };
    let value: Value = serde_json::from_str(json).map_err(|error| {
        if let Some(written) = infinity_in(json) {
            return format!(
                "JSON has no {written}: write null or \"-inf\" for a score of −∞; Python’s json.dumps \
                 writes neither"
            );
        }
        refused(error)
    })?;
    let values = match value {
        Value::Array(values) if values.iter().any(Value::is_object) => values,
        Value::Array(logits) => {
            return Ok(vec![Entry {
                logits,
                history: None,
                n_prompt: None,
            }]);
        }
        value => vec![value],
    };
    let entries = values.into_iter().map(serde_json::from_value::<Entry>);
    entries.collect::<Result<_, _>>().map_err(refused)
}

/// Returns the infinity or NaN that Python wrote into the JSON, if any.
fn infinity_in(json: &str) -> Option<&'static str> {
    let written = ["-Infinity", "Infinity", "NaN"];
    // Inside strings they are valid.
    let outside = json.split('"').step_by(2);
    outside
        .flat_map(|part| written.into_iter().filter(|word| part.contains(word)))
        .next()
}

/// Parses one logit. JSON has no infinities, so null and strings such as "-inf" are accepted.
fn score(value: &Value) -> Result<f32, String> {
    let score = match value {
        Value::Null => Some(f32::NEG_INFINITY),
        Value::Number(number) => number.as_f64().map(|score| score as f32),
        Value::String(word) => word.trim().parse().ok(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    score.ok_or_else(|| match value {
        Value::Array(_) => "a list is not a number".to_owned(),
        Value::Object(_) => "an object is not a number".to_owned(),
        value => format!("{value} is not a number"),
    })
}

/// Returns the JSON, or `None` if the argument is a plain list of numbers.
fn json(argument: &str) -> Result<Option<Json>, Failure> {
    if argument == "-" {
        let text = read_text(Path::new("-"), "the scores", MAX_BYTES)?;
        let origin = Some("Standard input".to_owned());
        return Ok(Some(Json { text, origin }));
    }
    if argument.trim_start().starts_with(['[', '{']) {
        let text = argument.to_owned();
        return Ok(Some(Json { text, origin: None }));
    }
    let path = Path::new(argument);
    let looks_like_a_path = path.exists() || path.extension().is_some_and(|end| end == "json");
    if !looks_like_a_path {
        return Ok(None);
    }
    let text = read_text(path, "the scores", MAX_BYTES)?;
    let origin = Some(argument.to_owned());
    Ok(Some(Json { text, origin }))
}

fn scores(text: &str) -> Result<Vec<f32>, Failure> {
    let words = text.split([',', ' ', ';']).filter(|word| !word.is_empty());
    words.map(number).collect()
}

fn number(word: &str) -> Result<f32, Failure> {
    word.trim()
        .parse()
        .map_err(|_not_a_number| Failure::usage(format!("{word:?} is neither a number nor a file")))
}

fn ids(text: &str) -> Result<Vec<TokenId>, Failure> {
    let words = text.split([',', ' ', ';']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            word.parse().map(TokenId).map_err(|_not_an_id| {
                Failure::usage(format!("{word:?} in the history is not a token id"))
            })
        })
        .collect()
}
