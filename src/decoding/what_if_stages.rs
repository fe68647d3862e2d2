//! Other settings on a recorded step, stage by stage: what each candidate's probability would be
//! on its way through them, as far as the record tells.

use super::what_if::{Recorded, WhatIf};
use super::{
    ChainConfig, Coins, Evidence, Filter, History, RankedCandidate, StageContext, StageReport,
};

/// A probability between these is told as one: the figures that are shown do not tell them apart.
const NARROW: f64 = 1e-4;

/// What is known of a candidate's probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KnownProb {
    /// It is this.
    Exactly(f64),
    /// It lies between these; where depends on tokens that were not recorded.
    Between(f64, f64),
    /// The candidate is cut.
    Cut,
    /// Tokens that were not recorded decide.
    Unknown,
}

/// What is known of how many candidates are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownCount {
    /// So many.
    Exactly(u32),
    /// Not more than so many.
    AtMost(u32),
    /// Tokens that were not recorded decide.
    Unknown,
}

/// What is known after one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownStage {
    /// The probabilities of `Evidence::head`, in that order.
    pub probs: Vec<KnownProb>,
    /// How many candidates are left.
    pub n_kept: KnownCount,
    /// Shannon entropy in nats; nothing where it is not known.
    pub entropy_nats: Option<f64>,
    /// The probability, as it stood before, of all that this stage cut; nothing where it is not
    /// known.
    pub mass_removed: Option<f64>,
}

/// The way through the whole chain.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIfStages {
    /// After each stage that is switched on.
    pub stages: Vec<KnownStage>,
    /// What would be drawn.
    pub outcome: WhatIf,
}

/// Runs a chain over a recorded distribution, and tells what is known after each stage.
///
/// `reports` are what the record tells of the chain's first stages, where they were run as they are
/// set here; what they hold is taken from them, and only the stages after them are run again.
pub fn what_if_stages(
    evidence: &Evidence,
    reports: &[StageReport],
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
) -> Option<WhatIfStages> {
    let enabled = chain.stages.iter().filter(|stage| stage.enabled);
    let filters: Vec<&Filter> = enabled.map(|stage| &stage.filter).collect();
    let (base, n_in_base) = base_of(evidence, reports, &filters);
    let mut step = Recorded::of(&base)?;
    let mut context = StageContext {
        history,
        coins,
        n_chance_before: 0,
        rules: chain.rules,
    };
    let mut stages: Vec<KnownStage> = Vec::new();
    for (index, filter) in filters.into_iter().enumerate() {
        if index >= n_in_base && !filter.is_neutral() {
            step.apply(filter, context);
        }
        context.n_chance_before += u32::from(filter.rule().acts_by_chance());
        let stage = match reports.get(index) {
            Some(report) => KnownStage::recorded(report),
            None => KnownStage::of(&mut step, &evidence.head, (filter, evidence, stages.last())),
        };
        stages.push(stage);
    }
    let outcome = step.draw(chain.selector, coins);
    Some(WhatIfStages { stages, outcome })
}

impl KnownStage {
    /// What the record holds of a stage.
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

