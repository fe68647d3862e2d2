//! The sampling settings that a model's author recommends.

use crate::decoding::ChainConfig;

/// Sampling settings that a model's author recommends, as far as Quartet supports them.
#[derive(Debug, Clone, PartialEq)]
pub struct RecommendedSampling {
    /// Where the recommendation was found: "`generation_config.json`", "the model file".
    pub source: String,
    /// The recommended chain, or `None` if no part of it is supported.
    pub chain: Option<ChainConfig>,
    /// One sentence for each setting that was left out, with the reason.
    pub remarks: Vec<String>,
}
