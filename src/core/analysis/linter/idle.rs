//! Stages that have no effect, because of the stages before them or because of how the token is
//! picked.

use super::{Importance, Lint, Remedy, active, all_called, called, sentence};
use crate::decoding::dialect::Dialect;
use crate::decoding::{ChainConfig, Filter, Selector};

pub(super) fn lints(chain: &ChainConfig) -> Vec<Lint> {
    let one_left = after_one_is_left(chain);
    let greedy = greedy_ignores(chain);
    let nothing_to_draw = nothing_to_draw(chain).filter(|_| one_left.is_none());
    let all = [
        one_left,
        greedy,
        mirostat_ignores(chain),
        nothing_to_draw,
        set_to_do_nothing(chain),
        only_one_acts(chain),
    ];
    all.into_iter().flatten().collect()
}

/// Returns a finding that these stages have no effect, if there are any.
fn idle(stages: &[(usize, &Filter)], words: impl Fn(&str, bool) -> String) -> Option<Lint> {
    let (first, _) = stages.first()?;
    let names = all_called(stages.iter().map(|(_, filter)| *filter));
    Some(Lint {
        importance: Importance::Idle,
        message: sentence(&words(&names, stages.len() == 1)),
        stage: Some(*first),
        remedy: Some(Remedy::Mute {
            stages: stages.iter().map(|(index, _)| *index).collect(),
        }),
    })
}

/// Returns the first stage that leaves one token, whatever the model predicts.
fn first_to_leave_one(chain: &ChainConfig) -> Option<(usize, &Filter)> {
    active(chain).find(|(_, filter)| filter.leaves_one(chain.rules))
}

/// Returns the stages after the one that leaves one token.
fn idle_after_one(chain: &ChainConfig) -> Vec<(usize, &Filter)> {
    let first = first_to_leave_one(chain).map_or(usize::MAX, |(index, _)| index);
    active(chain).filter(|(index, _)| *index > first).collect()
}

fn after_one_is_left(chain: &ChainConfig) -> Option<Lint> {
    let (_, last) = first_to_leave_one(chain)?;
    idle(&idle_after_one(chain), |names, one| {
        let have = if one { "has" } else { "have" };
        format!(
            "{} leaves only one token, so {names} {have} no effect",
            called(last)
        )
    })
}

fn nothing_to_draw(chain: &ChainConfig) -> Option<Lint> {
    let (at, last) = first_to_leave_one(chain).filter(|_| chain.selector != Selector::Greedy)?;
    Some(Lint {
        importance: Importance::Notable,
        message: sentence(&format!(
            "{} leaves only one token, so there is nothing to draw from",
            called(last)
        )),
        stage: Some(at),
        remedy: None,
    })
}

/// Reports the stages after the last one that can change which token is the most likely.
fn greedy_ignores(chain: &ChainConfig) -> Option<Lint> {
    if chain.selector != Selector::Greedy {
        return None;
    }
    let reported = idle_after_one(chain);
    let from_the_end = active(chain).rev();
    let mut ignored: Vec<_> = from_the_end
        .filter(|stage| !reported.contains(stage))
        .take_while(|(_, filter)| filter.preserves_top())
        .collect();
    ignored.reverse();
    idle(&ignored, |names, one| {
        let have = if one { "has" } else { "have" };
        format!("greedy takes the top token anyway, so {names} {have} no effect")
    })
}

/// Reports stages that llama.cpp skips under mirostat: all but logit bias and plain temperature.
fn mirostat_ignores(chain: &ChainConfig) -> Option<Lint> {
    let mirostat = matches!(
        chain.selector,
        Selector::MirostatV1(_) | Selector::MirostatV2(_)
    );
    if !mirostat || chain.dialect != Some(Dialect::LlamaCpp) {
        return None;
    }
    let applies = |filter: &Filter| match filter {
        Filter::LogitBias(_) | Filter::Temperature(_) => true,
        Filter::DynamicTemperature(heat) => heat.is_plain(),
        _ => false,
    };
    let ignored: Vec<_> = active(chain)
        .filter(|(_, filter)| !applies(filter))
        .collect();
    let lint = idle(&ignored, |names, one| {
        let apply = if one { "applies" } else { "apply" };
        format!("mirostat in llama.cpp ignores {names}, which {apply} here")
    });
    lint.map(|lint| Lint {
        importance: Importance::Mistaken,
        ..lint
    })
}

/// Reports neutral stages, except in an engine's own chain, where neutral values switch stages off.
/// A temperature of 1 is not one: every chain has a temperature.
fn set_to_do_nothing(chain: &ChainConfig) -> Option<Lint> {
    if chain.dialect.is_some() {
        return None;
    }
    let stages = chain.stages.iter().enumerate();
    let neutral: Vec<_> = stages
        .filter(|(_, stage)| stage.enabled && stage.filter.is_neutral())
        .filter(|(_, stage)| !matches!(stage.filter, Filter::Temperature(_)))
        .map(|(index, stage)| (index, &stage.filter))
        .collect();
    let lint = idle(&neutral, |names, one| {
        let has = if one {
            "has no effect at this value"
        } else {
            "have no effect at these values"
        };
        format!("{names} {has}")
    });
    lint.map(|lint| Lint {
        importance: Importance::Notable,
        remedy: Some(Remedy::Remove {
            stages: neutral.iter().map(|(index, _)| *index).collect(),
        }),
        ..lint
    })
}

/// Reports a stage that is the only one switched on, as after a forgotten solo.
fn only_one_acts(chain: &ChainConfig) -> Option<Lint> {
    let mut on = active(chain);
    let (Some((at, alone)), None) = (on.next(), on.next()) else {
        return None;
    };
    let stages = chain.stages.iter().enumerate();
    let muted: Vec<_> = stages
        .filter(|(_, stage)| !stage.enabled && !stage.filter.is_neutral())
        .collect();
    if muted.len() < 2 {
        return None;
    }
    let names = all_called(muted.iter().map(|(_, stage)| &stage.filter));
    Some(Lint {
        importance: Importance::Notable,
        message: sentence(&format!(
            "only {} applies: {names} are muted",
            called(alone)
        )),
        stage: Some(at),
        remedy: Some(Remedy::Unmute {
            stages: muted.iter().map(|(index, _)| *index).collect(),
        }),
    })
}