    /// What a distribution holds of these candidates after a filter, and what was known before it.
    fn of(
        step: &mut Recorded,
        head: &[RankedCandidate],
        (filter, evidence, before): (&Filter, &Evidence, Option<&Self>),
    ) -> Self {
        let (least, most) = match step.tail {
            Some(tail) => step.tail_shares(tail),
            None => (0.0, 0.0),
        };
        let softmax = step.head.softmax();
        let mixed = step.tail.is_some_and(|tail| tail.mixed);
        let prob_of = |index: usize, ranked: &RankedCandidate| {
            if before.and_then(|before| before.probs.get(index)) == Some(&KnownProb::Cut) {
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
                // It may stand among the tokens that were not recorded.
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
            mass_removed: if whole {
                mass_removed(head, before, &probs)
            } else {
                None
            },
            probs,
        }
    }
}

/// What those that are left did not hold before; they are all recorded.
fn mass_removed(
    head: &[RankedCandidate],
    before: Option<&KnownStage>,
    after: &[KnownProb],
) -> Option<f64> {
    let held = head.iter().zip(after).enumerate();
    let held = held.filter(|(_, (_, after))| matches!(after, KnownProb::Exactly(_)));
    let held = held.map(|(index, (ranked, _))| match before {
        None => Some(ranked.prob),
        Some(before) => match before.probs.get(index) {
            Some(KnownProb::Exactly(prob)) => Some(*prob),
            _ => None,
        },
    });
    let held: Option<f64> = held.sum();
    held.map(|held| (1.0 - held).max(0.0))
}

fn between(least: f64, most: f64) -> KnownProb {
    if most - least <= NARROW * most {
        KnownProb::Exactly(f64::midpoint(least, most))
    } else {
        KnownProb::Between(least, most)
    }
}

#[expect(clippy::cast_sign_loss, reason = "a count is not below nothing")]
const fn count(n: f64) -> u32 {
    n.clamp(0.0, u32::MAX as f64) as u32
}

/// Whether it neither cuts a candidate nor rules one out.
fn keeps_all(filter: &Filter) -> bool {
    let rules_out = matches!(filter, Filter::LogitBias(_) | Filter::NoRepeatNgram(_));
    !rules_out && !filter.cuts()
}

/// The last place from which the chain can be run on, as if it were the model's own distribution,
/// and how many stages lie before it.
fn base_of(evidence: &Evidence, reports: &[StageReport], chain: &[&Filter]) -> (Evidence, usize) {
    let mut base = (evidence.clone(), 0);
    let mut in_order = true;
    let raw = evidence.head.iter().map(|ranked| ranked.logit);
    let mut scores: Option<Vec<f32>> = Some(raw.collect());
    for (n_stages, report) in (1..).zip(reports) {
        in_order &= keeps_order(&report.filter);
        scores = scores.and_then(|scores| scores_after(scores, &report.filter));
        // A factor on scores needs the scores themselves; anything else, their differences alone.
        let multiplied = chain
            .iter()
            .skip(n_stages)
            .any(|filter| matches!(filter, Filter::RepetitionPenalty(_)) && !filter.is_neutral());
        if multiplied && scores.is_none() {
            continue;
        }
        if let Some(after) = evidence_after(evidence, report, (scores.as_deref(), in_order)) {
            base = (after, n_stages);
        }
    }
    base
}

/// Whether a candidate stays behind all that were before it.
const fn keeps_order(filter: &Filter) -> bool {
    !matches!(
        filter,
        Filter::LogitBias(_)
            | Filter::RepetitionPenalty(_)
            | Filter::FrequencyPenalty(_)
            | Filter::PresencePenalty(_)
            | Filter::NoRepeatNgram(_)
            | Filter::Dry(_)
    )
}

/// The scores as a stage leaves those that it keeps; nothing where they depend on more than
/// themselves.
fn scores_after(scores: Vec<f32>, filter: &Filter) -> Option<Vec<f32>> {
    match filter {
        filter if filter.is_neutral() || filter.cuts() => Some(scores),
        Filter::Temperature(heat) => {
            let heated: Vec<f32> = scores
                .iter()
                .map(|logit| logit / heat.temperature)
                .collect();
            heated
                .iter()
                .all(|logit| logit.is_finite())
                .then_some(heated)
        }
        _ => None,
    }
}

/// The distribution after a recorded stage, with these scores or, where they are not known, with
/// others that give the same probabilities. Nothing where more is left than was recorded, and no
/// recorded candidate is known to stand before all of it.
fn evidence_after(
    evidence: &Evidence,
    report: &StageReport,
    (scores, in_order): (Option<&[f32]>, bool),
) -> Option<Evidence> {
    let recorded = evidence.head.iter().zip(&report.head_probs).enumerate();
    let head: Vec<RankedCandidate> = recorded
        .filter_map(|(index, (ranked, prob))| {
            let prob = f64::from((*prob)?);
            let score = scores.and_then(|scores| scores.get(index).copied());
            Some(RankedCandidate {
                token: ranked.token,
                logit: score.unwrap_or(prob.ln() as f32),
                prob,
            })
        })
        .filter(|ranked| ranked.prob > 0.0)
        .collect();
    let likeliest = head.iter().max_by(|a, b| a.prob.total_cmp(&b.prob))?;
    let log_sum_exp = f64::from(likeliest.logit) - likeliest.prob.ln();
    let whole = report.n_kept as usize == head.len();
    let stands_before_all = in_order && head.len() == evidence.head.len();
    (whole || stands_before_all).then_some(Evidence {
        n_candidates: report.n_kept,
        head,
        log_sum_exp,
        entropy_nats: report.entropy_nats,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{KnownCount, KnownProb, WhatIfStages, what_if_stages};
    use crate::decoding::filters::{
        FrequencyPenalty, MinP, RepetitionPenalty, Temperature, TopK, TopP, TypicalP, Window, Xtc,
    };
    use crate::decoding::testing::{row, token_ids};
    use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Trace, WhatIf};

    fn filter() -> impl Strategy<Value = Filter> {
        let window = Window::ALL;
        prop_oneof![
            4 => (0.3..2.0_f32).prop_map(|temperature| Filter::Temperature(Temperature { temperature })),
            3 => (1..80_u32).prop_map(|k| Filter::TopK(TopK { k })),
            3 => (0.1..1.0_f32).prop_map(|p| Filter::TopP(TopP { p })),
            3 => (0.001..0.5_f32).prop_map(|p| Filter::MinP(MinP { p })),
            1 => (0.1..1.0_f32).prop_map(|p| Filter::TypicalP(TypicalP { p })),
            1 => (0.0..0.3_f32).prop_map(|threshold| Filter::Xtc(Xtc { probability: 1.0, threshold })),
            1 => (1.0..1.5_f32).prop_map(move |penalty| {
                Filter::RepetitionPenalty(RepetitionPenalty { penalty, window })
            }),
            1 => (0.0..2.0_f32).prop_map(move |penalty| {
                Filter::FrequencyPenalty(FrequencyPenalty { penalty, window })
            }),
        ]
    }

    fn sampled(logits: &[f32], chain: &ChainConfig, history: History<'_>, coins: Coins) -> Trace {
        let mut chain = SamplerChain::new(chain.clone());
        chain.sample(logits, history, coins).unwrap().trace
    }

    /// Whether all that is told of the chain is what the chain does.
    fn check(told: &WhatIfStages, done: &Trace, chain: &ChainConfig) {
        for (known, report) in told.stages.iter().zip(&done.stages) {
            for (known, prob) in known.probs.iter().zip(&report.head_probs) {
                let prob = prob.map(f64::from);
                let holds = match (known, prob) {
                    (KnownProb::Unknown, _) | (KnownProb::Cut, None) => true,
                    (KnownProb::Exactly(known), Some(prob)) => {
                        (known - prob).abs() <= 2e-4 * prob + 1e-9
                    }
                    (KnownProb::Between(least, most), Some(prob)) => {
                        let off = 1e-4 * prob + 1e-9;
                        least - off <= prob && prob <= most + off
                    }
                    _ => false,
                };
                assert!(
                    holds,
                    "{chain}: {known:?}, but {prob:?} after {}",
                    report.filter
                );
            }
            match known.n_kept {
                KnownCount::Exactly(n) => assert_eq!(n, report.n_kept, "{chain}"),
                KnownCount::AtMost(n) => assert!(report.n_kept <= n, "{chain}"),
                KnownCount::Unknown => {}
            }
            if let Some(entropy) = known.entropy_nats {
                assert!((entropy - report.entropy_nats).abs() < 1e-4, "{chain}");
            }
            if let Some(mass) = known.mass_removed {
                let off = (mass - report.mass_removed).abs();
                assert!(off < 1e-4, "{chain}: {mass}, but {}", report.mass_removed);
            }
        }
        if let WhatIf::Exact(token) = told.outcome {
            assert_eq!(token, done.draw.token, "{chain}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

        #[test]
        fn what_is_told_of_other_settings_is_what_they_do(
            seed in any::<u32>(), spread in 0.5..4.0_f32, position in 0..1000_u64,
            shared in prop::collection::vec(filter(), 0..3),
            others in prop::collection::vec(filter(), 0..3),
        ) {
            let logits = row(seed, spread);
            let tokens = token_ids(&[1, 7, 7, 30, 200]);
            let history = History::new(&tokens, 2);
            let coins = Coins { seed: 3, position };
            let run = sampled(&logits, &ChainConfig::sampled(shared.clone()), history, coins);
            let chain = ChainConfig::sampled(shared.into_iter().chain(others));
            let done = sampled(&logits, &chain, history, coins);
            let told = what_if_stages(&run.raw, &run.stages, &chain, history, coins).unwrap();
            check(&told, &done, &chain);
            let told = what_if_stages(&run.raw, &[], &chain, history, coins).unwrap();
            check(&told, &done, &chain);
        }
    }

    #[test]
    fn after_the_same_temperature_a_cut_is_known_exactly() {
        let logits = row(5, 2.5);
        let coins = Coins {
            seed: 3,
            position: 9,
        };
        let cool = Filter::Temperature(Temperature { temperature: 0.7 });
        let run = sampled(
            &logits,
            &ChainConfig::sampled([cool.clone()]),
            History::empty(),
            coins,
        );
        let chain = ChainConfig::sampled([cool, Filter::TopP(TopP { p: 0.8 })]);
        let told = what_if_stages(&run.raw, &run.stages, &chain, History::empty(), coins).unwrap();
        let last = told.stages.last().unwrap();
        assert!(matches!(last.n_kept, KnownCount::Exactly(_)), "{last:?}");
        assert!(matches!(told.outcome, WhatIf::Exact(_)));
        let sum: f64 = last
            .probs
            .iter()
            .map(|known| match known {
                KnownProb::Exactly(prob) => *prob,
                KnownProb::Cut => 0.0,
                other => panic!("{other:?}"),
            })
            .sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn what_hangs_on_the_tail_is_not_told_as_a_number() {
        let logits = vec![0.0; 400];
        let coins = Coins {
            seed: 3,
            position: 0,
        };
        let run = sampled(&logits, &ChainConfig::greedy(), History::empty(), coins);
        let told = |filter: Filter| {
            let chain = ChainConfig::sampled([filter]);
            let told = what_if_stages(&run.raw, &[], &chain, History::empty(), coins);
            told.unwrap().stages.remove(0)
        };
        let typical = told(Filter::TypicalP(TypicalP { p: 0.5 }));
        assert_eq!(typical.probs[0], KnownProb::Unknown);
        assert_eq!(typical.n_kept, KnownCount::Unknown);
        assert_eq!(typical.entropy_nats, None);
        let top_k = told(Filter::TopK(TopK { k: 2 }));
        assert_eq!(
            top_k.probs[..3],
            [
                KnownProb::Exactly(0.5),
                KnownProb::Exactly(0.5),
                KnownProb::Cut,
            ]
        );
        assert_eq!(top_k.n_kept, KnownCount::Exactly(2));
    }
}
