//! What a model's author advises: numbers that stand beside the weights, as the chain that they mean.
//!
//! What is broken or absurd becomes a remark and is not followed; it never keeps a model from being
//! loaded.

mod generation_config;
mod gguf;

pub use generation_config::advice_of_generation_config;
pub use gguf::advice_of_gguf;

use crate::decoding::{ChainConfig, Filter, Stage};
use crate::generation::RecommendedSampling;

/// Advice while it is being read.
struct Reading {
    chain: ChainConfig,
    /// Whether anything was taken over.
    followed: bool,
    remarks: Vec<String>,
}

impl Reading {
    const fn of(chain: ChainConfig) -> Self {
        Self {
            chain,
            followed: false,
            remarks: Vec::new(),
        }
    }

    /// Takes a number over into its stage; one that the stage cannot have is remarked on.
    fn set(&mut self, key: &str, filter: Filter) {
        if let Err(error) = filter.validate() {
            self.refuse(key, &error.to_string());
            return;
        }
        self.followed = true;
        let same = |stage: &&mut Stage| {
            std::mem::discriminant(&stage.filter) == std::mem::discriminant(&filter)
        };
        match self.chain.stages.iter_mut().find(same) {
            Some(stage) => stage.filter = filter,
            None => self.chain.stages.push(filter.into()),
        }
    }

    /// Leaves a setting as the engine has it.
    fn refuse(&mut self, key: &str, why: &str) {
        self.remarks.push(format!("{key} was left out. {why}"));
    }

    /// What came of it; nothing where there was no advice at all. Stages that do nothing are left
    /// out, so that one sees what is advised.
    fn finish(mut self, source: &str) -> Option<RecommendedSampling> {
        if !self.followed && self.remarks.is_empty() {
            return None;
        }
        self.chain.stages.retain(|stage| !stage.filter.is_neutral());
        Some(RecommendedSampling {
            source: source.to_owned(),
            chain: self.followed.then_some(self.chain),
            remarks: self.remarks,
        })
    }
}

/// A count as it stands in a file: a whole number that is not huge; below 0 it is 0, which is off.
fn count(number: f64) -> Option<u32> {
    let whole = number.is_finite() && number.fract() == 0.0 && number <= f64::from(u32::MAX);
    #[expect(
        clippy::cast_sign_loss,
        reason = "what is below 0 was raised to 0 before"
    )]
    whole.then(|| number.max(0.0) as u32)
}

const NOT_A_NUMBER: &str = "It is not a number";
const NOT_WHOLE: &str = "It is not a whole number";
