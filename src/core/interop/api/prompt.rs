//! What a request asks the model to continue or to answer.

use serde_json::Value;

use super::body::Body;
use super::{ApiError, ApiModel};
use crate::decoding::TokenId;
use crate::generation::{ChatSettings, GIVEN_VARIABLES, PromptText, TemplateKwargs};
use crate::interop::Messages;

/// The parts of a message that are read. `Messages` says what they mean.
const MESSAGE_FIELDS: [&str; 5] = [
    "role",
    "content",
    "reasoning_content",
    "reasoning",
    "thinking",
];

/// The prompt of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestPrompt {
    /// A text to continue, or messages to answer.
    Text(PromptText),
    /// The tokens to continue, as they are.
    Tokens(Vec<TokenId>),
}

/// Takes the messages of a chat, the last of which is answered.
pub(super) fn messages(body: &mut Body) -> Result<RequestPrompt, ApiError> {
    let invalid = |message: String| ApiError::invalid_field("messages", message);
    let list = body
        .take("messages")
        .ok_or_else(|| invalid("messages is missing".to_owned()))?;
    check_fields(&list)?;
    let messages =
        Messages::from_json(&list).map_err(|error| invalid(format!("messages: {error}")))?;
    let Some(last) = messages.last else {
        return Err(invalid(
            "messages: the last one must be the user’s".to_owned(),
        ));
    };
    if last.is_empty() {
        return Err(invalid("messages: the last one is empty".to_owned()));
    }
    let settings = ChatSettings {
        system: messages.system,
        history: messages.history,
        kwargs: template_kwargs(body)?,
    };
    Ok(RequestPrompt::Text(PromptText::chat_with(last, settings)))
}

/// Takes a prompt: a text, or a list of token ids. A list may also hold one of these.
pub(super) fn text_or_tokens(body: &mut Body, model: &ApiModel) -> Result<RequestPrompt, ApiError> {
    let invalid = |message: &str| ApiError::invalid_field("prompt", message);
    let mut prompt = body
        .take("prompt")
        .ok_or_else(|| invalid("prompt is missing"))?;
    if let Value::Array(prompts) = &mut prompt
        && prompts.iter().all(|prompt| !prompt.is_number())
        && !prompts.is_empty()
    {
        prompt = match (prompts.pop(), prompts.is_empty()) {
            (Some(prompt), true) => prompt,
            _ => {
                return Err(invalid(
                    "prompt holds several prompts; ask for one at a time",
                ));
            }
        };
    }
    match prompt {
        Value::String(text) if text.is_empty() => Err(invalid("prompt is empty")),
        Value::String(text) => Ok(RequestPrompt::Text(PromptText::raw(text))),
        Value::Array(ids) if ids.is_empty() => Err(invalid("prompt is empty")),
        Value::Array(ids) => {
            let tokens = ids.iter().map(|id| token(id, model)).collect();
            let tokens: Option<Vec<TokenId>> = tokens;
            let n_vocab = model.info.n_vocab;
            let message = || {
                invalid(&format!(
                    "prompt must list token ids, which are below {n_vocab}"
                ))
            };
            tokens.map(RequestPrompt::Tokens).ok_or_else(message)
        }
        _ => Err(invalid("prompt must be a string or a list of token ids")),
    }
}

fn token(id: &Value, model: &ApiModel) -> Option<TokenId> {
    let id = u32::try_from(id.as_u64()?).ok()?;
    Some(TokenId(id)).filter(|token| token.index() < model.info.n_vocab)
}

/// Fails if a message has more than its text.
fn check_fields(messages: &Value) -> Result<(), ApiError> {
    for (index, message) in messages.as_array().into_iter().flatten().enumerate() {
        for (name, value) in message.as_object().into_iter().flatten() {
            let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if !MESSAGE_FIELDS.contains(&name.as_str()) && !is_empty {
                return Err(ApiError::invalid_field(
                    format!("messages[{index}].{name}"),
                    format!("message {} has {name}, which is not supported", index + 1),
                ));
            }
        }
    }
    Ok(())
}

/// Takes the variables of the chat template.
fn template_kwargs(body: &mut Body) -> Result<TemplateKwargs, ApiError> {
    const NAME: &str = "chat_template_kwargs";
    let kwargs = body.object(NAME)?.unwrap_or_default();
    if let Some(given) = GIVEN_VARIABLES
        .iter()
        .find(|name| kwargs.contains_key(**name))
    {
        let message = format!("{NAME} can’t replace {given}");
        return Err(ApiError::invalid_field(NAME, message));
    }
    Ok(kwargs.into_iter().collect())
}
