//! The model that the API serves, and what it reports about itself.

use std::sync::Arc;

use serde_json::{Value, json};

use super::ApiError;
use super::body::Body;
use crate::decoding::dialect::Dialect;
use crate::generation::{GenerationConfig, Limits, ModelInfo, ToolCallForm, Vocabulary};
use crate::interop::tools::{RequestFormat, request_settings};

/// The loaded model, which is the only one that requests can reach.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiModel {
    pub info: Arc<ModelInfo>,
    pub vocabulary: Arc<Vocabulary>,
    /// The model that drafts or guides, if one is loaded.
    pub second: Option<Arc<ModelInfo>>,
    /// When it was loaded, in seconds since 1970.
    pub loaded_at: u64,
    /// How its chat template lets it write tool calls, if it names a form that is read.
    pub tool_calls: Option<ToolCallForm>,
}

impl ApiModel {
    /// Returns the name under which programs ask for it.
    pub fn id(&self) -> &str {
        &self.info.name
    }

    /// Checks that a request names no other model. It need not name any.
    pub(super) fn check(&self, body: &mut Body) -> Result<(), ApiError> {
        match body.text("model")? {
            Some(other) if other != self.id() => Err(ApiError {
                status: 404,
                code: Some("model_not_found"),
                ..ApiError::invalid_field(
                    "model",
                    format!("The model {other:?} is not loaded; ask for {:?}", self.id()),
                )
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the answer to `/health`.
pub fn health() -> Value {
    json!({"status": "ok"})
}

/// Returns the answer to `/v1/models`.
pub fn models(model: &ApiModel) -> Value {
    json!({
        "object": "list",
        "data": [{
            "id": model.id(),
            "object": "model",
            "created": model.loaded_at,
            "owned_by": "quartet",
            "meta": {
                "n_vocab": model.info.n_vocab,
                "n_ctx_train": model.info.n_context,
                "n_params": model.info.n_params,
            },
        }],
    })
}

/// Returns the answer to `/props`, as far as it describes Quartet. It writes up to `n_texts` texts at a
/// time.
pub fn props(model: &ApiModel, n_texts: usize) -> Value {
    let config = GenerationConfig {
        chain: Dialect::LlamaCpp.chain(),
        seed: 0,
        limits: Limits {
            max_new_tokens: model.info.n_context,
            ..Limits::default()
        },
    };
    let mut settings = request_settings(RequestFormat::LlamaServer, &config).fields;
    settings.remove("seed");
    json!({
        "default_generation_settings": {"params": settings, "n_ctx": model.info.n_context},
        "total_slots": n_texts,
        "model_alias": model.id(),
        "model_ftype": model.info.quantization,
        "modalities": {"vision": false, "audio": false},
        "build_info": format!("quartet-{}", model.info.provenance.version),
    })
}
