//! The benchmark's report: the figures, the model and the settings, as JSON.

use std::sync::Arc;

use serde::Serialize;

use super::figures::Figures;
use super::plan::Plan;
use crate::generation::ModelInfo;

/// The figures of a benchmark, with the model and the settings they belong to.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    format_version: u32,
    pub model: ModelInfo,
    pub load_secs: f64,
    /// CPU threads.
    pub threads: usize,
    pub rounds: usize,
    /// The length of the prompt that the panes continue.
    pub prompt_tokens: usize,
    /// Tokens generated in each pane.
    pub max_tokens: usize,
    /// Whether tokens were fixed instead of sampled.
    pub raw: bool,
    #[serde(flatten)]
    pub figures: Figures,
}

impl Report {
    /// Combines the figures with the model and the plan.
    pub(super) fn new(info: Arc<ModelInfo>, load_secs: f64, plan: &Plan, figures: Figures) -> Self {
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

    /// Formats the report as JSON.
    pub(super) fn json(&self) -> Vec<u8> {
        // Serializing plain data can't fail.
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }
}
