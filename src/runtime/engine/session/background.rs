//! Background work, which waits while any pane is busy: futures, fits, cache measurements,
//! comparisons of models and sweeps.

use std::collections::VecDeque;

use super::Session;
use crate::engine::cache_lab::CacheJob;
use crate::engine::fit::{FIT_BYTES, FitJob, ReadTexts};
use crate::engine::futures::{FUTURES_WIDTH, FuturesJob};
use crate::engine::model_comparison::ComparisonJob;
use crate::engine::sweep::SweepJob;
use crate::engine::{EngineError, LoadedModel};
use crate::generation::hosts::MANY_TEXTS;
use crate::generation::{
    CachePlan, CacheUpdate, ComparisonPlan, ComparisonUpdate, FitPlan, FitUpdate, FuturesPlan,
    FuturesUpdate, GenerationId, Limits, PromptText, SweepPlan, SweepUpdate,
};

/// The work that is waiting or under way.
pub(super) struct Background {
    /// Futures to draw, oldest first.
    futures: VecDeque<FuturesJob>,
    /// How many futures are drawn together.
    futures_width: usize,
    /// Fits to compute, oldest first. They wait while futures are drawn.
    fits: VecDeque<FitJob>,
    /// The memory of the logits that a fit holds, in bytes.
    n_fit_bytes: usize,
    /// The logits of the last fit's texts, so that the next fit need not compute them again.
    read: Option<ReadTexts>,
    /// Measurements of the KV cache, oldest first. They wait for futures and fits.
    caches: VecDeque<CacheJob>,
    /// Comparisons with other models, oldest first. They wait for all of the above.
    comparisons: VecDeque<ComparisonJob>,
    /// Sweeps to run, oldest first. They wait for everything else.
    sweeps: VecDeque<SweepJob>,
}

impl Background {
    pub(super) const fn new() -> Self {
        Self {
            futures: VecDeque::new(),
            futures_width: FUTURES_WIDTH,
            fits: VecDeque::new(),
            n_fit_bytes: FIT_BYTES,
            read: None,
            caches: VecDeque::new(),
            comparisons: VecDeque::new(),
            sweeps: VecDeque::new(),
        }
    }
}

impl Session {
    /// Queues futures to draw. Fails if their text is empty or does not fit into the context.
    pub fn draw_futures(&mut self, id: GenerationId, plan: FuturesPlan) -> Result<(), EngineError> {
        if plan.text.is_empty() {
            return Err(EngineError::PromptEmpty);
        }
        MANY_TEXTS.check(&plan.config.chain)?;
        let (n_vocab, n_max) = (self.model.lm.n_vocab(), self.model.lm.n_context());
        if let Some(token) = plan.text.iter().find(|token| token.index() >= n_vocab) {
            let token = token.0;
            return Err(EngineError::UnknownToken { token, n_vocab });
        }
        if plan.text.len() > n_max {
            return Err(EngineError::ContextFull { n_max });
        }
        let width = self.background.futures_width;
        let job = FuturesJob::new(id, plan, width, &self.model)?;
        self.background.futures.push_back(job);
        Ok(())
    }

    /// Sets how many of the futures requested from now on are drawn together.
    pub const fn set_futures_width(&mut self, width: usize) {
        self.background.futures_width = width;
    }

    /// Whether any background work is under way or queued.
    pub fn has_background_work(&self) -> bool {
        self.is_drawing_futures()
            || self.is_fitting()
            || self.is_measuring_cache()
            || self.is_comparing_models()
            || self.is_sweeping()
    }

    /// Whether futures are being drawn or queued.
    pub fn is_drawing_futures(&self) -> bool {
        !self.background.futures.is_empty()
    }

    /// Runs one forward pass for the oldest futures, and returns the results.
    pub fn advance_futures(&mut self) -> Option<(GenerationId, FuturesUpdate)> {
        let job = self.background.futures.front_mut()?;
        let id = job.id();
        let update = job.advance(&mut self.model, &mut self.prefix_cache)?;
        if !matches!(update, FuturesUpdate::Drawn(_)) {
            self.stop_futures(id);
        }
        Some((id, update))
    }

