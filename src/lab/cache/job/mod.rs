//! Measures what the KV cache costs and saves: one text, generated with the cache and without it.

mod reading;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Instant;

use self::reading::{Reading, timed};
use crate::decoding::TokenId;
use crate::engine::{
    CausalLm, EngineError, Job, JobContext, JobPlan, JobPriority, JobUpdate, LoadedModel,
    PREFILL_CHUNK, Row, SequenceId,
};
use crate::lab::cache::{CacheFacts, CachePlan, CacheSample, CacheStage, CacheUpdate, PaneCost};

/// The number of lengths at which a token is generated without the cache. Each rereads the whole
/// text.
const N_OFF: usize = 24;

/// How many panes share the prompt, or read it separately.
const N_PANES: usize = 4;

/// How many times a parallel read is timed. The median counts.
const N_REPEATS: usize = 3;

impl JobPlan for CachePlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Normal
    }

    /// Fails if the prompt is empty or leaves no room for two tokens.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let prompt = model.prompt(&self.prompt)?.tokens;
        let job = CacheJob::new(prompt, self.n_tokens, model)?;
        Ok(Box::new(job))
    }
}

/// A running measurement. It advances one forward pass at a time, so that it can be stopped in
/// between.
struct CacheJob {
    facts: CacheFacts,
    /// The end-of-text tokens, which the model must not generate here.
    end_tokens: Vec<TokenId>,
    /// The prompt and the tokens generated so far.
    tokens: Vec<TokenId>,
    is_announced: bool,
    stage: CacheStage,
    /// The text that is being read.
    reading: Option<Reading>,
    /// The sequence that generates with the cache, once it has read the prompt.
    text: Option<SequenceId>,
    /// The logits with the cache, at the lengths to compare.
    logits: BTreeMap<usize, Vec<f32>>,
    /// How long it takes to read the first tokens one by one, by the number of tokens.
    one_by_one_secs: BTreeMap<usize, f64>,
    /// The times of the repeats so far, in seconds.
    repeats: Vec<f64>,
    /// The index of the next length, in stages that measure several.
    next: usize,
    /// The cost of the shared prompt, once it is known.
    shared: Option<PaneCost>,
    /// The sequences that hold the prompt for the panes.
    panes: Vec<SequenceId>,
}

impl CacheJob {
    /// Plans to generate `n_tokens` tokens after a prompt, or as many as still fit into the
    /// context. Fails if fewer than two fit.
    fn new(
        prompt: Vec<TokenId>,
        n_tokens: usize,
        model: &LoadedModel,
    ) -> Result<Self, EngineError> {
        let n_max = model.lm.n_context();
        let n_prompt = prompt.len();
        let n_tokens = n_tokens.max(2).min(n_max.saturating_sub(n_prompt));
        if n_tokens < 2 {
            return Err(EngineError::ContextFull { n_max });
        }
        let facts = CacheFacts {
            n_prompt,
            n_tokens,
            shape: model.lm.cache_shape(),
            off_lengths: spread(n_prompt + 1, n_prompt + n_tokens - 1),
            read_lengths: doubling(n_prompt + n_tokens),
            n_panes: N_PANES,
        };
        Ok(Self {
            facts,
            end_tokens: model.end_tokens.clone(),
            tokens: prompt,
            is_announced: false,
            stage: CacheStage::Prompt,
            reading: None,
            text: None,
            logits: BTreeMap::new(),
            one_by_one_secs: BTreeMap::new(),
            repeats: Vec::new(),
            next: 0,
            shared: None,
            panes: Vec::new(),
        })
    }

    /// Frees the sequences.
    fn close(&mut self, lm: &mut dyn CausalLm) {
        let reading = self.reading.take().map(|reading| reading.sequence);
        let text = self.text.take();
        let all = reading.into_iter().chain(text).chain(self.panes.drain(..));
        for sequence in all {
            lm.close(sequence);
        }
    }

    /// Runs one forward pass. Returns what it found, or `None` once everything is measured.
    fn pass(&mut self, lm: &mut dyn CausalLm) -> Result<Option<CacheUpdate>, EngineError> {
        if !self.is_announced {
            self.is_announced = true;
            return Ok(Some(CacheUpdate::Started(self.facts.clone())));
        }
        let measured = match self.stage {
            CacheStage::Prompt => self.read_prompt(lm)?,
            CacheStage::On => self.generate(lm)?,
            CacheStage::OneByOne => self.read_one_by_one(lm)?,
            CacheStage::Parallel => self.read_in_parallel(lm)?,
            CacheStage::Shared => self.read_shared(lm)?,
            CacheStage::Apart => self.read_apart(lm)?,
            CacheStage::Off => self.reread(lm)?,
            CacheStage::Done => return Ok(None),
        };
        Ok(Some(
            measured.map_or_else(|| self.advanced(), CacheUpdate::Measured),
        ))
    }

