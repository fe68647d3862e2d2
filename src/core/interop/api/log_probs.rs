//! The log-probabilities of a text's tokens, in the forms of the API: those of the model itself,
//! before the chain.

use serde_json::{Map, Value, json};

use super::answer::set;
use super::text_parts::TokenStart;
use crate::decoding::{TokenId, Trace};
use crate::generation::{Generation, Piece, PieceKind, Step};

/// What the API reports for a token without any probability, because JSON has no −∞.
const IMPOSSIBLE: f64 = -9_999.0;

/// Returns the log-probabilities as `/v1/chat/completions` reports them.
pub(super) fn of_chat(text: &Generation, tokens: &[TokenStart], n_top: usize) -> Value {
    let entry = |piece: &Piece, log_prob: f64| {
        json!({
            "token": String::from_utf8_lossy(&piece.bytes),
            "logprob": log_prob,
            "bytes": piece.bytes,
        })
    };
    let token = |(_, step): (TokenStart, &Step)| {
        let top = top(step, n_top);
        let top: Vec<Value> = top
            .map(|(token, log_prob)| entry(&text.vocabulary.piece(token), log_prob))
            .collect();
        let mut token = entry(&step.piece, own(step));
        set(&mut token, "top_logprobs", Value::Array(top));
        token
    };
    let content: Vec<Value> = steps(text, tokens).map(token).collect();
    json!({"content": content, "refusal": null})
}

/// Returns the log-probabilities as `/v1/completions` reports them. Offsets count characters.
pub(super) fn of_text(text: &Generation, tokens: &[TokenStart], n_top: usize) -> Value {
    let bytes = text.bytes();
    let offset = |token: TokenStart| {
        let before = bytes.get(..token.n_bytes_before).unwrap_or(&bytes);
        String::from_utf8_lossy(before).chars().count()
    };
    let shown = |piece: &Piece| String::from_utf8_lossy(&piece.bytes).into_owned();
    let top = |step: &Step| -> Map<String, Value> {
        let top = top(step, n_top);
        top.map(|(token, log_prob)| (shown(&text.vocabulary.piece(token)), json!(log_prob)))
            .collect()
    };
    let all: Vec<(TokenStart, &Step)> = steps(text, tokens).collect();
    let steps = || all.iter().map(|(_, step)| *step);
    json!({
        "tokens": steps().map(|step| shown(&step.piece)).collect::<Vec<_>>(),
        "token_logprobs": steps().map(own).collect::<Vec<_>>(),
        "top_logprobs": steps().map(top).collect::<Vec<_>>(),
        "text_offset": all.iter().map(|(token, _)| offset(*token)).collect::<Vec<_>>(),
    })
}

/// Returns the log-probabilities of one token as `/completion` reports them. Special tokens have no
/// text there.
pub(super) fn of_llama(text: &Generation, step: &Step, n_top: usize) -> Value {
    let entry = |token: TokenId, piece: &Piece, log_prob: f64| {
        let bytes = match piece.kind {
            PieceKind::Text => piece.bytes.as_slice(),
            PieceKind::Special => &[],
        };
        json!({
            "id": token.0,
            "token": String::from_utf8_lossy(bytes),
            "bytes": bytes,
            "logprob": log_prob,
        })
    };
    let mut token = entry(step.token, &step.piece, own(step));
    let top = top(step, n_top);
    let top: Vec<Value> = top
        .map(|(token, log_prob)| entry(token, &text.vocabulary.piece(token), log_prob))
        .collect();
    set(&mut token, "top_logprobs", json!(top));
    token
}

/// Returns the steps of these tokens.
fn steps<'a>(
    text: &'a Generation,
    tokens: &'a [TokenStart],
) -> impl Iterator<Item = (TokenStart, &'a Step)> {
    let tokens = tokens.iter();
    tokens.filter_map(|token| Some((*token, text.steps.get(token.step)?)))
}

/// Returns the log-probability of the token that was chosen.
fn own(step: &Step) -> f64 {
    known(&step.trace, step.token).unwrap_or_else(|| finite(step.trace.raw_prob.ln()))
}

/// Returns the most likely tokens with their log-probabilities.
fn top(step: &Step, n_top: usize) -> impl Iterator<Item = (TokenId, f64)> {
    let head = step.trace.raw.head.iter().take(n_top);
    head.filter_map(|ranked| Some((ranked.token, known(&step.trace, ranked.token)?)))
}

/// Returns the log-probability of a token that is recorded individually. Unlike the logarithm of a
/// probability, it is precise for unlikely tokens too.
fn known(trace: &Trace, token: TokenId) -> Option<f64> {
    let ranked = trace.raw.head.iter().find(|ranked| ranked.token == token)?;
    Some(finite(f64::from(ranked.logit) - trace.raw.log_sum_exp))
}

fn finite(log_prob: f64) -> f64 {
    if log_prob.is_finite() {
        log_prob
    } else {
        IMPOSSIBLE
    }
}
