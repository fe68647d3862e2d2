//! Values at which a stage does something else than its name promises.

use super::{Importance, Lint, Remedy, active, called, sentence};
use crate::decoding::filters::{LogitBias, RepetitionPenalty, Xtc};
use crate::decoding::{ChainConfig, Filter, Selector};

/// The threshold of XTC that its author recommends.
const USUAL_XTC_THRESHOLD: f32 = 0.1;

pub(super) fn lints(chain: &ChainConfig, n_vocab: Option<usize>) -> Vec<Lint> {
    let mut lints = Vec::new();
    for (stage, filter) in active(chain) {
        let found = [
            drops_all_but_the_least_likely(filter, chain),
            never_looks_back_far_enough(filter),
            encourages(filter),
            n_vocab.and_then(|n_vocab| names_unknown_tokens(filter, n_vocab)),
            n_vocab.and_then(|n_vocab| keeps_the_vocabulary(filter, n_vocab)),
        ];
        lints.extend(found.into_iter().flatten().map(|remark| Lint {
            importance: remark.importance,
            message: sentence(&remark.words),
            stage: Some(stage),
            remedy: Some(match remark.better {
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
    lints
}

/// What is said of one stage, and the values that would settle it; otherwise it is switched off.
struct Remark {
    importance: Importance,
    words: String,
    better: Option<(Filter, &'static str)>,
}

fn drops_all_but_the_least_likely(filter: &Filter, chain: &ChainConfig) -> Option<Remark> {
    let Filter::Xtc(xtc) = filter else {
        return None;
    };
    (xtc.threshold <= 0.0 && chain.rules.min_keep <= 1).then(|| Remark {
        importance: Importance::Mistaken,
        words: format!(
            "{} with threshold 0 leaves only the least likely token, each time that it acts",
            called(filter)
        ),
        better: Some((
            Filter::Xtc(Xtc {
                threshold: USUAL_XTC_THRESHOLD,
                ..*xtc
            }),
            "Set the threshold to 0.1",
        )),
    })
}

/// A repetition that is longer than what is looked at is never found.
fn never_looks_back_far_enough(filter: &Filter) -> Option<Remark> {
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
            "{} never acts: it allows repetitions of {} tokens and looks at the last {last_n}",
            called(filter),
            dry.allowed_length
        ),
        _ => format!(
            "{} never acts: it looks at the last {last_n} tokens only",
            called(filter)
        ),
    };
    Some(Remark {
        importance: Importance::Mistaken,
        words,
        better: Some((wider, "Look at all tokens")),
    })
}

/// A penalty on the other side of its neutral value.
fn encourages(filter: &Filter) -> Option<Remark> {
    let (favours, bound) = match filter {
        Filter::RepetitionPenalty(RepetitionPenalty { penalty, .. }) => (*penalty < 1.0, 1),
        Filter::FrequencyPenalty(rule) => (rule.penalty < 0.0, 0),
        Filter::PresencePenalty(rule) => (rule.penalty < 0.0, 0),
        Filter::Dry(rule) => (rule.multiplier < 0.0, 0),
        _ => return None,
    };
    favours.then(|| Remark {
        importance: Importance::Mistaken,
        words: format!(
            "{} makes repetition likelier: only above {bound} does it hold it back",
            called(filter)
        ),
        better: None,
    })
}

fn names_unknown_tokens(filter: &Filter, n_vocab: usize) -> Option<Remark> {
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
    Some(Remark {
        importance: Importance::Mistaken,
        words: format!(
            "logit bias names token {unknown}, which the model lacks: its last is {last}"
        ),
        better: Some((Filter::LogitBias(known), "Leave it out")),
    })
}

fn keeps_the_vocabulary(filter: &Filter, n_vocab: usize) -> Option<Remark> {
    let Filter::TopK(top_k) = filter else {
        return None;
    };
    (top_k.k as usize >= n_vocab).then(|| Remark {
        importance: Importance::Idle,
        words: format!(
            "{} keeps everything: the model has no more tokens",
            called(filter)
        ),
        better: None,
    })
}

/// It draws by how near a probability lies to a target, so that of a large vocabulary nearly all is
/// far from the target, and has its share.
fn adaptive_without_a_cut(chain: &ChainConfig) -> Option<Lint> {
    let Selector::AdaptiveP(selector) = chain.selector else {
        return None;
    };
    let cut = active(chain).any(|(_, filter)| filter.cuts());
    (!cut && selector.target >= 0.0).then(|| Lint {
        importance: Importance::Mistaken,
        message: "Adaptive-p has no cut before it, so even the least likely tokens share its draw."
            .to_owned(),
        stage: None,
        remedy: None,
    })
}
