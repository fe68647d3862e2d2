//! A step's entry in a file of format 2.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::detail::DetailEntry;
use super::grammar::GrammarEntry;
use super::known::Known;
use super::mixture::MixtureEntry;
use super::ranking::Ranking;
use super::vocabulary::PieceEntry;
use crate::decoding::{
    ASSUMED_VOCABULARY, Detail, Draft, Draw, Evidence, Filter, GrammarRule, Guidance, KnownPart,
    KnownStageNumbers, LogitsHash, Picked, RankedCandidate, SelectorState, StageReport, TokenId,
    Trace,
};
use crate::export::json::{Form, N_VOCAB_MAX, ParseError};
use crate::generation::{Generation, Step, StepTime, Vocabulary};

/// A step's entry in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepEntry {
    token: TokenId,
    /// `None` if it is the piece in the vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    piece: Option<PieceEntry>,
    /// These are null if a server did not report what they depend on.
    raw_prob: Option<f64>,
    final_prob: Option<f64>,
    rank: Option<u32>,
    entropy_nats: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coin: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coin_below: Option<f64>,
    n_kept: Option<u32>,
    #[serde(default, skip_serializing_if = "is_by_chain")]
    picked: Picked,
    #[serde(default, skip_serializing_if = "is_new")]
    selector_state: Known<SelectorState>,
    log_sum_exp: f64,
    /// Missing if it is the size of the model's vocabulary, null if a server did not report that.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    #[expect(clippy::option_option, reason = "missing and null differ")]
    n_candidates: Option<Option<u32>>,
    head: Ranking,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stages: Vec<StageEntry>,
    /// `None` if they equal the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    survivors: Option<Ranking>,
    /// The head's final probabilities; `None` if they are those of the survivors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    final_probs: Option<Vec<Option<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<DetailEntry>,
    /// Seconds since the request, seconds of the forward pass, sequences in it.
    time: (f64, f64, usize),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    draft: Option<Draft>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grammar: Option<GrammarEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mask_secs: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network_secs: Option<f64>,
    /// Whether the choice depends on probabilities that the server did not report.
    #[serde(default, skip_serializing_if = "is_false")]
    bounded: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mixture: Option<Box<MixtureEntry>>,
    /// `None` if a server computed the logits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logits_hash: Option<LogitsHash>,
}

/// What one stage did.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StageEntry {
    /// The filter's index in the pane's list.
    filter: usize,
    /// These are null if they depend on tokens that a server did not name.
    n_kept: Option<u32>,
    mass_removed: Option<f64>,
    entropy_nats: Option<f64>,
    /// The head's probabilities, without the nulls at the end; `None` if they are the final ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probs: Option<Vec<Option<f32>>>,
}

/// What all steps of a pane share.
pub(super) struct Shared<'a> {
    pub filters: &'a [Arc<Filter>],
    pub grammars: &'a [Arc<GrammarRule>],
    /// The guidance in the settings. Steps that used it refer to it.
    pub guidance: Option<&'a Arc<Guidance>>,
    pub vocabulary: &'a Vocabulary,
    pub n_vocab: usize,
}

/// Lists the filters of a generation's steps, each once.
pub(super) fn filters_of(generation: &Generation) -> Vec<Arc<Filter>> {
    let mut filters: Vec<Arc<Filter>> = Vec::new();
    for step in &generation.steps {
        for stage in &step.trace.stages {
            if position(&filters, &stage.filter).is_none() {
                filters.push(Arc::clone(&stage.filter));
            }
        }
    }
    filters
}

fn position(filters: &[Arc<Filter>], filter: &Arc<Filter>) -> Option<usize> {
    let mut known = filters.iter();
    known.position(|known| Arc::ptr_eq(known, filter) || known == filter)
}

