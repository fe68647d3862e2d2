//! Says which settings have no effect, or another than one may think, from the chain and from what
//! its stages did; with a remedy where there is one.

use std::collections::BTreeSet;

use super::Generation;
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::Window;
use crate::decoding::{ChainConfig, Filter, Selector, Stage, TokenId};

/// From this many steps on, "never" is said of what a stage did not do.
const N_STEPS_LEAST: usize = 20;

/// One remark about a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Lint {
    /// The sentence, without a full stop.
    pub message: String,
    /// The stage that it is about, by its place in the chain; nothing where it is the selector.
    pub stage: Option<usize>,
    /// What would settle it.
    pub remedy: Option<Remedy>,
}

/// A change of a chain that settles a remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Switch these stages off.
    Mute {
        /// By their places in the chain.
        stages: Vec<usize>,
    },
    /// Put a stage elsewhere.
    Move {
        /// Its place.
        from: usize,
        /// The place that it gets; the others keep their order.
        to: usize,
    },
    /// Let a penalty look at generated tokens only.
    SparePrompt {
        /// The penalty's place.
        stage: usize,
    },
}

impl Remedy {
    /// The words of its button.
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Mute { .. } => "Switch off",
            Self::Move { .. } => "Move before the cuts",
            Self::SparePrompt { .. } => "Leave the prompt out",
        }
    }

    /// The chain with the change made.
    pub fn apply(&self, chain: &ChainConfig) -> ChainConfig {
        let mut chain = chain.clone();
        match self {
            Self::Mute { stages } => {
                for (index, stage) in chain.stages.iter_mut().enumerate() {
                    stage.enabled &= !stages.contains(&index);
                }
            }
            Self::Move { from, to } => {
                if *from < chain.stages.len() && *to <= *from {
                    let moved = chain.stages.remove(*from);
                    chain.stages.insert(*to, moved);
                }
            }
            Self::SparePrompt { stage } => {
                let stage = chain.stages.get_mut(*stage);
                if let Some(window) = stage.and_then(|stage| window_of(&mut stage.filter)) {
                    window.prompt_counted = false;
                }
            }
        }
        chain
    }
}

/// All remarks about the settings of a generation, as far as it is written.
pub fn lint(generation: &Generation) -> Vec<Lint> {
    let chain = &generation.config.chain;
    let mut lints = Vec::new();
    lints.extend(greedy_ignores(chain));
    lints.extend(idle_after_one_is_left(chain));
    lints.extend(mirostat_ignores(chain));
    lints.extend(temperature_after_cuts(chain));
    lints.extend(prompt_is_penalised(generation));
    lints.extend(never_cut(generation));
    lints
}

/// The stages that are on and set to something, with their places.
fn active(chain: &ChainConfig) -> impl Iterator<Item = (usize, &Filter)> {
    let stages = chain.stages.iter().enumerate();
    stages
        .filter(|(_, Stage { filter, enabled })| *enabled && !filter.is_neutral())
        .map(|(index, stage)| (index, &stage.filter))
}

/// Whether the most likely token is the same after the filter as before it.
fn keeps_the_best(filter: &Filter) -> bool {
    matches!(
        filter,
        Filter::Temperature(_)
            | Filter::DynamicTemperature(_)
            | Filter::QuadraticSmoothing(_)
            | Filter::TopK(_)
            | Filter::TopP(_)
            | Filter::MinP(_)
            | Filter::TopNSigma(_)
            | Filter::EpsilonCutoff(_)
            | Filter::EtaCutoff(_)
            | Filter::TopA(_)
            | Filter::TailFree(_)
    )
}

fn greedy_ignores(chain: &ChainConfig) -> Option<Lint> {
    if chain.selector != Selector::Greedy {
        return None;
    }
    let idle: Vec<_> = active(chain)
        .filter(|(_, filter)| keeps_the_best(filter))
        .collect();
    mute(&idle, |names| {
        format!("The most likely token is always taken, whatever {names} is set to")
    })
}

