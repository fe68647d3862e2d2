//! Rows of scores, from the command line or from a JSON file.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::{Arguments, Failure};
use crate::decoding::TokenId;
use crate::generation::by_hand::ScoreRow;

#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Scores(Vec<Score>),
    Row(Entry),
    Rows(Vec<Entry>),
}

#[derive(Deserialize)]
struct Entry {
    logits: Vec<Score>,
    history: Option<Vec<TokenId>>,
    n_prompt: Option<usize>,
}

/// A number; JSON has no infinities, so null and words such as "-inf" are read too.
#[derive(Deserialize)]
#[serde(untagged)]
enum Score {
    Number(f32),
    Word(String),
    Impossible(()),
}

/// The rows that the arguments ask for.
pub(super) fn read(arguments: &Arguments) -> Result<Vec<ScoreRow>, Failure> {
    let history = ids(arguments.history.as_deref().unwrap_or_default())?;
    let n_prompt = arguments.prompt_tokens;
    let Some(json) = json(&arguments.logits)? else {
        let logits = scores(&arguments.logits)?;
        return Ok(vec![ScoreRow {
            logits,
            history,
            n_prompt,
        }]);
    };
    let file: File = serde_json::from_str(&json).map_err(|error| {
        let shape = "{\"logits\": […], \"history\": […], \"n_prompt\": n}";
        Failure::run(format!(
            "the scores are not {shape} or a list of such: {error}"
        ))
    })?;
    let entries = match file {
        File::Scores(logits) => vec![Entry {
            logits,
            history: None,
            n_prompt: None,
        }],
        File::Row(entry) => vec![entry],
        File::Rows(entries) => entries,
    };
    let row = |entry: Entry| {
        Ok(ScoreRow {
            logits: entry
                .logits
                .into_iter()
                .map(Score::value)
                .collect::<Result<_, _>>()?,
            history: entry.history.unwrap_or_else(|| history.clone()),
            n_prompt: entry.n_prompt.unwrap_or(n_prompt),
        })
    };
    entries.into_iter().map(row).collect()
}

impl Score {
    fn value(self) -> Result<f32, Failure> {
        match self {
            Self::Number(value) => Ok(value),
            Self::Word(word) => number(&word),
            Self::Impossible(()) => Ok(f32::NEG_INFINITY),
        }
    }
}

/// The JSON that is meant, or nothing where the argument holds the scores themselves.
fn json(argument: &str) -> Result<Option<String>, Failure> {
    if argument == "-" {
        let mut json = String::new();
        let read = std::io::stdin().read_to_string(&mut json);
        read.map_err(|error| Failure::run(format!("standard input could not be read: {error}")))?;
        return Ok(Some(json));
    }
    if argument.trim_start().starts_with(['[', '{']) {
        return Ok(Some(argument.to_owned()));
    }
    let path = Path::new(argument);
    let looks_like_a_path = path.exists() || path.extension().is_some_and(|end| end == "json");
    if !looks_like_a_path {
        return Ok(None);
    }
    let json = std::fs::read_to_string(path).map_err(|error| {
        Failure::run(format!("the scores could not be read: {error}\n{argument}"))
    })?;
    Ok(Some(json))
}

fn scores(text: &str) -> Result<Vec<f32>, Failure> {
    let words = text.split([',', ' ', ';']).filter(|word| !word.is_empty());
    words.map(number).collect()
}

fn number(word: &str) -> Result<f32, Failure> {
    word.trim().parse().map_err(|_not_a_number| {
        Failure::usage(format!(
            "{word:?} is not a number, and no file is called so"
        ))
    })
}

fn ids(text: &str) -> Result<Vec<TokenId>, Failure> {
    let words = text.split([',', ' ', ';']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            word.parse().map(TokenId).map_err(|_not_an_id| {
                Failure::usage(format!(
                    "{word:?} in the history is not the number of a token"
                ))
            })
        })
        .collect()
}
