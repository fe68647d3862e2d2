//! Writes several texts for a job as panes would: each by the writer that its settings call for, all
//! in one batch.

use std::collections::VecDeque;
use std::time::Instant;

use super::batch::Batch;
use super::job::{Job, JobContext, JobPlan, JobPriority, JobUpdate};
use super::prefill::Prefill;
use super::session::Prompt;
use super::slot::Slot;
use super::writer::{begin, writer_of};
use super::{EngineError, LoadedModel, Progress};
use crate::decoding::TokenId;
use crate::generation::{
    FinishReason, GenerationConfig, GenerationId, PaneTextsPlan, Step, SweepText, SweepUpdate,
    TokenMeasures,
};

/// How many texts are written at the same time. Each may need several sequences.
const N_TOGETHER: usize = 8;

impl JobPlan for PaneTextsPlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Lowest
    }

    /// Fails if the prompt can't be read, or if a pane could not have one of the settings.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let prompt = model.prompt(&self.prompt)?;
        for text in &self.texts {
            model.check_writer(&text.chain, &prompt)?;
        }
        Ok(Box::new(PaneTextsJob {
            prompt,
            waiting: self.texts.iter().cloned().enumerate().collect(),
            prefill: None,
            batch: Batch::new(),
            writing: Vec::new(),
            n_complete_tokens: 0,
            secs: 0.0,
        }))
    }
}

struct PaneTextsJob {
    prompt: Prompt,
    /// The texts that have not begun, with their indices.
    waiting: VecDeque<(usize, GenerationConfig)>,
    /// The prompt in the KV cache. `None` until its first pass.
    prefill: Option<Prefill>,
    /// The writers. The id of a text is its index.
    batch: Batch,
    /// The texts that have begun and not ended.
    writing: Vec<Writing>,
    n_complete_tokens: usize,
    /// How long all passes so far have taken.
    secs: f64,
}

/// A text that is being written.
struct Writing {
    index: usize,
    config: GenerationConfig,
    tokens: Vec<TokenId>,
    measures: Vec<TokenMeasures>,
}

impl Writing {
    fn push(&mut self, step: &Step) {
        self.tokens.push(step.token);
        self.measures.extend(TokenMeasures::of(&step.trace));
    }

    fn finish(self, finish: FinishReason, model: &LoadedModel) -> SweepText {
        // With a grammar that can't be used, the text has failed with the reason.
        let grammar = model.grammar_of(&self.config.chain, &self.config.limits);
        let grammar_complete = grammar.ok().flatten().map(|mut state| {
            for token in &self.tokens {
                state.accept(*token);
            }
            finish == FinishReason::GrammarComplete || state.accepts()
        });
        SweepText {
            prompt: 0,
            cell: self.index,
            seed: 0,
            tokens: self.tokens,
            measures: self.measures,
            finish,
            grammar_complete,
        }
    }
}

impl PaneTextsJob {
    /// Runs one forward pass. Returns the texts that have ended with it.
    fn pass(&mut self, context: &mut JobContext<'_>) -> Result<Vec<SweepText>, EngineError> {
        let JobContext {
            model,
            prefix_cache,
            ..
        } = context;
        let prefill = self.prefill.get_or_insert_with(|| {
            let mut configs = self.waiting.iter().map(|(_, config)| config);
            if configs.any(|config| config.chain.drafts_with_mtp_head()) {
                model.lm.keep_hidden_states();
            }
            let tokens = self.prompt.tokens.clone();
            Prefill::prompt(tokens, prefix_cache, &mut *model.lm)
        });
        if prefill.last_logits().is_none() {
            prefill.read_chunk(&mut *model.lm)?;
            return Ok(Vec::new());
        }
        let mut progress = Vec::new();
        if self.batch.len() < N_TOGETHER && !self.waiting.is_empty() {
            self.begin_texts(context, &mut progress);
        } else {
            self.batch.step(model, prefix_cache, &mut progress);
        }
        Ok(self.collect(progress, context.model))
    }

    /// Lets the next texts join the batch.
    fn begin_texts(&mut self, context: &mut JobContext<'_>, progress: &mut Vec<Progress>) {
        let Some(prefill) = &self.prefill else {
            return;
        };
        while self.batch.len() < N_TOGETHER
            && let Some((index, config)) = self.waiting.pop_front()
        {
            let (model, cache) = (&mut *context.model, &mut *context.prefix_cache);
            let id = GenerationId(index as u64);
            let tokens = &self.prompt.tokens;
            let slot = Slot::new(model, id, config.clone(), tokens, Instant::now());
            let writer = writer_of(slot, &self.prompt, model);
            self.writing.push(Writing {
                index,
                config,
                tokens: Vec::new(),
                measures: Vec::new(),
            });
            if let Some(begun) = begin(writer, prefill, model, cache, progress) {
                self.batch.join(begun);
            }
        }
    }

    /// Adds what the writers report to their texts. Returns the texts that have ended.
    fn collect(&mut self, progress: Vec<Progress>, model: &LoadedModel) -> Vec<SweepText> {
        let mut complete = Vec::new();
        for happened in progress {
            match happened {
                Progress::Stepped { id, step } => {
                    if let Some(index) = self.index_of(id)
                        && let Some(text) = self.writing.get_mut(index)
                    {
                        text.push(&step);
                    }
                }
                Progress::Finished { id, reason } => {
                    if let Some(index) = self.index_of(id) {
                        let text = self.writing.remove(index).finish(reason, model);
                        self.n_complete_tokens += text.tokens.len();
                        complete.push(text);
                    }
                }
                Progress::Prefilling { .. }
                | Progress::Started { .. }
                | Progress::Compared { .. } => {}
            }
        }
        complete
    }

    fn index_of(&self, id: GenerationId) -> Option<usize> {
        let mut writing = self.writing.iter();
        writing.position(|text| text.index as u64 == id.0)
    }
}

impl Job for PaneTextsJob {
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        if self.writing.is_empty() && self.waiting.is_empty() {
            return Ok(Some(JobUpdate::Finished));
        }
        let started_at = Instant::now();
        let passed = self.pass(context);
        self.secs += started_at.elapsed().as_secs_f64();
        let complete = passed?;
        let growing = self.writing.iter().map(|text| text.tokens.len());
        let n_tokens = self.n_complete_tokens + growing.sum::<usize>();
        Ok(Some(JobUpdate::reported(SweepUpdate::Advanced {
            n_tokens,
            secs: self.secs,
            complete,
        })))
    }

    /// Frees the sequences and keeps the prompt for reuse.
    fn retire(mut self: Box<Self>, context: &mut JobContext<'_>) {
        let (model, cache) = (&mut *context.model, &mut *context.prefix_cache);
        for text in &self.writing {
            let id = GenerationId(text.index as u64);
            self.batch.leave(id, model, cache, &mut Vec::new());
        }
        if let Some(prefill) = self.prefill {
            cache.keep(prefill.into_cached(), &mut *model.lm);
        }
    }
}
