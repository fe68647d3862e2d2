//! A model in use: queued prompts, the prompt being prefilled, the panes being decoded, and
//! jobs of experiments that wait for them.
//!
//! It advances one forward pass at a time, so that its driver can handle requests in between.

mod jobs;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::jobs::Jobs;
use super::batch::Batch;
use super::prefill::Prefill;
use super::prefix_cache::{DEFAULT_PREFIX_CACHE_BYTES, PrefixCache};
use super::score::Scoring;
use super::slot::Slot;
use super::task::Task;
use super::writer::{begin, writer_of};
use super::{CausalLm, EngineError, GivenText, LoadedModel, Progress};
use crate::decoding::TokenId;
use crate::generation::{
    ChatRecord, Continuation, GenerationConfig, GenerationId, ModelInfo, PromptForm, PromptText,
};

/// A text to continue, with its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// As the user typed it.
    pub text: String,
    /// The rendered chat template, if the prompt is a message to answer.
    pub chat: Option<ChatRecord>,
    /// The tokens of the rendered chat or of the text, including special tokens.
    pub tokens: Vec<TokenId>,
}

impl Prompt {
    /// Returns whether the model continues the prompt or answers it.
    pub fn form(&self) -> PromptForm {
        PromptForm::of(self.chat.as_ref())
    }
}

/// A model, and everything that it is generating.
pub struct Session {
    model: LoadedModel,
    /// Prompts that have not been started, oldest first. Each has at least one writer.
    queue: VecDeque<Task>,
    /// The prompt that is being prefilled. There is never more than one.
    prefilling: Option<Prefilling>,
    /// The writers that have left prefill and are decoding.
    batch: Batch,
    /// The texts to be scored, oldest first.
    scorings: VecDeque<Scoring>,
    /// Whether the next forward pass is for a text to be scored, if there is other work too.
    score_next: bool,
    /// The KV caches of prompts and texts that later requests may continue.
    prefix_cache: PrefixCache,
    /// Whether the next forward pass is a decode step. Prefill and decode alternate while there is
    /// work for both.
    decode_next: bool,
    /// The memory that each step of later generations may use to record more than the head of its
    /// distribution.
    n_detail_bytes: usize,
    /// The jobs of experiments, which wait while any pane is busy.
    jobs: Jobs,
}

/// A task whose prompt is being read by the model, chunk by chunk.
struct Prefilling {
    task: Task,
    prefill: Prefill,
}

impl Session {
    /// Creates a session with an empty KV cache.
    pub const fn new(model: LoadedModel) -> Self {
        Self {
            model,
            queue: VecDeque::new(),
            prefilling: None,
            batch: Batch::new(),
            scorings: VecDeque::new(),
            score_next: false,
            prefix_cache: PrefixCache::new(DEFAULT_PREFIX_CACHE_BYTES),
            decode_next: false,
            n_detail_bytes: 0,
            jobs: Jobs::new(),
        }
    }

    /// Returns the model that this session runs.
    pub const fn model(&self) -> &LoadedModel {
        &self.model
    }

    /// Returns the language model itself, for callers that open their own sequences besides those
    /// of the panes.
    pub fn lm(&mut self) -> &mut dyn CausalLm {
        &mut *self.model.lm
    }

    /// Tokenizes a prompt. Fails if it is empty or does not fit into the context.
    pub fn prompt(&self, prompt: impl Into<PromptText>) -> Result<Prompt, EngineError> {
        self.model.prompt(&prompt.into())
    }

    /// Lets each step of the generations that start from now on use this much memory to record more
    /// than the head of its distribution.
    pub const fn set_detail(&mut self, n_bytes_per_step: usize) {
        self.n_detail_bytes = n_bytes_per_step;
    }

    /// Queues a prompt, to be prefilled once and continued by all of these panes. Step times count
    /// from `requested_at`.
    pub fn generate(
        &mut self,
        prompt: Prompt,
        panes: impl IntoIterator<Item = (GenerationId, GenerationConfig)>,
        requested_at: Instant,
    ) {
        let panes = panes
            .into_iter()
            .map(|(id, config)| (id, config, Continuation::default()));
        self.generate_from(prompt, panes, requested_at);
    }

