//! Counts what the stages of a chain did in a text, once per step while it grows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Importance, Lint, Remedy, called, sentence};
use crate::decoding::filters::Window;
use crate::decoding::{ChainConfig, Filter, FilterKind, TokenId};
use crate::generation::{Generation, Step};

/// The number of steps after which the linter says "never".
const MIN_STEPS: usize = 20;

/// What each stage did in all steps of a text so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    n_steps: usize,
    /// The stages that were on, in order.
    filters: Vec<Arc<Filter>>,
    /// Whether some steps had different stages than the first one.
    mixed: bool,
    /// One per filter.
    stages: Vec<StageTally>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct StageTally {
    /// The number of steps at which it dropped candidates.
    n_cut: usize,
    /// The number of steps at which it changed the distribution.
    n_changed: usize,
    /// The largest number of candidates that it left at any step.
    max_kept: u32,
    /// How many distinct prompt tokens it penalizes at the first step, when its window contains the
    /// most of them.
    n_of_prompt: usize,
}

impl StageTally {
    /// The tally before the first step.
    fn new(filter: &Filter, prompt: &[TokenId]) -> Self {
        Self {
            n_of_prompt: n_of_prompt(filter, prompt),
            ..Self::default()
        }
    }
}

impl Tally {
    /// Counts the steps added since the last call. A different text needs a new tally.
    pub fn follow(&mut self, generation: &Generation) {
        for step in generation.steps.iter().skip(self.n_steps) {
            self.count(&generation.prompt.tokens, step);
        }
    }

    fn count(&mut self, prompt: &[TokenId], step: &Step) {
        let trace = &*step.trace;
        let stages = &trace.stages;
        if self.n_steps == 0 {
            self.filters = stages
                .iter()
                .map(|stage| Arc::clone(&stage.filter))
                .collect();
            let filters = self.filters.iter();
            self.stages = filters
                .map(|filter| StageTally::new(filter, prompt))
                .collect();
        }
        self.n_steps += 1;
        self.mixed |= !self
            .filters
            .iter()
            .eq(stages.iter().map(|stage| &stage.filter));
        let mut before = (trace.n_known_candidates(), trace.known_entropy_nats());
        for (index, tally) in self.stages.iter_mut().enumerate() {
            let known = trace.known_stage(index);
            let after = (known.n_kept, known.entropy_nats);
            let bits = |(_, entropy): (_, Option<f64>)| entropy.map(f64::to_bits);
            // What a server left open may have been cut or changed.
            let cut_nothing = after.0.is_some() && after.0 == before.0;
            let same = cut_nothing && bits(after).is_some() && bits(after) == bits(before);
            tally.n_cut += usize::from(!cut_nothing);
            tally.n_changed += usize::from(!same);
            tally.max_kept = tally.max_kept.max(after.0.unwrap_or(u32::MAX));
            before = after;
        }
    }

    /// Returns the findings about the chain if it generated the whole text, and none otherwise.
    pub(super) fn lints(&self, chain: &ChainConfig) -> Vec<Lint> {
        let filters = self.filters.iter().map(AsRef::as_ref);
        if self.mixed || !filters.eq(chain.enabled()) {
            return Vec::new();
        }
        let mut lints = self.prompt_is_penalized(chain);
        if self.n_steps >= MIN_STEPS {
            for (rank, (index, filter)) in stages_of(chain).into_iter().enumerate() {
                let words = self
                    .never_cut(chain, rank)
                    .or_else(|| self.made_no_difference(chain, rank))
                    .or_else(|| self.never_acted(chain, rank));
                lints.extend(words.filter(|_| !filter.is_neutral()).map(|words| Lint {
                    importance: Importance::Idle,
                    message: sentence(&words),
                    stage: Some(index),
                    remedy: Some(Remedy::Mute {
                        stages: vec![index],
                    }),
                }));
            }
        }
        lints
    }

    /// Reports a cut that never dropped anything, and the cut before it that left too few
    /// candidates. `rank` is the stage's index among those that are on.
    fn never_cut(&self, chain: &ChainConfig, rank: usize) -> Option<String> {
        let stages = stages_of(chain);
        let tally = |rank: usize| self.stages.get(rank).copied();
        let (_, filter) = stages.get(rank).filter(|(_, filter)| filter.cuts())?;
        if tally(rank)?.n_cut > 0 {
            return None;
        }
        let said = format!(
            "{} never dropped anything in {} steps",
            called(filter),
            self.n_steps
        );
        let before = stages.iter().enumerate().take(rank).rev();
        let cause = before
            .filter_map(|(rank, (_, filter))| Some((filter, tally(rank)?)))
            .find(|(filter, tally)| filter.cuts() && tally.n_cut > 0);
        Some(match cause {
            Some((cause, StageTally { max_kept, .. })) => {
                format!("{said}: {} left at most {max_kept} tokens", called(cause))
            }
            None => said,
        })
    }

