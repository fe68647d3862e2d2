//! One pane's generation as it runs: samples a token from each row of logits and decides when to
//! stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::constraint::Constraint;
use super::guess::Guess;
use super::prefix_cache::{CachedPrefix, PrefixCache, PrefixKind};
use super::writer::Writer;
use super::{EngineError, LoadedModel, Progress, Row, SequenceId};
use crate::decoding::{
    ChainConfig, Coins, DecodingError, History, LogitsHash, RankedCandidate, SamplerChain, Taken,
    TokenId, Verified,
};
use crate::generation::{
    Continuation, FinishReason, GenerationConfig, GenerationId, LastToken, Step, StepTime, TextEnd,
    Vocabulary,
};
use crate::kernels::ThreadPool;

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
    /// The threads that the model's passes run on, if they are our own.
    pub threads: Option<&'a ThreadPool>,
}

impl<'a> ModelContext<'a> {
    pub(super) fn of(model: &'a LoadedModel) -> Self {
        Self {
            vocabulary: &model.vocabulary,
            end_tokens: &model.end_tokens,
            threads: model.lm.threads(),
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
    constraint: Constraint,
    seed: u64,
    /// Where it ends, and which tokens the user picked to come next.
    pub(super) end: TextEnd,
    clock: Clock,
    /// Holds all tokens except the last, once the prompt has been prefilled.
    sequence: Option<SequenceId>,
}

/// Times the steps. For a new text it counts from the request; for a continued one it resumes from
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
    /// Creates a slot that is about to continue `prompt`.
    pub(super) fn new(
        model: &LoadedModel,
        id: GenerationId,
        mut config: GenerationConfig,
        prompt: &[TokenId],
        requested_at: Instant,
    ) -> Self {
        // Settings for which this fails are refused before.
        if let Ok(spelled) = model.spelled(&config.chain) {
            config.chain = spelled;
        }
        let n_max = model.lm.n_context().saturating_add(1);
        Self {
            id,
            tokens: prompt.to_vec(),
            n_prompt: prompt.len(),
            constraint: Constraint::begin(model, &config.chain, &config.limits),
            chain: SamplerChain::new(config.chain),
            seed: config.seed,
            end: TextEnd::new(&config.limits, n_max.saturating_sub(prompt.len())),
            clock: Clock {
                started_at: requested_at,
                secs_before: 0.0,
            },
            sequence: None,
        }
    }

    /// Lets each step use this much memory to record more than the head of its distribution.
    pub(super) fn with_detail(mut self, n_bytes_per_step: usize) -> Self {
        self.chain = self.chain.with_detail(n_bytes_per_step);
        self
    }

    /// Moves a slot that has generated nothing to the point where a continuation begins.
    #[must_use]
    pub(super) fn resume(mut self, continuation: Continuation, vocabulary: &Vocabulary) -> Self {
        for token in &continuation.kept {
            self.end.keep(&vocabulary.piece(*token));
            self.constraint.follow(*token);
        }
        self.end.resume(&continuation);
        self.chain.restore(continuation.selector_state);
        self.tokens.extend(continuation.kept);
        self.clock.secs_before = continuation.at_secs;
        self
    }

    pub(super) const fn id(&self) -> GenerationId {
        self.id
    }

    /// Returns the prompt, then the generated tokens.
    pub(super) fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// Returns whether it continues a text rather than the prompt alone.
    pub(super) const fn continues_text(&self) -> bool {
        self.tokens.len() > self.n_prompt
    }

    /// Restarts the clock of a continued text, so that neither the break nor reading the text again
    /// counts towards its speed.
    pub(super) fn start_clock(&mut self) {
        self.clock.started_at = Instant::now();
    }

    /// Excludes a pause before the next step from the step times.
    pub(super) fn exclude(&mut self, pause: Duration) {
        let started_at = &mut self.clock.started_at;
        *started_at = started_at.checked_add(pause).unwrap_or(*started_at);
    }

    /// Returns the settings with which it chooses tokens.
    pub(super) const fn chain(&self) -> &ChainConfig {
        self.chain.config()
    }

    /// Returns the row with which the next forward pass reads the last token.
    pub(super) fn row(&self, sequence: SequenceId) -> Option<Row> {
        self.tokens.last().map(|token| Row {
            sequence,
            token: *token,
            logits_wanted: true,
        })
    }

    /// Returns how many end-of-text tokens would end its text.
    pub(super) fn n_end_tokens(&self, model: ModelContext<'_>) -> usize {
        if self.end.stops_at_end_tokens() {
            model.end_tokens.len()
        } else {
            0
        }
    }

    /// Returns the `n` most likely tokens after the stages, most likely first.
    pub(super) fn most_likely(
        &self,
        logits: &[f32],
        n: usize,
    ) -> Result<Vec<RankedCandidate>, EngineError> {
        let history = History::new(&self.tokens, self.n_prompt);
        let coins = self.coins();
        let likely = match self.constraint.draw(logits)? {
            Some(draw) => draw.most_likely(&self.chain, history, coins, n),
            None => self.chain.most_likely(logits, history, coins, n),
        };
        likely.map_err(|source| self.failed(source))
    }

    /// What a beam search adds to the total of this text if it continues with this candidate.
    pub(super) fn beam_score(&self, candidate: &RankedCandidate) -> f64 {
        self.chain.beam_score(candidate)
    }

    /// Returns the tokens after the prompt.
    pub(super) fn generated(&self) -> &[TokenId] {
        self.tokens.get(self.n_prompt..).unwrap_or_default()
    }

    /// Takes over a sequence that holds all tokens but the last.
    pub(super) const fn hold(&mut self, sequence: SequenceId) {
        self.sequence = Some(sequence);
    }

    /// Returns the sequence that it holds.
    pub(super) const fn sequence(&self) -> Option<SequenceId> {
        self.sequence
    }

    /// Returns the row with which its own sequence reads the last token.
    pub(super) fn own_row(&self) -> Option<Row> {
        self.row(self.sequence?)
    }

    /// Hands over the sequence that it holds.
    pub(super) const fn release(&mut self) -> Option<SequenceId> {
        self.sequence.take()
    }

    /// Keeps its sequence for reuse, with as much of the text as the model has read.
    pub(super) fn keep_sequence(&mut self, model: &mut LoadedModel, cache: &mut PrefixCache) {
        let lm = &mut *model.lm;
        let Some(sequence) = self.release() else {
            return;
        };
        let read = self.tokens.iter().take(lm.n_read(sequence));
        let text = CachedPrefix {
            sequence,
            tokens: read.copied().collect(),
            kind: PrefixKind::Text,
        };
        cache.keep(text, lm);
    }

    /// Drafts the token after these guesses, from a cheaper model's logits.
    pub(super) fn guess(
        &mut self,
        logits: &[f32],
        guesses: &[Guess],
        with_probs: bool,
    ) -> Result<Guess, EngineError> {
        let n_before = self.tokens.len();
        self.tokens.extend(guesses.iter().map(|guess| guess.token));
        let (history, coins) = (History::new(&self.tokens, self.n_prompt), self.coins());
        let guess = if with_probs {
            let probs = self.chain.probs(logits, history, coins);
            probs.map(|probs| Guess::drawn_from(probs, coins))
        } else {
            let guess = self.chain.guess(logits, history, coins);
            guess.map(|(token, prob)| Guess {
                token,
                prob: Some(prob),
                probs: Vec::new(),
            })
        };
        self.tokens.truncate(n_before);
        guess.map_err(|source| self.failed(source))
    }

    /// Accepts a guess by the rule of speculative sampling, or replaces it. Returns the outcome and
    /// the probability of the guess after the chain.
    pub(super) fn verify(
        &mut self,
        logits: &[f32],
        guess: &Guess,
    ) -> Result<(Verified, f64), EngineError> {
        let history = History::new(&self.tokens, self.n_prompt);
        let coins = self.coins();
        let guess = (guess.token, guess.probs.as_slice());
        let verified = self.chain.verify(logits, guess, history, coins);
        verified.map_err(|source| self.failed(source))
    }

    fn n_generated(&self) -> usize {
        self.tokens.len() - self.n_prompt
    }

    const fn coins(&self) -> Coins {
        Coins {
            seed: self.seed,
            position: self.tokens.len() as u64,
        }
    }

    pub(super) fn failed(&self, source: DecodingError) -> EngineError {
        let position = self.n_generated() + 1;
        EngineError::SamplingFailed { position, source }
    }

    /// Appends a token, which is sampled unless one is given.
    pub(super) fn take(
        &mut self,
        taken: Option<Taken>,
        logits: &[f32],
        pass: ForwardPass,
        model: ModelContext<'_>,
    ) -> Result<Step, EngineError> {
        let history = History::new(&self.tokens, self.n_prompt);
        let coins = self.coins();
        let chain = &mut self.chain;
        let sampled = match (self.constraint.draw(logits)?, taken) {
            (Some(draw), Some(taken)) => draw.take(chain, history, coins, taken),
            (Some(draw), None) => draw.sample(chain, history, coins),
            (None, Some(taken)) => chain.take(logits, history, coins, taken),
            (None, None) => chain.sample(logits, history, coins),
        };
        let sampled = sampled.map_err(|source| self.failed(source))?;
        let mask_secs = self.constraint.mask_secs();
        self.tokens.push(sampled.token);
        self.constraint.follow(sampled.token);
        Ok(Step {
            token: sampled.token,
            piece: model.vocabulary.piece(sampled.token),
            trace: Arc::new(sampled.trace),
            time: StepTime {
                at_secs: self.clock.secs(),
                forward_secs: pass.secs,
                n_batch: pass.n_batch,
                mask_secs,
                network_secs: None,
            },
            draft: None,
            logits_hash: Some(LogitsHash::of(logits)),
        })
    }

    /// Returns why the text ends with this step, or `None` if it goes on.
    pub(super) fn finish_after(
        &mut self,
        step: &Step,
        model: ModelContext<'_>,
    ) -> Option<FinishReason> {
        self.end.push(LastToken {
            piece: &step.piece,
            is_end: model.end_tokens.contains(&step.token),
            completes_grammar: self.constraint.is_complete(),
        })
    }

    /// Returns why the text would end with this token, or `None` if it would go on.
    pub(super) fn finish_with(
        &self,
        token: TokenId,
        model: ModelContext<'_>,
    ) -> Option<FinishReason> {
        let mut end = self.end.clone();
        end.take_picked();
        end.push(LastToken {
            piece: &model.vocabulary.piece(token),
            is_end: model.end_tokens.contains(&token),
            completes_grammar: self.constraint.is_complete_with(token),
        })
    }
}

impl Writer for Slot {
    fn slot(&self) -> &Slot {
        self
    }

    fn slot_mut(&mut self) -> &mut Slot {
        self
    }

    fn push_rows(&self, rows: &mut Vec<Row>) {
        rows.extend(self.own_row());
    }

    fn choose(
        &mut self,
        logits: &[&[f32]],
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> Option<FinishReason> {
        if let Some(limit) = self.end.limit_reached() {
            return Some(limit);
        }
        let logits = logits.first().copied().unwrap_or_default();
        let picked = self.end.take_picked();
        match self.take(picked, logits, pass, model) {
            Ok(step) => {
                let finish = self.finish_after(&step, model);
                progress.push(Progress::stepped(self.id, step));
                finish
            }
            Err(error) => Some(FinishReason::failed(error)),
        }
    }
}
