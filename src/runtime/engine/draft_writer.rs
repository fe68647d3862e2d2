//! Speculative decoding: drafts some tokens, verifies all of them in one forward pass, and keeps
//! those that the chain accepts.

use super::draft_model::DraftModel;
use super::guess::Guess;
use super::slot::{ForwardPass, ModelContext, Slot};
use super::writer::Writer;
use super::{CausalLm, EngineError, LoadedModel, Progress, Row};
use crate::decoding::{Draft, Drafts, PromptLookup, Taken, TokenId, Trace};
use crate::generation::FinishReason;

/// The writer of a pane that drafts.
///
/// Between two passes, its sequence holds all tokens of the slot except the last. A pass reads that
/// token and the drafts; rejected drafts are then truncated.
pub(super) struct DraftWriter {
    slot: Slot,
    source: Source,
    /// The tokens that the next pass verifies.
    drafts: Vec<Guess>,
}

/// Where the drafts come from.
enum Source {
    Lookup(PromptLookup),
    Model(DraftModel),
}

impl DraftWriter {
    /// Creates a writer that has drafted nothing yet.
    pub(super) const fn new(slot: Slot, drafts: Drafts) -> Self {
        Self {
            slot,
            source: match drafts {
                Drafts::Lookup(lookup) => Source::Lookup(lookup),
                Drafts::Model(drafts) => Source::Model(DraftModel::new(drafts)),
            },
            drafts: Vec::new(),
        }
    }

    /// Appends the token of one row, which may have been drafted. Returns why the text ends, if it
    /// does, and whether the next draft still holds.
    fn take(
        &mut self,
        row: VerifiedRow<'_>,
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> Result<(Option<FinishReason>, bool), EngineError> {
        let VerifiedRow { place, logits } = row;
        let picked = self.slot.end.take_picked();
        let drafted = self.drafts.get(place);
        let by_ratio = drafted.filter(|guess| picked.is_none() && !guess.probs.is_empty());
        let verified = by_ratio.map(|guess| self.slot.verify(logits, guess));
        let verified = verified.transpose()?;
        let by_ratio = verified.map(|(verified, _)| Taken::ByRatio(verified.token));
        let mut step = self.slot.take(picked.or(by_ratio), logits, pass, model)?;
        let token = drafted.map(|guess| guess.token);
        let recorded = || prob_of(&step.trace, token?);
        step.draft = Some(Draft {
            n_drafts: self.drafts.len() as u32,
            place: place as u32,
            token,
            prob: verified.map_or_else(recorded, |(_, prob)| Some(prob)),
            draft_prob: drafted.and_then(|guess| guess.prob),
            coin: verified.map(|(verified, _)| verified.coin),
        });
        let holds = token == Some(step.token);
        let finish = self.slot.finish_after(&step, model);
        progress.push(Progress::stepped(self.slot.id(), step));
        Ok((finish, holds))
    }

    /// Drafts the tokens of the next pass, or prepares to. Drafts nothing if the next token was
    /// chosen by hand.
    fn draft(&mut self, model: &mut LoadedModel) -> Result<(), EngineError> {
        self.drafts.clear();
        let n_until_picked = self.slot.end.n_until_picked().unwrap_or(usize::MAX);
        let n_max = self.slot.end.n_left().saturating_sub(1).min(n_until_picked);
        if n_max == 0 {
            return Ok(());
        }
        match (&mut self.source, self.slot.sequence()) {
            (Source::Lookup(lookup), _) => {
                let drafts = lookup.drafts(self.slot.tokens()).iter().take(n_max);
                self.drafts.extend(drafts.map(|token| Guess {
                    token: *token,
                    prob: None,
                    probs: Vec::new(),
                }));
            }
            (Source::Model(drafter), Some(sequence)) => {
                self.drafts = drafter.prepare(&mut self.slot, sequence, n_max, model)?;
            }
            (Source::Model(_), None) => {}
        }
        Ok(())
    }

    /// Drops the rejected drafts from the sequence.
    fn drop_rejected(&self, lm: &mut dyn CausalLm) -> Result<(), EngineError> {
        let n_kept = self.slot.tokens().len().saturating_sub(1);
        match self.slot.sequence() {
            Some(sequence) if lm.n_read(sequence) > n_kept => lm.truncate(sequence, n_kept),
            Some(_) | None => Ok(()),
        }
    }
}

/// The logits with which a pass verifies one of its drafts, or continues after the last.
#[derive(Clone, Copy)]
struct VerifiedRow<'a> {
    /// The number of drafts before it.
    place: usize,
    logits: &'a [f32],
}