    fn advanced(&self) -> CacheUpdate {
        let read = self.reading.as_ref();
        let (n_done, n_all) = match self.stage {
            CacheStage::Off => (self.next, self.facts.off_lengths.len()),
            CacheStage::Parallel => (self.next, self.facts.read_lengths.len()),
            _ => read.map_or((0, 0), |reading| (reading.n_read, reading.end)),
        };
        CacheUpdate::Advanced {
            stage: self.stage,
            n_done,
            n_all,
        }
    }

    /// Continues the current reading, or starts one. Returns it once it is complete.
    fn read(
        &mut self,
        (end, chunk): (usize, usize),
        logits_wanted: bool,
        lm: &mut dyn CausalLm,
    ) -> Result<Option<Reading>, EngineError> {
        let reading = self
            .reading
            .get_or_insert_with(|| Reading::new(end, chunk, logits_wanted, lm));
        let is_done = reading.advance(&self.tokens, lm)?;
        Ok(is_done.then(|| self.reading.take()).flatten())
    }

    fn read_prompt(&mut self, lm: &mut dyn CausalLm) -> Result<Option<CacheSample>, EngineError> {
        let whole = self.facts.n_prompt + self.facts.n_tokens;
        let end = self.facts.n_prompt;
        // The sequence will grow, and some models read a text differently if it is going to be
        // long.
        if self.reading.is_none() {
            let mut reading = Reading::new(whole, PREFILL_CHUNK, true, lm);
            reading.end = end;
            self.reading = Some(reading);
        }
        if let Some(reading) = self.read((end, PREFILL_CHUNK), true, lm)? {
            self.text = Some(reading.sequence);
            self.tokens.push(self.top(&reading.last));
            self.stage = CacheStage::On;
        }
        Ok(None)
    }

    /// Generates a token with the cache: the most likely one that does not end the text.
    fn generate(&mut self, lm: &mut dyn CausalLm) -> Result<Option<CacheSample>, EngineError> {
        let (Some(sequence), Some(last)) = (self.text, self.tokens.last()) else {
            self.stage = CacheStage::OneByOne;
            return Ok(None);
        };
        let row = Row {
            sequence,
            token: *last,
            logits_wanted: true,
        };
        let (logits, secs) = timed(&[row], lm)?;
        let length = self.tokens.len();
        let row = logits.row(0).unwrap_or_default();
        let token = self.top(row);
        if self.facts.off_lengths.contains(&length) {
            self.logits.insert(length, row.to_vec());
        }
        self.tokens.push(token);
        if self.tokens.len() >= self.facts.n_prompt + self.facts.n_tokens {
            self.stage = CacheStage::OneByOne;
        }
        let n_bytes = lm.n_cache_bytes(&[sequence]);
        if self.stage == CacheStage::OneByOne {
            self.text = None;
            lm.close(sequence);
        }
        Ok(Some(CacheSample::On {
            length,
            token,
            secs,
            n_bytes,
        }))
    }

    fn read_one_by_one(
        &mut self,
        lm: &mut dyn CausalLm,
    ) -> Result<Option<CacheSample>, EngineError> {
        let end = self.facts.read_lengths.last().copied().unwrap_or(1);
        let read = self.read((end, 1), false, lm)?;
        if let Some(reading) = read.as_ref().or(self.reading.as_ref()) {
            self.one_by_one_secs.insert(reading.n_read, reading.secs);
        }
        if let Some(reading) = read {
            lm.close(reading.sequence);
            self.stage = CacheStage::Parallel;
        }
        Ok(None)
    }

    fn read_in_parallel(
        &mut self,
        lm: &mut dyn CausalLm,
    ) -> Result<Option<CacheSample>, EngineError> {
        let Some(length) = self.facts.read_lengths.get(self.next).copied() else {
            self.next = 0;
            self.stage = CacheStage::Shared;
            return Ok(None);
        };
        let Some(reading) = self.read((length, PREFILL_CHUNK), false, lm)? else {
            return Ok(None);
        };
        lm.close(reading.sequence);
        let Some(parallel_secs) = self.repeated(reading.secs) else {
            return Ok(None);
        };
        self.next += 1;
        let one_by_one_secs = self.one_by_one_secs.get(&length).copied();
        Ok(one_by_one_secs.map(|one_by_one_secs| CacheSample::Read {
            length,
            parallel_secs,
            one_by_one_secs,
        }))
    }

    /// Records the time of one repeat. Returns the median once there are enough.
    fn repeated(&mut self, secs: f64) -> Option<f64> {
        self.repeats.push(secs);
        if self.repeats.len() < N_REPEATS {
            return None;
        }
        let mut all = std::mem::take(&mut self.repeats);
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    }

