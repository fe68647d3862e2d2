//! Applies other settings to a recorded step, stage by stage: the probability of each candidate
//! after every stage, as far as the record determines it.

mod base;
#[cfg(test)]
mod tests;

use self::base::base_of;
use super::what_if::{Recorded, WhatIf};
use super::{
    ChainConfig, Coins, Detail, Evidence, Filter, History, RankedCandidate, StageContext,
    StageReport, TokenId, Trace,
};

/// Bounds relatively closer than this are reported as one number: displayed digits cannot tell them
/// apart.
const NARROW: f64 = 1e-4;

/// What is known about a candidate's probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KnownProb {
    /// Exactly this.
    Exactly(f64),
    /// Between these; the rest depends on tokens that were not recorded.
    Between(f64, f64),
    /// The candidate was filtered out.
    Cut,
    /// It depends on tokens that were not recorded.
    Unknown,
}

/// What is known about the number of candidates left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownCount {
    /// Exactly this many.
    Exactly(u32),
    /// At most this many.
    AtMost(u32),
    /// It depends on tokens that were not recorded.
    Unknown,
}

/// What is known after one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownStage {
    /// The probabilities of `Evidence::head`, in that order.
    pub probs: Vec<KnownProb>,
    pub n_kept: KnownCount,
    /// The Shannon entropy in nats, or `None` if it is unknown.
    pub entropy_nats: Option<f64>,
    /// The probability that this stage dropped, measured before it, or `None` if it is unknown.
    pub mass_removed: Option<f64>,
}

/// The answers for every stage of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIfStages {
    /// One for each stage that is on.
    pub stages: Vec<KnownStage>,
    /// Which token would be sampled.
    pub outcome: WhatIf,
}

/// Runs a chain over a recorded distribution, and returns what is known after each stage. Returns
/// `None` if nothing was recorded.
///
/// `reports` are the recorded reports of the chain's first stages, as far as their settings are the
/// same. They are used as they are. If the recorded distribution does not decide the outcome, only
/// the stages after them run again.
pub fn what_if_stages(
    evidence: &Evidence,
    reports: &[StageReport],
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
) -> Option<WhatIfStages> {
    let run = Run {
        evidence,
        reports,
        chain,
        context: StageContext {
            history,
            coins,
            n_chance_before: 0,
            rules: chain.rules,
            n_vocab: evidence.n_candidates,
        },
    };
    let decided = |known: &WhatIfStages| match evidence.detail {
        Detail::HeadOnly => false,
        Detail::Summary(_) => matches!(known.outcome, WhatIf::Exact(_)),
        Detail::Whole(_) => true,
    };
    if evidence.detail != Detail::HeadOnly
        && let Some(known) = run.from(evidence, 0).filter(decided)
    {
        return Some(known);
    }
    let filters: Vec<&Filter> = chain.enabled().collect();
    let (base, n_in_base) = base_of(evidence, reports, &filters);
    run.from(&base, n_in_base)
}

/// A chain to run over a recorded step.
struct Run<'a> {
    evidence: &'a Evidence,
    reports: &'a [StageReport],
    chain: &'a ChainConfig,
    context: StageContext<'a>,
}

impl Run<'_> {
    /// Runs the chain from `base`, the distribution after its first `n_in_base` stages.
    fn from(&self, base: &Evidence, n_in_base: usize) -> Option<WhatIfStages> {
        let mut step = Recorded::of(base)?;
        step.masked = self.chain.grammar.is_some();
        let mut stages: Vec<KnownStage> = Vec::new();
        let mut was_whole = step.tail.is_none();
        let filters = self.chain.enabled();
        let context = self.context;
        context.run(filters, n_in_base, &mut step, |index, filter, step| {
            let mass_removed = step.head.take_mass_removed();
            let removed = was_whole.then_some(mass_removed);
            let stage = match self.reports.get(index) {
                Some(report) => KnownStage::recorded(report),
                None => KnownStage::of(filter, self.evidence, stages.last(), removed, step),
            };
            stages.push(stage);
            was_whole = step.tail.is_none();
        });
        let outcome = step.draw(self.chain.selector, self.context);
        Some(WhatIfStages { stages, outcome })
    }
}

/// Returns whether a token is still in play.
fn possible(step: &Recorded<'_>, token: TokenId) -> bool {
    let logit = step.head.logit(token);
    logit.is_some_and(|logit| logit > f32::NEG_INFINITY)
}

impl From<Option<u32>> for KnownCount {
    fn from(count: Option<u32>) -> Self {
        count.map_or(Self::Unknown, Self::Exactly)
    }
}

impl KnownStage {
    /// Returns what the record holds about a stage.
    pub fn recorded(report: &StageReport) -> Self {
        let known = |prob: &Option<f32>| match prob {
            Some(prob) => KnownProb::Exactly(f64::from(*prob)),
            None => KnownProb::Cut,
        };
        Self {
            probs: report.head_probs.iter().map(known).collect(),
            n_kept: KnownCount::Exactly(report.n_kept),
            entropy_nats: Some(report.entropy_nats),
            mass_removed: Some(report.mass_removed),
        }
    }

