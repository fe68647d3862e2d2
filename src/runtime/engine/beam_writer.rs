//! Beam search: several texts of one pane grow side by side, and the one with the best score is the
//! result.

use std::sync::Arc;

use super::row_threads::map_rows;
use super::slot::{ForwardPass, ModelContext, Slot};
use super::writer::Writer;
use super::{EngineError, LoadedModel, Progress, Row, SequenceId};
use crate::decoding::Taken;
use crate::decoding::selector::{BeamCandidate, BeamSearch, Fate};
use crate::generation::{BeamNode, BeamPass, FinishReason, Step};

/// A running beam search. Tokens are reported once all texts that may still win agree on them.
pub(super) struct BeamWriter {
    search: BeamSearch,
    /// The text that all beams continue.
    slot: Slot,
    /// The texts that are still growing, best first. Never empty until the search is over.
    running: Vec<BeamText>,
    /// The best texts that have ended, best first; at most one per beam.
    ended: Vec<EndedText>,
    /// One sequence for each running text, in their order, once [`Writer::settle`] has run.
    sequences: Vec<SequenceId>,
    /// The index in `sequences` of each running text's parent, until [`Writer::settle`] has run.
    parents: Vec<usize>,
    /// How many steps have been reported.
    n_reported: usize,
}

/// One of the texts that a search compares.
#[derive(Clone)]
struct BeamText {
    slot: Slot,
    /// The steps that the search took. Texts share the steps that they have in common.
    steps: Vec<Arc<Step>>,
    /// The total log-prob of these steps, in nats, by the search's [`BeamScores`].
    ///
    /// [`BeamScores`]: crate::decoding::rules::BeamScores
    log_prob: f64,
}

struct EndedText {
    text: BeamText,
    score: f64,
    reason: FinishReason,
}

/// The index of the beam that a text continues, the text, and why it ends, if it does.
type Kept = (usize, BeamText, Option<FinishReason>);

impl BeamWriter {
    /// Starts a search from the text of this slot.
    pub(super) fn new(mut slot: Slot, search: BeamSearch) -> Self {
        slot.end.remove_pause();
        Self {
            search,
            slot: slot.clone(),
            running: vec![BeamText {
                slot,
                steps: Vec::new(),
                log_prob: 0.0,
            }],
            ended: Vec::new(),
            sequences: Vec::new(),
            parents: Vec::new(),
            n_reported: 0,
        }
    }

