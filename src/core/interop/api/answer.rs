//! The responses to requests: whole ones, and the chunks of streams.

use serde_json::{Value, json};

use super::call_reader::{CallReader, Read, ToolCall};
use super::delivery::Delivery;
use super::text_parts::{TextPart, TextParts, TokenStart};
use super::{ApiError, Endpoint, TextRequest, finish, llama_answer, log_probs};
use crate::generation::formatting::grouped;
use crate::generation::{Generation, PromptRecord};

/// How the response to a request looks.
#[derive(Debug, Clone)]
pub struct AnswerForm {
    pub(super) endpoint: Endpoint,
    pub(super) delivery: Delivery,
    id: String,
    /// When the request arrived, in seconds since 1970.
    created: u64,
    pub(super) model: String,
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
            Endpoint::Completions | Endpoint::LlamaCompletion => "cmpl",
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
        if self.endpoint == Endpoint::LlamaCompletion {
            return llama_answer::whole(self, texts);
        }
        let choices = texts.iter().enumerate().map(|(index, text)| {
            let part = TextParts::whole(text);
            let log_probs = self.log_probs(text, &part.tokens);
            let (mut choice, n_calls) = match self.endpoint {
                Endpoint::ChatCompletions => {
                    let (message, n_calls) = self.message(index, &part);
                    (json!({"index": index, "message": message}), n_calls)
                }
                Endpoint::Completions | Endpoint::LlamaCompletion => {
                    (json!({"index": index, "text": part.text}), 0)
                }
            };
            let finish = finish::word_with_calls(text, n_calls)?;
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
        texts.iter().find_map(|text| finish::word(text).err())
    }

    /// Returns an error as an event of a stream.
    pub fn error(&self, error: &ApiError) -> Value {
        error.body(self.endpoint.is_llama_form())
    }

    /// Returns what a stream ends with, after its last event.
    pub const fn end_of_stream(&self) -> Option<&'static str> {
        match self.endpoint {
            Endpoint::ChatCompletions | Endpoint::Completions => Some("data: [DONE]\n\n"),
            Endpoint::LlamaCompletion => None,
        }
    }

    /// Returns the chunk with the usage at the end of a stream, if it is wanted.
    pub fn usage(&self, texts: &[&Generation]) -> Option<Value> {
        let mut chunk = self.object(&[], true);
        set(&mut chunk, "usage", Usage::of(texts).to_json());
        Some(chunk).filter(|_| self.delivery.include_usage)
    }

    /// Returns an event of a stream in OpenAI's form.
    pub(super) fn chunk(
        &self,
        index: usize,
        delta: Value,
        log_probs: Value,
        finish: Option<&str>,
    ) -> Value {
        let name = match self.endpoint {
            Endpoint::ChatCompletions => "delta",
            Endpoint::Completions | Endpoint::LlamaCompletion => "text",
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
            (Endpoint::Completions | Endpoint::LlamaCompletion, _) => "text_completion",
        };
        json!({
            "id": self.id,
            "object": object,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    /// Returns the log-probabilities of these tokens, if they are wanted.
    pub(super) fn log_probs(&self, text: &Generation, tokens: &[TokenStart]) -> Value {
        match (self.delivery.n_top, self.endpoint) {
            (None, _) => Value::Null,
            (Some(n_top), Endpoint::ChatCompletions) => log_probs::of_chat(text, tokens, n_top),
            (Some(n_top), _) => log_probs::of_text(text, tokens, n_top),
        }
    }

    /// Returns what finds tool calls in a text, if there can be any.
    pub(super) fn call_reader(&self) -> Option<CallReader> {
        let form = self.delivery.calls?;
        Some(CallReader::new(form, self.delivery.only_first_call))
    }

    /// Returns a tool call of a text.
    pub(super) fn call(&self, index: usize, call_index: usize, call: &ToolCall) -> Value {
        call.to_json((&self.id, index, call_index))
    }

    /// Returns the message of an answer, and how many tools it calls.
    fn message(&self, index: usize, part: &TextPart) -> (Value, usize) {
        let mut message = json!({"role": "assistant", "content": part.text, "refusal": null});
        let Some(mut reader) = self.call_reader() else {
            return (message, 0);
        };
        let mut read = reader.push(part);
        read.extend(reader.finish());
        let (mut content, mut calls) = (String::new(), Vec::new());
        for one in read {
            match one {
                Read::Text(text) => content.push_str(&text),
                Read::Call(call) => calls.push(self.call(index, calls.len(), &call)),
            }
        }
        if !calls.is_empty() {
            let content = Some(content).filter(|content| !content.is_empty());
            set(&mut message, "content", json!(content));
            set(&mut message, "tool_calls", json!(calls));
        }
        (message, reader.n_calls())
    }
}

/// Sets a field of an object.
pub(super) fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}
