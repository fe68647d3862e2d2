//! One pane's generation as it runs: samples a token from each row of logits and decides when to
//! stop.

use std::time::Instant;

use super::stop::StopMatcher;
use super::{EngineError, LoadedModel, Progress};
use crate::decoding::{Coins, History, SamplerChain, TokenId};
use crate::generation::{
    EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, PieceKind, Step, StepTime,
    Vocabulary,
};

/// The forward pass that produced a row of logits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ForwardPass {
    pub secs: f64,
    /// How many sequences shared the pass.
    pub n_batch: usize,
}

/// What a slot needs to know about the model at each step.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelContext<'a> {
    pub vocabulary: &'a Vocabulary,
    /// The tokens that end a text.
    pub end_tokens: &'a [TokenId],
    /// The most tokens that a sequence can hold.
    pub n_context: usize,
}

impl<'a> ModelContext<'a> {
    pub fn of(model: &'a LoadedModel) -> Self {
        Self {
            vocabulary: &model.vocabulary,
            end_tokens: &model.end_tokens,
            n_context: model.lm.n_context(),
        }
    }
}

/// One sequence being generated for a pane: its tokens so far, and how the next one is sampled.
///
/// The last token has been sampled but not yet read by the model.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    id: GenerationId,
    /// The prompt, then the generated tokens.
    tokens: Vec<TokenId>,
    n_prompt: usize,
    chain: SamplerChain,
    seed: u64,
    limits: Limits,
    stop_matcher: StopMatcher,
    /// The moment of the request. The times of all steps count from here.
    requested_at: Instant,
}

impl Slot {
    /// A slot that is about to continue `prompt`.
    pub fn new(
        id: GenerationId,
        config: GenerationConfig,
        prompt: &[TokenId],
        requested_at: Instant,
    ) -> Self {
        Self {
            id,
            tokens: prompt.to_vec(),
            n_prompt: prompt.len(),
            chain: SamplerChain::new(config.chain),
            seed: config.seed,
            stop_matcher: StopMatcher::new(&config.limits.stop_strings),
            limits: config.limits,
            requested_at,
        }
    }

    /// Lets each step use this much memory to record more than the head of its distribution.
    pub fn with_detail(mut self, n_bytes_per_step: usize) -> Self {
        self.chain = self.chain.with_detail(n_bytes_per_step);
        self
    }

    pub const fn id(&self) -> GenerationId {
        self.id
    }

    /// The token that the model has not read yet.
    pub fn last_token(&self) -> Option<TokenId> {
        self.tokens.last().copied()
    }

    /// Samples a token and reports it. Returns whether the generation continues.
    pub fn advance(
        &mut self,
        logits: &[f32],
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> bool {
        let id = self.id;
        if self.n_generated() >= self.limits.max_new_tokens {
            let reason = FinishReason::MaxTokens;
            progress.push(Progress::Finished { id, reason });
            return false;
        }
        let finish = match self.sample(logits, pass, model) {
            Ok(step) => {
                let finish = self.finish_after(&step, model);
                let step = Box::new(step);
                progress.push(Progress::Stepped { id, step });
                finish
            }
            Err(error) => Some(FinishReason::Failed {
                error: error.to_string(),
            }),
        };
        match finish {
            Some(reason) => {
                progress.push(Progress::Finished { id, reason });
                false
            }
            None => true,
        }
    }

    fn n_generated(&self) -> usize {
        self.tokens.len() - self.n_prompt
    }

    fn sample(
        &mut self,
        logits: &[f32],
        pass: ForwardPass,
        model: ModelContext<'_>,
    ) -> Result<Step, EngineError> {
        let history = History::new(&self.tokens, self.n_prompt);
        let coins = Coins {
            seed: self.seed,
            position: self.tokens.len() as u64,
        };
        let position = self.n_generated() + 1;
        let sampled = self
            .chain
            .sample(logits, history, coins)
            .map_err(|source| EngineError::SamplingFailed { position, source })?;
        self.tokens.push(sampled.token);
        Ok(Step {
            token: sampled.token,
            piece: model.vocabulary.piece(sampled.token),
            trace: sampled.trace,
            time: StepTime {
                at_secs: self.requested_at.elapsed().as_secs_f64(),
                forward_secs: pass.secs,
                n_batch: pass.n_batch,
            },
        })
    }

    /// Returns why the generation ends after this step, or `None` if it continues.
    ///
    /// End-of-text tokens and stop strings take precedence over the limits, so that a complete text
    /// is not reported as cut off.
    fn finish_after(&mut self, step: &Step, model: ModelContext<'_>) -> Option<FinishReason> {
        let is_end = model.end_tokens.contains(&step.token);
        if self.limits.end_of_text == EndOfText::Stops && is_end {
            return Some(FinishReason::EndOfText);
        }
        if step.piece.kind == PieceKind::Text
            && let Some(stop) = self.stop_matcher.push(&step.piece.bytes)
        {
            return Some(FinishReason::StopString {
                stop: stop.to_owned(),
            });
        }
        if self.n_generated() >= self.limits.max_new_tokens {
            return Some(FinishReason::MaxTokens);
        }
        (self.tokens.len() > model.n_context).then_some(FinishReason::ContextFull)
    }
}
