//! Draws many short continuations of one text, in batches.
//!
//! The text is read once, through the prefix cache. Futures that have written the same tokens so
//! far share one row of the forward pass, because their logits are the same. No evidence is
//! recorded.

use super::prefill::Prefill;
use super::prefix_cache::PrefixCache;
use super::shared_rows::{self, CompleteText, Group, Member, Shared, Splitter};
use super::{CausalLm, EngineError, LoadedModel, Row};
use crate::decoding::SamplerChain;
use crate::generation::{Future, FuturesPlan, FuturesUpdate, GenerationId};

/// How many futures are drawn together unless the caller chose another width. Wider batches are
/// hardly faster, and their results arrive later (see assets/BENCHMARKS.md).
pub const FUTURES_WIDTH: usize = 64;

/// Futures being drawn.
pub(super) struct FuturesJob {
    id: GenerationId,
    plan: FuturesPlan,
    chain: SamplerChain,
    /// The text that all of them follow. `None` until the job begins, so that a job can reuse what
    /// the one before it has read.
    text: Option<Prefill>,
    /// How many of them have begun.
    n_begun: usize,
    /// The most futures that are drawn together.
    width: usize,
    /// The futures of the current batch that are not complete.
    groups: Vec<Group>,
    /// The futures of the current batch that are complete.
    complete: Vec<CompleteText>,
}

impl FuturesJob {
    pub(super) fn new(id: GenerationId, plan: FuturesPlan, width: usize) -> Self {
        Self {
            id,
            chain: SamplerChain::new(plan.config.chain.clone()),
            text: None,
            plan,
            n_begun: 0,
            width: width.max(1),
            groups: Vec::new(),
            complete: Vec::new(),
        }
    }

    pub(super) const fn id(&self) -> GenerationId {
        self.id
    }

    /// Runs one forward pass. Returns what became known by it.
    pub(super) fn advance(
        &mut self,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
    ) -> Option<FuturesUpdate> {
        self.pass(model, cache).unwrap_or_else(|error| {
            let error = error.to_string();
            Some(FuturesUpdate::Failed { error })
        })
    }

    /// Frees the sequences, and keeps the text for reuse.
    pub(super) fn retire(self, cache: &mut PrefixCache, lm: &mut dyn CausalLm) {
        for group in self.groups {
            lm.close(group.sequence);
        }
        if let Some(text) = self.text {
            cache.keep(text.into_cached(), lm);
        }
    }

    fn pass(
        &mut self,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
    ) -> Result<Option<FuturesUpdate>, EngineError> {
        let lm = &mut *model.lm;
        let text = self.text.get_or_insert_with(|| {
            let text = self.plan.text.clone();
            Prefill::prompt(text, cache, lm)
        });
        if !text.is_done() {
            text.read_chunk(&mut *model.lm)?;
            return Ok(None);
        }
        if self.groups.is_empty() {
            self.begin_batch(model)?;
        } else {
            let rows: Vec<Row> = self.groups.iter().filter_map(Group::row).collect();
            if !model.lm.get_ready(&rows)? {
                return Ok(None);
            }
            let logits = model.lm.forward(&rows)?;
            let groups = std::mem::take(&mut self.groups);
            let rows = (0..).map(|index| logits.row(index).unwrap_or_default());
            self.sample(groups.into_iter().zip(rows).collect(), model)?;
        }
        Ok(self.batch_update())
    }

    /// Samples the first token of the next futures from the logits after the text.
    fn begin_batch(&mut self, model: &mut LoadedModel) -> Result<(), EngineError> {
        let Some(text) = &self.text else {
            return Ok(());
        };
        let sequence = text.sequence();
        let logits = text.last_logits().map(|(logits, _)| logits.to_vec());
        let logits = logits.unwrap_or_default();
        let end = self
            .n_begun
            .saturating_add(self.width)
            .min(self.plan.n_futures);
        let members = (self.n_begun..end).map(|index| Member {
            index,
            chain: 0,
            seed: self.plan.seed_of(index),
            state: self.plan.selector_state,
        });
        let first = Group {
            text: self.plan.text.clone(),
            measures: Vec::new(),
            stop_matcher: shared_rows::stop_matcher(self.shared(), &model.vocabulary),
            members: members.collect(),
            sequence: model.lm.fork(sequence)?,
        };
        self.n_begun = end;
        self.sample(vec![(first, &logits)], model)
    }

    /// Samples the next token of every future in these groups, and regroups them by it.
    fn sample(
        &mut self,
        groups: Vec<(Group, &[f32])>,
        model: &mut LoadedModel,
    ) -> Result<(), EngineError> {
        let (mut going_on, mut complete) = (Vec::new(), Vec::new());
        let mut splitter = Splitter {
            model,
            groups: &mut going_on,
            complete: &mut complete,
        };
        let outcome = shared_rows::advance(groups, self.shared(), &mut splitter);
        self.groups.append(&mut going_on);
        self.complete.append(&mut complete);
        outcome
    }

    fn shared(&self) -> Shared<'_> {
        Shared {
            given: &self.plan.text,
            n_prompt: self.plan.n_prompt,
            n_tokens: self.plan.n_tokens,
            limits: &self.plan.config.limits,
            chains: std::slice::from_ref(&self.chain),
            is_measured: false,
        }
    }

    /// Reports the futures of the current batch, once all of them are complete.
    fn batch_update(&mut self) -> Option<FuturesUpdate> {
        if !self.groups.is_empty() {
            return None;
        }
        if self.complete.is_empty() {
            return (self.n_begun >= self.plan.n_futures).then_some(FuturesUpdate::Finished);
        }
        let mut complete = std::mem::take(&mut self.complete);
        complete.sort_by_key(|future| future.index);
        let futures = complete.into_iter().map(|text| Future {
            index: text.index,
            tokens: text.tokens,
            finish: text.finish,
        });
        Some(FuturesUpdate::Drawn(futures.collect()))
    }
}
