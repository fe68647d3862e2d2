//! A text while it is written, as the events of a stream.

use serde_json::{Value, json};

use super::answer::{AnswerForm, set};
use super::call_reader::{CallReader, Read};
use super::text_parts::{TextPart, TextParts, TokenStart};
use super::{Endpoint, finish, llama_answer};
use crate::generation::Generation;

/// One text of a stream.
#[derive(Debug, Clone)]
pub struct AnswerStream {
    index: usize,
    parts: TextParts,
    /// Finds tool calls, if there can be any.
    calls: Option<CallReader>,
    n_calls_sent: usize,
}

impl AnswerStream {
    /// Begins the text with this index.
    pub fn new(form: &AnswerForm, index: usize, stops: &[String]) -> Self {
        Self {
            index,
            parts: TextParts::new(stops),
            calls: form.call_reader(),
            n_calls_sent: 0,
        }
    }

    /// Returns the event before the first token.
    pub fn begin(&self, form: &AnswerForm) -> Option<Value> {
        match form.endpoint {
            Endpoint::ChatCompletions => {
                let delta = json!({"role": "assistant", "content": "", "refusal": null});
                Some(form.chunk(self.index, delta, Value::Null, None))
            }
            Endpoint::Completions | Endpoint::LlamaCompletion => None,
        }
    }

    /// Returns the events with which the newest token of the text is sent.
    pub fn step(&mut self, form: &AnswerForm, text: &Generation) -> Vec<Value> {
        let Some(step) = text.steps.last() else {
            return Vec::new();
        };
        let part = self.parts.push(&step.piece);
        if form.endpoint == Endpoint::LlamaCompletion {
            return vec![llama_answer::step(form, self.index, text, &part.text)];
        }
        let read = self.read(&part);
        self.chunks(form, text, &part.tokens, read)
    }

    /// Returns the last events of the finished text. An error has none: it ends the whole stream.
    pub fn finish(mut self, form: &AnswerForm, text: &Generation) -> Vec<Value> {
        let part = std::mem::replace(&mut self.parts, TextParts::new(&[])).finish(text);
        if form.endpoint == Endpoint::LlamaCompletion {
            let rest = (!part.text.is_empty())
                .then(|| llama_answer::part(form, self.index, text, &part.text));
            let end = llama_answer::ended(form, self.index, text, "").ok();
            return rest.into_iter().chain(end).collect();
        }
        let mut read = self.read(&part);
        if let Some(calls) = &mut self.calls {
            read.extend(calls.finish());
        }
        let mut events = self.chunks(form, text, &part.tokens, read);
        let n_calls = self.calls.as_ref().map_or(0, CallReader::n_calls);
        if let Ok(finish) = finish::word_with_calls(text, n_calls) {
            let delta = match form.endpoint {
                Endpoint::ChatCompletions => json!({}),
                Endpoint::Completions | Endpoint::LlamaCompletion => json!(""),
            };
            events.push(form.chunk(self.index, delta, Value::Null, Some(finish)));
        }
        events
    }

    fn read(&mut self, part: &TextPart) -> Vec<Read> {
        match &mut self.calls {
            Some(calls) => calls.push(part),
            None if part.text.is_empty() => Vec::new(),
            None => vec![Read::Text(part.text.clone())],
        }
    }

    /// Returns the chunks of what was read. The first one has the log-probabilities.
    fn chunks(
        &mut self,
        form: &AnswerForm,
        text: &Generation,
        tokens: &[TokenStart],
        mut read: Vec<Read>,
    ) -> Vec<Value> {
        let has_log_probs = form.delivery.n_top.is_some() && !tokens.is_empty();
        if read.is_empty() && has_log_probs {
            read.push(Read::Text(String::new()));
        }
        let mut chunks = Vec::new();
        for one in read {
            let delta = match one {
                Read::Text(text) if form.endpoint == Endpoint::ChatCompletions => {
                    json!({"content": text})
                }
                Read::Text(text) => json!(text),
                Read::Call(call) => {
                    let mut call = form.call(self.index, self.n_calls_sent, &call);
                    set(&mut call, "index", json!(self.n_calls_sent));
                    self.n_calls_sent += 1;
                    json!({"tool_calls": [call]})
                }
            };
            let log_probs = if chunks.is_empty() {
                form.log_probs(text, tokens)
            } else {
                Value::Null
            };
            chunks.push(form.chunk(self.index, delta, log_probs, None));
        }
        chunks
    }
}
