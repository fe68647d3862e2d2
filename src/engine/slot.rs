//! One pane's generation as it runs: samples a token from each row of logits and decides when to
//! stop.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::stop::StopMatcher;
use super::{EngineError, LoadedModel, Progress};
use crate::decoding::{Coins, History, SamplerChain, Taken, TokenId};
use crate::generation::{
    Continuation, EndOfText, FinishReason, GenerationConfig, GenerationId, Limits, PieceKind, Step,
    StepTime, Vocabulary,
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
    pub(super) fn of(model: &'a LoadedModel) -> Self {
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
    /// The tokens that the user picked to come next.
    by_hand: VecDeque<TokenId>,
    /// After how many more tokens the generation pauses. `None` for no pause.
    n_until_pause: Option<usize>,
    clock: Clock,
}

/// Times the steps. For a new text it counts from the request; for a continued one it goes on from
/// the last kept step when decoding begins.
#[derive(Debug, Clone, Copy)]
struct Clock {
    started_at: Instant,
    secs_before: f64,
}

impl Clock {
    fn secs(self) -> f64 {
        self.secs_before + self.started_at.elapsed().as_secs_f64()
    }
}

impl Slot {
    /// A slot that is about to continue `prompt`.
    pub(super) fn new(
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
            by_hand: VecDeque::new(),
            n_until_pause: None,
            clock: Clock {
                started_at: requested_at,
                secs_before: 0.0,
            },
        }
    }

    /// Lets each step use this much memory to record more than the head of its distribution.
    pub(super) fn with_detail(mut self, n_bytes_per_step: usize) -> Self {
        self.chain = self.chain.with_detail(n_bytes_per_step);
        self
    }

    /// Moves a slot that has generated nothing to where a continuation begins.
    #[must_use]
    pub(super) fn resume(mut self, continuation: Continuation, vocabulary: &Vocabulary) -> Self {
        for token in &continuation.kept {
            let piece = vocabulary.piece(*token);
            if piece.kind == PieceKind::Text {
                self.stop_matcher.skip(&piece.bytes);
            }
        }
        self.chain.restore(continuation.selector_state);
        self.tokens.extend(continuation.kept);
        self.by_hand = continuation.by_hand.into();
        self.n_until_pause = continuation.pause_after;
        self.clock.secs_before = continuation.at_secs;
        self
    }

    /// Restarts the clock of a continued text, so that neither the break nor reading the text again
    /// counts towards its speed.
    pub(super) fn start_clock(&mut self) {
        self.clock.started_at = Instant::now();
    }

    /// Leaves a pause before the next step out of the times of the steps.
    pub(super) fn exclude(&mut self, pause: Duration) {
        let started_at = &mut self.clock.started_at;
        *started_at = started_at.checked_add(pause).unwrap_or(*started_at);
    }

    /// Whether it continues a text rather than the prompt alone.
    pub(super) const fn continues_text(&self) -> bool {
        self.tokens.len() > self.n_prompt
    }

    /// The prompt and the generated tokens.
    pub(super) fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// The prompt and the generated tokens, by value.
    pub(super) fn into_tokens(self) -> Vec<TokenId> {
        self.tokens
    }

    pub(super) const fn id(&self) -> GenerationId {
        self.id
    }

    /// The token that the model has not read yet.
    pub(super) fn last_token(&self) -> Option<TokenId> {
        self.tokens.last().copied()
    }

    /// Samples a token and reports it. Returns whether the generation continues.
    pub(super) fn advance(
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
        let sampled = match self.by_hand.pop_front() {
            Some(token) => {
                let taken = Taken::ByHand(token);
                self.chain.take(logits, history, coins, taken)
            }
            None => self.chain.sample(logits, history, coins),
        };
        let sampled = sampled.map_err(|source| EngineError::SamplingFailed { position, source })?;
        self.tokens.push(sampled.token);
        Ok(Step {
            token: sampled.token,
            piece: model.vocabulary.piece(sampled.token),
            trace: Arc::new(sampled.trace),
            time: StepTime {
                at_secs: self.clock.secs(),
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
        if self.tokens.len() > model.n_context {
            return Some(FinishReason::ContextFull);
        }
        let n_left = self.n_until_pause.as_mut()?;
        *n_left = n_left.saturating_sub(1);
        (*n_left == 0).then_some(FinishReason::Paused)
    }
}
