//! Values at which a stage does not do what its name promises.

use super::{Importance, Lint, Remedy, active, called, sentence};
use crate::decoding::filters::{LogitBias, RepetitionPenalty, Xtc};
use crate::decoding::{ChainConfig, Filter, Selector};

pub(super) fn lints(chain: &ChainConfig, n_vocab: Option<usize>) -> Vec<Lint> {
    let mut lints = Vec::new();
    for (stage, filter) in active(chain) {
        let found = [
            drops_all_but_the_least_likely(filter, chain),
            never_looks_back_far_enough(filter),
            encourages(filter),
            n_vocab.and_then(|n_vocab| names_unknown_tokens(filter, n_vocab)),
            n_vocab.and_then(|n_vocab| keeps_the_vocabulary(filter, n_vocab)),
            n_vocab.and_then(|n_vocab| has_no_green_token(filter, n_vocab)),
        ];
        lints.extend(found.into_iter().flatten().map(|finding| Lint {
            importance: finding.importance,
            message: sentence(&finding.words),
            stage: Some(stage),
            remedy: Some(match finding.better {
                Some((filter, label)) => Remedy::Set {
                    stage,
                    filter,
                    label,
                },
                None => Remedy::Mute {
                    stages: vec![stage],
                },
            }),
        }));
    }
    lints.extend(adaptive_without_a_cut(chain));
    lints.extend(two_watermarks(chain));
    lints
}

/// A finding about one stage. The remedy is `better` if there is one, otherwise to switch the stage
/// off.
struct Finding {
    importance: Importance,
    words: String,
    better: Option<(Filter, &'static str)>,
}

fn drops_all_but_the_least_likely(filter: &Filter, chain: &ChainConfig) -> Option<Finding> {
    let Filter::Xtc(xtc) = filter else {
        return None;
    };
    (xtc.threshold <= 0.0 && chain.rules.min_keep <= 1).then(|| Finding {
        importance: Importance::Mistaken,
        words: format!(
            "{} with threshold 0 leaves only the least likely token whenever it acts",
            called(filter)
        ),
        better: Some((
            Filter::Xtc(Xtc {
                threshold: 0.1,
                ..*xtc
            }),
            "Set threshold to 0.1",
        )),
    })
}

/// Reports a window too short for the repetitions that the stage looks for.
fn never_looks_back_far_enough(filter: &Filter) -> Option<Finding> {
    let mut wider = filter.clone();
    let (window, n_needed) = match &mut wider {
        Filter::Dry(dry) => (&mut dry.window, u64::from(dry.allowed_length) + 1),
        Filter::NoRepeatNgram(rule) => (&mut rule.window, u64::from(rule.n)),
        _ => return None,
    };
    let last_n = window
        .last_n
        .filter(|last_n| u64::from(*last_n) < n_needed)?;
    window.last_n = None;
    let words = match filter {
        Filter::Dry(dry) => format!(
            "{} never acts: its window of {last_n} tokens holds no repetition of {}",
            called(filter),
            dry.allowed_length
        ),
        _ => format!(
            "{} never acts: its window is only {last_n} tokens long",
            called(filter)
        ),
    };
    Some(Finding {
        importance: Importance::Mistaken,
        words,
        better: Some((wider, "Use all tokens")),
    })
}

/// Reports a penalty on the wrong side of its neutral value.
fn encourages(filter: &Filter) -> Option<Finding> {
    let (is_reward, bound) = match filter {
        Filter::RepetitionPenalty(RepetitionPenalty { penalty, .. }) => (*penalty < 1.0, 1),
        Filter::FrequencyPenalty(rule) => (rule.penalty < 0.0, 0),
        Filter::PresencePenalty(rule) => (rule.penalty < 0.0, 0),
        Filter::Dry(rule) => (rule.multiplier < 0.0, 0),
        _ => return None,
    };
    is_reward.then(|| Finding {
        importance: Importance::Mistaken,
        words: format!(
            "{} makes repetition more likely: only values above {bound} penalize it",
            called(filter)
        ),
        better: None,
    })
}

fn names_unknown_tokens(filter: &Filter, n_vocab: usize) -> Option<Finding> {
    let Filter::LogitBias(rule) = filter else {
        return None;
    };
    let mut known = LogitBias::clone(rule);
    known.biases.retain(|bias| bias.token.index() < n_vocab);
    known.banned.retain(|token| token.index() < n_vocab);
    let biased = rule.biases.iter().map(|bias| bias.token);
    let unknown = biased
        .chain(rule.banned.iter().copied())
        .find(|token| token.index() >= n_vocab)?;
    let last = n_vocab.saturating_sub(1);
    Some(Finding {
        importance: Importance::Mistaken,
        words: format!("logit bias names token {unknown}, but the model’s last token is {last}"),
        better: Some((Filter::LogitBias(known), "Remove token")),
    })
}

fn keeps_the_vocabulary(filter: &Filter, n_vocab: usize) -> Option<Finding> {
    let Filter::TopK(top_k) = filter else {
        return None;
    };
    (top_k.k as usize >= n_vocab).then(|| Finding {
        importance: Importance::Idle,
        words: format!(
            "{} keeps everything: the model has only {n_vocab} tokens",
            called(filter)
        ),
        better: None,
    })
}

fn has_no_green_token(filter: &Filter, n_vocab: usize) -> Option<Finding> {
    let Filter::GreenList(list) = filter else {
        return None;
    };
    (list.n_green(n_vocab as u32) == 0).then(|| Finding {
        importance: Importance::Idle,
        words: format!(
            "{} has no green token: a share of {} of {n_vocab} tokens is less than one",
            called(filter),
            list.ratio
        ),
        better: None,
    })
}

/// Reports several watermarks. Each can be detected, but each weakens the evidence for the others.
fn two_watermarks(chain: &ChainConfig) -> Option<Lint> {
    let is_mark = |filter: &Filter| matches!(filter, Filter::GreenList(_) | Filter::SynthId(_));
    let mut marks = active(chain).filter(|(_, filter)| is_mark(filter));
    let (stage, list) = marks.next()?;
    if let Some((second, other)) = marks
        .next()
        .filter(|(_, other)| other.kind() != list.kind())
    {
        return Some(Lint {
            importance: Importance::Notable,
            message: sentence(&format!(
                "{} and {} both leave a watermark; one is enough",
                called(list),
                called(other)
            )),
            stage: Some(second),
            remedy: Some(Remedy::Mute {
                stages: vec![second],
            }),
        });
    }
    matches!(chain.selector, Selector::GumbelMark(_)).then(|| Lint {
        importance: Importance::Notable,
        message: sentence(&format!(
            "{} and the draw both leave a watermark; one is enough, and Gumbel-max keeps the probabilities as they are",
            called(list)
        )),
        stage: Some(stage),
        remedy: Some(Remedy::Mute {
            stages: vec![stage],
        }),
    })
}

/// Reports adaptive-p without a cut. It favors tokens whose probability is close to the target, and
/// nearly all tokens of a large vocabulary are equally far from it.
fn adaptive_without_a_cut(chain: &ChainConfig) -> Option<Lint> {
    let Selector::AdaptiveP(selector) = chain.selector else {
        return None;
    };
    let has_cut = active(chain).any(|(_, filter)| filter.cuts());
    (!has_cut && selector.target >= 0.0).then(|| Lint {
        importance: Importance::Mistaken,
        message: "Adaptive-p needs a cut before it, or it draws even the least likely tokens."
            .to_owned(),
        stage: None,
        remedy: None,
    })
}
