//! Draws many short continuations of one text, in batches.
//!
//! The text is read once, through the prefix cache. Futures that have written the same tokens so
//! far share one row of the forward pass, because their logits are the same. No evidence is
//! recorded.

use super::guide::Guide;
use super::prefill::Prefill;
use super::prefix_cache::PrefixCache;
use super::shared_rows::{Member, Shared, Texts};
use super::{EngineError, LoadedModel};
use crate::decoding::{GrammarState, SamplerChain};
use crate::generation::{Future, FuturesPlan, FuturesUpdate, GenerationId};

/// How many futures are drawn together unless the caller chose another width. Wider batches are
/// hardly faster, and their results arrive later (see assets/BENCHMARKS.md).
pub const FUTURES_WIDTH: usize = 64;

/// Futures being drawn.
pub(super) struct FuturesJob {
    id: GenerationId,
    plan: FuturesPlan,
    chain: SamplerChain,
    /// The state of the chain's grammar after the text.
    grammar: Option<GrammarState>,
    /// What the chain moves away from, if it is guided.
    guide: Option<Guide>,
    /// The text that all futures continue. `None` until the job begins, so that it can reuse what
    /// the previous job has read.
    text: Option<Prefill>,
    /// How many futures have begun.
    n_begun: usize,
    /// The most futures that are drawn together.
    width: usize,
    /// The futures of the current batch.
    texts: Texts,
}

impl FuturesJob {
    pub(super) fn new(
        id: GenerationId,
        plan: FuturesPlan,
        width: usize,
        model: &LoadedModel,
    ) -> Result<Self, EngineError> {
        let mut grammar = model.grammar_of(&plan.config.chain, &plan.config.limits)?;
        if let Some(grammar) = &mut grammar {
            for token in plan.text.iter().skip(plan.n_prompt) {
                grammar.accept(*token);
            }
        }
        let guide = match &plan.config.chain.guidance {
            Some(guidance) => {
                let (prompt, written) = plan.text.split_at(plan.n_prompt.min(plan.text.len()));
                let mut other = model.guiding_prompt(guidance, prompt, plan.form.clone())?;
                other.extend_from_slice(written);
                Some(Guide::new(guidance.against.clone(), other))
            }
            None => None,
        };
        Ok(Self {
            id,
            guide,
            grammar: grammar.filter(|grammar| !grammar.is_broken()),
            chain: SamplerChain::new(plan.config.chain.clone()),
            text: None,
            plan,
            n_begun: 0,
            width: width.max(1),
            texts: Texts::default(),
        })
    }

    pub(super) const fn id(&self) -> GenerationId {
        self.id
    }

    /// Runs one forward pass and returns the results.
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

    /// Frees the sequences and keeps the text for reuse.
    pub(super) fn retire(mut self, cache: &mut PrefixCache, model: &mut LoadedModel) {
        self.texts.close(model);
        if let Some(mut guide) = self.guide {
            guide.close(model);
        }
        if let Some(text) = self.text {
            cache.keep(text.into_cached(), &mut *model.lm);
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
        if let Some(guide) = &mut self.guide
            && guide.reads_prompt(0, model)?
        {
            return Ok(None);
        }
        let shared = Shared {
            given: &self.plan.text,
            n_prompt: self.plan.n_prompt,
            n_tokens: self.plan.n_tokens,
            limits: &self.plan.config.limits,
            chains: std::slice::from_ref(&self.chain),
            grammar: self.grammar.as_ref(),
            other: self.guide.as_ref().and_then(Guide::prompt),
            is_measured: false,
        };
        if !self.texts.groups.is_empty() {
            if !self.texts.advance(shared, model)? {
                return Ok(None);
            }
        } else if let Some(text) = &self.text {
            let end = self.n_begun.saturating_add(self.width);
            let end = end.min(self.plan.n_futures);
            let members = (self.n_begun..end).map(|index| Member {
                index,
                chain: 0,
                seed: self.plan.seed_of(index),
                state: self.plan.selector_state,
            });
            self.texts.begin(members.collect(), text, shared, model)?;
            self.n_begun = end;
        }
        Ok(self.batch_update())
    }

    /// Reports the futures of the current batch, once all of them are complete.
    fn batch_update(&mut self) -> Option<FuturesUpdate> {
        if !self.texts.groups.is_empty() {
            return None;
        }
        if self.texts.complete.is_empty() {
            return (self.n_begun >= self.plan.n_futures).then_some(FuturesUpdate::Finished);
        }
        let mut complete = std::mem::take(&mut self.texts.complete);
        complete.sort_by_key(|future| future.index);
        let futures = complete.into_iter().map(|text| Future {
            index: text.index,
            tokens: text.tokens,
            finish: text.finish,
            grammar_complete: text.grammar_complete,
        });
        Some(FuturesUpdate::Drawn(futures.collect()))
    }
}