fn idle_after_one_is_left(chain: &ChainConfig) -> Option<Lint> {
    let leaves_one = |filter: &Filter| match filter {
        Filter::Temperature(heat) => heat.temperature <= 0.0,
        Filter::TopK(top_k) => top_k.k == 1,
        _ => false,
    };
    let (at, last) = active(chain).find(|(_, filter)| leaves_one(filter))?;
    let idle: Vec<_> = active(chain).filter(|(index, _)| *index > at).collect();
    mute(&idle, |names| {
        format!("{last} leaves one token, so {names} has nothing to do")
    })
}

fn mirostat_ignores(chain: &ChainConfig) -> Option<Lint> {
    let mirostat = matches!(
        chain.selector,
        Selector::MirostatV1(_) | Selector::MirostatV2(_)
    );
    if !mirostat || chain.rules != Dialect::LlamaCpp.rules() {
        return None;
    }
    let passed_over = |filter: &Filter| {
        !matches!(
            filter,
            Filter::LogitBias(_) | Filter::Temperature(_) | Filter::DynamicTemperature(_)
        )
    };
    let idle: Vec<_> = active(chain)
        .filter(|(_, filter)| passed_over(filter))
        .collect();
    mute(&idle, |names| {
        format!("llama.cpp's mirostat passes over {names}; here it would act")
    })
}

fn mute(idle: &[(usize, &Filter)], message: impl Fn(&str) -> String) -> Option<Lint> {
    let (first, _) = idle.first()?;
    let names: Vec<String> = idle.iter().map(|(_, filter)| filter.to_string()).collect();
    let stages = idle.iter().map(|(index, _)| *index).collect();
    Some(Lint {
        message: message(&names.join(", ")),
        stage: Some(*first),
        remedy: Some(Remedy::Mute { stages }),
    })
}

fn temperature_after_cuts(chain: &ChainConfig) -> Option<Lint> {
    if chain.is_greedy() {
        return None;
    }
    let is_heat = |filter: &Filter| {
        matches!(
            filter,
            Filter::Temperature(_) | Filter::DynamicTemperature(_)
        )
    };
    let (heat_at, heat) = active(chain).find(|(_, filter)| is_heat(filter))?;
    // The k most likely and those within some deviations are the same at any temperature.
    let feels_heat = |filter: &Filter| {
        filter.cuts() && !matches!(filter, Filter::TopK(_) | Filter::TopNSigma(_))
    };
    let (first_cut, cut) = active(chain).find(|(_, filter)| feels_heat(filter))?;
    let all_before = active(chain).all(|(index, filter)| !feels_heat(filter) || index < heat_at);
    all_before.then(|| Lint {
        message: format!(
            "{heat} comes after {cut}: it changes how often each token is drawn, not which are left"
        ),
        stage: Some(heat_at),
        remedy: Some(Remedy::Move {
            from: heat_at,
            to: first_cut,
        }),
    })
}

fn prompt_is_penalised(generation: &Generation) -> Vec<Lint> {
    let prompt = &generation.prompt.tokens;
    let mut lints = Vec::new();
    for (index, filter) in active(&generation.config.chain) {
        let mut filter = filter.clone();
        let Some(window) = window_of(&mut filter).filter(|window| window.prompt_counted) else {
            continue;
        };
        let n_window = window.last_n.map_or(usize::MAX, |n| n as usize);
        let start = prompt.len().saturating_sub(n_window);
        let seen: BTreeSet<&TokenId> = prompt.iter().skip(start).collect();
        if !seen.is_empty() {
            let n_seen = seen.len();
            let tokens = if n_seen == 1 { "token" } else { "tokens" };
            lints.push(Lint {
                message: format!("{} touched {n_seen} {tokens} of the prompt", filter.name()),
                stage: Some(index),
                remedy: Some(Remedy::SparePrompt { stage: index }),
            });
        }
    }
    lints
}

