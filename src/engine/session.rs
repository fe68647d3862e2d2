//! A model at work: prompts that wait, the one that is being read, and the panes that write.
//!
//! It goes forward by one forward pass at a time, so that whoever drives it can listen in between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::batch::Batch;
use super::lane::{Lane, Tokens};
use super::prefill::Prefill;
use super::{CausalLm, EngineError, LoadedModel};
use crate::decoding::TokenId;
use crate::generation::{
    ChatRecord, FinishReason, GenerationConfig, GenerationId, PromptRecord, PromptText, Step,
};

/// What happened, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// A prompt is being read.
    Reading {
        /// For whom.
        ids: Vec<GenerationId>,
        /// How many of its tokens are in the cache.
        n_read: usize,
        /// How many there are.
        n_tokens: usize,
    },
    /// A prompt was read, and writing begins.
    Started {
        /// Who writes.
        ids: Vec<GenerationId>,
        /// What was read.
        prompt: Arc<PromptRecord>,
    },
    /// One pane wrote one token.
    Stepped {
        /// Who.
        id: GenerationId,
        /// What, and how it came about.
        step: Box<Step>,
    },
    /// One pane ended.
    Finished {
        /// Who.
        id: GenerationId,
        /// Why.
        reason: FinishReason,
    },
}

impl Progress {
    /// A pane ended because something went wrong.
    pub fn failed(id: GenerationId, error: &str) -> Self {
        let error = error.to_owned();
        let reason = FinishReason::Failed { error };
        Self::Finished { id, reason }
    }
}

/// A text to continue, and the tokens that it became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What the user wrote.
    pub text: String,
    /// What the chat template made of it, where it is a message to answer.
    pub chat: Option<ChatRecord>,
    /// What the model reads.
    pub tokens: Vec<TokenId>,
}

/// A model at work.
pub struct Session {
    model: LoadedModel,
    waiting: VecDeque<Job>,
    reading: Option<(Job, Prefill)>,
    batch: Batch,
    kept: Option<Prefill>,
    step_is_next: bool,
}

/// A prompt, and the panes that will continue it.
struct Job {
    prompt: Prompt,
    lanes: Vec<Lane>,
}

impl Session {
    /// A model that has read nothing.
    pub const fn new(model: LoadedModel) -> Self {
        Self {
            model,
            waiting: VecDeque::new(),
            reading: None,
            batch: Batch::new(),
            kept: None,
            step_is_next: false,
        }
    }

    /// The model.
    pub const fn model(&self) -> &LoadedModel {
        &self.model
    }

    /// The weights, for sequences of one's own beside the panes'.
    pub fn lm(&mut self) -> &mut dyn CausalLm {
        &mut *self.model.lm
    }

    /// The prompt as the model would read it, or why it can't be continued.
    pub fn prompt(&self, prompt: impl Into<PromptText>) -> Result<Prompt, EngineError> {
        let prompt = self.model.read(&prompt.into())?;
        let (n_tokens, n_max) = (prompt.tokens.len(), self.model.lm.n_context());
        if prompt.text.is_empty() || prompt.tokens.is_empty() {
            Err(EngineError::PromptEmpty)
        } else if n_tokens > n_max {
            Err(EngineError::PromptTooLong { n_tokens, n_max })
        } else {
            Ok(prompt)
        }
    }

    /// Puts a prompt in the queue, to be read once and continued by all these panes. `asked_at` is
    /// the moment from which their times count.
    pub fn generate(
        &mut self,
        prompt: Prompt,
        panes: impl IntoIterator<Item = (GenerationId, GenerationConfig)>,
        asked_at: Instant,
    ) {
        let lanes: Vec<Lane> = panes
            .into_iter()
            .map(|(id, config)| Lane::new(id, config, &prompt.tokens, asked_at))
            .collect();
        if !lanes.is_empty() {
            self.waiting.push_back(Job { prompt, lanes });
        }
    }

    /// Whether there is anything to do.
    pub fn is_busy(&self) -> bool {
        self.reading.is_some() || !self.waiting.is_empty() || !self.batch.is_empty()
    }