    /// Stops drawing futures, and drops the incomplete ones. Returns whether they were present.
    pub fn stop_futures(&mut self, id: GenerationId) -> bool {
        let index = self
            .background
            .futures
            .iter()
            .position(|job| job.id() == id);
        let job = index.and_then(|index| self.background.futures.remove(index));
        let was_present = job.is_some();
        if let Some(job) = job {
            job.retire(&mut self.prefix_cache, &mut self.model);
        }
        was_present
    }

    /// The ids of all futures that are being drawn or queued, oldest first.
    pub fn futures_ids(&self) -> Vec<GenerationId> {
        self.background.futures.iter().map(FuturesJob::id).collect()
    }

    /// Queues a fit. Fails if one of its texts has no token to score.
    pub fn fit(&mut self, id: GenerationId, plan: FitPlan) -> Result<(), EngineError> {
        let texts = self.model.encode_texts(&plan)?;
        let guided = self.model.guided_texts(&plan, &texts)?;
        let n_rows = 1 + usize::from(guided.is_some());
        let n_row_bytes = n_rows * size_of::<f32>() * self.model.lm.n_vocab().max(1);
        let n_max_rows = self.background.n_fit_bytes / n_row_bytes;
        let first = plan.chains.first();
        let grammar = first.map(|chain| self.model.grammar_of(chain, &Limits::default()));
        let grammar = grammar.transpose()?.flatten();
        let job = FitJob::new(id, plan.chains, texts, n_max_rows)
            .constrained(grammar)
            .guided(guided);
        self.background.fits.push_back(job);
        Ok(())
    }

    /// Limits the memory for the logits of each fit requested from now on, in bytes.
    pub const fn set_fit_memory(&mut self, n_bytes: usize) {
        self.background.n_fit_bytes = n_bytes;
    }

    /// Whether a fit is being computed or queued.
    pub fn is_fitting(&self) -> bool {
        !self.background.fits.is_empty()
    }

    /// Runs one forward pass for the oldest fit, or applies some of its chains, and returns the
    /// results.
    pub fn advance_fit(&mut self) -> Option<(GenerationId, FitUpdate)> {
        let job = self.background.fits.front_mut()?;
        if let Some(read) = self.background.read.take() {
            job.reuse(read);
        }
        let id = job.id();
        let update = job.advance(&mut self.model)?;
        if matches!(update, FitUpdate::Finished | FitUpdate::Failed { .. }) {
            self.stop_fit(id);
        }
        Some((id, update))
    }

    /// Stops a fit. Returns whether it was present.
    pub fn stop_fit(&mut self, id: GenerationId) -> bool {
        let fits = &mut self.background.fits;
        let index = fits.iter().position(|job| job.id() == id);
        let job = index.and_then(|index| fits.remove(index));
        let was_present = job.is_some();
        if let Some(job) = job {
            self.background.read = job.retire(&mut self.model);
        }
        was_present
    }

    /// The ids of all fits that are being computed or queued, oldest first.
    pub fn fit_ids(&self) -> Vec<GenerationId> {
        self.background.fits.iter().map(FitJob::id).collect()
    }

    /// Queues a measurement of the KV cache. Fails if the prompt is empty or leaves no room for two
    /// tokens.
    pub fn measure_cache(&mut self, id: GenerationId, plan: CachePlan) -> Result<(), EngineError> {
        let prompt = self.prompt(plan.prompt)?.tokens;
        let job = CacheJob::new(id, prompt, plan.n_tokens, &self.model)?;
        self.background.caches.push_back(job);
        Ok(())
    }

    /// Whether the KV cache is being measured, or a measurement is queued.
    pub fn is_measuring_cache(&self) -> bool {
        !self.background.caches.is_empty()
    }

    /// Runs one forward pass for the oldest measurement, and returns the results.
    pub fn advance_cache(&mut self) -> Option<(GenerationId, CacheUpdate)> {
        let job = self.background.caches.front_mut()?;
        let id = job.id();
        let update = job.advance(&mut self.model);
        if matches!(update, CacheUpdate::Finished | CacheUpdate::Failed { .. }) {
            self.stop_cache(id);
        }
        Some((id, update))
    }