/// Where a penalty for what occurred looks.
const fn window_of(filter: &mut Filter) -> Option<&mut Window> {
    match filter {
        Filter::RepetitionPenalty(penalty) => Some(&mut penalty.window),
        Filter::FrequencyPenalty(penalty) => Some(&mut penalty.window),
        Filter::PresencePenalty(penalty) => Some(&mut penalty.window),
        _ => None,
    }
}

/// Cuts that cut nothing at any step, and those after which a min-p left fewer than they let through
/// at every step. Min-p looks at the best alone, so the cut before it made no difference.
fn never_cut(generation: &Generation) -> Vec<Lint> {
    let n_steps = generation.steps.len();
    if n_steps < N_STEPS_LEAST {
        return Vec::new();
    }
    let stages = &generation.config.chain.stages;
    let enabled: Vec<usize> = (0..stages.len())
        .filter(|index| stages.get(*index).is_some_and(|stage| stage.enabled))
        .collect();
    let mut lints = Vec::new();
    for (place, index) in enabled.iter().enumerate() {
        let Some(stage) = stages.get(*index) else {
            continue;
        };
        if !stage.filter.cuts() || stage.filter.is_neutral() {
            continue;
        }
        let rule = &stage.filter;
        let message = if never(generation, |kept| kept.get(place + 1) < kept.get(place)) {
            let fewer = enabled.get(..place).unwrap_or_default().iter().rev();
            let cause = fewer
                .filter_map(|index| stages.get(*index))
                .find(|stage| stage.filter.cuts() && !stage.filter.is_neutral());
            let cause = cause.map(|stage| format!(": {} always kept few enough", stage.filter));
            format!(
                "{rule} never cut anything in {n_steps} steps{}",
                cause.unwrap_or_default()
            )
        } else if let Some(later) = min_p_after(stages, &enabled, place) {
            let at = later + 1;
            if !never(generation, |kept| kept.get(at) >= kept.get(place + 1)) {
                continue;
            }
            let Some(later) = enabled.get(later).and_then(|index| stages.get(*index)) else {
                continue;
            };
            format!(
                "{rule} made no difference in {n_steps} steps: {} always kept fewer",
                later.filter
            )
        } else {
            continue;
        };
        lints.push(Lint {
            message,
            stage: Some(*index),
            remedy: Some(Remedy::Mute {
                stages: vec![*index],
            }),
        });
    }
    lints
}

/// Whether this holds at no step, of how many candidates were left: before the chain, then after each
/// stage that is on.
fn never(generation: &Generation, happens: impl Fn(&[u32]) -> bool) -> bool {
    generation.steps.iter().all(|step| {
        let trace = &step.trace;
        let stages = trace.stages.iter().map(|stage| stage.n_kept);
        let kept: Vec<u32> = std::iter::once(trace.raw.n_candidates)
            .chain(stages)
            .collect();
        !happens(&kept)
    })
}

/// The place of a min-p directly after a top-k or top-p, with no stage between that changes scores.
fn min_p_after(stages: &[Stage], enabled: &[usize], place: usize) -> Option<usize> {
    let filter_at = |place: usize| Some(&stages.get(*enabled.get(place)?)?.filter);
    let cut = matches!(filter_at(place), Some(Filter::TopK(_) | Filter::TopP(_)));
    (place + 1..enabled.len())
        .take_while(|later| {
            filter_at(*later).is_some_and(|filter| filter.cuts() || filter.is_neutral())
        })
        .find(|later| {
            cut && matches!(filter_at(*later), Some(Filter::MinP(min_p)) if min_p.p > 0.0)
        })
}

#[cfg(test)]
mod tests {
    use super::{Lint, Remedy, lint};
    use crate::decoding::dialect::Dialect;
    use crate::decoding::{Coins, History, SamplerChain, TokenId};
    use crate::generation::testing::generation;
    use crate::generation::{Generation, PaneSettings};

