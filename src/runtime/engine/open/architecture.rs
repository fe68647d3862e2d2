//! Chooses what runs a model: our own decoder, or candle-transformers.

use candle_core::quantized::gguf_file::Content;

use super::infinities::without_infinities;
use super::other_kinds::other_kind;
use crate::decoding::TokenId;
use crate::engine::blueprint::Blueprint;
use crate::engine::candle_models::Plan;
use crate::engine::decoder::{Decoder, check_tensors};
use crate::engine::device::Workload;
use crate::engine::estimate;
use crate::engine::weights::{Catalog, Checkpoint, LoadStop};
use crate::engine::{CausalLm, Compute, EngineError, Precision};
use crate::generation::{Implementation, ModelOutline};
use crate::kernels::InputBits;
use crate::kernels::attention::CacheType;

/// A model's architecture, and what runs it.
pub(super) enum Architecture {
    /// Our own decoder.
    Quartet(Box<Blueprint>),
    /// candle-transformers.
    Candle(Plan),
}

impl Architecture {
    /// Reads a `config.json`. `path` appears in error messages.
    pub(super) fn from_config(json: &[u8], path: &str) -> Result<Self, EngineError> {
        let json = &without_infinities(json);
        let blueprint = Blueprint::from_config(json, path);
        Self::first_supported(blueprint, path, || Plan::from_config(json, path))
    }

    /// Reads the metadata of a GGUF file. `path` appears in error messages.
    pub(super) fn from_gguf(content: &Content, path: &str) -> Result<Self, EngineError> {
        let blueprint = Blueprint::from_gguf(content, path);
        Self::first_supported(blueprint, path, || Plan::from_gguf(content, path))
    }

    /// Returns whether a `config.json` with this `model_type` and this first class is of a family
    /// that something here runs.
    pub(super) fn knows_config(model_type: Option<&str>, class: Option<&str>) -> bool {
        Blueprint::knows_config(model_type, class) || Plan::knows_config(model_type, class)
    }

    /// Returns whether something here runs this `general.architecture` in GGUF metadata.
    pub(super) fn knows_gguf(architecture: &str) -> bool {
        Blueprint::knows_gguf(architecture) || Plan::knows_gguf(architecture)
    }

    fn first_supported(
        blueprint: Result<Blueprint, EngineError>,
        path: &str,
        plan: impl FnOnce() -> Result<Option<Plan>, EngineError>,
    ) -> Result<Self, EngineError> {
        match blueprint {
            Ok(blueprint) => Ok(Self::Quartet(Box::new(blueprint))),
            Err(error @ EngineError::UnsupportedArchitecture { .. }) => {
                plan()?.map(Self::Candle).ok_or_else(|| named(error, path))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the family's name in the file.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Quartet(blueprint) => &blueprint.architecture,
            Self::Candle(plan) => &plan.architecture,
        }
    }

    /// Returns the size of the vocabulary, if the headers state it.
    pub(super) const fn n_vocab(&self) -> Option<usize> {
        match self {
            Self::Quartet(blueprint) => blueprint.n_vocab,
            Self::Candle(_) => None,
        }
    }

    /// Returns the end-of-text tokens listed in the `config.json`. Empty for a GGUF file.
    pub(super) fn end_tokens(&self) -> &[TokenId] {
        match self {
            Self::Quartet(blueprint) => &blueprint.end_tokens,
            Self::Candle(plan) => &plan.end_tokens,
        }
    }

    /// Returns what will run the model.
    pub(super) const fn implementation(&self) -> Implementation {
        match self {
            Self::Quartet(_) => Implementation::Quartet,
            Self::Candle(_) => Implementation::CandleTransformers,
        }
    }

    /// Adapts the compute settings to the model. In candle-transformers, several models also round
    /// token positions when they run in half precision, so all of its models run in full precision.
    /// They ignore the cache type, too.
    pub(super) fn compute(&self, compute: &Compute, catalog: &Catalog) -> Compute {
        match self {
            Self::Quartet(blueprint) => Compute {
                device: compute.device.for_model(workload(blueprint, catalog)),
                ..compute.clone()
            },
            Self::Candle(_) => Compute {
                device: compute.device.in_full_precision(),
                cache: CacheType::default(),
                inputs: InputBits::default(),
                ..compute.clone()
            },
        }
    }

    /// Describes the model without loading its weights.
    pub(super) fn outline(&self, name: String, catalog: &Catalog) -> ModelOutline {
        match self {
            Self::Quartet(blueprint) => estimate::outline(name, blueprint, catalog),
            Self::Candle(plan) => {
                let memory = plan.memory_need(catalog);
                ModelOutline {
                    name,
                    architecture: plan.architecture.clone(),
                    implementation: Implementation::CandleTransformers,
                    n_params: catalog.n_all_values(),
                    quantization: catalog.quantization(),
                    formats: catalog.formats(),
                    n_context: plan.n_context,
                    n_file_bytes: catalog.n_file_bytes(),
                    n_step_bytes: memory.n_weight_bytes,
                    memory,
                    experts: None,
                    conversion: None,
                    head_dim: None,
                    load_warning: None,
                }
            }
        }
    }

    /// Returns the size of the vocabulary. Fails if our own decoder could not load the model
    /// because of the names, shapes or types of its tensors; candle-transformers checks these only
    /// during the load.
    pub(super) fn check(&self, checkpoint: &mut Checkpoint<'_>) -> Result<usize, LoadStop> {
        match self {
            Self::Quartet(blueprint) => check_tensors(blueprint, checkpoint),
            Self::Candle(plan) => Ok(plan.n_vocab(checkpoint.catalog())),
        }
    }

    /// Loads the weights. Returns the model and its number of parameters.
    pub(super) fn load(
        self,
        checkpoint: &mut Checkpoint<'_>,
        compute: &Compute,
    ) -> Result<(Box<dyn CausalLm>, u64), LoadStop> {
        let device = &compute.device;
        let candle = device.candle().clone();
        match self {
            Self::Quartet(blueprint) if candle.is_cpu() => {
                let decoder = Decoder::on_cpu(*blueprint, checkpoint, compute)?;
                let n_params = decoder.n_params();
                Ok((Box::new(decoder), n_params))
            }
            Self::Quartet(blueprint) => {
                let decoder =
                    Decoder::on_device(*blueprint, checkpoint, candle, device.precision())?;
                let n_params = decoder.n_params();
                Ok((Box::new(decoder), n_params))
            }
            Self::Candle(plan) => {
                let (lm, n_params) = plan.build(checkpoint, &candle)?;
                Ok((Box::new(lm), n_params))
            }
        }
    }
}

/// Says what a model of an unsupported architecture is, if that is known.
fn named(error: EngineError, path: &str) -> EngineError {
    let EngineError::UnsupportedArchitecture { architecture, .. } = &error else {
        return error;
    };
    match other_kind(architecture) {
        None => error,
        Some(kind) => EngineError::OtherFormat {
            reason: format!(
                "this is {kind} ({architecture}); Quartet runs models that only write text, and the \
                 text parts of some others"
            ),
            path: path.to_owned(),
        },
    }
}

fn workload(blueprint: &Blueprint, catalog: &Catalog) -> Workload {
    Workload {
        n_layers: blueprint.n_layers(),
        n_step_bytes: estimate::n_step_bytes(blueprint, catalog),
        stored: match catalog.main_format().as_deref() {
            Some("BF16") => Precision::Bf16,
            Some("F16") => Precision::F16,
            _ => Precision::F32,
        },
    }
}
