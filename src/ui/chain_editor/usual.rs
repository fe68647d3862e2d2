//! How each filter is set when it is added, and where it usually stands.

use crate::decoding::filters::{
    Dry, DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, LogitBias, MinP,
    NoRepeatNgram, PresencePenalty, QuadraticSmoothing, RepetitionPenalty, TailFree, Temperature,
    TopA, TopK, TopNSigma, TopP, TypicalP, Window, Xtc,
};
use crate::decoding::{ChainConfig, Filter};

/// Makes a filter, set to something usual.
pub(super) type Usual = fn() -> Filter;

/// The filters that most programs have, in the order in which they usually stand.
pub(super) const COMMON: [Usual; 7] = [
    || {
        Filter::RepetitionPenalty(RepetitionPenalty {
            penalty: 1.1,
            window: Window::LAST_64,
        })
    },
    || {
        Filter::FrequencyPenalty(FrequencyPenalty {
            penalty: 0.5,
            window: Window::LAST_64,
        })
    },
    || {
        Filter::PresencePenalty(PresencePenalty {
            penalty: 0.5,
            window: Window::LAST_64,
        })
    },
    || Filter::Temperature(Temperature { temperature: 0.8 }),
    || Filter::TopK(TopK { k: 40 }),
    || Filter::TopP(TopP { p: 0.9 }),
    || Filter::MinP(MinP { p: 0.05 }),
];

/// The others, in the same order.
pub(super) const RARE: [Usual; 12] = [
    || Filter::LogitBias(LogitBias::default()),
    || {
        Filter::NoRepeatNgram(NoRepeatNgram {
            n: 3,
            window: Window::ALL,
        })
    },
    || {
        Filter::Dry(Dry {
            multiplier: 0.8,
            base: 1.75,
            allowed_length: 2,
            window: Window::ALL,
            breakers: Vec::new(),
        })
    },
    || {
        Filter::DynamicTemperature(DynamicTemperature {
            temperature: 1.0,
            range: 0.5,
            exponent: 1.0,
        })
    },
    || {
        Filter::QuadraticSmoothing(QuadraticSmoothing {
            factor: 0.3,
            curve: 1.0,
        })
    },
    || Filter::TypicalP(TypicalP { p: 0.9 }),
    || Filter::TopNSigma(TopNSigma { n: 1.0 }),
    || Filter::EpsilonCutoff(EpsilonCutoff { epsilon: 0.001 }),
    || Filter::EtaCutoff(EtaCutoff { epsilon: 0.001 }),
    || {
        Filter::Xtc(Xtc {
            probability: 0.5,
            threshold: 0.1,
        })
    },
    || Filter::TopA(TopA { a: 0.2 }),
    || Filter::TailFree(TailFree { z: 0.95 }),
];

/// The filters that the chain lacks of those that are offered.
pub(super) fn lacking(chain: &ChainConfig, with_rare: bool) -> Vec<Filter> {
    let has = |filter: &Filter| {
        let mut stages = chain.stages.iter();
        stages.any(|stage| same_kind(&stage.filter, filter))
    };
    let offered = COMMON.iter().chain(RARE.iter().filter(|_| with_rare));
    let usual = offered.map(|usual| usual());
    usual.filter(|filter| !has(filter)).collect()
}

/// Where a filter is put: before the first stage that usually stands after it, otherwise at the end.
pub(super) fn place_for(chain: &ChainConfig, filter: &Filter) -> usize {
    chain
        .stages
        .iter()
        .position(|stage| rank(&stage.filter) > rank(filter))
        .unwrap_or(chain.stages.len())
}

fn same_kind(one: &Filter, other: &Filter) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// What looks back stands before what bends the scores, and that before what cuts.
fn rank(filter: &Filter) -> (u8, usize) {
    let place = COMMON.iter().position(|usual| same_kind(&usual(), filter));
    let group = match filter {
        Filter::LogitBias(_)
        | Filter::RepetitionPenalty(_)
        | Filter::FrequencyPenalty(_)
        | Filter::PresencePenalty(_)
        | Filter::NoRepeatNgram(_)
        | Filter::Dry(_) => 0,
        filter if !filter.cuts() => 1,
        _ => 2,
    };
    (group, place.unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::{COMMON, RARE, lacking, place_for};
    use crate::decoding::ChainConfig;

    #[test]
    fn a_stage_is_added_where_it_usually_stands() {
        let [repetition, _, presence, temperature, top_k, top_p, min_p] =
            COMMON.map(|usual| usual());
        let chain = ChainConfig::sampled([presence, temperature, top_p]);
        for (filter, place) in [(repetition, 0), (top_k, 2), (min_p, 3)] {
            assert_eq!(place_for(&chain, &filter), place, "{filter}");
        }
    }

    #[test]
    fn a_chain_that_has_every_filter_lacks_none() {
        let mut chain = ChainConfig::sampled([]);
        assert_eq!(lacking(&chain, false).len(), COMMON.len());
        for filter in lacking(&chain, true) {
            let at = place_for(&chain, &filter);
            chain.stages.insert(at, filter.into());
        }
        assert_eq!(chain.stages.len(), COMMON.len() + RARE.len());
        assert_eq!(lacking(&chain, true), []);
    }
}
