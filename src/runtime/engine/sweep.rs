//! Continues one or more prompts under many settings and seeds, in wide batches.
//!
//! Each prompt is read once, through the prefix cache. Texts with the same tokens so far share one
//! row of the forward pass, whatever their settings. When a text ends, the next one takes its
//! place.

use std::time::Instant;

use super::guide::Guide;
use super::job::{Job, JobContext, JobPlan, JobPriority, JobUpdate};
use super::other_rows::OtherPrompt;
use super::prefill::Prefill;
use super::session::Prompt;
use super::shared_rows::{Member, Shared, Texts};
use super::{EngineError, LoadedModel};
use crate::decoding::{
    Against, ChainConfig, GrammarState, Guidance, SamplerChain, SelectorState, TokenId,
};
use crate::generation::hosts::MANY_TEXTS;
use crate::generation::{SweepPlan, SweepText, SweepUpdate};

impl JobPlan for SweepPlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Lowest
    }

    fn chains(&self) -> &[ChainConfig] {
        &self.cells
    }

    /// Fails if one of the prompts is empty or does not fit into the context.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let mut cells = self.cells.iter();
        cells.try_for_each(|chain| MANY_TEXTS.check(chain))?;
        let prompts = self.prompts.iter().map(|prompt| model.prompt(prompt));
        let prompts = prompts.collect::<Result<Vec<_>, _>>()?;
        let job = SweepJob::new(self.clone(), prompts, model)?;
        Ok(Box::new(job))
    }
}

/// What a pass of a sweep did.
enum Pass {
    /// It read part of a prompt.
    Reading,
    /// It generated a token of each text.
    Written,
    /// Nothing was left to do.
    Finished,
}

/// A running sweep.
struct SweepJob {
    plan: SweepPlan,
    /// The chain of each cell.
    chains: Vec<SamplerChain>,
    /// The initial state of the grammar, which all cells share.
    grammar: Option<GrammarState>,
    /// The tokens of each prompt.
    prompts: Vec<Vec<TokenId>>,
    /// Whether the tokens of the prompts have been reported.
    is_announced: bool,
    /// The index of the prompt that is being continued.
    prompt: usize,
    /// That prompt in the KV cache. `None` until its first pass.
    prefill: Option<Prefill>,
    /// What the guided cells move away from, and what the guiding row reads in place of each
    /// prompt.
    guide: Option<(Against, Vec<Vec<TokenId>>)>,
    /// The guiding row of the current prompt. `None` until it is needed.
    other: Option<Guide>,
    /// How many of the texts that continue this prompt have begun.
    n_begun: usize,
    /// How many tokens the complete texts have.
    n_complete_tokens: usize,
    /// How long all passes so far have taken.
    secs: f64,
    /// The texts that have begun and have not been reported yet.
    texts: Texts,
}

impl SweepJob {
    fn new(
        plan: SweepPlan,
        prompts: Vec<Prompt>,
        model: &LoadedModel,
    ) -> Result<Self, EngineError> {
        let guide = match shared_guidance(&plan.cells)? {
            Some(guidance) => {
                let others = prompts
                    .iter()
                    .map(|own| model.guiding_prompt(guidance, &own.tokens, own.form()));
                Some((guidance.against.clone(), others.collect::<Result<_, _>>()?))
            }
            None => None,
        };
        let prompts = prompts.into_iter().map(|prompt| prompt.tokens).collect();
        let first = plan.cells.first();
        let grammar = first.map(|chain| model.grammar_of(chain, &plan.limits));
        let chains = plan.cells.iter().map(|chain| model.spelled(chain));
        let chains: Vec<ChainConfig> = chains.collect::<Result<_, _>>()?;
        Ok(Self {
            grammar: grammar.transpose()?.flatten(),
            chains: chains.into_iter().map(SamplerChain::new).collect(),
            plan,
            prompts,
            is_announced: false,
            prompt: 0,
            prefill: None,
            guide,
            other: None,
            n_begun: 0,
            n_complete_tokens: 0,
            secs: 0.0,
            texts: Texts::default(),
        })
    }

    fn keep_prompt(&mut self, context: &mut JobContext<'_>) {
        if let Some(mut other) = self.other.take() {
            other.close(context.model);
        }
        if let Some(prefill) = self.prefill.take() {
            let cached = prefill.into_cached();
            context.prefix_cache.keep(cached, &mut *context.model.lm);
        }
    }

    fn pass(&mut self, context: &mut JobContext<'_>) -> Result<Pass, EngineError> {
        if self.is_prompt_done() {
            self.keep_prompt(context);
            self.prompt += 1;
            self.n_begun = 0;
        }
        let Some(prompt) = self.prompts.get(self.prompt) else {
            return Ok(Pass::Finished);
        };
        let JobContext {
            model,
            prefix_cache,
            ..
        } = context;
        let lm = &mut *model.lm;
        let prefill = self
            .prefill
            .get_or_insert_with(|| Prefill::prompt(prompt.clone(), prefix_cache, lm));
        if !prefill.is_done() {
            prefill.read_chunk(&mut *model.lm)?;
            return Ok(Pass::Reading);
        }
        if self.reads_other(model)? {
            return Ok(Pass::Reading);
        }
        self.begin_texts(model)?;
        let prompt = self.prompts.get(self.prompt).map(Vec::as_slice);
        let prompt = prompt.unwrap_or_default();
        let shared = shared(
            (&self.plan, &self.chains),
            self.grammar.as_ref(),
            self.other.as_ref().and_then(Guide::prompt),
            prompt,
        );
        if !self.texts.groups.is_empty() && !self.texts.advance(shared, model)? {
            return Ok(Pass::Reading);
        }
        Ok(Pass::Written)
    }