    /// Reports a cut that made no difference, because a later one always cut more and would have
    /// left the same tokens without it: min-p depends only on the top token and top-k only on the
    /// order, and a cut between them only lets more through if it receives more.
    fn made_no_difference(&self, chain: &ChainConfig, rank: usize) -> Option<String> {
        let stages = stages_of(chain);
        let from_the_top = |filter: &Filter| {
            use FilterKind::{MinP, TopK, TopP};
            matches!(filter.kind(), TopK | TopP | MinP)
        };
        let (_, filter) = stages
            .get(rank)
            .filter(|(_, filter)| from_the_top(filter))?;
        let after = stages.iter().zip(&self.stages).skip(rank + 1);
        let (later, _) = after
            .take_while(|((_, filter), _)| from_the_top(filter) || filter.is_neutral())
            .find(|((_, filter), tally)| {
                let stands_alone = matches!(filter, Filter::TopK(_) | Filter::MinP(_));
                stands_alone && !filter.is_neutral() && tally.n_cut == self.n_steps
            })?;
        Some(format!(
            "{} made no difference in {} steps: {} always kept fewer tokens",
            called(filter),
            self.n_steps,
            called(later.1)
        ))
    }

    /// Reports a filter against repetition that found none.
    fn never_acted(&self, chain: &ChainConfig, rank: usize) -> Option<String> {
        let stages = stages_of(chain);
        let against_runs =
            |filter: &Filter| matches!(filter, Filter::NoRepeatNgram(_) | Filter::Dry(_));
        let (_, filter) = stages
            .get(rank)
            .filter(|(_, filter)| against_runs(filter))?;
        let n_changed = self.stages.get(rank)?.n_changed;
        (n_changed == 0).then(|| {
            format!(
                "{} changed nothing in {} steps",
                called(filter),
                self.n_steps
            )
        })
    }

    /// Reports penalties that also apply to tokens of the prompt.
    fn prompt_is_penalized(&self, chain: &ChainConfig) -> Vec<Lint> {
        let uncut = stages_of(chain)
            .into_iter()
            .zip(&self.stages)
            .filter(|((_, filter), _)| !filter.is_neutral())
            .take_while(|((_, filter), _)| !filter.cuts());
        let mut lints = Vec::new();
        for ((stage, filter), tally) in uncut {
            let n_seen = match tally.n_of_prompt {
                0 => continue,
                1 => "1 token".to_owned(),
                n => format!("{n} different tokens"),
            };
            let name = filter.name();
            let mut filter = filter.clone();
            if let Some(window) = filter.window_mut() {
                window.prompt_counted = false;
            }
            lints.push(Lint {
                importance: Importance::Notable,
                message: sentence(&format!("{name} also penalized {n_seen} of the prompt")),
                stage: Some(stage),
                remedy: Some(Remedy::Set {
                    stage,
                    filter,
                    label: "Ignore the prompt",
                }),
            });
        }
        lints
    }
}

/// Returns the stages that are on, with their indices in the chain. Each has a tally.
fn stages_of(chain: &ChainConfig) -> Vec<(usize, &Filter)> {
    let stages = chain.stages.iter().enumerate();
    stages
        .filter(|(_, stage)| stage.enabled)
        .map(|(index, stage)| (index, &stage.filter))
        .collect()
}

/// Counts the distinct prompt tokens that a penalty for repeated tokens sees at the first step.
fn n_of_prompt(filter: &Filter, prompt: &[TokenId]) -> usize {
    let Some(window) = window_of(filter).filter(|window| window.prompt_counted) else {
        return 0;
    };
    let n_window = window.last_n.map_or(usize::MAX, |n| n as usize);
    let start = prompt.len().saturating_sub(n_window);
    let seen: BTreeSet<&TokenId> = prompt.iter().skip(start).collect();
    seen.len()
}

/// Returns the window of a penalty for repeated tokens, and `None` for other filters.
const fn window_of(filter: &Filter) -> Option<Window> {
    match filter {
        Filter::RepetitionPenalty(penalty) => Some(penalty.window),
        Filter::FrequencyPenalty(penalty) => Some(penalty.window),
        Filter::PresencePenalty(penalty) => Some(penalty.window),
        _ => None,
    }
}
