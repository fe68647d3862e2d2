//! Logit biases, token by token: each tool has its own form for the same pairs.

use std::collections::BTreeMap;

use super::fields::{Field, Fields, number, token};
use super::value::Value;
use crate::decoding::filters::{LogitBias, TokenBias};
use crate::decoding::{Filter, TokenId};

/// What is added to each token's score, in the order of the ids; nothing for a token that is banned.
pub(super) fn by_token(filter: Option<&Filter>) -> Vec<(TokenId, Option<f32>)> {
    let Some(Filter::LogitBias(bias)) = filter else {
        return Vec::new();
    };
    let mut sums: BTreeMap<TokenId, Option<f32>> = BTreeMap::new();
    for TokenBias { token, bias } in &bias.biases {
        let sum = sums.entry(*token).or_insert(Some(0.0));
        *sum = sum.map(|sum| sum + bias);
    }
    for token in &bias.banned {
        sums.insert(*token, None);
    }
    sums.into_iter().collect()
}

/// llama.cpp's pairs of a token and a bias, where false is a ban: `[[13, -2.5], [14, false]]`.
pub(super) fn as_pairs(biases: &[(TokenId, Option<f32>)]) -> Value {
    let pair = |(token, bias): &(TokenId, Option<f32>)| {
        let bias = bias.map_or(Value::Truth(false), Value::from);
        Value::List(vec![Value::from(token.0), bias])
    };
    Value::List(biases.iter().map(pair).collect())
}

/// Reads pairs as [`as_pairs`] writes them, or an object from tokens to biases; a token that is given
/// as a text is told as unread. A bias of `ban` or less bans.
pub(super) fn read(name: &str, ban: f32, fields: &mut Fields) -> Result<LogitBias, String> {
    let mut filter = LogitBias::default();
    for field in fields.take_all(name) {
        let pairs = match &field.value {
            Value::Map(entries) => entries.clone(),
            Value::List(values) => values.iter().filter_map(pair).collect(),
            _ => return Err(wrong(&field)),
        };
        if matches!(&field.value, Value::List(values) if values.len() != pairs.len()) {
            return Err(wrong(&field));
        }
        for (key, bias) in pairs {
            let Some(token) = token(&key) else {
                let sentence = format!("{} of {} needs a tokenizer", field.shown, key.json());
                fields.unread.push(sentence);
                continue;
            };
            match number(&bias) {
                _ if bias == Value::Truth(false) => filter.banned.push(token),
                Some(bias) if bias <= ban => filter.banned.push(token),
                Some(bias) => filter.biases.push(TokenBias { token, bias }),
                None => return Err(wrong(&field)),
            }
        }
    }
    Ok(filter)
}

/// A list of two: a token, or tokens, and the bias.
pub(super) fn pair(value: &Value) -> Option<(Value, Value)> {
    match value {
        Value::List(pair) => match pair.as_slice() {
            [token, bias] => Some((token.clone(), bias.clone())),
            _ => None,
        },
        _ => None,
    }
}

fn wrong(field: &Field) -> String {
    let (name, value) = (&field.shown, field.value.json());
    format!("{name} needs a token id and a number for each bias, not {value}")
}
