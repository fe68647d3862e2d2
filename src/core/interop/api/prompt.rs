//! What a request asks the model to continue or to answer.

use serde_json::Value;

use super::body::Body;
use super::{ApiError, ApiModel};
use crate::decoding::TokenId;
use crate::generation::{
    ChatSettings, ChatTools, GIVEN_VARIABLES, PromptForm, PromptText, TemplateKwargs,
};
use crate::interop::Messages;

/// The parts of a message that are read. `Messages` says what they mean.
const MESSAGE_FIELDS: [&str; 7] = [
    "role",
    "content",
    "reasoning_content",
    "reasoning",
    "thinking",
    "tool_calls",
    "tool_call_id",
];

/// The most tools that a request can offer, as in `OpenAI`'s API.
const MAX_TOOLS: usize = 128;

/// The prompt of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestPrompt {
    /// A text to continue, or messages to answer.
    Text(PromptText),
    /// The tokens to continue, as they are.
    Tokens(Vec<TokenId>),
}

impl RequestPrompt {
    /// Returns whether it offers tools that the model can call.
    pub(super) const fn offers_tools(&self) -> bool {
        match self {
            Self::Text(PromptText {
                form: PromptForm::Chat(settings),
                ..
            }) => !settings.tools.definitions.is_empty(),
            Self::Text(_) | Self::Tokens(_) => false,
        }
    }
}

/// Takes the messages of a chat, the last of which is answered.
pub(super) fn chat(body: &mut Body) -> Result<PromptText, ApiError> {
    let invalid = |message: String| ApiError::invalid_field("messages", message);
    let list = body
        .take("messages")
        .ok_or_else(|| invalid("messages is missing".to_owned()))?;
    check_fields(&list)?;
    let messages =
        Messages::from_json(&list).map_err(|error| invalid(format!("messages: {error}")))?;
    let Some(last) = messages.last else {
        return Err(invalid(
            "messages: the last one must be the user’s or a tool’s".to_owned(),
        ));
    };
    if last.is_empty() {
        return Err(invalid("messages: the last one is empty".to_owned()));
    }
    let settings = ChatSettings {
        system: messages.system,
        history: messages.history,
        tools: ChatTools {
            definitions: tools(body)?,
            ..messages.tools
        },
        kwargs: template_kwargs(body)?,
    };
    Ok(PromptText::chat_with(last, settings))
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

/// Reads a token id of the model.
pub(super) fn token(id: &Value, model: &ApiModel) -> Option<TokenId> {
    let id = u32::try_from(id.as_u64()?).ok()?;
    Some(TokenId(id)).filter(|token| token.index() < model.info.n_vocab)
}

/// Fails if a message has more than its text.
fn check_fields(messages: &Value) -> Result<(), ApiError> {
    for (index, message) in messages.as_array().into_iter().flatten().enumerate() {
        for (name, value) in message.as_object().into_iter().flatten() {
            let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            // A tool's result may carry the tool's name. Names of people are not supported.
            let is_of_tool = name == "name" && message.get("role").is_some_and(|it| it == "tool");
            if !MESSAGE_FIELDS.contains(&name.as_str()) && !is_empty && !is_of_tool {
                return Err(ApiError::invalid_field(
                    format!("messages[{index}].{name}"),
                    format!("message {} has {name}, which is not supported", index + 1),
                ));
            }
        }
    }
    Ok(())
}

/// Takes the tools that the template describes to the model. There are none if the request says that
/// the model must not call any.
fn tools(body: &mut Body) -> Result<Vec<Value>, ApiError> {
    let is_function = |tool: &Value| {
        let function = tool.get("function");
        let name = function.and_then(|function| function.get("name"));
        tool.get("type").is_some_and(|it| it == "function") && name.is_some_and(Value::is_string)
    };
    let tools = match body.take("tools") {
        None => Vec::new(),
        Some(Value::Array(tools)) if tools.len() <= MAX_TOOLS && tools.iter().all(is_function) => {
            tools
        }
        Some(_) => {
            let message = format!("tools must list at most {MAX_TOOLS} functions with names");
            return Err(ApiError::invalid_field("tools", message));
        }
    };
    match body.text("tool_choice")?.as_deref() {
        None | Some("auto") => Ok(tools),
        Some("none") => Ok(Vec::new()),
        Some(other) => Err(ApiError::invalid_field(
            "tool_choice",
            format!("tool_choice must be none or auto, not {other:?}"),
        )),
    }
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
