//! How much of each step's distribution the record holds, within a memory limit for all texts on
//! screen. What-if is exact if whole distributions fit.

use super::AppState;
use crate::generation::Step;

/// Enough for the whole distributions of eight texts of 300 tokens with the embedded model's
/// vocabulary.
pub(super) const DEFAULT_RECORD_MEGABYTES: u32 = 64;

pub(super) const MEGABYTE: usize = 1_000_000;

impl AppState {
    /// Returns the memory that each step of the next texts in these panes may use. The panes share
    /// the limit equally, and texts that stay on screen count towards it.
    pub(super) fn detail_bytes_per_step(&self, places: &[usize]) -> usize {
        let budget = (self.record_megabytes as usize).saturating_mul(MEGABYTE);
        let n_steps = self.max_steps();
        let share =
            |n_bytes: usize, n_panes: usize| n_bytes / n_panes.saturating_mul(n_steps).max(1);
        let others = self.panes.iter().enumerate();
        let others = others.filter(|(place, _)| !places.contains(place));
        let texts = others.filter_map(|(_, pane)| pane.generation());
        let bytes_of = |step: &Step| step.trace.raw.detail.n_bytes();
        let held: usize = texts.flat_map(|text| &text.steps).map(bytes_of).sum();
        let equal = share(budget, self.panes.len());
        equal.min(share(budget.saturating_sub(held), places.len()))
    }

    /// Describes what the record will hold: "All probabilities of every step take 20 MB: what-if is
    /// exact".
    pub fn recording_words(&self) -> String {
        let Some(model) = self.model.ready() else {
            return "Distributions that fit in this memory make what-if exact".to_owned();
        };
        let sizes = self.panes.iter().map(|pane| {
            let model = self.model_of(pane).unwrap_or(model);
            model.info.n_vocab.saturating_mul(size_of::<f32>())
        });
        let n_bytes = sizes.fold(0, usize::saturating_add);
        let n_megabytes = n_bytes.saturating_mul(self.max_steps()).div_ceil(MEGABYTE);
        if n_megabytes <= self.record_megabytes as usize {
            format!("All probabilities of every step take {n_megabytes} MB: what-if is exact")
        } else {
            format!(
                "All probabilities of every step would take {n_megabytes} MB. The record summarizes \
                 unlikely tokens, so what-if far from the run shows only bounds"
            )
        }
    }

    /// Returns the maximum number of steps that a text can have.
    fn max_steps(&self) -> usize {
        let n_context = self.model.ready().map(|model| model.info.n_context);
        self.limits
            .max_new_tokens
            .min(n_context.unwrap_or(usize::MAX))
    }
}
