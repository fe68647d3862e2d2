//! Which of our ways of running a model suits it: our own decoder, or candle-transformers.

use candle_core::quantized::gguf_file::Content;

use super::infinities::without_infinities;
use crate::decoding::TokenId;
use crate::engine::blueprint::Blueprint;
use crate::engine::candle_models::Plan;
use crate::engine::decoder::Decoder;
use crate::engine::estimate;
use crate::engine::weights::{Catalog, Checkpoint};
use crate::engine::{CausalLm, Compute, EngineError};
use crate::generation::{Implementation, ModelOutline};
use crate::kernels::attention::CacheType;

/// A model's architecture, by who runs it.
pub enum Architecture {
    /// Our decoder.
    Own(Blueprint),
    /// candle-transformers.
    Borrowed(Plan),
}

impl Architecture {
    /// From the content of a `config.json`. `path` is named where it can't be understood.
    pub fn from_config(json: &[u8], path: &str) -> Result<Self, EngineError> {
        let json = &without_infinities(json);
        let own = Blueprint::from_config(json, path);
        Self::own_or_else(own, || Plan::from_config(json, path))
    }

    /// From the metadata of a GGUF file. `path` is named where it can't be understood.
    pub fn from_gguf(content: &Content, path: &str) -> Result<Self, EngineError> {
        let own = Blueprint::from_gguf(content, path);
        Self::own_or_else(own, || Plan::from_gguf(content, path))
    }

    fn own_or_else(
        own: Result<Blueprint, EngineError>,
        borrowed: impl FnOnce() -> Result<Option<Plan>, EngineError>,
    ) -> Result<Self, EngineError> {
        match own {
            Ok(blueprint) => Ok(Self::Own(blueprint)),
            Err(error @ EngineError::UnknownArchitecture { .. }) => {
                borrowed()?.map(Self::Borrowed).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// The family, as the file names it.
    pub fn name(&self) -> &str {
        match self {
            Self::Own(blueprint) => &blueprint.architecture,
            Self::Borrowed(plan) => &plan.architecture,
        }
    }

    /// The tokens that end a text, as far as a `config.json` names them.
    pub fn end_tokens(&self) -> &[TokenId] {
        match self {
            Self::Own(blueprint) => &blueprint.end_tokens,
            Self::Borrowed(plan) => &plan.end_tokens,
        }
    }

    /// Who runs it.
    pub const fn implementation(&self) -> Implementation {
        match self {
            Self::Own(_) => Implementation::Quartet,
            Self::Borrowed(_) => Implementation::CandleTransformers,
        }
    }

    /// How the model computes. Several models of candle-transformers also round
    /// the positions of tokens where their weights are halved, so all of them stay in full precision; they
    /// keep their own cache.
    pub fn compute(&self, compute: &Compute) -> Compute {
        match self {
            Self::Own(_) => compute.clone(),
            Self::Borrowed(_) => Compute {
                device: compute.device.in_full_precision(),
                cache: CacheType::default(),
                n_threads: compute.n_threads,
            },
        }
    }

    /// What is known of the model without its weights.
    pub fn outline(&self, name: String, catalog: &Catalog) -> ModelOutline {
        match self {
            Self::Own(blueprint) => estimate::outline(name, blueprint, catalog),
            Self::Borrowed(plan) => {
                let memory = plan.memory_need(catalog);
                ModelOutline {
                    name,
                    architecture: plan.architecture.clone(),
                    implementation: Implementation::CandleTransformers,
                    n_params: catalog.n_all_values(),
                    quantization: catalog.quantization(),
                    n_context: plan.n_context,
                    n_file_bytes: catalog.n_file_bytes(),
                    n_step_bytes: memory.n_weight_bytes,
                    memory,
                    head_dim: None,
                    unread: None,
                }
            }
        }
    }

    /// The model, ready to read, and how many weights it has.
    pub fn load(
        self,
        checkpoint: &mut Checkpoint<'_>,
        compute: &Compute,
    ) -> Result<(Box<dyn CausalLm>, u64), EngineError> {
        let device = &compute.device;
        let candle = device.candle().clone();
        match self {
            Self::Own(blueprint) if candle.is_cpu() => {
                let decoder = Decoder::on_cpu(blueprint, checkpoint, compute)?;
                let n_params = decoder.n_params();
                Ok((Box::new(decoder), n_params))
            }
            Self::Own(blueprint) => {
                let decoder =
                    Decoder::on_device(blueprint, checkpoint, candle, device.precision())?;
                let n_params = decoder.n_params();
                Ok((Box::new(decoder), n_params))
            }
            Self::Borrowed(plan) => {
                let (lm, n_params) = plan.build(checkpoint, &candle)?;
                Ok((Box::new(lm), n_params))
            }
        }
    }
}
