//! Reads a request for texts.

use serde_json::{Map, Value};

use super::body::{Body, Limit, shown};
use super::delivery::Delivery;
use super::prompt::{RequestPrompt, messages, text_or_tokens};
use super::{ApiError, ApiModel, RecordedRequest};
use crate::decoding::ChainConfig;
use crate::generation::{EndOfText, Limits};
use crate::interop::tools::read_request;

/// The most texts that one request can ask for: as many as a run can show side by side.
pub const MAX_TEXTS: usize = 8;

/// Bounds the work of looking for stop sequences.
const MAX_STOPS: usize = 32;
const MAX_STOP_BYTES: usize = 1_000;

/// How many tokens `/v1/completions` writes if a request does not say.
const DEFAULT_TOKENS: usize = 16;

/// The fields that a run’s prompt holds.
const PROMPT_FIELDS: [&str; 4] = ["prompt", "messages", "tools", "chat_template_kwargs"];

/// What a request asks for, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `/v1/chat/completions`: an answer to messages.
    ChatCompletions,
    /// `/v1/completions`: the continuation of a text.
    Completions,
}

/// A request for one or more texts.
#[derive(Debug, Clone, PartialEq)]
pub struct TextRequest {
    pub endpoint: Endpoint,
    pub prompt: RequestPrompt,
    pub chain: ChainConfig,
    pub limits: Limits,
    /// The seed of the first text; each other text has the next one. `None` asks for a random one.
    pub seed: Option<u64>,
    /// How many texts continue the prompt.
    pub n_texts: usize,
    pub delivery: Delivery,
    /// Settings that have no effect, as in llama-server, one sentence each.
    pub notes: Vec<String>,
    /// The fields as they were sent, except the prompt, the messages and the tools.
    pub fields: Map<String, Value>,
}

impl TextRequest {
    /// Reads the body of a request. Every field has a meaning, or is known to have none; otherwise
    /// the request fails.
    pub fn read(endpoint: Endpoint, json: &[u8], model: &ApiModel) -> Result<Self, ApiError> {
        let mut body = Body::parse(json)?;
        let fields = body.without(&PROMPT_FIELDS);
        model.check(&mut body)?;
        let prompt = match endpoint {
            Endpoint::ChatCompletions => messages(&mut body)?,
            Endpoint::Completions => text_or_tokens(&mut body, model)?,
        };
        let Options {
            chain,
            limits,
            seed,
            n_texts,
            delivery,
            notes,
        } = Options::take(endpoint, body, model)?;
        Ok(Self {
            endpoint,
            prompt,
            chain,
            limits,
            seed,
            n_texts,
            delivery,
            notes,
            fields,
        })
    }
}

/// All but the prompt of a request.
struct Options {
    chain: ChainConfig,
    limits: Limits,
    seed: Option<u64>,
    n_texts: usize,
    delivery: Delivery,
    notes: Vec<String>,
}

impl Options {
    fn take(endpoint: Endpoint, mut body: Body, model: &ApiModel) -> Result<Self, ApiError> {
        let delivery = Delivery::take(endpoint, &mut body)?;
        let n_texts = body.count("n", 1..=MAX_TEXTS)?.unwrap_or(1);
        let seed = seed(&mut body)?;
        let limits = limits(endpoint, model, &mut body)?;
        take_harmless(endpoint, n_texts, &mut body)?;
        check_format(&mut body)?;
        let settings = body.into_rest();
        let names: Vec<String> = settings.keys().cloned().collect();
        let read = read_request(settings, &model.vocabulary)
            .map_err(|message| setting_error(&names, message))?;
        read.chain
            .validate()
            .map_err(|error| setting_error(&names, error.to_string()))?;
        Ok(Self {
            chain: read.chain,
            limits,
            seed,
            n_texts,
            delivery,
            notes: read.notes,
        })
    }
}

impl RecordedRequest {
    /// Returns the settings that the request would have asked for with these fields instead of its
    /// own.
    pub fn chain_with(
        &self,
        fields: Map<String, Value>,
        model: &ApiModel,
    ) -> Result<ChainConfig, ApiError> {
        let endpoint = if self.target.ends_with("/chat/completions") {
            Endpoint::ChatCompletions
        } else {
            Endpoint::Completions
        };
        let mut body = Body::of(fields);
        // Whichever model is loaded now, the settings are the same.
        body.take("model");
        Ok(Options::take(endpoint, body, model)?.chain)
    }
}

/// Takes the seed. As in llama-server, −1 asks for a random one.
fn seed(body: &mut Body) -> Result<Option<u64>, ApiError> {
    let seed = match body.take("seed") {
        Some(Value::Number(seed)) => seed,
        None => return Ok(None),
        Some(other) => {
            let message = format!("seed must be an integer, not {}", shown(&other));
            return Err(ApiError::invalid_field("seed", message));
        }
    };
    match (seed.as_u64(), seed.as_i64()) {
        (Some(seed), _) => Ok(Some(seed)),
        (None, Some(-1)) => Ok(None),
        _ => {
            let message = format!("seed must be an integer of at least 0, not {seed}");
            Err(ApiError::invalid_field("seed", message))
        }
    }
}

