//! Reads a text once, then every variant of it from where it differs, several together.

use std::ops::Range;

use super::figures::{LnProbs, parts_of};
use super::plan::{
    AsItIs, Influence, InfluenceFacts, InfluencePlan, InfluenceText, InfluenceUpdate,
};
use crate::decoding::TokenId;
use crate::engine::{
    CausalLm, EngineError, Job, JobContext, JobPlan, JobPriority, JobUpdate, LoadedModel,
    PREFILL_CHUNK, Row, SequenceId,
};

/// How many variants are read together.
const N_TOGETHER: usize = 16;

/// The maximum number of parts.
const N_MAX_PARTS: usize = 4096;

/// The memory for the distributions of the whole text, which limits how many are compared.
const N_MAX_BYTES: usize = 256 << 20;

impl JobPlan for InfluencePlan {
    fn priority(&self) -> JobPriority {
        JobPriority::Normal
    }

    /// Fails if the text is empty, does not fit into the context, or has nothing to leave out.
    fn start(
        &self,
        model: &LoadedModel,
        _other: Option<LoadedModel>,
    ) -> Result<Box<dyn Job>, EngineError> {
        let facts = facts_of(self, model)?;
        Ok(Box::new(InfluenceJob::new(facts)))
    }
}

/// Tokenizes the text, and finds what to leave out and what to compare.
fn facts_of(plan: &InfluencePlan, model: &LoadedModel) -> Result<InfluenceFacts, EngineError> {
    let (tokens, n_prompt, targets) = tokens_of(&plan.text, model)?;
    let (n_vocab, n_max) = (model.lm.n_vocab(), model.lm.n_context());
    if let Some(token) = tokens.iter().find(|token| token.index() >= n_vocab) {
        let token = token.0;
        return Err(EngineError::UnknownToken { token, n_vocab });
    }
    let n_tokens = tokens.len();
    if n_tokens > n_max {
        return Err(EngineError::TextTooLong { n_tokens, n_max });
    }
    let n_held = (N_MAX_BYTES / (n_vocab * size_of::<f32>()).max(1)).max(1);
    let n_compared = targets.len().min(n_held);
    let is_cut = n_compared < targets.len();
    let targets = targets.start..targets.start + n_compared;
    let end = if plan.also_written {
        targets.end.saturating_sub(1)
    } else {
        n_prompt.min(targets.start)
    };
    let read = tokens.get(..end).unwrap_or_default();
    let mut parts = parts_of(read, plan.unit, &model.vocabulary);
    // Something must be left for the model to continue.
    parts.retain(|part| part.start > 0 || part.end < targets.start);
    let refused = |reason: String| Err(EngineError::JobRefused { reason });
    if parts.is_empty() {
        return refused("nothing can be left out of this text; it needs at least two parts".into());
    }
    if parts.len() > N_MAX_PARTS {
        let (n, name) = (parts.len(), plan.unit.name());
        return refused(format!(
            "the text has {n} parts, and at most {N_MAX_PARTS} are left out; choose larger ones \
             than a {name}"
        ));
    }
    Ok(InfluenceFacts {
        tokens,
        n_prompt,
        targets,
        is_cut,
        parts,
    })
}

/// Returns the tokens, the number of those of the prompt, and the positions to compare.
fn tokens_of(
    text: &InfluenceText,
    model: &LoadedModel,
) -> Result<(Vec<TokenId>, usize, Range<usize>), EngineError> {
    let (tokens, n_prompt, targets) = match text {
        InfluenceText::Prompt(prompt) => {
            let tokens = model.encode_prompt(prompt)?.tokens;
            let n = tokens.len();
            (tokens, n, n..n + 1)
        }
        InfluenceText::Continued { prompt, text } => {
            let (tokens, n_prompt) = model.continued(prompt, text)?;
            let targets = n_prompt..tokens.len();
            (tokens, n_prompt, targets)
        }
        InfluenceText::Written {
            tokens,
            n_prompt,
            step,
        } => {
            let targets = match step {
                Some(step) => n_prompt + step..n_prompt + step + 1,
                None => *n_prompt..tokens.len(),
            };
            (tokens.clone(), *n_prompt, targets)
        }
    };
    if n_prompt == 0 {
        return Err(EngineError::PromptEmpty);
    }
    if targets.is_empty() || targets.end > tokens.len() + 1 {
        return Err(EngineError::NothingToScore);
    }
    Ok((tokens, n_prompt, targets))
}

