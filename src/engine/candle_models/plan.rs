//! What a file says of a model that runs through candle-transformers, and how it is built.

use std::collections::HashMap;

use candle_core::Device;
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, Value as GgufValue, VersionedMagic};
use serde_json::{Map, Value, json};

use super::config::adapted;
use super::families::{FAMILIES, Family, GgufFamily, Parts};
use super::kept::{Kept, keys_and_values};
use super::lm::BorrowedLm;
use super::networks::Networks;
use super::shelf::Shelf;
use super::sizes::{Heads, N_CONTEXT, Sizes};
use crate::decoding::TokenId;
use crate::engine::EngineError;
use crate::engine::blueprint::{Facts, Key, end_tokens_of, linear_factor_of_gguf};
use crate::engine::weights::{Catalog, Checkpoint, StoredType, is_half};
use crate::generation::MemoryNeed;

const WINDOW: Key = Key::config("sliding_window");
const N_VOCAB: Key = Key::config("vocab_size");
const ROTATED_PART: Key = Key::config("partial_rotary_factor");
const N_ROTATED: Key = Key::gguf("rope.dimension_count");
const THETA: Key = Key::new("rope_theta", "rope.freq_base");
const SCALING: Key = Key::gguf("rope.scaling.type");

/// The table of tokens in a GGUF file.
const TOKENS: &str = "token_embd.weight";

/// A model of a family that our decoder does not know and candle-transformers does.
pub struct Plan {
    /// The family, as the file names it: "phi".
    pub architecture: String,
    /// How many tokens a sequence can hold.
    pub n_context: usize,
    /// The tokens that end a text, as far as a `config.json` names them.
    pub end_tokens: Vec<TokenId>,
    kept: Kept,
    form: Form,
}

/// What the model is built by.
enum Form {
    Config {
        family: &'static Family,
        config: Map<String, Value>,
        n_vocab: usize,
    },
    Gguf {
        family: &'static GgufFamily,
        metadata: HashMap<String, GgufValue>,
    },
}

impl Plan {
    /// From the content of a `config.json`; none where it is of no such family.
    pub fn from_config(json: &[u8], path: &str) -> Result<Option<Self>, EngineError> {
        let Ok(values) = serde_json::from_slice::<Map<String, Value>>(json) else {
            return Ok(None);
        };
        let class = values
            .get("architectures")
            .and_then(|classes| classes.get(0));
        let family = FAMILIES.iter().find(|family| {
            let is = |value: Option<&Value>, name| value.is_none_or(|value| value == name);
            is(values.get("model_type"), family.model_type) && is(class, family.class)
        });
        let Some(family) = family else {
            return Ok(None);
        };
        let end_tokens = end_tokens_of(&Facts::of_config(&values, &[], path))?;
        let mut config = adapted(family, values, path)?;
        let facts = Facts::of_config(&config, &[], path);
        let sizes = Sizes::read(&facts)?;
        let kept = (family.kept)(&facts, &sizes)?;
        let n_vocab = facts.required_size(N_VOCAB)?;
        // Windows are not applied to what was read before, and so not reached.
        let window = facts.size(WINDOW)?.unwrap_or(usize::MAX);
        let n_context = sizes.n_context.min(window).min(family.n_context);
        let rotated = facts.number(ROTATED_PART)?.unwrap_or(1.0);
        if !(rotated > 0.0 && rotated <= 1.0) {
            let name = facts.name(ROTATED_PART);
            return Err(facts.malformed(format!("{name} is {rotated}")));
        }
        config.insert("max_position_embeddings".to_owned(), json!(n_context));
        Ok(Some(Self {
            architecture: family.model_type.to_owned(),
            n_context,
            end_tokens,
            kept,
            form: Form::Config {
                family,
                config,
                n_vocab,
            },
        }))
    }

    /// From the metadata of a GGUF file; none where they are of no such family.
    pub fn from_gguf(content: &Content, path: &str) -> Result<Option<Self>, EngineError> {
        let Some(GgufValue::String(name)) = content.metadata.get("general.architecture") else {
            return Ok(None);
        };
        let facts = Facts::of_gguf(content, name, path);
        let mut families = FAMILIES.iter().filter_map(|family| family.gguf.as_ref());
        let Some(family) = families.find(|family| family.name == name) else {
            return if FAMILIES.iter().any(|family| family.model_type == name) {
                let feature = format!("a reader of {name} in GGUF (its safetensors are read)");
                Err(facts.unsupported(feature))
            } else {
                Ok(None)
            };
        };
        let sizes = Sizes::read(&facts)?;
        let heads = Heads::read(&facts, &sizes)?;
        family.check_rotations(&facts, heads.head_dim)?;
        let n_context = sizes.n_context.min(family.n_context);
        // The tokenizer's part is large, and nothing here reads it.
        let metadata = content.metadata.iter();
        let metadata = metadata.filter(|(key, _)| !key.starts_with("tokenizer."));
        let mut metadata: HashMap<_, _> = metadata
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        metadata.insert(facts.name(N_CONTEXT), GgufValue::U32(n_context as u32));
        Ok(Some(Self {
            architecture: name.clone(),
            n_context,
            end_tokens: Vec::new(),
            kept: keys_and_values(&facts, &sizes)?,
            form: Form::Gguf { family, metadata },
        }))
    }

