//! A model that candle-transformers will run: what its file says, and how to build it.

use std::collections::HashMap;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, Value as GgufValue, VersionedMagic};
use candle_core::{Device, Error};
use serde_json::{Map, Value, json};

use super::cache_size::{CacheSize, keys_and_values};
use super::candle_model::CandleModel;
use super::config::adapt_config;
use super::families::{FAMILIES, Family, GgufFamily, Parts};
use super::network::NetworkFactory;
use super::sizes::{Heads, N_CONTEXT, Sizes};
use super::weight_store::WeightStore;
use crate::decoding::TokenId;
use crate::engine::EngineError;
use crate::engine::blueprint::{Facts, Key, end_tokens_of, linear_factor_of_gguf};
use crate::engine::caught_panic::catch_panic;
use crate::engine::error::without_backtrace;
use crate::engine::weights::{Catalog, Checkpoint, LoadStop, StoredType, is_half};
use crate::generation::MemoryNeed;

const WINDOW: Key = Key::config("sliding_window");
const N_VOCAB: Key = Key::config("vocab_size");
const ROTATED_PART: Key = Key::config("partial_rotary_factor");
const N_ROTATED: Key = Key::gguf("rope.dimension_count");
const THETA: Key = Key::new("rope_theta", "rope.freq_base");
const SCALING: Key = Key::gguf("rope.scaling.type");

/// The name of the embedding table in a GGUF file.
const TOKENS: &str = "token_embd.weight";

/// A model of a family that candle-transformers supports and our decoder does not.
pub(crate) struct Plan {
    /// The family's name in the file, such as "phi".
    pub architecture: String,
    /// The most tokens that a sequence can hold.
    pub n_context: usize,
    /// The end-of-text tokens listed in the `config.json`. Empty for a GGUF file.
    pub end_tokens: Vec<TokenId>,
    cache_size: CacheSize,
    source: Source,
}

/// What the model is built from.
enum Source {
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
    /// Reads a `config.json`. Returns `None` if the family is not listed in `families`.
    pub(crate) fn from_config(json: &[u8], path: &str) -> Result<Option<Self>, EngineError> {
        let Ok(values) = serde_json::from_slice::<Map<String, Value>>(json) else {
            return Ok(None);
        };
        let class = values
            .get("architectures")
            .and_then(|classes| classes.get(0));
        let family = FAMILIES.iter().find(|family| {
            let matches = |value: Option<&Value>, name| value.is_none_or(|value| value == name);
            matches(values.get("model_type"), family.model_type) && matches(class, family.class)
        });
        let Some(family) = family else {
            return Ok(None);
        };
        let end_tokens = end_tokens_of(&Facts::from_config(&values, &[], path))?;
        let mut config = adapt_config(family, values, path)?;
        let facts = Facts::from_config(&config, &[], path);
        let sizes = Sizes::read(&facts)?;
        let cache_size = (family.cache_size)(&facts, &sizes)?;
        let n_vocab = facts.required_size(N_VOCAB)?;
        // candle-transformers does not apply the window to cached tokens, so the context must not
        // exceed the window.
        let window = facts.size(WINDOW)?.unwrap_or(usize::MAX);
        let n_context = sizes.n_context.min(window);
        if let Some(rotated) = facts.number(ROTATED_PART)? {
            let head_dim = Heads::read(&facts, &sizes)?.head_dim;
            let is_share = rotated > 0.0 && rotated <= 1.0;
            if !is_share || !can_rotate(n_rotated(rotated, head_dim)) {
                let name = facts.name(ROTATED_PART);
                return Err(facts.malformed(format!("{name} is {rotated}")));
            }
        }
        config.insert("max_position_embeddings".to_owned(), json!(n_context));
        Ok(Some(Self {
            architecture: family.model_type.to_owned(),
            n_context,
            end_tokens,
            cache_size,
            source: Source::Config {
                family,
                config,
                n_vocab,
            },
        }))
    }