/// A running measurement. It advances one forward pass at a time, so that it can be stopped in
/// between.
struct InfluenceJob {
    facts: InfluenceFacts,
    is_announced: bool,
    /// The whole text, as far as it has been read.
    whole: Option<SequenceId>,
    /// The distributions of the whole text at the positions that are compared.
    distributions: Vec<LnProbs>,
    /// The index of the next part to leave out.
    next: usize,
    /// The variants that are being read.
    variants: Vec<Variant>,
    /// How many tokens have been read.
    n_rows: usize,
}

/// A text without one of its parts.
struct Variant {
    /// The index of the part.
    index: usize,
    part: Range<usize>,
    sequence: SequenceId,
    /// The tokens to read in all.
    tokens: Vec<TokenId>,
    n_read: usize,
    /// The sum of the divergences at the positions so far, in bits.
    bits: f64,
    /// The logarithms of the probabilities of the chosen tokens so far.
    ln_probs: Vec<f64>,
    /// The distribution at the last position, once it is known.
    last: Option<LnProbs>,
}

impl Variant {
    /// Returns the position whose prediction follows the variant's token at this index, if it is
    /// compared.
    fn target_after(&self, index: usize, facts: &InfluenceFacts) -> Option<usize> {
        let after = index + 1;
        let position = if after < self.part.start {
            after
        } else {
            after + self.part.len()
        };
        let compared = facts.compared(&self.part);
        compared.contains(&position).then_some(position)
    }

    fn found(self, facts: &InfluenceFacts, whole: &LnProbs) -> Option<(usize, Influence)> {
        let last = self.last?;
        let n = facts.compared(&self.part).len();
        let influence = Influence {
            bits: self.bits / n.max(1) as f64,
            ln_probs: self.ln_probs,
            top: last.top(),
            candidates: whole.shifts(&last),
        };
        Some((self.index, influence))
    }
}

impl InfluenceJob {
    const fn new(facts: InfluenceFacts) -> Self {
        Self {
            facts,
            is_announced: false,
            whole: None,
            distributions: Vec::new(),
            next: 0,
            variants: Vec::new(),
            n_rows: 0,
        }
    }

    /// Runs one forward pass. Returns what it found, or `None` once every part was left out.
    fn pass(&mut self, lm: &mut dyn CausalLm) -> Result<Option<InfluenceUpdate>, EngineError> {
        if !self.is_announced {
            self.is_announced = true;
            return Ok(Some(InfluenceUpdate::Started(self.facts.clone())));
        }
        if self.distributions.len() < self.facts.targets.len() {
            return self.read_whole(lm).map(Some);
        }
        if self.variants.is_empty() && self.next >= self.facts.parts.len() {
            return Ok(None);
        }
        self.open_variants(lm)?;
        self.read_variants(lm).map(Some)
    }

    /// Reads the next chunk of the whole text.
    fn read_whole(&mut self, lm: &mut dyn CausalLm) -> Result<InfluenceUpdate, EngineError> {
        let n_all = self.facts.n_rows_before();
        let whole = *self.whole.get_or_insert_with(|| lm.open_for(n_all));
        let n_read = lm.n_read(whole);
        let end = (n_read + PREFILL_CHUNK).min(n_all);
        let chunk = self.facts.tokens.get(n_read..end).unwrap_or_default();
        let rows: Vec<Row> = (n_read..)
            .zip(chunk)
            .map(|(position, token)| Row {
                sequence: whole,
                token: *token,
                logits_wanted: self.facts.targets.contains(&(position + 1)),
            })
            .collect();
        let logits = lm.forward(&rows)?;
        self.n_rows += rows.len();
        let found = (0..logits.n_rows()).filter_map(|row| logits.row(row));
        self.distributions.extend(found.map(LnProbs::of));
        if let Some(whole) = self.as_it_is() {
            return Ok(InfluenceUpdate::Read(whole));
        }
        if rows.is_empty() {
            return Err(EngineError::NothingToScore);
        }
        Ok(self.advanced())
    }

    /// Returns what the whole text says, once all of it was read.
    fn as_it_is(&self) -> Option<AsItIs> {
        if self.distributions.len() < self.facts.targets.len() {
            return None;
        }
        let targets = self.facts.targets.clone().zip(&self.distributions);
        let chosen = targets.map(|(position, row)| (self.chosen(position, row), row));
        let chosen: Vec<(TokenId, &LnProbs)> = chosen.collect();
        let (token, last) = chosen.last()?;
        Some(AsItIs {
            ln_probs: chosen
                .iter()
                .map(|(token, row)| row.ln_prob(*token))
                .collect(),
            top: last.top(),
            chosen: *token,
        })
    }

