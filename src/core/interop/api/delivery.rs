//! How a program wants its answer: whole or in parts, and with which probabilities.

use serde_json::Value;

use super::body::Body;
use super::{ApiError, Endpoint};
use crate::generation::ToolCallForm;

/// The most alternatives that are reported for each token.
const MAX_TOP: usize = 20;

/// What a response contains besides the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Whether the text is sent while it is written.
    pub stream: bool,
    /// Whether a stream ends with the usage.
    pub include_usage: bool,
    /// How many alternatives of each token to report with their log-probabilities. `None` reports no
    /// log-probabilities.
    pub n_top: Option<usize>,
    /// How the model writes tool calls. `None` if nothing that it writes is one.
    pub calls: Option<ToolCallForm>,
    /// Whether only the first tool call is one.
    pub only_first_call: bool,
    pub llama: LlamaDelivery,
}

/// What a response in llama-server's own form also contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LlamaDelivery {
    /// Whether a whole response lists the token ids. Streams always do.
    pub return_tokens: bool,
    /// Whether each part of a stream states the times.
    pub timings_per_token: bool,
}

impl Delivery {
    /// Takes the fields that say how to answer.
    pub(super) fn take(endpoint: Endpoint, body: &mut Body) -> Result<Self, ApiError> {
        let stream = body.boolean("stream")?.unwrap_or(false);
        let mut delivery = Self {
            stream,
            ..Self::default()
        };
        match endpoint {
            Endpoint::ChatCompletions => {
                delivery.include_usage = include_usage(stream, body)?;
                delivery.n_top = top_of_chat(body)?;
                delivery.only_first_call = body.boolean("parallel_tool_calls")? == Some(false);
            }
            Endpoint::Completions => {
                delivery.include_usage = include_usage(stream, body)?;
                delivery.n_top = body.count("logprobs", 0..=MAX_TOP)?;
            }
            Endpoint::LlamaCompletion => {
                let n_top = body.count("n_probs", 0..=MAX_TOP)?;
                delivery.n_top = n_top.filter(|n_top| *n_top > 0);
                delivery.llama = LlamaDelivery {
                    return_tokens: body.boolean("return_tokens")?.unwrap_or(false),
                    timings_per_token: body.boolean("timings_per_token")?.unwrap_or(false),
                };
            }
        }
        Ok(delivery)
    }
}

fn include_usage(stream: bool, body: &mut Body) -> Result<bool, ApiError> {
    const NAME: &str = "stream_options";
    let Some(options) = body.object(NAME)? else {
        return Ok(false);
    };
    let refused = |message: String| Err(ApiError::invalid_field(NAME, message));
    if !stream {
        return refused(format!("{NAME} needs stream: true"));
    }
    let mut include_usage = false;
    for (name, value) in &options {
        match (name.as_str(), value) {
            ("include_usage", Value::Bool(wanted)) => include_usage = *wanted,
            // Padding hides the lengths of encrypted packets, and nothing is encrypted here.
            ("include_obfuscation", Value::Bool(false)) | (_, Value::Null) => {}
            _ => return refused(format!("{NAME}.{name} {value} is not supported")),
        }
    }
    Ok(include_usage)
}

fn top_of_chat(body: &mut Body) -> Result<Option<usize>, ApiError> {
    let wanted = body.boolean("logprobs")?.unwrap_or(false);
    let n_top = body.count("top_logprobs", 0..=MAX_TOP)?;
    match (wanted, n_top) {
        (true, n_top) => Ok(Some(n_top.unwrap_or(0))),
        (false, None | Some(0)) => Ok(None),
        (false, Some(_)) => {
            let message = "top_logprobs needs logprobs: true";
            Err(ApiError::invalid_field("top_logprobs", message))
        }
    }
}