    /// Goes forward by one forward pass, and reports. Where a prompt is to be read while panes
    /// write, the two take turns.
    pub fn advance(&mut self, progress: &mut Vec<Progress>) {
        self.begin_reading(progress);
        self.step_is_next = match self.reading.take() {
            Some(reading) if self.batch.is_empty() || !self.step_is_next => {
                self.read(reading, progress);
                true
            }
            reading => {
                self.reading = reading;
                if !self.batch.is_empty() {
                    self.batch.step(&mut self.model, progress);
                }
                false
            }
        };
    }

    /// Ends one pane. Gives whether there was one.
    pub fn stop(&mut self, id: GenerationId) -> bool {
        if self.batch.leave(id, &mut self.model) {
            return true;
        }
        let reading = self.reading.as_mut().map(|(job, _)| job);
        let left = self
            .waiting
            .iter_mut()
            .chain(reading)
            .any(|job| job.leave(id));
        self.waiting.retain(|job| !job.lanes.is_empty());
        if let Some((_, prefill)) = self.reading.take_if(|(job, _)| job.lanes.is_empty()) {
            self.kept = Some(prefill);
        }
        left
    }

    /// Everyone who writes or waits, in the order in which they came.
    pub fn ids(&self) -> Vec<GenerationId> {
        let reading = self.reading.iter().map(|(job, _)| job);
        let lanes = reading.chain(&self.waiting).flat_map(|job| &job.lanes);
        self.batch.ids().chain(lanes.map(Lane::id)).collect()
    }

    /// Forgets the prompt that is kept in the cache for the next run.
    pub fn forget_prompt(&mut self) {
        if let Some(prefill) = self.kept.take() {
            self.model.lm.close(prefill.sequence());
        }
    }

    fn begin_reading(&mut self, progress: &mut Vec<Progress>) {
        if self.reading.is_none()
            && let Some(job) = self.waiting.pop_front()
        {
            let tokens = job.prompt.tokens.clone();
            let prefill = Prefill::begin(tokens, self.kept.take(), &mut *self.model.lm);
            progress.push(job.reading(&prefill));
            self.reading = Some((job, prefill));
        }
    }

    fn read(&mut self, (job, mut prefill): (Job, Prefill), progress: &mut Vec<Progress>) {
        if prefill.scores().is_none()
            && let Err(error) = prefill.read_chunk(&mut *self.model.lm)
        {
            self.model.lm.close(prefill.sequence());
            return job.fail(&error.to_string(), progress);
        }
        if prefill.scores().is_some() {
            self.start(job, &prefill, progress);
            self.kept = Some(prefill);
        } else {
            progress.push(job.reading(&prefill));
            self.reading = Some((job, prefill));
        }
    }

    fn start(&mut self, job: Job, prefill: &Prefill, progress: &mut Vec<Progress>) {
        let Some((logits, pass)) = prefill.scores() else {
            return;
        };
        let (n_prefilled, prefill_secs) = prefill.cost();
        let vocabulary = &self.model.vocabulary;
        let pieces = job
            .prompt
            .tokens
            .iter()
            .map(|token| vocabulary.piece(*token));
        progress.push(Progress::Started {
            ids: job.lanes.iter().map(Lane::id).collect(),
            prompt: Arc::new(PromptRecord {
                text: job.prompt.text,
                chat: job.prompt.chat,
                pieces: pieces.collect(),
                tokens: job.prompt.tokens,
                n_prefilled,
                prefill_secs,
            }),
        });
        for mut lane in job.lanes {
            if lane.advance(logits, pass, Tokens::of(&self.model), progress) {
                match self.model.lm.fork(prefill.sequence()) {
                    Ok(sequence) => self.batch.join(lane, sequence),
                    Err(error) => progress.push(Progress::failed(lane.id(), &error.to_string())),
                }
            }
        }
    }
}

impl Job {
    fn leave(&mut self, id: GenerationId) -> bool {
        let n_lanes = self.lanes.len();
        self.lanes.retain(|lane| lane.id() != id);
        self.lanes.len() < n_lanes
    }

    fn reading(&self, prefill: &Prefill) -> Progress {
        Progress::Reading {
            ids: self.lanes.iter().map(Lane::id).collect(),
            n_read: prefill.n_read(),
            n_tokens: self.prompt.tokens.len(),
        }
    }

    fn fail(&self, error: &str, progress: &mut Vec<Progress>) {
        progress.extend(
            self.lanes
                .iter()
                .map(|lane| Progress::failed(lane.id(), error)),
        );
    }
}