    /// A generation of 30 steps over falling scores, with six tokens in the prompt.
    fn written_under(words: &str) -> Generation {
        let mut generation = generation(&[(" fox", 0.5)]);
        generation.config.chain = words.parse::<PaneSettings>().unwrap().chain;
        let mut prompt = (*generation.prompt).clone();
        prompt.tokens = [4, 5, 6, 4, 5, 7].map(TokenId).to_vec();
        generation.prompt = std::sync::Arc::new(prompt);
        let mut chain = SamplerChain::new(generation.config.chain.clone());
        let template = generation.steps.remove(0);
        for position in 0..30_u64 {
            let fall = 0.8 + position as f32 / 60.0;
            let logits: Vec<f32> = (0..100_u32).map(|i| -(i as f32) * fall).collect();
            let coins = Coins { seed: 1, position };
            let sampled = chain.sample(&logits, History::empty(), coins).unwrap();
            let mut step = template.clone();
            step.token = sampled.token;
            step.trace = sampled.trace;
            generation.steps.push(step);
        }
        generation
    }

    fn messages(words: &str) -> Vec<String> {
        let lints = lint(&written_under(words));
        lints.into_iter().map(|lint| lint.message).collect()
    }

    #[test]
    fn a_setting_without_effect_is_named() {
        for (words, expected) in [
            (
                "min-p 0.05, top-k 40",
                "top-k 40 never cut anything in 30 steps: min-p 0.05 always kept few enough",
            ),
            (
                "top-k 40, min-p 0.05",
                "top-k 40 made no difference in 30 steps: min-p 0.05 always kept fewer",
            ),
            ("top-k 100", "top-k 100 never cut anything in 30 steps"),
            (
                "min-p 0.05, temp 1.5",
                "T 1.5 comes after min-p 0.05: it changes how often each token is drawn, not which are left",
            ),
            (
                "repeat 1.1",
                "Repetition penalty touched 4 tokens of the prompt",
            ),
            (
                "repeat 1.1 last 2",
                "Repetition penalty touched 2 tokens of the prompt",
            ),
            (
                "temp 0, top-p 0.9",
                "T 0 leaves one token, so top-p 0.9 has nothing to do",
            ),
            (
                "top-k 3, temp 0.5, greedy",
                "The most likely token is always taken, whatever top-k 3, T 0.5 is set to",
            ),
            (
                "top-p 0.9, temp 0.8, mirostat 5, dialect llama.cpp",
                "llama.cpp's mirostat passes over top-p 0.9; here it would act",
            ),
        ] {
            let found = messages(words);
            assert!(
                found.iter().any(|message| message == expected),
                "{words}: {found:?}"
            );
        }
    }

    #[test]
    fn settings_that_do_something_are_let_alone() {
        for words in [
            "sample",
            "greedy",
            "top-k 3",
            "temp 0.7, top-p 0.9",
            "top-k 40 off, min-p 0.05",
            "repeat 1.1 generated only",
            "top-k 2, min-p 0.4",
            "top-p 0.9, mirostat 5",
        ] {
            assert_eq!(messages(words), [] as [&str; 0], "{words}");
        }
    }

    #[test]
    fn a_few_steps_say_nothing_of_never() {
        let mut generation = written_under("top-k 100");
        generation.steps.truncate(19);
        assert_eq!(lint(&generation), []);
    }

    #[test]
    fn a_remedy_settles_what_it_is_for() {
        for words in [
            "min-p 0.05, top-k 40",
            "min-p 0.05, temp 1.5",
            "repeat 1.1",
            "temp 0, top-p 0.9",
            "top-k 3, temp 0.5, greedy",
        ] {
            let generation = written_under(words);
            let Some(Lint {
                message,
                remedy: Some(remedy),
                ..
            }) = lint(&generation).pop()
            else {
                panic!("{words} has no remedy");
            };
            let settled = PaneSettings::from(remedy.apply(&generation.config.chain));
            let left = messages(&settled.to_string());
            assert!(!left.contains(&message), "{words}: {settled}");
            assert!(!remedy.label().is_empty());
        }
        let chain = Dialect::Vllm.chain();
        let beyond = Remedy::Move { from: 99, to: 0 };
        assert_eq!(beyond.apply(&chain), chain);
    }
}
