//! Draws many short continuations of one text, in batches.
//!
//! The text is read once, through the prefix cache. Futures that have written the same tokens so
//! far share one row of the forward pass, because their logits are the same. No evidence is
//! recorded.

use super::guide::Guide;
use super::job::{Job, JobContext, JobPlan, JobPriority, JobUpdate};
use super::prefill::Prefill;
use super::shared_rows::{Member, Shared, Texts};
use super::{EngineError, LoadedModel};
use crate::decoding::{ChainConfig, GrammarState, SamplerChain};
use crate::generation::hosts::MANY_TEXTS;
use crate::generation::{DrawnFutures, Future, FuturesPlan};

impl JobPlan for FuturesPlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Highest
    }

    fn stops_with_panes(&self) -> bool {
        true
    }

    fn chains(&self) -> &[ChainConfig] {
        std::slice::from_ref(&self.config.chain)
    }

    /// Fails if the text is empty or does not fit into the context.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        if self.text.is_empty() {
            return Err(EngineError::PromptEmpty);
        }
        MANY_TEXTS.check(&self.config.chain)?;
        let (n_vocab, n_max) = (model.lm.n_vocab(), model.lm.n_context());
        if let Some(token) = self.text.iter().find(|token| token.index() >= n_vocab) {
            let token = token.0;
            return Err(EngineError::UnknownToken { token, n_vocab });
        }
        if self.text.len() > n_max {
            return Err(EngineError::ContextFull { n_max });
        }
        let job = FuturesJob::new(self.clone(), model)?;
        Ok(Box::new(job))
    }
}

/// Futures being drawn.
struct FuturesJob {
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
    /// The futures of the current batch.
    texts: Texts,
}

impl FuturesJob {
    fn new(plan: FuturesPlan, model: &LoadedModel) -> Result<Self, EngineError> {
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
            guide,
            grammar: grammar.filter(|grammar| !grammar.is_broken()),
            chain: SamplerChain::new(model.spelled(&plan.config.chain)?),
            text: None,
            plan,
            n_begun: 0,
            texts: Texts::default(),
        })
    }

    /// Reports the futures of the current batch, once all of them are complete.
    fn batch_update(&mut self) -> Option<JobUpdate> {
        if !self.texts.groups.is_empty() {
            return None;
        }
        if self.texts.complete.is_empty() {
            return (self.n_begun >= self.plan.n_futures).then_some(JobUpdate::Finished);
        }
        let mut complete = std::mem::take(&mut self.texts.complete);
        complete.sort_by_key(|future| future.index);
        let futures = complete.into_iter().map(|text| Future {
            index: text.index,
            tokens: text.tokens,
            finish: text.finish,
            grammar_complete: text.grammar_complete,
        });
        Some(JobUpdate::reported(DrawnFutures(futures.collect())))
    }
}

impl Job for FuturesJob {
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        let JobContext {
            model,
            prefix_cache,
            ..
        } = context;
        let lm = &mut *model.lm;
        let text = self.text.get_or_insert_with(|| {
            let text = self.plan.text.clone();
            Prefill::prompt(text, prefix_cache, lm)
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
            let end = self.n_begun.saturating_add(self.plan.width.max(1));
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

    /// Frees the sequences and keeps the text for reuse.
    fn retire(mut self: Box<Self>, context: &mut JobContext<'_>) {
        self.texts.close(context.model);
        if let Some(guide) = &mut self.guide {
            guide.close(context.model);
        }
        if let Some(text) = self.text {
            let cached = text.into_cached();
            context.prefix_cache.keep(cached, &mut *context.model.lm);
        }
    }
}