    /// Reads the next chunk of what guides the texts of the current prompt. Returns whether there
    /// was anything to read.
    fn reads_other(&mut self, model: &mut LoadedModel) -> Result<bool, EngineError> {
        let Some((against, others)) = &self.guide else {
            return Ok(false);
        };
        let other = self.other.get_or_insert_with(|| {
            let tokens = others.get(self.prompt).cloned().unwrap_or_default();
            Guide::new(against.clone(), tokens)
        });
        other.reads_prompt(0, model)
    }

    /// Returns whether every text of the current prompt is complete.
    fn is_prompt_done(&self) -> bool {
        let all = self.plan.n_texts_per_prompt();
        self.prefill.is_some() && self.texts.groups.is_empty() && self.n_begun >= all
    }

    /// Starts the next texts in the free places. Samples their first tokens from the logits after
    /// the prompt.
    fn begin_texts(&mut self, model: &mut LoadedModel) -> Result<(), EngineError> {
        let n_active: usize = self
            .texts
            .groups
            .iter()
            .map(|group| group.members.len())
            .sum();
        let n_free = self.plan.width.max(1).saturating_sub(n_active);
        let end = self.n_begun.saturating_add(n_free);
        let end = end.min(self.plan.n_texts_per_prompt());
        let (Some(prefill), Some(prompt)) = (&self.prefill, self.prompts.get(self.prompt)) else {
            return Ok(());
        };
        if end <= self.n_begun {
            return Ok(());
        }
        let n_seeds = self.plan.n_seeds.max(1);
        let members = (self.n_begun..end).map(|index| Member {
            index,
            chain: index / n_seeds,
            seed: self.plan.seed_of(index % n_seeds),
            state: SelectorState::NEW,
        });
        let shared = shared(
            (&self.plan, &self.chains),
            self.grammar.as_ref(),
            self.other.as_ref().and_then(Guide::prompt),
            prompt,
        );
        self.texts
            .begin(members.collect(), prefill, shared, model)?;
        self.n_begun = end;
        Ok(())
    }

    /// Reports the texts that have ended, in order, and how far the others have come.
    fn update(&mut self) -> SweepUpdate {
        let mut complete = std::mem::take(&mut self.texts.complete);
        complete.sort_by_key(|text| text.index);
        self.n_complete_tokens += complete.iter().map(|text| text.tokens.len()).sum::<usize>();
        let n_prompt = self.prompts.get(self.prompt).map_or(0, Vec::len);
        let growing = self.texts.groups.iter().map(|group| {
            let n_tokens = group.text.len() - n_prompt;
            n_tokens * group.members.len()
        });
        let n_tokens = self.n_complete_tokens + growing.sum::<usize>();
        let n_seeds = self.plan.n_seeds.max(1);
        let texts = complete.into_iter().map(|text| SweepText {
            prompt: self.prompt,
            cell: text.index / n_seeds,
            seed: text.index % n_seeds,
            tokens: text.tokens,
            measures: text.measures,
            finish: text.finish,
            grammar_complete: text.grammar_complete,
        });
        SweepUpdate::Advanced {
            n_tokens,
            secs: self.secs,
            complete: texts.collect(),
        }
    }
}

impl Job for SweepJob {
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        if !self.is_announced {
            self.is_announced = true;
            let prompts = self.prompts.clone();
            return Ok(Some(JobUpdate::reported(SweepUpdate::Started { prompts })));
        }
        let started_at = Instant::now();
        let passed = self.pass(context);
        self.secs += started_at.elapsed().as_secs_f64();
        Ok(match passed? {
            Pass::Reading => None,
            Pass::Written => Some(JobUpdate::reported(self.update())),
            Pass::Finished => Some(JobUpdate::Finished),
        })
    }

    /// Frees the sequences and keeps the prompt for reuse.
    fn retire(mut self: Box<Self>, context: &mut JobContext<'_>) {
        self.texts.close(context.model);
        self.keep_prompt(context);
    }
}

/// Returns what all texts that continue a prompt have in common.
fn shared<'a>(
    (plan, chains): (&'a SweepPlan, &'a [SamplerChain]),
    grammar: Option<&'a GrammarState>,
    other: Option<&'a OtherPrompt>,
    prompt: &'a [TokenId],
) -> Shared<'a> {
    Shared {
        given: prompt,
        n_prompt: prompt.len(),
        n_tokens: plan.limits.max_new_tokens,
        limits: &plan.limits,
        chains,
        grammar,
        other,
        is_measured: true,
    }
}

/// Returns the guidance of the cells, which may differ only in its numbers, or `None` if no cell
/// has any.
pub(super) fn shared_guidance(cells: &[ChainConfig]) -> Result<Option<&Guidance>, EngineError> {
    let mut all = cells.iter().filter_map(|chain| chain.guidance.as_ref());
    let Some(first) = all.next() else {
        return Ok(None);
    };
    if all.all(|other| other.against == first.against) {
        Ok(Some(first))
    } else {
        Err(EngineError::SeveralGuides)
    }
}