/// Returns the probability of a token after the chain, if the step has recorded it.
fn prob_of(trace: &Trace, token: TokenId) -> Option<f64> {
    if trace.draw.token == token {
        return Some(trace.draw.prob);
    }
    let mut survivors = trace.survivors.iter();
    let survivor = survivors.find(|survivor| survivor.token == token);
    let in_head = || {
        let head = trace.raw.head.iter();
        let place = head.take_while(|ranked| ranked.token != token).count();
        let prob = trace.head_final_probs.get(place)?;
        Some(prob.unwrap_or(0.0))
    };
    survivor.map(|survivor| survivor.prob).or_else(in_head)
}

impl Writer for DraftWriter {
    fn slot(&self) -> &Slot {
        &self.slot
    }

    fn slot_mut(&mut self) -> &mut Slot {
        &mut self.slot
    }

    fn push_rows(&self, rows: &mut Vec<Row>) {
        let Some(sequence) = self.slot.sequence() else {
            return;
        };
        rows.extend(self.slot.own_row());
        rows.extend(self.drafts.iter().map(|guess| Row {
            sequence,
            token: guess.token,
            logits_wanted: true,
        }));
    }

    fn push_second_rows(&self, rows: &mut Vec<Row>) {
        if let Source::Model(drafter) = &self.source {
            drafter.push_rows(rows);
        }
    }

    fn note_second(&mut self, logits: &[&[f32]], secs: f64) -> Result<(), EngineError> {
        let Source::Model(drafter) = &mut self.source else {
            return Ok(());
        };
        drafter.secs += secs;
        let row = logits.first().copied();
        drafter.note(&mut self.slot, &mut self.drafts, row)
    }

    fn choose(
        &mut self,
        logits: &[&[f32]],
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> Option<FinishReason> {
        if let Some(limit) = self.slot.end.limit_reached() {
            return Some(limit);
        }
        let n_before = progress.len();
        let mut finish = None;
        for (place, logits) in logits.iter().enumerate() {
            let row = VerifiedRow { place, logits };
            match self.take(row, pass, model, progress) {
                Ok((None, true)) => {}
                Ok((reason, _)) => {
                    finish = reason;
                    break;
                }
                Err(error) => {
                    finish = Some(FinishReason::failed(error));
                    break;
                }
            }
        }
        let draft_secs = match &mut self.source {
            Source::Lookup(_) => 0.0,
            Source::Model(drafter) => std::mem::take(&mut drafter.secs),
        };
        let secs = pass.secs + draft_secs;
        share_pass(progress.get_mut(n_before..).unwrap_or_default(), secs);
        finish
    }

    fn settle(&mut self, model: &mut LoadedModel) -> Result<(), EngineError> {
        self.drop_rejected(&mut *model.lm)?;
        self.draft(model)
    }

    fn close_others(&mut self, model: &mut LoadedModel) {
        if let Source::Model(drafter) = &mut self.source {
            drafter.close(model);
        }
        if self.drop_rejected(&mut *model.lm).is_err()
            && let Some(sequence) = self.slot.release()
        {
            model.lm.close(sequence);
        }
    }
}

/// Divides the time of a pass and of its drafts among the steps that it computed.
fn share_pass(progress: &mut [Progress], secs: f64) {
    let n_steps = progress.len().max(1) as f64;
    for report in progress {
        if let Progress::Stepped { step, .. } = report {
            step.time.forward_secs = secs / n_steps;
        }
    }
}
