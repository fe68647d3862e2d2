//! What the stages of a chain did in a text, counted once while it grows.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Importance, Lint, Remedy, called, sentence};
use crate::decoding::filters::Window;
use crate::decoding::{ChainConfig, Filter, TokenId, Trace};
use crate::generation::{Generation, Step};

/// From this many steps on, "never" is said of what a stage did not do.
const N_STEPS_LEAST: usize = 20;

/// What each stage did, over all steps of a text so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    n_steps: usize,
    /// The rules of the stages that were on, in order.
    filters: Vec<Arc<Filter>>,
    /// Whether some steps were made by other rules than the first.
    mixed: bool,
    /// One for each of the rules.
    stages: Vec<StageTally>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct StageTally {
    /// At how many steps it left fewer than there were.
    n_cut: usize,
    /// At how many steps the distribution was another after it.
    n_changed: usize,
    /// The most that it left at a step.
    most_kept: u32,
    /// How many different tokens of the prompt it penalises at the first step, whose window shows the
    /// most of them.
    n_of_prompt: usize,
}

impl StageTally {
    /// Before the first step.
    fn new(filter: &Filter, prompt: &[TokenId]) -> Self {
        Self {
            n_of_prompt: n_of_prompt(filter, prompt),
            ..Self::default()
        }
    }
}

impl Tally {
    /// Counts the steps that have come since the last call. Begin with an empty tally for another
    /// text.
    pub fn follow(&mut self, generation: &Generation) {
        for step in generation.steps.iter().skip(self.n_steps) {
            self.count(&generation.prompt.tokens, step);
        }
    }

    fn count(&mut self, prompt: &[TokenId], step: &Step) {
        let Trace { raw, stages, .. } = &step.trace;
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
        let (mut n_before, mut entropy_before) = (raw.n_candidates, raw.entropy_nats);
        for (tally, stage) in self.stages.iter_mut().zip(stages) {
            let (n_kept, entropy) = (stage.n_kept, stage.entropy_nats);
            let same = n_kept == n_before && entropy.to_bits() == entropy_before.to_bits();
            tally.n_cut += usize::from(n_kept < n_before);
            tally.n_changed += usize::from(!same);
            tally.most_kept = tally.most_kept.max(n_kept);
            (n_before, entropy_before) = (n_kept, entropy);
        }
    }

    /// What the counts say about the chain that wrote the text; nothing about any other.
    pub(super) fn lints(&self, chain: &ChainConfig) -> Vec<Lint> {
        let on = chain.stages.iter().filter(|stage| stage.enabled);
        let filters = self.filters.iter().map(AsRef::as_ref);
        if self.mixed || !filters.eq(on.map(|stage| &stage.filter)) {
            return Vec::new();
        }
        let mut lints = self.prompt_is_penalised(chain);
        if self.n_steps >= N_STEPS_LEAST {
            for (place, (index, filter)) in stages_of(chain).into_iter().enumerate() {
                let words = self
                    .never_cut(chain, place)
                    .or_else(|| self.made_no_difference(chain, place))
                    .or_else(|| self.never_acted(chain, place));
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

    /// A cut that cut nothing at any step, with the cut before it that left little.
    fn never_cut(&self, chain: &ChainConfig, place: usize) -> Option<String> {
        let stages = stages_of(chain);
        let tally = |place: usize| self.stages.get(place).copied();
        let (_, rule) = stages.get(place).filter(|(_, filter)| filter.cuts())?;
        if tally(place)?.n_cut > 0 {
            return None;
        }
        let said = format!(
            "{} never cut anything in {} steps",
            called(rule),
            self.n_steps
        );
        let before = stages.iter().enumerate().take(place).rev();
        let cause = before
            .filter_map(|(place, (_, filter))| Some((filter, tally(place)?)))
            .find(|(filter, tally)| filter.cuts() && tally.n_cut > 0);
        Some(match cause {
            Some((cause, StageTally { most_kept, .. })) => {
                format!("{said}: {} kept {most_kept} at most", called(cause))
            }
            None => said,
        })
    }

    /// A cut after which another one cut more, at every step, and would have cut the same without
    /// it: a min-p looks at the best alone and a top-k at the order, and what stands between only
    /// lets more through if more comes in.
    fn made_no_difference(&self, chain: &ChainConfig, place: usize) -> Option<String> {
        let stages = stages_of(chain);
        let from_the_top =
            |filter: &Filter| matches!(filter, Filter::TopK(_) | Filter::TopP(_) | Filter::MinP(_));
        let (_, rule) = stages
            .get(place)
            .filter(|(_, filter)| from_the_top(filter))?;
        let after = stages.iter().zip(&self.stages).skip(place + 1);
        let (later, _) = after
            .take_while(|((_, filter), _)| from_the_top(filter) || filter.is_neutral())
            .find(|((_, filter), tally)| {
                let stands_alone = matches!(filter, Filter::TopK(_) | Filter::MinP(_));
                stands_alone && !filter.is_neutral() && tally.n_cut == self.n_steps
            })?;
        Some(format!(
            "{} made no difference in {} steps: {} always kept fewer",
            called(rule),
            self.n_steps,
            called(later.1)
        ))
    }

    /// A rule against repetition that found none.
    fn never_acted(&self, chain: &ChainConfig, place: usize) -> Option<String> {
        let stages = stages_of(chain);
        let against_runs =
            |filter: &Filter| matches!(filter, Filter::NoRepeatNgram(_) | Filter::Dry(_));
        let (_, rule) = stages
            .get(place)
            .filter(|(_, filter)| against_runs(filter))?;
        let n_changed = self.stages.get(place)?.n_changed;
        (n_changed == 0)
            .then(|| format!("{} changed nothing in {} steps", called(rule), self.n_steps))
    }

    /// Penalties that looked at the prompt too.
    fn prompt_is_penalised(&self, chain: &ChainConfig) -> Vec<Lint> {
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
                message: sentence(&format!("{name} touched {n_seen} of the prompt")),
                stage: Some(stage),
                remedy: Some(Remedy::Set {
                    stage,
                    filter,
                    label: "Leave the prompt out",
                }),
            });
        }
        lints
    }
}

/// The stages that are on, with their places in the chain; each has a tally.
fn stages_of(chain: &ChainConfig) -> Vec<(usize, &Filter)> {
    let stages = chain.stages.iter().enumerate();
    stages
        .filter(|(_, stage)| stage.enabled)
        .map(|(index, stage)| (index, &stage.filter))
        .collect()
}

/// How many different tokens of the prompt a penalty for what occurred sees at the first step.
fn n_of_prompt(filter: &Filter, prompt: &[TokenId]) -> usize {
    let Some(window) = window_of(filter).filter(|window| window.prompt_counted) else {
        return 0;
    };
    let n_window = window.last_n.map_or(usize::MAX, |n| n as usize);
    let start = prompt.len().saturating_sub(n_window);
    let seen: BTreeSet<&TokenId> = prompt.iter().skip(start).collect();
    seen.len()
}

/// Where a penalty for what occurred looks.
const fn window_of(filter: &Filter) -> Option<Window> {
    match filter {
        Filter::RepetitionPenalty(penalty) => Some(penalty.window),
        Filter::FrequencyPenalty(penalty) => Some(penalty.window),
        Filter::PresencePenalty(penalty) => Some(penalty.window),
        _ => None,
    }
}