    /// Reads the prompt once and forks it for each pane.
    fn read_shared(&mut self, lm: &mut dyn CausalLm) -> Result<Option<CacheSample>, EngineError> {
        let end = self.facts.n_prompt;
        let Some(reading) = self.read((end, PREFILL_CHUNK), true, lm)? else {
            return Ok(None);
        };
        self.panes.push(reading.sequence);
        let begun_at = Instant::now();
        for _ in 1..N_PANES {
            let fork = lm.fork(reading.sequence)?;
            self.panes.push(fork);
        }
        let secs = reading.secs + begun_at.elapsed().as_secs_f64();
        let n_bytes = lm.n_cache_bytes(&self.panes);
        self.close(lm);
        if let Some(secs) = self.repeated(secs) {
            self.shared = Some(PaneCost {
                n_reads: 1,
                secs,
                n_bytes,
            });
            self.stage = CacheStage::Apart;
        }
        Ok(None)
    }

    /// Reads the prompt separately for each pane.
    fn read_apart(&mut self, lm: &mut dyn CausalLm) -> Result<Option<CacheSample>, EngineError> {
        let end = self.facts.n_prompt;
        let Some(reading) = self.read((end, PREFILL_CHUNK), true, lm)? else {
            return Ok(None);
        };
        self.panes.push(reading.sequence);
        self.repeats.push(reading.secs);
        if self.panes.len() < N_PANES {
            return Ok(None);
        }
        let secs = self.repeats.drain(..).sum();
        let n_bytes = lm.n_cache_bytes(&self.panes);
        self.close(lm);
        self.stage = CacheStage::Off;
        let apart = PaneCost {
            n_reads: N_PANES,
            secs,
            n_bytes,
        };
        let shared = self.shared;
        Ok(shared.map(|shared| CacheSample::Panes { shared, apart }))
    }

    /// Generates a token without the cache: reads the whole text before it, as if it were new.
    fn reread(&mut self, lm: &mut dyn CausalLm) -> Result<Option<CacheSample>, EngineError> {
        let Some(length) = self.facts.off_lengths.get(self.next).copied() else {
            self.stage = CacheStage::Done;
            return Ok(None);
        };
        if self.reading.is_none() {
            let whole = self.facts.n_prompt + self.facts.n_tokens;
            let mut reading = Reading::new(whole, PREFILL_CHUNK, true, lm);
            reading.end = length;
            self.reading = Some(reading);
        }
        let Some(reading) = self.read((length, PREFILL_CHUNK), true, lm)? else {
            return Ok(None);
        };
        lm.close(reading.sequence);
        self.next += 1;
        let with_cache = self.logits.remove(&length).unwrap_or_default();
        let differences = with_cache.iter().zip(&reading.last);
        let differences = differences.map(|(a, b)| (a - b).abs());
        Ok(Some(CacheSample::Off {
            length,
            secs: reading.secs,
            largest_difference: differences.fold(0.0, f32::max),
            is_same_token: self.tokens.get(length) == Some(&self.top(&reading.last)),
        }))
    }

    /// Returns the most likely token that does not end the text. On a tie, the first one wins.
    fn top(&self, logits: &[f32]) -> TokenId {
        let tokens = (0..).map(TokenId).zip(logits);
        let mut best = (TokenId(0), f32::NEG_INFINITY);
        for (token, logit) in tokens.filter(|(token, _)| !self.end_tokens.contains(token)) {
            if *logit > best.1 {
                best = (token, *logit);
            }
        }
        best.0
    }
}

impl Job for CacheJob {
    fn advance(&mut self, context: &mut JobContext<'_>) -> Result<Option<JobUpdate>, EngineError> {
        let update = self.pass(&mut *context.model.lm)?;
        Ok(Some(
            update.map_or(JobUpdate::Finished, JobUpdate::reported),
        ))
    }

    fn retire(mut self: Box<Self>, context: &mut JobContext<'_>) {
        self.close(&mut *context.model.lm);
    }
}

/// Returns at most [`N_OFF`] lengths, evenly spaced from the first to the last.
fn spread(first: usize, last: usize) -> Vec<usize> {
    let n_steps = (last - first).clamp(1, N_OFF - 1);
    let lengths = (0..=n_steps).map(|step| first + (last - first) * step / n_steps);
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.dedup();
    lengths
}

/// Returns 1, 2, 4 and so on, up to and including `last`.
fn doubling(last: usize) -> Vec<usize> {
    let powers = (0..usize::BITS).map(|power| 1_usize << power);
    let mut lengths: Vec<usize> = powers.take_while(|length| *length < last).collect();
    lengths.push(last);
    lengths
}
