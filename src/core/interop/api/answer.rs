//! The responses to requests: whole ones, and the chunks of streams.

use serde_json::{Value, json};

use super::delivery::Delivery;
use super::text_parts::{TextPart, TextParts};
use super::{ApiError, Endpoint, TextRequest, log_probs};
use crate::generation::formatting::grouped;
use crate::generation::{FinishReason, Generation, PromptRecord};

/// How the response to a request looks.
#[derive(Debug, Clone)]
pub struct AnswerForm {
    endpoint: Endpoint,
    delivery: Delivery,
    id: String,
    /// When the request arrived, in seconds since 1970.
    created: u64,
    model: String,
}

/// How many tokens a request used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub n_prompt: usize,
    /// How many tokens of the prompt were in the KV cache from an earlier request.
    pub n_cached: usize,
    pub n_written: usize,
}

impl Usage {
    /// Returns the usage of a request with these texts.
    pub fn of(texts: &[&Generation]) -> Self {
        let prompt = texts.first().map(|text| &*text.prompt);
        let of_prompt = |count: fn(&PromptRecord) -> usize| prompt.map_or(0, count);
        Self {
            n_prompt: of_prompt(|prompt| prompt.tokens.len()),
            n_cached: of_prompt(|prompt| prompt.tokens.len().saturating_sub(prompt.n_prefilled)),
            n_written: texts.iter().map(|text| text.steps.len()).sum(),
        }
    }

    /// Says how much of the prompt was reused: "1,812 of 1,904 tokens reused". `None` if nothing was.
    pub fn reuse_words(self) -> Option<String> {
        let [cached, all] = [self.n_cached, self.n_prompt].map(|n| grouped(n as f64));
        (self.n_cached > 0).then(|| format!("{cached} of {all} tokens reused"))
    }

    fn to_json(self) -> Value {
        json!({
            "prompt_tokens": self.n_prompt,
            "completion_tokens": self.n_written,
            "total_tokens": self.n_prompt + self.n_written,
            "prompt_tokens_details": {"cached_tokens": self.n_cached},
        })
    }
}

impl AnswerForm {
    /// Returns the form of the response to a request, which arrived at this moment in seconds since
    /// 1970. No other response has this number.
    pub fn new(request: &TextRequest, model: &str, created: u64, number: u64) -> Self {
        let kind = match request.endpoint {
            Endpoint::ChatCompletions => "chatcmpl",
            Endpoint::Completions => "cmpl",
        };
        Self {
            endpoint: request.endpoint,
            delivery: request.delivery,
            id: format!("{kind}-{created}-{number}"),
            created,
            model: model.to_owned(),
        }
    }

    /// Returns whether the text is sent while it is written.
    pub const fn is_streamed(&self) -> bool {
        self.delivery.stream
    }

    /// Returns the whole response, or the error that ended one of the texts.
    pub fn whole(&self, texts: &[&Generation]) -> Result<Value, ApiError> {
        let choices = (0..).zip(texts).map(|(index, text)| {
            let finish = finish_word(text)?;
            let part = TextParts::whole(text);
            let log_probs = self.log_probs(text, &part);
            let mut choice = match self.endpoint {
                Endpoint::ChatCompletions => {
                    let message =
                        json!({"role": "assistant", "content": part.text, "refusal": null});
                    json!({"index": index, "message": message})
                }
                Endpoint::Completions => json!({"index": index, "text": part.text}),
            };
            set(&mut choice, "logprobs", log_probs);
            set(&mut choice, "finish_reason", json!(finish));
            Ok(choice)
        });
        let choices = choices.collect::<Result<Vec<Value>, ApiError>>()?;
        let mut response = self.object(&choices, false);
        set(&mut response, "usage", Usage::of(texts).to_json());
        Ok(response)
    }

    /// Returns the error that ended one of the texts.
    pub fn failure(texts: &[&Generation]) -> Option<ApiError> {
        texts.iter().find_map(|text| finish_word(text).err())
    }