impl StepEntry {
    pub(super) fn of(step: &Step, shared: &Shared<'_>, form: Form) -> Self {
        let (trace, time) = (&*step.trace, &step.time);
        let raw = &trace.raw;
        let known_piece = shared.vocabulary.piece(step.token);
        let is_head = trace.survivors == raw.head;
        let final_probs = &trace.head_final_probs;
        let follow = *final_probs == final_probs_of(&raw.head, &trace.survivors);
        let n_candidates = trace.n_known_candidates();
        Self {
            token: step.token,
            piece: (step.piece != known_piece).then(|| PieceEntry::of(&step.piece)),
            raw_prob: trace.known_raw_prob(),
            final_prob: trace.known_final_prob(),
            rank: trace.known_rank(),
            entropy_nats: trace.known_entropy_nats(),
            coin: trace.draw.coin,
            coin_below: Some(trace.draw.below).filter(|below| *below != 0.0),
            n_kept: trace.n_known_kept(),
            picked: trace.draw.picked,
            selector_state: Known(trace.selector_state),
            log_sum_exp: raw.log_sum_exp,
            n_candidates: Some(n_candidates)
                .filter(|n| n.is_none_or(|n| n as usize != shared.n_vocab)),
            head: Ranking::of(&raw.head, &[]),
            stages: trace
                .stages
                .iter()
                .enumerate()
                .map(|(index, report)| StageEntry::of(report, index, trace, shared.filters))
                .collect(),
            survivors: (!is_head).then(|| Ranking::of(&trace.survivors, &raw.head)),
            final_probs: (!follow).then(|| final_probs.clone()),
            detail: DetailEntry::of(&raw.detail).filter(|_| form.detail),
            time: (time.at_secs, time.forward_secs, time.n_batch),
            draft: step.draft,
            grammar: GrammarEntry::of(trace, shared.grammars),
            mask_secs: time.mask_secs,
            network_secs: time.network_secs,
            bounded: trace.bounded,
            mixture: MixtureEntry::of(trace, shared.guidance).map(Box::new),
            logits_hash: step.logits_hash,
        }
    }

    /// Returns which numbers are known, or `None` if all are.
    fn known(&self, shared: &Shared<'_>) -> Option<KnownPart> {
        let stages = self.stages.iter().map(|stage| KnownStageNumbers {
            n_kept: stage.n_kept,
            mass_removed: stage.mass_removed,
            entropy_nats: stage.entropy_nats,
        });
        let known = KnownPart {
            n_candidates: self.n_candidates.unwrap_or(Some(shared.n_vocab as u32)),
            entropy_nats: self.entropy_nats,
            raw_prob: self.raw_prob,
            raw_rank: self.rank,
            final_prob: self.final_prob,
            n_kept: self.n_kept,
            stages: stages.collect(),
        };
        (!known.is_whole()).then_some(known)
    }

    /// Converts the entry to a step.
    pub(super) fn into_step(self, shared: &Shared<'_>) -> Result<Step, ParseError> {
        if self.token.0 >= N_VOCAB_MAX {
            return Err(ParseError::UnknownToken { id: self.token.0 });
        }
        let known = self.known(shared).map(Box::new);
        let head = self.head.into_list(&[])?;
        let survivors = match self.survivors {
            Some(survivors) => survivors.into_list(&head)?,
            None => head.clone(),
        };
        let head_final_probs = self
            .final_probs
            .unwrap_or_else(|| final_probs_of(&head, &survivors));
        let n_candidates = self.n_candidates.unwrap_or(Some(shared.n_vocab as u32));
        let stages = self.stages.into_iter();
        let stages = stages.map(|stage| stage.into_report(&head_final_probs, shared.filters));
        let stages = stages.collect::<Result<_, _>>()?;
        let detail = self
            .detail
            .map_or(Ok(Detail::HeadOnly), DetailEntry::into_detail)?;
        let piece = self.piece.map(PieceEntry::into_piece);
        let grammar = self.grammar;
        let grammar = grammar.map(|entry| entry.into_report(&head, shared.grammars));
        let n_head = head.len() as u32;
        let n_estimated = head_final_probs.iter().flatten().count() as u32;
        let survivor = survivors.iter().find(|left| left.token == self.token);
        let estimated_prob = survivor.map_or(0.0, |left| left.prob);
        let mixture = self.mixture;
        let mixture = mixture.map(|entry| entry.into_mixture(shared.guidance));
        let trace = Trace {
            raw: Evidence {
                n_candidates: n_candidates.unwrap_or(ASSUMED_VOCABULARY as u32),
                head,
                log_sum_exp: self.log_sum_exp,
                entropy_nats: self.entropy_nats.unwrap_or_default(),
                detail,
            },
            mixture: mixture.transpose()?.map(Box::new),
            stages,
            survivors,
            head_final_probs,
            draw: Draw {
                token: self.token,
                prob: self.final_prob.unwrap_or(estimated_prob),
                coin: self.coin,
                below: self.coin_below.unwrap_or_default(),
                n_kept: self.n_kept.unwrap_or(n_estimated),
                picked: self.picked,
            },
            raw_prob: self.raw_prob.unwrap_or_default(),
            raw_rank: self.rank.unwrap_or(n_head + 1),
            selector_state: self.selector_state.0,
            grammar: grammar.transpose()?.map(Box::new),
            bounded: self.bounded,
            known,
        };
        let (at_secs, forward_secs, n_batch) = self.time;
        Ok(Step {
            token: self.token,
            piece: piece.unwrap_or_else(|| shared.vocabulary.piece(self.token)),
            trace: Arc::new(trace),
            time: StepTime {
                at_secs,
                forward_secs,
                n_batch,
                mask_secs: self.mask_secs,
                network_secs: self.network_secs,
            },
            draft: self.draft,
            logits_hash: self.logits_hash,
        })
    }
}