fn limits(endpoint: Endpoint, model: &ApiModel, body: &mut Body) -> Result<Limits, ApiError> {
    let ignores_end = body.boolean("ignore_eos")?.unwrap_or(false);
    let unlimited = model.info.n_context;
    let default = match endpoint {
        Endpoint::ChatCompletions => unlimited,
        Endpoint::Completions => DEFAULT_TOKENS,
    };
    // The context ends the text earlier.
    let max_new_tokens = match max_tokens(body)? {
        None => default,
        Some(Limit::AtMost(n)) => n.min(unlimited),
        Some(Limit::Unlimited) => unlimited,
    };
    Ok(Limits {
        max_new_tokens,
        stop_strings: stops(body)?,
        end_of_text: if ignores_end {
            EndOfText::Ignored
        } else {
            EndOfText::Stops
        },
    })
}

/// Takes the limit under any of its names. −1 means none.
fn max_tokens(body: &mut Body) -> Result<Option<Limit>, ApiError> {
    let mut limit = None;
    for name in ["max_completion_tokens", "max_tokens", "n_predict"] {
        let found = body.limit(name)?;
        if found.is_some() && limit.is_some() && found != limit {
            let message = format!("{name} contradicts another limit of the request");
            return Err(ApiError::invalid_field(name, message));
        }
        limit = limit.or(found);
    }
    Ok(limit)
}

fn stops(body: &mut Body) -> Result<Vec<String>, ApiError> {
    let mut stops = body.texts("stop")?.unwrap_or_default();
    stops.retain(|stop| !stop.is_empty());
    if stops.len() > MAX_STOPS || stops.iter().any(|stop| stop.len() > MAX_STOP_BYTES) {
        let message =
            format!("stop takes at most {MAX_STOPS} texts of at most {MAX_STOP_BYTES} bytes");
        return Err(ApiError::invalid_field("stop", message));
    }
    Ok(stops)
}

/// Takes fields that change no text, and fails if one has a value that would.
fn take_harmless(endpoint: Endpoint, n_texts: usize, body: &mut Body) -> Result<(), ApiError> {
    for bookkeeping in [
        "metadata",
        "prompt_cache_key",
        "safety_identifier",
        "timeout",
        "user",
    ] {
        body.take(bookkeeping);
    }
    let is_false = |value: &Value| *value == Value::Bool(false);
    let is_word = |words: &'static [&str]| {
        move |value: &Value| value.as_str().is_some_and(|word| words.contains(&word))
    };
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    body.harmless("store", is_false)?;
    body.harmless("service_tier", is_word(&["auto", "default"]))?;
    body.harmless("cache_prompt", |value| *value == Value::Bool(true))?;
    body.harmless("id_slot", |value| value.as_i64() == Some(-1))?;
    match endpoint {
        Endpoint::ChatCompletions => {
            body.harmless("functions", is_empty)?;
            body.harmless("parallel_tool_calls", Value::is_boolean)?;
            body.harmless("modalities", |value| *value == serde_json::json!(["text"]))
        }
        Endpoint::Completions => {
            body.harmless("echo", is_false)?;
            body.harmless("suffix", is_word(&[""]))?;
            body.harmless("best_of", |value| value.as_u64() == Some(n_texts as u64))
        }
    }
}

/// Fails if `response_format` is none that the tables read, and takes it if it asks for text.
fn check_format(body: &mut Body) -> Result<(), ApiError> {
    const NAME: &str = "response_format";
    let Some(format) = body.take(NAME) else {
        return Ok(());
    };
    let kind = format.get("type").and_then(Value::as_str);
    match (kind, format.get("json_schema")) {
        (Some("text"), _) => {}
        (Some("json_object"), _) if format.get("schema").is_some_and(|it| !it.is_null()) => {
            let message = format!("{NAME} takes a schema with the type json_schema");
            return Err(ApiError::invalid_field(NAME, message));
        }
        (Some("json_object"), _) | (Some("json_schema"), Some(Value::Object(_))) => {
            body.put_back(NAME, format);
        }
        (Some("json_schema"), _) => {
            let message = format!("{NAME} has no json_schema");
            return Err(ApiError::invalid_field(NAME, message));
        }
        _ => {
            let message = format!(
                "{NAME} must have the type text, json_object or json_schema, not {}",
                shown(&format)
            );
            return Err(ApiError::invalid_field(NAME, message));
        }
    }
    Ok(())
}

/// Attributes an error to the setting whose name it begins with.
fn setting_error(names: &[String], message: String) -> ApiError {
    let begins = |name: &&String| {
        let rest = message.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
    };
    match names.iter().find(begins) {
        Some(name) => ApiError::invalid_field(name.clone(), message),
        None => ApiError::invalid(message),
    }
}