    /// Reads the metadata of a GGUF file. Returns `None` if the family is not listed in `families`.
    pub(crate) fn from_gguf(content: &Content, path: &str) -> Result<Option<Self>, EngineError> {
        let Some(GgufValue::String(name)) = content.metadata.get("general.architecture") else {
            return Ok(None);
        };
        let facts = Facts::from_gguf(content, name, path);
        let mut families = FAMILIES.iter().filter_map(|family| family.gguf.as_ref());
        let Some(family) = families.find(|family| family.name == name) else {
            return if FAMILIES.iter().any(|family| family.model_type == name) {
                let feature = format!("a GGUF reader for {name} (its safetensors files work)");
                Err(facts.unsupported(feature))
            } else {
                Ok(None)
            };
        };
        let sizes = Sizes::read(&facts)?;
        let heads = Heads::read(&facts, &sizes)?;
        family.check_rope(&facts, heads.head_dim)?;
        let n_context = sizes.n_context.min(family.n_context);
        // Leave out the tokenizer, which is large and not needed here.
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
            cache_size: keys_and_values(&facts, &sizes)?,
            source: Source::Gguf { family, metadata },
        }))
    }

    /// Returns whether a `config.json` with this `model_type` and this first class is of a family
    /// that candle-transformers runs.
    pub(crate) fn knows_config(model_type: Option<&str>, class: Option<&str>) -> bool {
        let named = model_type.is_some() || class.is_some();
        named
            && FAMILIES.iter().any(|family| {
                model_type.is_none_or(|name| name == family.model_type)
                    && class.is_none_or(|name| name == family.class)
            })
    }

    /// Returns whether candle-transformers runs this `general.architecture` in GGUF metadata.
    pub(crate) fn knows_gguf(architecture: &str) -> bool {
        let mut families = FAMILIES.iter().filter_map(|family| family.gguf.as_ref());
        families.any(|family| family.name == architecture)
    }

    /// Returns the size of the vocabulary.
    pub(crate) fn n_vocab(&self, catalog: &Catalog) -> usize {
        match &self.source {
            Source::Config { n_vocab, .. } => *n_vocab,
            Source::Gguf { .. } => {
                let shape = catalog.shape(TOKENS);
                shape
                    .and_then(|shape| shape.first())
                    .copied()
                    .unwrap_or_default()
            }
        }
    }

    /// Loads the weights. Returns the model and its number of parameters.
    pub(crate) fn build(
        self,
        checkpoint: &mut Checkpoint<'_>,
        device: &Device,
    ) -> Result<(CandleModel, u64), LoadStop> {
        let n_vocab = self.n_vocab(checkpoint.catalog());
        let (networks, n_params) = match self.source {
            Source::Config { family, config, .. } => {
                build_from_config(family, &config, checkpoint, device)?
            }
            Source::Gguf { family, metadata } => {
                let n_params = checkpoint.catalog().n_all_values();
                let networks = build_from_gguf(family, metadata, checkpoint, device)?;
                (networks, n_params)
            }
        };
        let lm = CandleModel::new(networks, device.clone(), n_vocab, self.n_context);
        Ok((lm, n_params))
    }

    /// Estimates how much memory the model takes on the CPU.
    pub(crate) fn memory_need(&self, catalog: &Catalog) -> MemoryNeed {
        let is_gguf = matches!(self.source, Source::Gguf { .. });
        let n_kept_bytes = catalog.entries().map(|entry| match entry.stored_type {
            StoredType::Known(dtype) if is_gguf && is_repacked(dtype) => 2 * entry.n_bytes,
            StoredType::Known(dtype) if is_gguf && !is_half(dtype) => entry.n_bytes,
            // All other weights are converted to 32-bit floats.
            _ => entry.n_values().saturating_mul(4),
        });
        let n_widened_bytes = if is_gguf {
            4 * catalog.n_values(TOKENS)
        } else {
            0
        };
        MemoryNeed {
            n_weight_bytes: n_kept_bytes.sum::<u64>().saturating_add(n_widened_bytes),
            n_cache_bytes_per_token: self.cache_size.n_bytes_per_token,
            n_state_bytes: self.cache_size.n_state_bytes,
            keeps_checkpoints: false,
            n_vocab: self.n_vocab(catalog),
        }
    }
}

