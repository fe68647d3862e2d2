//! How much of each step's distribution the record holds, within a memory limit for all texts on
//! screen. What-if is exact if whole distributions fit.

use super::{Effect, Models, Panes};
use crate::generation::Step;
use crate::worker::Request;

/// Enough for the whole distributions of eight texts of 300 tokens with the embedded model's
/// vocabulary.
pub(super) const DEFAULT_RECORD_MEGABYTES: u32 = 64;

/// The default memory limit for texts that no pane shows: enough for 10,000 tokens of the embedded
/// model with all their probabilities.
pub(super) const DEFAULT_KEPT_MEGABYTES: u32 = 256;

/// The default limit on the memory that prompts and texts take in the KV cache.
pub(super) const DEFAULT_CACHE_MEGABYTES: u32 = 64;

const MEGABYTE: usize = 1_000_000;

/// How much memory texts may take, in megabytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    /// For the recorded distributions of all texts on screen.
    pub record_megabytes: u32,
    /// For texts that no pane shows.
    pub kept_megabytes: u32,
    /// For prompts and texts that stay in the KV cache.
    pub cache_megabytes: u32,
}

impl MemoryLimits {
    /// Returns the memory that each step of the next texts in these panes may use, if a text has at
    /// most `max_steps`. The panes share the limit equally, and texts that stay on screen count
    /// towards it.
    pub(super) fn detail_bytes_per_step(
        self,
        places: &[usize],
        panes: &Panes,
        max_steps: usize,
    ) -> usize {
        let budget = (self.record_megabytes as usize).saturating_mul(MEGABYTE);
        let share =
            |n_bytes: usize, n_panes: usize| n_bytes / n_panes.saturating_mul(max_steps).max(1);
        let others = panes.placed().filter(|(place, _)| !places.contains(place));
        let texts = others.filter_map(|(_, pane)| pane.latest());
        let bytes_of = |step: &Step| step.trace.raw.detail.n_bytes();
        let held: usize = texts.flat_map(|text| &text.steps).map(bytes_of).sum();
        let equal = share(budget, panes.len());
        equal.min(share(budget.saturating_sub(held), places.len()))
    }

    /// Returns the memory that each step of a text may use that no pane shows and that has this many.
    pub(crate) fn detail_bytes_of_one(self, n_steps: usize) -> usize {
        let budget = (self.record_megabytes as usize).saturating_mul(MEGABYTE);
        budget / n_steps.max(1)
    }

    /// Describes what the record of these panes will hold: "All probabilities of every step take
    /// 20 MB: what-if is exact".
    pub fn recording_words(self, panes: &Panes, models: &Models, max_steps: usize) -> String {
        let Some(model) = models.main.ready() else {
            return "Distributions that fit in this memory make what-if exact".to_owned();
        };
        let sizes = panes.iter().map(|pane| {
            let model = models.of(pane).unwrap_or(model);
            model.info.n_vocab.saturating_mul(size_of::<f32>())
        });
        let n_bytes = sizes.fold(0, usize::saturating_add);
        let n_megabytes = n_bytes.saturating_mul(max_steps).div_ceil(MEGABYTE);
        if n_megabytes <= self.record_megabytes as usize {
            format!("All probabilities of every step take {n_megabytes} MB: what-if is exact")
        } else {
            format!(
                "All probabilities of every step would take {n_megabytes} MB. The record summarizes \
                 unlikely tokens, so what-if far from the run shows only bounds"
            )
        }
    }

    /// Returns the memory limit of the texts that no pane shows, in bytes.
    pub(super) const fn kept_bytes(self) -> usize {
        (self.kept_megabytes as usize).saturating_mul(MEGABYTE)
    }

    /// Returns the request that tells the engine the limit of its KV cache.
    pub(super) fn cache_limit(self) -> Effect {
        let n_max_bytes = u64::from(self.cache_megabytes) * MEGABYTE as u64;
        Effect::Send(Request::LimitPrefixCache { n_max_bytes })
    }

    /// Returns the same for a new engine, or `None` if the default applies.
    pub(super) fn first_cache_limit(self) -> Option<Effect> {
        let is_default = self.cache_megabytes == DEFAULT_CACHE_MEGABYTES;
        (!is_default).then(|| self.cache_limit())
    }
}