    /// Extends the texts by one token and keeps the best.
    fn extend(
        &mut self,
        logits: &[&[f32]],
        pass: ForwardPass,
        model: ModelContext<'_>,
    ) -> Result<BeamPass, EngineError> {
        let first = self.running.first();
        let n_end_tokens = first.map_or(0, |text| text.slot.n_end_tokens(model));
        let n_compared = self.search.n_compared(n_end_tokens);
        let n_logits = logits.iter().map(|row| row.len()).sum();
        let texts = self.running.iter().zip(logits).enumerate().collect();
        let candidates = |(): &mut (), (place, (text, row)): (_, (&BeamText, &&[f32]))| {
            text.candidates(place, row, n_compared)
        };
        let rows = map_rows(model.threads, n_logits, texts, || (), candidates);
        let rows: Vec<_> = rows.into_iter().collect::<Result<_, EngineError>>()?;
        let best = BeamSearch::best(&rows, n_compared);
        let outcomes = best.iter().map(|candidate| {
            let parent = self.running.get(candidate.parent)?;
            parent.slot.finish_with(candidate.token, model)
        });
        let outcomes: Vec<Option<FinishReason>> = outcomes.collect();
        let ends = outcomes.iter().map(Option::is_some);
        let fates = self.search.fates(ends, self.ended.len());
        let keep = |(): &mut (), ((candidate, fate), outcome): ((&BeamCandidate, &Fate), _)| {
            let parent = self.running.get(candidate.parent);
            let row = logits.get(candidate.parent).copied().unwrap_or_default();
            let parent = parent.filter(|_| *fate != Fate::Dropped);
            let text = parent.map(|parent| parent.with(candidate, row, pass, model));
            text.transpose()
                .map(|text| text.map(|text| (candidate.parent, text, outcome)))
        };
        let kept = best.iter().zip(&fates).zip(outcomes).collect();
        let kept = map_rows(model.threads, n_logits, kept, || (), keep);
        let kept: Result<Vec<Option<Kept>>, EngineError> = kept.into_iter().collect();
        let mut running = Vec::new();
        self.parents.clear();
        for (parent, text, outcome) in kept?.into_iter().flatten() {
            if let Some(reason) = outcome {
                let score = self.search.score(text.log_prob, text.steps.len());
                self.ended.push(EndedText {
                    text,
                    score,
                    reason,
                });
            } else {
                self.parents.push(parent);
                running.push(text);
            }
        }
        if !(running.is_empty() && self.ended.is_empty()) {
            self.running = running;
        }
        self.ended.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.ended.truncate(self.search.n_beams());
        let nodes = best.iter().zip(fates);
        let nodes = nodes.map(|(candidate, fate)| BeamNode {
            parent: candidate.parent,
            token: candidate.token,
            piece: model.vocabulary.piece(candidate.token),
            log_prob: candidate.log_prob,
            fate,
        });
        Ok(BeamPass {
            nodes: nodes.collect(),
        })
    }

    /// Returns the result once no other text can beat it.
    fn result(&self) -> Option<&EndedText> {
        let best = self.ended.first()?;
        let Some(running) = self.running.first() else {
            return Some(best);
        };
        let scores: Vec<f64> = self.ended.iter().map(|ended| ended.score).collect();
        let n_tokens = running.steps.len();
        let n_max = n_tokens + running.slot.end.n_left();
        let is_over = self
            .search
            .is_over(&scores, running.log_prob, n_tokens, n_max);
        is_over.then_some(best)
    }

    /// Iterates over all texts that may become the result.
    fn texts(&self) -> impl Iterator<Item = &BeamText> {
        let ended = self.ended.iter().map(|ended| &ended.text);
        self.running.iter().chain(ended)
    }

    /// Reports the steps on which all texts agree.
    fn report_agreed(&mut self, progress: &mut Vec<Progress>) {
        let Some(first) = self.texts().next() else {
            return;
        };
        let n_agreed = self
            .texts()
            .map(|text| {
                let pairs = first.steps.iter().zip(&text.steps);
                pairs.take_while(|(a, b)| a.token == b.token).count()
            })
            .min();
        let id = first.slot.id();
        let agreed = first.steps.get(self.n_reported..n_agreed.unwrap_or(0));
        let agreed = agreed.unwrap_or_default().iter().cloned();
        let before = progress.len();
        progress.extend(agreed.map(|step| Progress::stepped(id, Step::clone(&step))));
        self.n_reported += progress.len() - before;
    }

    /// Reports the steps of a text that have not been reported yet.
    fn report_rest(&self, text: &BeamText, progress: &mut Vec<Progress>) {
        let id = text.slot.id();
        let rest = text.steps.iter().skip(self.n_reported).cloned();
        progress.extend(rest.map(|step| Progress::stepped(id, Step::clone(&step))));
    }
}

impl Writer for BeamWriter {
    fn slot(&self) -> &Slot {
        &self.slot
    }

    fn slot_mut(&mut self) -> &mut Slot {
        &mut self.slot
    }

    fn slots_mut(&mut self) -> Vec<&mut Slot> {
        let running = self.running.iter_mut();
        running.map(|text| &mut text.slot).collect()
    }

    fn join(&mut self, sequence: SequenceId, _model: &mut LoadedModel) -> Result<(), EngineError> {
        self.sequences = vec![sequence];
        Ok(())
    }

