//! Reads the metadata of a GGUF file.

use candle_core::quantized::gguf_file::{Content, Value};

use super::{Blueprint, KNOWN, Rope, RopeForm};
use crate::decoding::TokenId;
use crate::engine::EngineError;

pub(super) fn read(content: &Content, path: &str) -> Result<Blueprint, EngineError> {
    let metadata = Metadata { content, path };
    let architecture = metadata.text("general.architecture").ok_or_else(|| {
        EngineError::malformed("The model's metadata", "it names no architecture", path)
    })?;
    if architecture != "llama" {
        return Err(EngineError::UnknownArchitecture {
            architecture: architecture.to_owned(),
            known: KNOWN,
        });
    }
    metadata.refuse_unsupported()?;
    let hidden_size = metadata.size("llama.embedding_length")?;
    let n_heads = metadata.size("llama.attention.head_count")?;
    let head_dim = metadata
        .optional_size("llama.attention.key_length")?
        .unwrap_or_else(|| hidden_size / n_heads.max(1));
    for key in ["llama.attention.value_length", "llama.rope.dimension_count"] {
        if metadata.optional_size(key)?.unwrap_or(head_dim) != head_dim {
            return Err(metadata.missing(format!("a {key} unlike the head's size")));
        }
    }
    let end_token = metadata.optional_size("tokenizer.ggml.eos_token_id")?;
    Ok(Blueprint {
        architecture: architecture.to_owned(),
        hidden_size,
        n_layers: metadata.size("llama.block_count")?,
        n_heads,
        n_kv_heads: metadata
            .optional_size("llama.attention.head_count_kv")?
            .unwrap_or(n_heads),
        head_dim,
        ffn_size: metadata.size("llama.feed_forward_length")?,
        norm_eps: metadata
            .number("llama.attention.layer_norm_rms_epsilon")
            .unwrap_or(1e-5),
        rope: Rope {
            theta: metadata.number("llama.rope.freq_base").unwrap_or(10_000.0),
            form: RopeForm::Interleaved,
        },
        n_context: metadata.size("llama.context_length")?,
        n_vocab: None,
        tied_head: None,
        end_tokens: end_token.into_iter().map(|id| TokenId(id as u32)).collect(),
    })
}

struct Metadata<'a> {
    content: &'a Content,
    path: &'a str,
}

impl<'a> Metadata<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        match self.content.metadata.get(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn number(&self, key: &str) -> Option<f32> {
        match self.content.metadata.get(key) {
            Some(Value::F32(value)) => Some(*value),
            Some(Value::F64(value)) => Some(*value as f32),
            _ => None,
        }
    }

    fn size(&self, key: &str) -> Result<usize, EngineError> {
        self.optional_size(key)?.ok_or_else(|| {
            let reason = format!("{key} is missing");
            EngineError::malformed("The model's metadata", reason, self.path)
        })
    }

    fn optional_size(&self, key: &str) -> Result<Option<usize>, EngineError> {
        let Some(value) = self.content.metadata.get(key) else {
            return Ok(None);
        };
        let size = match value {
            Value::U8(size) => Some(u64::from(*size)),
            Value::U16(size) => Some(u64::from(*size)),
            Value::U32(size) => Some(u64::from(*size)),
            Value::U64(size) => Some(*size),
            Value::I32(size) => u64::try_from(*size).ok(),
            Value::I64(size) => u64::try_from(*size).ok(),
            _ => None,
        };
        if let Some(size) = size.and_then(|size| usize::try_from(size).ok()) {
            return Ok(Some(size));
        }
        let reason = format!("{key} is not one whole number");
        Err(EngineError::malformed(
            "The model's metadata",
            reason,
            self.path,
        ))
    }

    fn refuse_unsupported(&self) -> Result<(), EngineError> {
        let scaling = self.text("llama.rope.scaling.type").unwrap_or("none");
        if scaling != "none" {
            return Err(self.missing(format!("rotary scaling {scaling:?}")));
        }
        if self.content.tensor_infos.contains_key("rope_freqs.weight") {
            return Err(
                self.missing("rotary scaling by the factors in rope_freqs.weight".to_owned())
            );
        }
        if self.optional_size("llama.expert_count")?.unwrap_or(0) > 0 {
            return Err(self.missing("a mixture of experts".to_owned()));
        }
        if self.content.tensor_infos.contains_key("blk.0.attn_q.bias") {
            return Err(self.missing("projections with a bias".to_owned()));
        }
        Ok(())
    }

    fn missing(&self, feature: String) -> EngineError {
        EngineError::FeatureMissing {
            feature,
            path: self.path.to_owned(),
        }
    }
}
