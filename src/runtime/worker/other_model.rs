//! Another model that a job needs, or the loaded one computed in another way.

use super::{CacheType, InputBits, ModelSource};
use crate::engine::Compute;

/// A model besides the loaded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherModel {
    pub source: ModelSource,
    pub way: OtherWay,
}

/// How the other model computes on the CPU, if that differs from the user's choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherWay {
    /// Like the loaded model.
    #[default]
    Same,
    /// In f32 over its dequantized weights, with an f32 cache.
    F32,
    /// With inputs rounded to this many bits.
    Inputs(InputBits),
    /// With the KV cache in this format.
    Cache(CacheType),
}

impl OtherWay {
    pub(super) fn of(self, base: Compute) -> Compute {
        match self {
            Self::Same => base,
            Self::F32 => base.in_f32(),
            Self::Inputs(inputs) => Compute { inputs, ..base },
            Self::Cache(cache) => Compute { cache, ..base },
        }
    }
}