    /// Stops a measurement. Returns whether it was present.
    pub fn stop_cache(&mut self, id: GenerationId) -> bool {
        let caches = &mut self.background.caches;
        let index = caches.iter().position(|job| job.id() == id);
        let job = index.and_then(|index| caches.remove(index));
        let was_present = job.is_some();
        if let Some(job) = job {
            job.retire(&mut *self.model.lm);
        }
        was_present
    }

    /// The ids of all measurements that are running or queued, oldest first.
    pub fn cache_ids(&self) -> Vec<GenerationId> {
        self.background.caches.iter().map(CacheJob::id).collect()
    }

    /// Queues a comparison with another model. Fails if one of them can't read the text.
    pub fn compare_models(
        &mut self,
        id: GenerationId,
        plan: ComparisonPlan,
        other: LoadedModel,
    ) -> Result<(), EngineError> {
        let job = ComparisonJob::new(id, plan, &self.model, other)?;
        self.background.comparisons.push_back(job);
        Ok(())
    }

    /// Whether models are being compared, or a comparison is queued.
    pub fn is_comparing_models(&self) -> bool {
        !self.background.comparisons.is_empty()
    }

    /// Runs one forward pass of both models for the oldest comparison, and returns the results.
    pub fn advance_comparison(&mut self) -> Option<(GenerationId, ComparisonUpdate)> {
        let job = self.background.comparisons.front_mut()?;
        let id = job.id();
        let update = job.advance(&mut self.model);
        if matches!(
            update,
            ComparisonUpdate::Finished | ComparisonUpdate::Failed { .. }
        ) {
            self.stop_comparison(id);
        }
        Some((id, update))
    }

    /// Stops a comparison, and frees its other model. Returns whether it was present.
    pub fn stop_comparison(&mut self, id: GenerationId) -> bool {
        let comparisons = &mut self.background.comparisons;
        let index = comparisons.iter().position(|job| job.id() == id);
        let job = index.and_then(|index| comparisons.remove(index));
        let was_present = job.is_some();
        if let Some(job) = job {
            job.retire(&mut self.model);
        }
        was_present
    }

    /// The ids of all comparisons that are running or queued, oldest first.
    pub fn comparison_ids(&self) -> Vec<GenerationId> {
        self.background
            .comparisons
            .iter()
            .map(ComparisonJob::id)
            .collect()
    }

    /// Queues a sweep over these prompts. Fails if one of them is empty or does not fit into the
    /// context.
    pub fn sweep(
        &mut self,
        id: GenerationId,
        prompts: &[PromptText],
        plan: SweepPlan,
    ) -> Result<(), EngineError> {
        let mut cells = plan.cells.iter();
        cells.try_for_each(|chain| MANY_TEXTS.check(chain))?;
        let prompt = |prompt: &PromptText| self.prompt(prompt.clone());
        let prompts: Result<Vec<_>, EngineError> = prompts.iter().map(prompt).collect();
        let job = SweepJob::new(id, plan, prompts?, &self.model)?;
        self.background.sweeps.push_back(job);
        Ok(())
    }

    /// Whether a sweep is running or queued.
    pub fn is_sweeping(&self) -> bool {
        !self.background.sweeps.is_empty()
    }

    /// Runs one forward pass for the oldest sweep, and returns the results.
    pub fn advance_sweep(&mut self) -> Option<(GenerationId, SweepUpdate)> {
        let job = self.background.sweeps.front_mut()?;
        let id = job.id();
        let update = job.advance(&mut self.model, &mut self.prefix_cache)?;
        if matches!(update, SweepUpdate::Finished | SweepUpdate::Failed { .. }) {
            self.stop_sweep(id);
        }
        Some((id, update))
    }

    /// Stops a sweep, and drops its incomplete texts. Returns whether it was present.
    pub fn stop_sweep(&mut self, id: GenerationId) -> bool {
        let sweeps = &mut self.background.sweeps;
        let index = sweeps.iter().position(|job| job.id() == id);
        let job = index.and_then(|index| sweeps.remove(index));
        let was_present = job.is_some();
        if let Some(job) = job {
            job.retire(&mut self.prefix_cache, &mut self.model);
        }
        was_present
    }

    /// The ids of all sweeps that are running or queued, oldest first.
    pub fn sweep_ids(&self) -> Vec<GenerationId> {
        self.background.sweeps.iter().map(SweepJob::id).collect()
    }
}