    /// Like [`Self::generate`], but each pane may already have a text to continue.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a request hands its prompt over, as in `generate`"
    )]
    pub fn generate_from(
        &mut self,
        prompt: Prompt,
        panes: impl IntoIterator<Item = (GenerationId, GenerationConfig, Continuation)>,
        requested_at: Instant,
    ) {
        let panes: Vec<_> = panes.into_iter().collect();
        if panes
            .iter()
            .any(|(_, config, _)| config.chain.drafts_with_mtp_head())
        {
            self.model.lm.keep_hidden_states();
        }
        let model = &self.model;
        let writers = panes.into_iter().map(|(id, config, continuation)| {
            let slot = Slot::new(model, id, config, &prompt.tokens, requested_at)
                .with_detail(self.n_detail_bytes)
                .resume(continuation, &model.vocabulary);
            writer_of(slot, &prompt, model)
        });
        let (continued, new): (Vec<_>, Vec<_>) =
            writers.partition(|writer| writer.slot().continues_text());
        let own = continued.into_iter().map(|writer| vec![writer]);
        for writers in std::iter::once(new).chain(own) {
            if !writers.is_empty() {
                let prompt = prompt.clone();
                self.queue.push_back(Task { prompt, writers });
            }
        }
    }

    /// Tokenizes a text to be scored, as [`LoadedModel::encode_text`] does.
    pub fn text(&self, text: &str, n_first: Option<usize>) -> Result<Prompt, EngineError> {
        self.model.encode_text(text, n_first)
    }

    /// Queues a text to be scored under the settings of these panes, all in the same forward
    /// passes. Its first token, which begins the text, is the prompt of the record; each other
    /// token becomes a step.
    pub fn score(
        &mut self,
        text: Prompt,
        panes: impl IntoIterator<Item = (GenerationId, GenerationConfig)>,
        requested_at: Instant,
    ) {
        self.score_after_prompt(GivenText::bare(text), panes, requested_at);
    }

    /// Queues a text to be scored after its prompt.
    pub fn score_after_prompt(
        &mut self,
        text: GivenText,
        panes: impl IntoIterator<Item = (GenerationId, GenerationConfig)>,
        requested_at: Instant,
    ) {
        let mut scoring = Scoring::new(text, requested_at);
        for (id, config) in panes {
            scoring.add_pane(id, &config, self.n_detail_bytes, &self.model);
        }
        self.scorings.push_back(scoring);
    }

    /// Checks that a text can be continued: its tokens exist and leave room in the context.
    pub fn check_continuation(
        &self,
        prompt: &Prompt,
        continuation: &Continuation,
    ) -> Result<(), EngineError> {
        let n_vocab = self.model.lm.n_vocab();
        let repeated = continuation.repeated.iter().flatten();
        let given = (continuation.kept.iter())
            .chain(&continuation.by_hand)
            .chain(repeated);
        let unknown = prompt.tokens.iter().chain(given);
        if let Some(token) = unknown.copied().find(|token| token.index() >= n_vocab) {
            let token = token.0;
            return Err(EngineError::UnknownToken { token, n_vocab });
        }
        let n_max = self.model.lm.n_context();
        if prompt.tokens.len() + continuation.kept.len() > n_max {
            return Err(EngineError::ContextFull { n_max });
        }
        Ok(())
    }

    /// Checks that the model can write a text with these settings.
    pub fn check_config(
        &self,
        prompt: &Prompt,
        config: &GenerationConfig,
    ) -> Result<(), EngineError> {
        self.model.check_writer(&config.chain, prompt)
    }

    /// Replaces the second model, which drafts or guides. Returns the info of the one now in use.
    /// No pane may be busy.
    pub fn set_second(
        &mut self,
        second: Option<LoadedModel>,
    ) -> Result<Option<Arc<ModelInfo>>, EngineError> {
        self.model.set_second(second)?;
        let second = self.model.second();
        Ok(second.map(|second| Arc::clone(&second.info)))
    }

    /// Returns whether any pane is queued, in prefill or decoding, or any text is being scored.
    pub fn is_busy(&self) -> bool {
        self.is_generating() || !self.scorings.is_empty()
    }

    fn is_generating(&self) -> bool {
        self.prefilling.is_some() || !self.queue.is_empty() || !self.batch.is_empty()
    }

    /// Returns whether the next forward pass can only be a decode step.
    pub fn only_decodes(&self) -> bool {
        let prefills = self.prefilling.is_some() || !self.queue.is_empty();
        !self.batch.is_empty() && !prefills && self.scorings.is_empty()
    }

    /// Excludes a pause between two decode steps from the step times.
    pub fn exclude(&mut self, pause: Duration) {
        self.batch.exclude(pause);
    }

    /// Runs one forward pass and reports what happened. Prefill, decode and scoring take turns if
    /// there is work for several of them.
    pub fn advance(&mut self, progress: &mut Vec<Progress>) {
        let score = self.score_next || !self.is_generating();
        self.score_next = !score;
        match self.scorings.front_mut().filter(|_| score) {
            Some(scoring) => {
                if !scoring.advance(&mut self.model, progress) {
                    self.scorings.pop_front();
                }
            }
            None => self.advance_generations(progress),
        }
    }

    fn advance_generations(&mut self, progress: &mut Vec<Progress>) {
        self.begin_prefill(progress);
        self.join_cached(progress);
        self.decode_next = match self.prefilling.take() {
            Some(prefilling) if self.batch.is_empty() || !self.decode_next => {
                self.prefill_chunk(prefilling, progress);
                true
            }
            prefilling => {
                self.prefilling = prefilling;
                if !self.batch.is_empty() {
                    self.batch
                        .step(&mut self.model, &mut self.prefix_cache, progress);
                }
                false
            }
        };
    }

    /// Stops one pane, whatever it is doing, and reports the rest of its text. Returns whether it
    /// was present.
    pub fn stop(&mut self, id: GenerationId, progress: &mut Vec<Progress>) -> bool {
        if self
            .batch
            .leave(id, &mut self.model, &mut self.prefix_cache, progress)
        {
            return true;
        }
        if let Some(scoring) = self.scorings.iter_mut().find(|scoring| scoring.has(id)) {
            scoring.leave(id, &mut self.model);
            self.scorings.retain(Scoring::has_panes);
            return true;
        }
        let prefilling = self
            .prefilling
            .as_mut()
            .map(|prefilling| &mut prefilling.task);
        let was_present = self
            .queue
            .iter_mut()
            .chain(prefilling)
            .any(|task| task.leave(id));
        self.queue.retain(|task| !task.writers.is_empty());
        let is_abandoned = |prefilling: &mut Prefilling| prefilling.task.writers.is_empty();
        if let Some(prefilling) = self.prefilling.take_if(is_abandoned) {
            self.prefix_cache
                .keep(prefilling.prefill.into_cached(), &mut *self.model.lm);
        }
        was_present
    }

    /// Returns the ids of all panes that are decoding, in prefill, queued or being scored, in the
    /// order of their requests.
    pub fn ids(&self) -> Vec<GenerationId> {
        let prefilling = self.prefilling.iter().map(|prefilling| &prefilling.task);
        let waiting = prefilling.chain(&self.queue).flat_map(Task::ids);
        let generating = self.batch.ids().chain(waiting);
        let scored = self.scorings.iter().flat_map(Scoring::ids);
        generating.chain(scored).collect()
    }

    /// Drops the prompts and texts that are kept in the KV cache for reuse.
    pub fn clear_prefix_cache(&mut self) {
        self.prefix_cache.clear(&mut *self.model.lm);
    }

    /// Sets how much memory prompts and texts that are kept for reuse may take, in bytes. The
    /// newest prompt is always kept.
    pub fn set_prefix_cache_limit(&mut self, n_max_bytes: u64) {
        self.prefix_cache
            .set_limit(n_max_bytes, &mut *self.model.lm);
    }

    /// Returns how much memory the kept prompts and texts take, in bytes. `None` if the backend
    /// can't tell; it then keeps only the newest prompt.
    pub fn n_prefix_cache_bytes(&self) -> Option<u64> {
        self.prefix_cache.n_bytes(&*self.model.lm)
    }

    /// Returns how many of these tokens, from the first on, need not be read again.
    pub fn n_cached(&self, tokens: &[TokenId]) -> usize {
        self.prefix_cache.n_cached(tokens)
    }

    fn begin_prefill(&mut self, progress: &mut Vec<Progress>) {
        if self.prefilling.is_none()
            && let Some(task) = self.queue.pop_front()
        {
            let (lm, cache) = (&mut *self.model.lm, &mut self.prefix_cache);
            let prefill = match task.text_to_read() {
                Some(tokens) => {
                    let others_follow = self
                        .queue
                        .iter()
                        .flat_map(|task| &task.writers)
                        .any(|writer| writer.tokens().starts_with(&tokens));
                    Prefill::text(tokens, others_follow, cache, lm)
                }
                None => Prefill::prompt(task.prompt.tokens.clone(), cache, lm),
            };
            progress.push(task.prefilling(&prefill));
            self.prefilling = Some(Prefilling { task, prefill });
        }
    }

    /// Lets all texts that are still in the KV cache join the batch at once, so that they share its
    /// next pass.
    fn join_cached(&mut self, progress: &mut Vec<Progress>) {
        let is_ready =
            |prefilling: &mut Prefilling| prefilling.task.is_text() && prefilling.prefill.is_done();
        while let Some(Prefilling { task, prefill }) = self.prefilling.take_if(is_ready) {
            self.resume(task, &prefill, progress);
            self.begin_prefill(progress);
        }
    }

    fn prefill_chunk(&mut self, prefilling: Prefilling, progress: &mut Vec<Progress>) {
        let Prefilling { task, mut prefill } = prefilling;
        if !prefill.is_done()
            && let Err(error) = prefill.read_chunk(&mut *self.model.lm)
        {
            self.model.lm.close(prefill.sequence());
            return task.fail(&error.to_string(), progress);
        }
        if !prefill.is_done() {
            progress.push(task.prefilling(&prefill));
            self.prefilling = Some(Prefilling { task, prefill });
        } else if task.is_text() {
            self.resume(task, &prefill, progress);
        } else {
            self.start(task, &prefill, progress);
            let (lm, cache) = (&mut *self.model.lm, &mut self.prefix_cache);
            cache.keep(prefill.into_cached(), lm);
        }
    }

    /// Moves a writer that continues a text into the batch, with the sequence that holds this text.
    fn resume(&mut self, task: Task, prefill: &Prefill, progress: &mut Vec<Progress>) {
        progress.push(task.started(prefill, &self.model));
        for mut writer in task.writers {
            for slot in writer.slots_mut() {
                slot.start_clock();
            }
            match writer.join(prefill.sequence(), &mut self.model) {
                Ok(()) => self.batch.join(writer),
                Err(error) => {
                    progress.push(Progress::failed(writer.id(), error));
                    writer.retire(&mut self.model, &mut self.prefix_cache);
                }
            }
        }
    }

    /// Lets each writer choose its first token and moves the writers into the batch, each with its
    /// own fork of the prompt's KV cache.
    fn start(&mut self, task: Task, prefill: &Prefill, progress: &mut Vec<Progress>) {
        progress.push(task.started(prefill, &self.model));
        for writer in task.writers {
            let (model, cache) = (&mut self.model, &mut self.prefix_cache);
            if let Some(begun) = begin(writer, prefill, model, cache, progress) {
                self.batch.join(begun);
            }
        }
    }
}
