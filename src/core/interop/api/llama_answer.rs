//! The responses of `/completion`, in llama-server’s own form.
//!
//! Source: `tools/server/server-task.cpp` of llama.cpp (2026), and the responses of its program. What
//! describes its slots, caches and adapters is left out.

use serde_json::{Map, Value, json};

use super::answer::{AnswerForm, set};
use super::text_parts::{TextPart, TextParts};
use super::{ApiError, finish, log_probs};
use crate::generation::{FinishReason, Generation, Step};
use crate::interop::tools::{RequestFormat, request_settings};

/// Returns the whole response: an object, or a list if there are several texts.
pub(super) fn whole(form: &AnswerForm, texts: &[&Generation]) -> Result<Value, ApiError> {
    let responses = texts.iter().enumerate().map(|(index, text)| {
        let part = TextParts::whole(text);
        let mut response = ended(form, index, text, &part.text)?;
        if form.delivery.llama.return_tokens {
            set(&mut response, "tokens", json!(tokens(text)));
        }
        if let Some(n_top) = form.delivery.n_top {
            let probs = steps(text, &part);
            let probs: Vec<Value> = probs
                .map(|step| log_probs::of_llama(text, step, n_top))
                .collect();
            if !probs.is_empty() {
                set(&mut response, "completion_probabilities", json!(probs));
            }
        }
        Ok(response)
    });
    let mut responses = responses.collect::<Result<Vec<Value>, ApiError>>()?;
    match responses.pop() {
        Some(only) if responses.is_empty() => Ok(only),
        last => Ok(responses.into_iter().chain(last).collect()),
    }
}

/// Returns the event of a stream with the newest token and the text that became certain with it.
pub(super) fn step(form: &AnswerForm, index: usize, text: &Generation, content: &str) -> Value {
    let mut event = part(form, index, text, content);
    if let Some(step) = text.steps.last() {
        set(&mut event, "tokens", json!([step.token.0]));
        if let Some(n_top) = form.delivery.n_top {
            let probs = log_probs::of_llama(text, step, n_top);
            set(&mut event, "completion_probabilities", json!([probs]));
        }
    }
    event
}

/// Returns the event of a stream with text but no token.
pub(super) fn part(form: &AnswerForm, index: usize, text: &Generation, content: &str) -> Value {
    let mut event = json!({
        "index": index,
        "content": content,
        "tokens": [],
        "stop": false,
        "id_slot": ANY_SLOT,
        "tokens_predicted": text.steps.len(),
        "tokens_evaluated": text.prompt.tokens.len(),
    });
    if form.delivery.llama.timings_per_token {
        set(&mut event, "timings", timings(text));
    }
    event
}

/// What llama-server says where a slot does not matter. Quartet has none.
const ANY_SLOT: i32 = -1;

/// Returns the last event of a stream, or a whole response without its tokens.
pub(super) fn ended(
    form: &AnswerForm,
    index: usize,
    text: &Generation,
    content: &str,
) -> Result<Value, ApiError> {
    // An error is no response.
    finish::word(text)?;
    let (stop_type, word) = match &text.finish {
        Some(FinishReason::EndOfText | FinishReason::GrammarComplete) => ("eos", ""),
        Some(FinishReason::StopString { stop }) => ("word", stop.as_str()),
        Some(FinishReason::MaxTokens | FinishReason::ContextFull) => ("limit", ""),
        _ => ("none", ""),
    };
    let n_prompt = text.prompt.tokens.len();
    // The last token of a text is never read.
    let n_read = text.steps.len().saturating_sub(1);
    Ok(json!({
        "index": index,
        "content": content,
        "tokens": [],
        "id_slot": ANY_SLOT,
        "stop": true,
        "model": form.model,
        "tokens_predicted": text.steps.len(),
        "tokens_evaluated": n_prompt,
        "generation_settings": settings(form, text),
        "prompt": text.vocabulary.text_with_special(&text.prompt.tokens),
        "has_new_line": text.bytes().contains(&b'\n'),
        "truncated": text.finish == Some(FinishReason::ContextFull),
        "stop_type": stop_type,
        "stopping_word": word,
        "tokens_cached": n_prompt + n_read,
        "timings": timings(text),
    }))
}

/// Returns the settings as fields that ask llama-server for the same.
fn settings(form: &AnswerForm, text: &Generation) -> Map<String, Value> {
    let mut fields = request_settings(RequestFormat::LlamaServer, &text.config).fields;
    let n_probs = form.delivery.n_top.unwrap_or(0);
    fields.extend([
        ("stream".to_owned(), json!(form.delivery.stream)),
        ("n_probs".to_owned(), json!(n_probs)),
        ("post_sampling_probs".to_owned(), json!(false)),
    ]);
    fields
}

/// Returns how long the prompt and the tokens after the first took.
fn timings(text: &Generation) -> Value {
    let steps = &text.steps;
    let written = steps.first().zip(steps.last());
    let written = written.map_or(0.0, |(first, last)| last.time.at_secs - first.time.at_secs);
    let (n_prompt, n_written) = (text.prompt.n_prefilled, steps.len());
    let mut timings = json!({
        "cache_n": text.prompt.tokens.len().saturating_sub(n_prompt),
    });
    for (name, n_tokens, secs) in [
        ("prompt", n_prompt, text.prompt.prefill_secs),
        ("predicted", n_written, written),
    ] {
        let ratio = |all: f64, of: f64| if of > 0.0 { all / of } else { 0.0 };
        let (n, ms) = (n_tokens as f64, 1e3 * secs);
        set(&mut timings, &format!("{name}_n"), json!(n_tokens));
        set(&mut timings, &format!("{name}_ms"), json!(ms));
        let per_token = format!("{name}_per_token_ms");
        set(&mut timings, &per_token, json!(ratio(ms, n)));
        let per_second = format!("{name}_per_second");
        set(&mut timings, &per_second, json!(ratio(n, secs)));
    }
    timings
}

fn tokens(text: &Generation) -> Vec<u32> {
    text.steps.iter().map(|step| step.token.0).collect()
}

/// Returns the steps of a text: all of them, but those that a stop sequence cut off.
fn steps<'a>(text: &'a Generation, part: &'a TextPart) -> Box<dyn Iterator<Item = &'a Step> + 'a> {
    match text.finish {
        Some(FinishReason::StopString { .. }) => {
            let tokens = part.tokens.iter();
            Box::new(tokens.filter_map(|token| text.steps.get(token.step)))
        }
        _ => Box::new(text.steps.iter()),
    }
}