    fn push_rows(&self, rows: &mut Vec<Row>) {
        let texts = self.running.iter().zip(&self.sequences);
        rows.extend(texts.filter_map(|(text, sequence)| text.slot.row(*sequence)));
    }

    fn choose(
        &mut self,
        logits: &[&[f32]],
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> Option<FinishReason> {
        let running = self.running.iter();
        let mut limits = running.map(|text| text.slot.end.limit_reached());
        if let Some(Some(limit)) = limits.next()
            && limits.all(|limit| limit.is_some())
        {
            return Some(limit);
        }
        let id = self.id();
        match self.extend(logits, pass, model) {
            Ok(pass) => progress.push(Progress::Compared { id, pass }),
            Err(error) => return Some(FinishReason::failed(error)),
        }
        self.report_agreed(progress);
        let result = self.result()?;
        self.report_rest(&result.text, progress);
        Some(result.reason.clone())
    }

    fn settle(&mut self, model: &mut LoadedModel) -> Result<(), EngineError> {
        let lm = &mut model.lm;
        let mut left: Vec<Option<SequenceId>> = self.sequences.iter().copied().map(Some).collect();
        let before = std::mem::take(&mut self.sequences);
        let mut outcome = Ok(());
        for parent in std::mem::take(&mut self.parents) {
            // The first child takes over its parent's sequence; the others fork it before it grows.
            let own = left.get_mut(parent).and_then(Option::take);
            let sequence = match (own, before.get(parent)) {
                (Some(sequence), _) => Ok(sequence),
                (None, Some(sequence)) => lm.fork(*sequence),
                (None, None) => continue,
            };
            match sequence {
                Ok(sequence) => self.sequences.push(sequence),
                Err(error) => outcome = Err(error),
            }
        }
        for sequence in left.into_iter().flatten() {
            lm.close(sequence);
        }
        outcome
    }

    fn interrupt(&mut self, progress: &mut Vec<Progress>) {
        let score = |text: &BeamText| self.search.score(text.log_prob, text.steps.len());
        let with_steps = self.texts().filter(|text| !text.steps.is_empty());
        let best = with_steps.max_by(|a, b| score(a).total_cmp(&score(b)));
        if let Some(best) = best {
            self.report_rest(best, progress);
        }
    }

    fn close_others(&mut self, model: &mut LoadedModel) {
        for sequence in self.sequences.drain(..) {
            model.lm.close(sequence);
        }
    }
}

impl BeamText {
    /// Returns the `n` best continuations of this text. `place` is its index among the running
    /// texts.
    fn candidates(
        &self,
        place: usize,
        logits: &[f32],
        n: usize,
    ) -> Result<Vec<BeamCandidate>, EngineError> {
        let candidate = |token, log_prob: f64| BeamCandidate {
            parent: place,
            token,
            log_prob: self.log_prob + log_prob,
        };
        if let Some(token) = self.slot.end.next_picked() {
            return Ok(vec![candidate(token, 0.0)]);
        }
        let likely = self.slot.most_likely(logits, n)?;
        let likely = likely.into_iter();
        Ok(likely
            .map(|ranked| candidate(ranked.token, self.slot.beam_score(&ranked)))
            .collect())
    }

    /// Returns this text with one more token.
    fn with(
        &self,
        candidate: &BeamCandidate,
        logits: &[f32],
        pass: ForwardPass,
        model: ModelContext<'_>,
    ) -> Result<Self, EngineError> {
        let mut text = self.clone();
        let picked = text.slot.end.take_picked();
        let taken = picked.unwrap_or(Taken::ByBeams(candidate.token));
        let step = text.slot.take(Some(taken), logits, pass, model)?;
        text.slot.finish_after(&step, model);
        text.steps.push(Arc::new(step));
        text.log_prob = candidate.log_prob;
        Ok(text)
    }
}
