//! Logit biases per token, which each tool writes in a different form.

use std::collections::BTreeMap;

use super::fields::{Field, Fields, number, token};
use super::value::Value;
use crate::decoding::filters::{LogitBias, TokenBias};
use crate::decoding::{Filter, TokenId};

/// Returns the total bias of each token, ordered by token id; `None` means that the token is
/// banned.
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

/// Formats biases as llama.cpp's list of pairs, where `false` is a ban: `[[13, -2.5], [14,
/// false]]`.
pub(super) fn as_pairs(biases: &[(TokenId, Option<f32>)]) -> Value {
    let pair = |(token, bias): &(TokenId, Option<f32>)| {
        let bias = bias.map_or(Value::Bool(false), Value::from);
        Value::List(vec![Value::from(token.0), bias])
    };
    Value::List(biases.iter().map(pair).collect())
}

/// Reads pairs as [`as_pairs`] writes them, or an object that maps tokens to biases. Tokens given
/// as text are reported as ignored. A bias of `ban` or less is a ban.
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
                let (name, key) = (&field.shown, key.json());
                let sentence = format!("{name} for {key} is not supported: use a token id");
                fields.ignored.push(sentence);
                continue;
            };
            match number(&bias) {
                _ if bias == Value::Bool(false) => filter.banned.push(token),
                Some(bias) if bias <= ban => filter.banned.push(token),
                Some(bias) => filter.biases.push(TokenBias { token, bias }),
                None => return Err(wrong(&field)),
            }
        }
    }
    Ok(filter)
}

/// Splits a list of two: a token (or several tokens) and the bias.
pub(super) fn pair(value: &Value) -> Option<(Value, Value)> {
    match value {
        Value::List(pair) => match pair.as_slice() {
            [token, bias] => Some((token.clone(), bias.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Returns that a stage is left out: "top-k 5 is left out", "2 biased are left out".
pub(super) fn left_out(filter: &Filter) -> String {
    let n_tokens = match filter {
        Filter::LogitBias(bias) => bias.biases.len() + bias.banned.len(),
        _ => 1,
    };
    let verb = if n_tokens == 1 { "is" } else { "are" };
    format!("{filter} {verb} left out")
}

fn wrong(field: &Field) -> String {
    let (name, value) = (&field.shown, field.value.json());
    format!("{name} must assign numbers to token ids, but is {value}")
}
