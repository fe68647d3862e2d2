//! Sampling settings recommended by the model's author, read from the files next to the weights and
//! converted to a sampler chain.
//!
//! Invalid settings are left out with a remark. They never prevent a model from loading.

mod generation_config;
mod gguf;

pub(super) use generation_config::recommended_by_generation_config;
pub(super) use gguf::recommended_by_gguf;

use crate::decoding::{ChainConfig, Filter, Stage};
use crate::generation::RecommendedSampling;

/// Recommended settings while they are being read.
struct Builder {
    /// The defaults of the tool that the file is written for, with the recommended settings
    /// applied.
    chain: ChainConfig,
    /// Whether the file recommends anything valid.
    has_settings: bool,
    /// One sentence for each setting that was left out.
    remarks: Vec<String>,
}

impl Builder {
    const fn new(chain: ChainConfig) -> Self {
        Self {
            chain,
            has_settings: false,
            remarks: Vec::new(),
        }
    }

    /// Replaces the stage of the same kind, or appends one. An invalid setting becomes a remark.
    fn set(&mut self, key: &str, filter: Filter) {
        if let Err(error) = filter.validate() {
            self.refuse(key, &error.to_string());
            return;
        }
        self.has_settings = true;
        let same = |stage: &&mut Stage| {
            std::mem::discriminant(&stage.filter) == std::mem::discriminant(&filter)
        };
        match self.chain.stages.iter_mut().find(same) {
            Some(stage) => stage.filter = filter,
            None => self.chain.stages.push(filter.into()),
        }
    }

    /// Keeps the default of a setting and says why.
    fn refuse(&mut self, key: &str, why: &str) {
        self.remarks.push(format!("{key} was left out. {why}"));
    }

    /// Returns the recommended settings, or `None` if the file says nothing about sampling. Stages
    /// that do nothing are removed, so that only effective settings are shown.
    fn finish(mut self, source: &str) -> Option<RecommendedSampling> {
        if !self.has_settings && self.remarks.is_empty() {
            return None;
        }
        self.chain.stages.retain(|stage| !stage.filter.is_neutral());
        Some(RecommendedSampling {
            source: source.to_owned(),
            chain: self.has_settings.then_some(self.chain),
            remarks: self.remarks,
        })
    }
}

/// Converts a number to a count. Negative numbers become 0, which means off. Returns `None` for
/// fractions and huge numbers.
fn count(number: f64) -> Option<u32> {
    let whole = number.is_finite() && number.fract() == 0.0 && number <= f64::from(u32::MAX);
    #[expect(
        clippy::cast_sign_loss,
        reason = "negative numbers have been raised to 0"
    )]
    whole.then(|| number.max(0.0) as u32)
}

const NOT_A_NUMBER: &str = "It is not a number";
const NOT_WHOLE: &str = "It is not a whole number";
