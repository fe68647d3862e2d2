//! One pane's writing as it runs: draws a token from each row of logits, and knows when to end.

use std::time::Instant;

use super::stop::StopMatcher;
use super::{EngineError, LoadedModel, Progress};
use crate::decoding::{Coins, History, SamplerChain, TokenId};
use crate::generation::{
    EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, PieceKind, Step, StepTime,
    Vocabulary,
};

/// The forward pass that gave a row of logits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pass {
    /// How long it took, in seconds.
    pub forward_secs: f64,
    /// How many sequences it served.
    pub n_batch: usize,
}

/// A model's tokens, as far as panes ask for them while they write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens<'a> {
    /// What each stands for.
    pub vocabulary: &'a Vocabulary,
    /// Those that end a text.
    pub ends: &'a [TokenId],
    /// How many a text can have.
    pub n_context: usize,
}

impl<'a> Tokens<'a> {
    /// Those of a model.
    pub fn of(model: &'a LoadedModel) -> Self {
        Self {
            vocabulary: &model.vocabulary,
            ends: &model.end_tokens,
            n_context: model.lm.n_context(),
        }
    }
}

/// One pane's writing: the tokens so far, and how the next is chosen.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    id: GenerationId,
    tokens: Vec<TokenId>,
    n_prompt: usize,
    chain: SamplerChain,
    seed: u64,
    limits: Limits,
    stop_matcher: StopMatcher,
    asked_at: Instant,
}

impl Lane {
    /// A pane that is about to continue this prompt.
    pub fn new(
        id: GenerationId,
        config: GenerationConfig,
        prompt: &[TokenId],
        asked_at: Instant,
    ) -> Self {
        Self {
            id,
            tokens: prompt.to_vec(),
            n_prompt: prompt.len(),
            chain: SamplerChain::new(config.chain),
            seed: config.seed,
            stop_matcher: StopMatcher::new(&config.limits.stop_strings),
            limits: config.limits,
            asked_at,
        }
    }

    /// The name under which it is reported.
    pub const fn id(&self) -> GenerationId {
        self.id
    }

    /// The token that the model has not read yet.
    pub fn newest(&self) -> Option<TokenId> {
        self.tokens.last().copied()
    }

    /// Draws a token and reports it. Gives whether the writing goes on.
    pub fn advance(
        &mut self,
        logits: &[f32],
        pass: Pass,
        tokens: Tokens<'_>,
        progress: &mut Vec<Progress>,
    ) -> bool {
        let id = self.id;
        if self.n_generated() >= self.limits.max_new_tokens {
            let reason = FinishReason::MaxTokens;
            progress.push(Progress::Finished { id, reason });
            return false;
        }
        let finish = match self.draw(logits, pass, tokens) {
            Ok(step) => {
                let finish = self.finish_after(&step, tokens);
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

    fn draw(
        &mut self,
        logits: &[f32],
        pass: Pass,
        tokens: Tokens<'_>,
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
            .map_err(|source| EngineError::NoDraw { position, source })?;
        self.tokens.push(sampled.token);
        Ok(Step {
            token: sampled.token,
            piece: tokens.vocabulary.piece(sampled.token),
            trace: sampled.trace,
            time: StepTime {
                at_secs: self.asked_at.elapsed().as_secs_f64(),
                forward_secs: pass.forward_secs,
                n_batch: pass.n_batch,
            },
        })
    }

    /// Why the writing ends after this step. What the model or the user meant as an end comes before
    /// the limits, so that a text that is whole is not reported as cut off.
    fn finish_after(&mut self, step: &Step, tokens: Tokens<'_>) -> Option<FinishReason> {
        if self.limits.end_of_text == EndOfText::Stops && tokens.ends.contains(&step.token) {
            return Some(FinishReason::EndOfText);
        }
        if step.piece.kind == PieceKind::Text
            && let Some(met) = self.stop_matcher.push(&step.piece.bytes)
        {
            return Some(FinishReason::StopString {
                stop: met.to_owned(),
            });
        }
        if self.n_generated() >= self.limits.max_new_tokens {
            return Some(FinishReason::MaxTokens);
        }
        (self.tokens.len() > tokens.n_context).then_some(FinishReason::ContextFull)
    }
}
