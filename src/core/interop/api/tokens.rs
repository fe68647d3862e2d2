//! llama-server’s `/tokenize`, `/detokenize` and `/apply-template`.

use serde_json::{Value, json};

use super::body::Body;
use super::{ApiError, ApiModel, prompt};
use crate::decoding::TokenId;
use crate::generation::{Framing, PieceKind, PromptText};

/// The longest text that is tokenized, in bytes, and the most tokens that are put together.
const MAX_BYTES: usize = 1 << 20;
const MAX_TOKENS: usize = 1 << 20;

/// Answers `/tokenize`.
pub fn tokenize(json: &[u8], model: &ApiModel) -> Result<Value, ApiError> {
    let mut body = Body::parse(json)?;
    let text = body.text("content")?;
    let text = text.ok_or_else(|| ApiError::invalid_field("content", "content is missing"))?;
    let add_special = body.boolean("add_special")?.unwrap_or(false);
    let parse_special = body.boolean("parse_special")?.unwrap_or(true);
    let with_pieces = body.boolean("with_pieces")?.unwrap_or(false);
    body.finish()?;
    if text.len() > MAX_BYTES {
        let message = format!("content may have at most {MAX_BYTES} bytes");
        return Err(ApiError::invalid_field("content", message));
    }
    let mut special = model.vocabulary.iter();
    let mut special = special
        .by_ref()
        .filter(|(_, piece)| piece.kind == PieceKind::Special);
    if !parse_special
        && let Some((_, piece)) = special.find(|(_, piece)| text.contains(&*piece.to_string()))
    {
        let message = format!(
            "parse_special false is not supported for a text that contains {:?}",
            piece.to_string()
        );
        return Err(ApiError::invalid_field("parse_special", message));
    }
    let framing = if add_special {
        Framing::Whole
    } else {
        Framing::Bare
    };
    let tokens = model.vocabulary.encode(&text, framing);
    let failed = || ApiError::failed("The tokenizer failed");
    let entry = |token: &TokenId| {
        if !with_pieces {
            return json!(token.0);
        }
        let piece = model.vocabulary.piece(*token);
        let shown = piece
            .as_str()
            .map_or_else(|| json!(piece.bytes), |text| json!(text));
        json!({"id": token.0, "piece": shown})
    };
    let tokens: Vec<Value> = tokens.ok_or_else(failed)?.iter().map(entry).collect();
    Ok(json!({"tokens": tokens}))
}

/// Answers `/detokenize`.
pub fn detokenize(json: &[u8], model: &ApiModel) -> Result<Value, ApiError> {
    let mut body = Body::parse(json)?;
    let invalid = |message: String| ApiError::invalid_field("tokens", message);
    let tokens = body.take("tokens");
    let tokens = tokens.ok_or_else(|| invalid("tokens is missing".to_owned()))?;
    body.finish()?;
    let ids = tokens.as_array().filter(|ids| ids.len() <= MAX_TOKENS);
    let tokens = ids.and_then(|ids| ids.iter().map(|id| prompt::token(id, model)).collect());
    let n_vocab = model.info.n_vocab;
    let tokens: Vec<TokenId> = tokens.ok_or_else(|| {
        let message =
            format!("tokens must list at most {MAX_TOKENS} token ids, which are below {n_vocab}");
        invalid(message)
    })?;
    Ok(json!({"content": model.vocabulary.text_with_special(&tokens)}))
}

/// Reads a request to `/apply-template`: the chat to render.
pub fn template_request(json: &[u8]) -> Result<PromptText, ApiError> {
    let mut body = Body::parse(json)?;
    let chat = prompt::chat(&mut body)?;
    body.finish()?;
    Ok(chat)
}

/// Returns the answer to `/apply-template`.
pub fn template_answer(rendered: &str) -> Value {
    json!({"prompt": rendered})
}