    /// Returns the token whose probability is compared at a position: the one that the text has
    /// there, or else the most likely one.
    fn chosen(&self, position: usize, row: &LnProbs) -> TokenId {
        self.facts
            .chosen(position)
            .unwrap_or_else(|| row.top().token)
    }

    fn distribution(&self, position: usize) -> Option<&LnProbs> {
        let index = position.checked_sub(self.facts.targets.start)?;
        self.distributions.get(index)
    }

    /// Opens the next variants in the free places. Each continues the whole text up to its part.
    fn open_variants(&mut self, lm: &mut dyn CausalLm) -> Result<(), EngineError> {
        let Some(whole) = self.whole else {
            return Ok(());
        };
        let n_before = self.facts.n_rows_before();
        while self.variants.len() < N_TOGETHER
            && let Some(part) = self.facts.parts.get(self.next).cloned()
        {
            let before = self.facts.tokens.get(..part.start).unwrap_or_default();
            let after = self.facts.tokens.get(part.end..n_before);
            let tokens = [before, after.unwrap_or_default()].concat();
            let n_shared = self.facts.n_shared(&part);
            let sequence = lm.fork(whole)?;
            // From here on, retiring the job closes the sequence.
            self.variants.push(Variant {
                index: self.next,
                part,
                sequence,
                n_read: 0,
                bits: 0.0,
                ln_probs: Vec::new(),
                last: None,
                tokens,
            });
            self.next += 1;
            if let Some(variant) = self.variants.last_mut() {
                variant.n_read = lm.truncate_for(sequence, n_shared, variant.tokens.len())?;
            }
        }
        Ok(())
    }

    /// Reads the next chunk of each variant, and reports those that are complete.
    fn read_variants(&mut self, lm: &mut dyn CausalLm) -> Result<InfluenceUpdate, EngineError> {
        let chunk = (PREFILL_CHUNK / self.variants.len().max(1)).max(1);
        let mut rows = Vec::new();
        // The index of the variant and the position of each prediction.
        let mut wanted = Vec::new();
        for (place, variant) in self.variants.iter_mut().enumerate() {
            let end = (variant.n_read + chunk).min(variant.tokens.len());
            let read = variant.n_read..end;
            for index in read {
                let Some(token) = variant.tokens.get(index) else {
                    continue;
                };
                let target = variant.target_after(index, &self.facts);
                wanted.extend(target.map(|position| (place, position)));
                rows.push(Row {
                    sequence: variant.sequence,
                    token: *token,
                    logits_wanted: target.is_some(),
                });
            }
            variant.n_read = end;
        }
        let logits = lm.forward(&rows)?;
        self.n_rows += rows.len();
        for (row, (place, position)) in wanted.into_iter().enumerate() {
            if let Some(logits) = logits.row(row) {
                self.compare(place, position, LnProbs::of(logits));
            }
        }
        Ok(self.close_complete(lm))
    }

    /// Adds a prediction of a variant.
    fn compare(&mut self, place: usize, position: usize, without: LnProbs) {
        let Some(with) = self.distribution(position) else {
            return;
        };
        let bits = with.bits_from(&without);
        let ln_prob = without.ln_prob(self.chosen(position, with));
        let is_last = position + 1 == self.facts.targets.end;
        if let Some(variant) = self.variants.get_mut(place) {
            variant.bits += bits;
            variant.ln_probs.push(ln_prob);
            variant.last = is_last.then_some(without);
        }
    }

    /// Closes the variants that are complete, and reports what leaving out their parts changes.
    fn close_complete(&mut self, lm: &mut dyn CausalLm) -> InfluenceUpdate {
        let is_complete = |variant: &mut Variant| variant.n_read >= variant.tokens.len();
        let complete: Vec<Variant> = self.variants.extract_if(.., is_complete).collect();
        for variant in &complete {
            lm.close(variant.sequence);
        }
        let Some(whole) = self.distributions.last() else {
            return self.advanced();
        };
        let found = complete.into_iter();
        let found = found.filter_map(|variant| variant.found(&self.facts, whole));
        let found: Vec<(usize, Influence)> = found.collect();
        if found.is_empty() {
            self.advanced()
        } else {
            InfluenceUpdate::Found(found)
        }
    }

    const fn advanced(&self) -> InfluenceUpdate {
        InfluenceUpdate::Advanced {
            n_rows: self.n_rows,
        }
    }

    /// Frees the sequences.
    fn close(&mut self, lm: &mut dyn CausalLm) {
        let variants = self.variants.drain(..).map(|variant| variant.sequence);
        for sequence in variants.chain(self.whole.take()) {
            lm.close(sequence);
        }
    }
}

impl Job for InfluenceJob {
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

#[cfg(test)]
mod tests;