    /// Returns the chunk before the first token of a text.
    pub fn begin(&self, index: usize) -> Option<Value> {
        match self.endpoint {
            Endpoint::ChatCompletions => {
                let delta = json!({"role": "assistant", "content": "", "refusal": null});
                Some(self.chunk(index, delta, Value::Null, None))
            }
            Endpoint::Completions => None,
        }
    }

    /// Returns the chunk with a part of a text.
    pub fn part(&self, index: usize, text: &Generation, part: &TextPart) -> Option<Value> {
        let has_log_probs = self.delivery.n_top.is_some() && !part.tokens.is_empty();
        if part.text.is_empty() && !has_log_probs {
            return None;
        }
        let log_probs = self.log_probs(text, part);
        Some(self.chunk(index, self.delta(&part.text), log_probs, None))
    }

    /// Returns the chunk after the last part of a text, or the error that ended it.
    pub fn end(&self, index: usize, text: &Generation) -> Result<Value, ApiError> {
        let finish = finish_word(text)?;
        let delta = match self.endpoint {
            Endpoint::ChatCompletions => json!({}),
            Endpoint::Completions => self.delta(""),
        };
        Ok(self.chunk(index, delta, Value::Null, Some(finish)))
    }

    /// Returns the chunk with the usage at the end of a stream, if it is wanted.
    pub fn usage(&self, texts: &[&Generation]) -> Option<Value> {
        let mut chunk = self.object(&[], true);
        set(&mut chunk, "usage", Usage::of(texts).to_json());
        Some(chunk).filter(|_| self.delivery.include_usage)
    }

    fn delta(&self, text: &str) -> Value {
        match self.endpoint {
            Endpoint::ChatCompletions => json!({"content": text}),
            Endpoint::Completions => json!(text),
        }
    }

    fn chunk(&self, index: usize, delta: Value, log_probs: Value, finish: Option<&str>) -> Value {
        let name = match self.endpoint {
            Endpoint::ChatCompletions => "delta",
            Endpoint::Completions => "text",
        };
        let mut choice = json!({"index": index});
        set(&mut choice, name, delta);
        set(&mut choice, "logprobs", log_probs);
        set(&mut choice, "finish_reason", json!(finish));
        let mut chunk = self.object(&[choice], true);
        if self.delivery.include_usage {
            set(&mut chunk, "usage", Value::Null);
        }
        chunk
    }

    fn object(&self, choices: &[Value], is_chunk: bool) -> Value {
        let object = match (self.endpoint, is_chunk) {
            (Endpoint::ChatCompletions, false) => "chat.completion",
            (Endpoint::ChatCompletions, true) => "chat.completion.chunk",
            (Endpoint::Completions, _) => "text_completion",
        };
        json!({
            "id": self.id,
            "object": object,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    fn log_probs(&self, text: &Generation, part: &TextPart) -> Value {
        let Some(n_top) = self.delivery.n_top else {
            return Value::Null;
        };
        match self.endpoint {
            Endpoint::ChatCompletions => log_probs::of_chat(text, part, n_top),
            Endpoint::Completions => log_probs::of_text(text, part, n_top),
        }
    }
}

/// Returns the API's word for the reason for which a text ended.
fn finish_word(text: &Generation) -> Result<&'static str, ApiError> {
    match &text.finish {
        Some(FinishReason::MaxTokens | FinishReason::ContextFull) => Ok("length"),
        Some(FinishReason::Failed { error }) => Err(ApiError::failed(error.clone())),
        Some(FinishReason::Cancelled | FinishReason::Interrupted) | None => {
            Err(ApiError::refused(503, "The text was stopped"))
        }
        Some(
            FinishReason::EndOfText
            | FinishReason::StopString { .. }
            | FinishReason::GrammarComplete
            | FinishReason::Paused
            | FinishReason::Scored
            | FinishReason::ByServer { .. },
        ) => Ok("stop"),
    }
}

fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}