impl StageEntry {
    fn of(report: &StageReport, index: usize, trace: &Trace, filters: &[Arc<Filter>]) -> Self {
        let known = trace.known_stage(index);
        let probs = &report.head_probs;
        let n_known = probs
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |at| at + 1);
        let trimmed = probs.get(..n_known).unwrap_or_default();
        let is_final = *probs == in_single_precision(&trace.head_final_probs);
        Self {
            // Every filter is in the list, which was made from these steps.
            filter: position(filters, &report.filter).unwrap_or_default(),
            n_kept: known.n_kept,
            mass_removed: known.mass_removed,
            entropy_nats: known.entropy_nats,
            probs: (!is_final).then(|| trimmed.to_vec()),
        }
    }

    fn into_report(
        self,
        final_probs: &[Option<f64>],
        filters: &[Arc<Filter>],
    ) -> Result<StageReport, ParseError> {
        let filter = filters.get(self.filter);
        let filter = filter.ok_or_else(|| ParseError::damaged("a stage has no filter"))?;
        let n_head = final_probs.len();
        let head_probs = match self.probs {
            Some(mut probs) => {
                probs.resize(n_head.max(probs.len()), None);
                probs
            }
            None => in_single_precision(final_probs),
        };
        let n_estimated = head_probs.iter().flatten().count() as u32;
        Ok(StageReport {
            filter: Arc::clone(filter),
            n_kept: self.n_kept.unwrap_or(n_estimated),
            mass_removed: self.mass_removed.unwrap_or_default(),
            entropy_nats: self.entropy_nats.unwrap_or_default(),
            head_probs,
        })
    }
}

/// Reads a field that is present, whose value may be null.
#[expect(clippy::option_option, reason = "missing and null differ")]
fn present<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Option<u32>>, D::Error> {
    Option::deserialize(reader).map(Some)
}

/// Returns the probability of each token of the head among the survivors.
fn final_probs_of(head: &[RankedCandidate], survivors: &[RankedCandidate]) -> Vec<Option<f64>> {
    let prob_of = |(place, candidate): (usize, &RankedCandidate)| {
        // Usually the survivors keep the order of the head.
        let in_place = survivors.get(place);
        let in_place = in_place.filter(|survivor| survivor.token == candidate.token);
        let same = |survivor: &&RankedCandidate| survivor.token == candidate.token;
        let found = in_place.or_else(|| survivors.iter().find(same));
        found.map(|survivor| survivor.prob)
    };
    head.iter().enumerate().map(prob_of).collect()
}

fn in_single_precision(probs: &[Option<f64>]) -> Vec<Option<f32>> {
    let probs = probs.iter();
    probs.map(|prob| prob.map(|prob| prob as f32)).collect()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde requires"
)]
const fn is_by_chain(picked: &Picked) -> bool {
    matches!(picked, Picked::ByChain)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde requires"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

fn is_new(state: &Known<SelectorState>) -> bool {
    state.0.is_new()
}
