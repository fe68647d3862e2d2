//! What a benchmark tells: figures and what they belong to, as JSON for programs.

use std::sync::Arc;

use serde::Serialize;

use super::figures::Figures;
use super::plan::Plan;
use crate::generation::ModelInfo;

/// What a benchmark tells.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    format_version: u32,
    pub model: ModelInfo,
    pub load_secs: f64,
    /// How many threads the processor computes with.
    pub threads: usize,
    pub rounds: usize,
    /// Tokens of the prompt that panes continue.
    pub prompt_tokens: usize,
    /// Tokens that each pane writes.
    pub max_tokens: usize,
    /// Whether nothing was drawn from the logits.
    pub raw: bool,
    #[serde(flatten)]
    pub figures: Figures,
}

impl Report {
    /// Of these figures.
    pub fn new(info: Arc<ModelInfo>, load_secs: f64, plan: &Plan, figures: Figures) -> Self {
        Self {
            format_version: 2,
            model: Arc::unwrap_or_clone(info),
            load_secs,
            threads: plan.n_threads,
            rounds: plan.n_rounds,
            prompt_tokens: plan.n_prompt,
            max_tokens: plan.n_new,
            raw: plan.raw,
            figures,
        }
    }

    /// As JSON.
    pub fn json(&self) -> Vec<u8> {
        // Plain data has no part that JSON lacks, so this does not fail.
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }
}