    /// Returns what the record of a step holds about one of its stages, or `None` if there is no
    /// such stage. What depends on tokens that a server did not name is unknown.
    pub fn in_trace(trace: &Trace, index: usize) -> Option<Self> {
        let recorded = Self::recorded(trace.stages.get(index)?);
        let known = trace.known_stage(index);
        let unknown = |prob: KnownProb| match prob {
            KnownProb::Exactly(_) if known.entropy_nats.is_none() => KnownProb::Unknown,
            prob => prob,
        };
        Some(Self {
            probs: recorded.probs.into_iter().map(unknown).collect(),
            n_kept: known.n_kept.into(),
            entropy_nats: known.entropy_nats,
            mass_removed: known.mass_removed,
        })
    }

    /// Returns what is known about the recorded candidates after a filter, given what was known
    /// `before` and the probability that the filter `removed`, if that is known.
    fn of(
        filter: &Filter,
        evidence: &Evidence,
        before: Option<&Self>,
        removed: Option<f64>,
        step: &mut Recorded,
    ) -> Self {
        let head = evidence.head.as_slice();
        let (least, most) = match step.tail {
            Some(tail) => step.tail_shares(tail),
            None => (0.0, 0.0),
        };
        let softmax = step.head.softmax();
        let mixed = step.tail.is_some_and(|tail| tail.mixed);
        // What it forces may have been cut before.
        let forces = matches!(filter, Filter::ThinkingBudget(_));
        let prob_of = |index: usize, ranked: &RankedCandidate| {
            let was_cut =
                before.and_then(|before| before.probs.get(index)) == Some(&KnownProb::Cut);
            if was_cut && !(forces && possible(step, ranked.token)) {
                return KnownProb::Cut;
            }
            if !step.sure {
                return KnownProb::Unknown;
            }
            let logit = step.head.logit(ranked.token);
            match logit.filter(|logit| *logit > f32::NEG_INFINITY) {
                Some(logit) => {
                    let share = softmax.prob(logit);
                    between(share / (1.0 + most), share / (1.0 + least))
                }
                // It may have fallen into the tail.
                None if mixed => KnownProb::Unknown,
                None => KnownProb::Cut,
            }
        };
        let probs: Vec<KnownProb> = head
            .iter()
            .enumerate()
            .map(|(index, ranked)| prob_of(index, ranked))
            .collect();
        let n_before = before.map_or(KnownCount::Exactly(evidence.n_candidates), |before| {
            before.n_kept
        });
        let n_head = softmax.n_possible as u32;
        let whole = step.sure && step.tail.is_none();
        Self {
            n_kept: match step.tail {
                _ if !step.sure => KnownCount::Unknown,
                None => KnownCount::Exactly(n_head),
                Some(_) if keeps_all(filter) => n_before,
                Some(tail) => KnownCount::AtMost(n_head.saturating_add(count(tail.n))),
            },
            entropy_nats: whole.then_some(softmax.entropy_nats),
            mass_removed: removed
                .or_else(|| mass_removed(head, before, &probs, n_head))
                .filter(|_| whole),
            probs,
        }
    }
}

/// Returns the probability that was dropped, or `None` if some of the candidates left are not in
/// the head.
fn mass_removed(
    head: &[RankedCandidate],
    before: Option<&KnownStage>,
    after: &[KnownProb],
    n_left: u32,
) -> Option<f64> {
    let is_left = |after: &&KnownProb| matches!(after, KnownProb::Exactly(_));
    if after.iter().filter(is_left).count() != n_left as usize {
        return None;
    }
    let held: Option<f64> = head
        .iter()
        .zip(after)
        .enumerate()
        .filter(|(_, (_, after))| is_left(after))
        .map(|(index, (ranked, _))| match before {
            None => Some(ranked.prob),
            Some(before) => match before.probs.get(index) {
                Some(KnownProb::Exactly(prob)) => Some(*prob),
                _ => None,
            },
        })
        .sum();
    held.map(|held| (1.0 - held).max(0.0))
}

fn between(least: f64, most: f64) -> KnownProb {
    if most - least <= NARROW * most {
        KnownProb::Exactly(f64::midpoint(least, most))
    } else {
        KnownProb::Between(least, most)
    }
}

#[expect(clippy::cast_sign_loss, reason = "the count is clamped to 0 or more")]
const fn count(n: f64) -> u32 {
    n.clamp(0.0, u32::MAX as f64) as u32
}

/// Whether the filter neither drops nor bans candidates.
fn keeps_all(filter: &Filter) -> bool {
    let rules_out = matches!(filter, Filter::LogitBias(_) | Filter::NoRepeatNgram(_));
    !rules_out && !filter.cuts()
}