/// Returns whether candle keeps a second, repacked copy of such weights for its fastest kernels.
const fn is_repacked(dtype: GgmlDType) -> bool {
    match dtype {
        GgmlDType::Q4K | GgmlDType::Q6K | GgmlDType::Q8_0 => {
            cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        }
        GgmlDType::Q4_0 | GgmlDType::Q5K => cfg!(target_arch = "aarch64"),
        _ => false,
    }
}

/// Returns how many dimensions of a head this share amounts to, rounded as in candle-transformers.
#[expect(clippy::cast_sign_loss, reason = "the share is positive")]
fn n_rotated(share: f32, head_dim: usize) -> usize {
    (f64::from(share) * head_dim as f64) as usize
}

/// Returns whether this many dimensions of a head can be rotated. They rotate in pairs.
const fn can_rotate(n_dimensions: usize) -> bool {
    n_dimensions >= 2 && n_dimensions.is_multiple_of(2)
}

fn build_from_config(
    family: &Family,
    config: &Map<String, Value>,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<(NetworkFactory, u64), LoadStop> {
    let store = WeightStore::load(checkpoint, device)?;
    let parts = Parts {
        config,
        store: &store,
        device,
    };
    let networks = catch_panic(|| (family.build)(&parts)).map_err(Error::msg);
    let networks = networks
        .flatten()
        .map_err(|error| checkpoint.malformed(without_backtrace(&error)))?;
    match store.unused_tensor() {
        None => Ok((networks, store.n_used())),
        Some(name) => {
            let reason = format!("tensor {name} is unknown in this model family");
            Err(checkpoint.malformed(reason).into())
        }
    }
}

fn build_from_gguf(
    family: &GgufFamily,
    metadata: HashMap<String, GgufValue>,
    checkpoint: &mut Checkpoint<'_>,
    device: &Device,
) -> Result<NetworkFactory, LoadStop> {
    let content = Content {
        magic: VersionedMagic::GgufV3,
        metadata,
        tensor_infos: checkpoint.tensor_infos(),
        tensor_data_offset: 0,
    };
    let networks = catch_panic(|| (family.build)(content, checkpoint, device));
    let networks = networks.map_err(Error::msg).flatten();
    // A cancelled read looks like any other I/O error to candle.
    checkpoint.check_cancelled()?;
    networks.map_err(|error| checkpoint.malformed(without_backtrace(&error)).into())
}

impl GgufFamily {
    /// Rejects rotary settings that candle-transformers would ignore.
    fn check_rope(&self, facts: &Facts<'_>, head_dim: usize) -> Result<(), EngineError> {
        match facts.text(SCALING)?.as_deref() {
            None => {
                if let Some(factor) = linear_factor_of_gguf(facts)? {
                    let feature = format!("the rotary scaling factor {factor} for this family");
                    return Err(facts.unsupported(feature));
                }
            }
            Some("none") => {}
            Some(kind) => {
                return Err(facts.unsupported(format!("rotary scaling {kind:?} for this family")));
            }
        }
        let n_rotated = facts.size(N_ROTATED)?.unwrap_or(head_dim / 2);
        if !can_rotate(n_rotated) {
            let name = facts.name(N_ROTATED);
            return Err(facts.malformed(format!("{name} is {n_rotated}")));
        }
        if n_rotated > head_dim {
            let feature =
                format!("rotary embedding of {n_rotated} of {head_dim} dimensions for this family");
            return Err(facts.unsupported(feature));
        }
        match facts.number(THETA)? {
            Some(theta) if (self.theta - theta).abs() > 0.5 => {
                Err(facts.unsupported(format!("the rotary base {theta} for this family")))
            }
            Some(_) | None => Ok(()),
        }
    }
}
