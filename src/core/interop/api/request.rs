//! Reads a request for texts.

use serde_json::{Map, Value};

use super::body::{Body, Limit, shown};
use super::delivery::Delivery;
use super::prompt::{RequestPrompt, chat, text_or_tokens};
use super::{ApiError, ApiModel, RecordedRequest, harmless};
use crate::decoding::filters::LogitBias;
use crate::decoding::{ChainConfig, Filter, Stage};
use crate::generation::{EndOfText, Limits};
use crate::interop::tools::{read_llama_request, read_request};

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
    /// `/completion`: the continuation of a text, in llama-server’s own form.
    LlamaCompletion,
}

impl Endpoint {
    /// Returns what this path is for, if it is for texts.
    pub fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" | "/chat/completions" => Some(Self::ChatCompletions),
            "/v1/completions" => Some(Self::Completions),
            "/completion" | "/completions" => Some(Self::LlamaCompletion),
            _ => None,
        }
    }

    /// Returns whether requests and responses have llama-server’s own form.
    pub const fn is_llama_form(self) -> bool {
        matches!(self, Self::LlamaCompletion)
    }
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
            Endpoint::ChatCompletions => RequestPrompt::Text(chat(&mut body)?),
            Endpoint::Completions | Endpoint::LlamaCompletion => text_or_tokens(&mut body, model)?,
        };
        let Options {
            chain,
            limits,
            seed,
            n_texts,
            mut delivery,
            notes,
        } = Options::take(endpoint, body, model)?;
        // Without tools, nothing that the model writes is a call.
        delivery.calls = model.tool_calls.filter(|_| prompt.offers_tools());
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
        let n_texts = n_texts(endpoint, &mut body)?;
        let seed = seed(endpoint, &mut body)?;
        let limits = limits(endpoint, model, &mut body)?;
        harmless::take(endpoint, n_texts, &mut body)?;
        let is_llama = endpoint == Endpoint::LlamaCompletion;
        if !is_llama {
            check_format(&mut body)?;
        }
        let settings = body.into_rest();
        let names: Vec<String> = settings.keys().cloned().collect();
        let read = if is_llama {
            read_llama_request(settings, &model.vocabulary)
        } else {
            read_request(settings, &model.vocabulary)
        };
        let mut read = read.map_err(|message| setting_error(&names, message))?;
        if is_llama && limits.end_of_text == EndOfText::Ignored {
            ban_end_of_text(model, &mut read.chain);
        }
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
        let path = self.target.rsplit(' ').next();
        let endpoint = path.and_then(Endpoint::of_path);
        let endpoint = endpoint.unwrap_or(Endpoint::Completions);
        let mut body = Body::of(fields);
        // Whichever model is loaded now, the settings are the same.
        body.take("model");
        Ok(Options::take(endpoint, body, model)?.chain)
    }
}

/// Takes the number of texts. llama-server has another name for it, which counts before OpenAI’s.
fn n_texts(endpoint: Endpoint, body: &mut Body) -> Result<usize, ApiError> {
    let n_texts = body.count("n", 1..=MAX_TEXTS)?;
    let of_llama = match endpoint {
        Endpoint::LlamaCompletion => body.count("n_cmpl", 1..=MAX_TEXTS)?,
        Endpoint::ChatCompletions | Endpoint::Completions => None,
    };
    Ok(of_llama.or(n_texts).unwrap_or(1))
}

/// The seed that asks llama-server for a random one: −1 in 32 bits.
const RANDOM_SEED: u64 = u32::MAX as u64;

/// Bans the tokens that end a text, as llama-server does with `ignore_eos`.
fn ban_end_of_text(model: &ApiModel, chain: &mut ChainConfig) {
    let banned = model.info.provenance.end_tokens.clone();
    let mut stages = chain.stages.iter_mut();
    let biases = stages.find_map(|stage| match &mut stage.filter {
        Filter::LogitBias(biases) => Some(biases),
        _ => None,
    });
    match biases {
        Some(biases) => biases.banned.extend(banned),
        None if banned.is_empty() => {}
        None => {
            let biases = LogitBias {
                banned,
                ..LogitBias::default()
            };
            let stage = Stage::from(Filter::LogitBias(biases));
            chain.stages.insert(0, stage);
        }
    }
}

/// Takes the seed. As in llama-server, −1 asks for a random one.
fn seed(endpoint: Endpoint, body: &mut Body) -> Result<Option<u64>, ApiError> {
    let seed = match body.take("seed") {
        Some(Value::Number(seed)) => seed,
        None => return Ok(None),
        Some(other) => {
            let message = format!("seed must be an integer, not {}", shown(&other));
            return Err(ApiError::invalid_field("seed", message));
        }
    };
    match (seed.as_u64(), seed.as_i64()) {
        (Some(RANDOM_SEED), _) if endpoint == Endpoint::LlamaCompletion => Ok(None),
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
        Endpoint::ChatCompletions | Endpoint::LlamaCompletion => unlimited,
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
