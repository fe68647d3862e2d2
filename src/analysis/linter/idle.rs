//! Stages that have nothing to do: because of what comes before them, or of how the token is drawn.

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

/// A remark that these do nothing, if there are any.
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

/// The first stage after which one token is left, whatever the model says.
fn last_to_act(chain: &ChainConfig) -> Option<(usize, &Filter)> {
    active(chain).find(|(_, filter)| filter.leaves_one(chain.rules))
}

/// The stages that come after one token is left.
fn idle_after_one(chain: &ChainConfig) -> Vec<(usize, &Filter)> {
    let at = last_to_act(chain).map_or(usize::MAX, |(at, _)| at);
    active(chain).filter(|(index, _)| *index > at).collect()
}

fn after_one_is_left(chain: &ChainConfig) -> Option<Lint> {
    let (_, last) = last_to_act(chain)?;
    idle(&idle_after_one(chain), |names, one| {
        let have = if one { "has" } else { "have" };
        format!(
            "{} leaves one token, so {names} {have} nothing to do",
            called(last)
        )
    })
}

fn nothing_to_draw(chain: &ChainConfig) -> Option<Lint> {
    let (at, last) = last_to_act(chain).filter(|_| chain.selector != Selector::Greedy)?;
    Some(Lint {
        importance: Importance::Notable,
        message: sentence(&format!(
            "{} leaves one token, so the draw has no choice",
            called(last)
        )),
        stage: Some(at),
        remedy: None,
    })
}

/// The stages between the last one that may change which token is the most likely, and the end.
fn greedy_ignores(chain: &ChainConfig) -> Option<Lint> {
    if chain.selector != Selector::Greedy {
        return None;
    }
    let spoken_of = idle_after_one(chain);
    let from_the_end = active(chain).rev();
    let mut ignored: Vec<_> = from_the_end
        .filter(|stage| !spoken_of.contains(stage))
        .take_while(|(_, filter)| filter.keeps_the_best())
        .collect();
    ignored.reverse();
    idle(&ignored, |names, one| {
        let change = if one { "changes" } else { "change" };
        format!("the top token stays the top token: {names} {change} nothing")
    })
}

/// In llama.cpp mirostat takes the place of all samplers but logit bias and plain temperature.
fn mirostat_ignores(chain: &ChainConfig) -> Option<Lint> {
    let mirostat = matches!(
        chain.selector,
        Selector::MirostatV1(_) | Selector::MirostatV2(_)
    );
    if !mirostat || chain.dialect != Some(Dialect::LlamaCpp) {
        return None;
    }
    let heard = |filter: &Filter| match filter {
        Filter::LogitBias(_) | Filter::Temperature(_) => true,
        Filter::DynamicTemperature(heat) => heat.range <= 0.0,
        _ => false,
    };
    let ignored: Vec<_> = active(chain).filter(|(_, filter)| !heard(filter)).collect();
    let lint = idle(&ignored, |names, one| {
        let act = if one { "acts" } else { "act" };
        format!("mirostat in llama.cpp ignores {names}, which {act} here")
    });
    lint.map(|lint| Lint {
        importance: Importance::Mistaken,
        ..lint
    })
}

/// Stages at their neutral value. In an engine's own chain that is how a stage is left out.
fn set_to_do_nothing(chain: &ChainConfig) -> Option<Lint> {
    if chain.dialect.is_some() {
        return None;
    }
    let stages = chain.stages.iter().enumerate();
    let neutral: Vec<_> = stages
        .filter(|(_, stage)| stage.enabled && stage.filter.is_neutral())
        .map(|(index, stage)| (index, &stage.filter))
        .collect();
    let lint = idle(&neutral, |names, one| {
        let does = if one { "does" } else { "do" };
        format!("{names} {does} nothing, set like this")
    });
    lint.map(|lint| Lint {
        importance: Importance::Notable,
        remedy: Some(Remedy::Remove {
            stages: neutral.iter().map(|(index, _)| *index).collect(),
        }),
        ..lint
    })
}

/// One stage alone on, as after listening to it: that is easily forgotten.
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
        message: sentence(&format!("only {} acts: {names} are muted", called(alone))),
        stage: Some(at),
        remedy: Some(Remedy::Unmute {
            stages: muted.iter().map(|(index, _)| *index).collect(),
        }),
    })
}