    /// The model, and how many weights it has.
    pub fn build(
        self,
        checkpoint: &mut Checkpoint<'_>,
        device: &Device,
    ) -> Result<(BorrowedLm, u64), EngineError> {
        let (networks, n_vocab, n_params) = match self.form {
            Form::Config {
                family,
                config,
                n_vocab,
            } => {
                let (networks, n_params) = of_config(family, &config, checkpoint, device)?;
                (networks, n_vocab, n_params)
            }
            Form::Gguf { family, metadata } => {
                let n_params = checkpoint.catalog().n_all_values();
                let shape = checkpoint.shape(TOKENS);
                let n_vocab = shape.and_then(|shape| shape.first()).copied();
                let networks = of_gguf(family, metadata, checkpoint, device)?;
                (networks, n_vocab.unwrap_or_default(), n_params)
            }
        };
        let lm = BorrowedLm::new(networks, device.clone(), n_vocab, self.n_context);
        Ok((lm, n_params))
    }

    /// What the model takes on the processor.
    pub fn memory_need(&self, catalog: &Catalog) -> MemoryNeed {
        let is_gguf = matches!(self.form, Form::Gguf { .. });
        let n_kept_bytes = catalog.places().map(|place| match place.stored_type {
            StoredType::Known(dtype) if is_gguf && is_kept_twice(dtype) => 2 * place.n_bytes,
            StoredType::Known(dtype) if is_gguf && !is_half(dtype) => place.n_bytes,
            // Everything else is widened to 32 bits.
            _ => place.n_values().saturating_mul(4),
        });
        let n_widened_bytes = if is_gguf {
            4 * catalog.n_values(TOKENS)
        } else {
            0
        };
        MemoryNeed {
            n_weight_bytes: n_kept_bytes.sum::<u64>().saturating_add(n_widened_bytes),
            n_cache_bytes_per_token: self.kept.n_bytes_per_token,
            n_state_bytes: self.kept.n_state_bytes,
        }
    }
}

/// Whether candle keeps a second form of such weights once they are multiplied: the one that its
/// quickest products read.
const fn is_kept_twice(dtype: GgmlDType) -> bool {
    match dtype {
        GgmlDType::Q4K | GgmlDType::Q6K | GgmlDType::Q8_0 => {
            cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        }
        GgmlDType::Q4_0 | GgmlDType::Q5K => cfg!(target_arch = "aarch64"),
        _ => false,
    }
}

fn of_config(
    family: &Family,
    config: &Map<String, Value>,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<(Networks, u64), EngineError> {
    let shelf = Shelf::fill(checkpoint, device)?;
    let parts = Parts {
        config,
        shelf: &shelf,
        device,
    };
    let networks =
        (family.build)(&parts).map_err(|error| checkpoint.malformed(error.to_string()))?;
    match shelf.left_over() {
        None => Ok((networks, shelf.n_taken())),
        Some(name) => Err(checkpoint.malformed(format!(
            "there is a tensor {name}, which is not known in this family"
        ))),
    }
}

fn of_gguf(
    family: &GgufFamily,
    metadata: HashMap<String, GgufValue>,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<Networks, EngineError> {
    let content = Content {
        magic: VersionedMagic::GgufV3,
        metadata,
        tensor_infos: checkpoint.tensor_infos(),
        tensor_data_offset: 0,
    };
    (family.build)(content, checkpoint, device)
        .map_err(|error| checkpoint.malformed(error.to_string()))
}

impl GgufFamily {
    /// Refuses rotations that candle-transformers would not turn as the file says.
    fn check_rotations(&self, facts: &Facts<'_>, head_dim: usize) -> Result<(), EngineError> {
        match facts.text(SCALING)?.as_deref() {
            None => {
                if let Some(factor) = linear_factor_of_gguf(facts)? {
                    let feature = format!("the rotary factor {factor} for this family");
                    return Err(facts.unsupported(feature));
                }
            }
            Some("none") => {}
            Some(kind) => {
                return Err(facts.unsupported(format!("rotary scaling {kind:?} for this family")));
            }
        }
        let n_rotated = facts.size(N_ROTATED)?.unwrap_or(head_dim / 2);
        if n_rotated > head_dim || (self.theta.is_none() && n_rotated != head_dim / 2) {
            let feature =
                format!("the rotation of {n_rotated} of {head_dim} values for this family");
            return Err(facts.unsupported(feature));
        }
        let theta = facts.number(THETA)?;
        match (self.theta, theta) {
            (Some(fixed), Some(theta)) if (fixed - theta).abs() > 0.5 => {
                Err(facts.unsupported(format!("the rotary base {theta} for this family")))
            }
            _ => Ok(()),
        }
    }
}
