//! Which filters are offered for a chain, and where a new one is inserted.

use crate::decoding::{ChainConfig, Filter, FilterKind, Phase, Usage};

/// The filters offered at first, in this order.
const FIRST: [FilterKind; 4] = [
    FilterKind::TopP,
    FilterKind::TopK,
    FilterKind::MinP,
    FilterKind::RepetitionPenalty,
];

/// How many filters are offered at first.
const N_FIRST: usize = 3;

/// Returns the filters to offer for a chain, with their usual values: the first few that it lacks,
/// or all.
pub(super) fn offered(chain: &ChainConfig, all: bool) -> Vec<Filter> {
    let lacking = lacking(chain, all);
    if all {
        return lacking;
    }
    let is_lacking = |kind: &FilterKind| lacking.iter().any(|filter| filter.kind() == *kind);
    let first = FIRST.into_iter().filter(is_lacking).take(N_FIRST);
    first.map(|kind| (kind.spec().usual)()).collect()
}

/// Returns the filters that the chain lacks, with their usual values: only common ones unless
/// `with_rare`.
pub(super) fn lacking(chain: &ChainConfig, with_rare: bool) -> Vec<Filter> {
    let has = |kind: FilterKind| {
        let mut stages = chain.stages.iter();
        stages.any(|stage| stage.filter.kind() == kind)
    };
    let offered = FilterKind::by_usage().into_iter().filter(|kind| {
        let is_common = kind.spec().usage == Usage::Common;
        (is_common || with_rare) && !has(*kind)
    });
    offered.map(|kind| (kind.spec().usual)()).collect()
}

/// Returns the index for a new filter: before the first stage that usually comes after it, or else
/// the end.
pub(super) fn place_for(chain: &ChainConfig, filter: &Filter) -> usize {
    chain
        .stages
        .iter()
        .position(|stage| rank(&stage.filter) > rank(filter))
        .unwrap_or(chain.stages.len())
}

/// Returns a key that sorts filters by usual place. Rare filters of one phase have equal keys.
fn rank(filter: &Filter) -> (Phase, Usage, Option<FilterKind>) {
    let spec = filter.spec();
    let is_common = spec.usage == Usage::Common;
    (spec.phase, spec.usage, is_common.then_some(spec.kind))
}

#[cfg(test)]
mod tests {
    use super::{lacking, offered, place_for};
    use crate::decoding::{ChainConfig, FilterKind};

    #[test]
    fn a_stage_is_added_at_its_usual_place() {
        use FilterKind::{MinP, PresencePenalty, RepetitionPenalty, Temperature, TopK, TopP};
        let usual = |kind: FilterKind| (kind.spec().usual)();
        let chain = ChainConfig::sampled([PresencePenalty, Temperature, TopP].map(usual));
        for (kind, place) in [(RepetitionPenalty, 0), (TopK, 2), (MinP, 3)] {
            assert_eq!(place_for(&chain, &usual(kind)), place, "{kind:?}");
        }
    }

    #[test]
    fn at_first_the_usual_filters_are_offered() {
        use FilterKind::{Temperature, TopP};
        let usual = |kind: FilterKind| (kind.spec().usual)();
        let names = |kinds: &[FilterKind]| -> Vec<&str> {
            let chain = ChainConfig::sampled(kinds.iter().map(|kind| usual(*kind)));
            let offered = offered(&chain, false).into_iter();
            offered.map(|filter| filter.name()).collect()
        };
        assert_eq!(names(&[]), ["Top-p", "Top-k", "Min-p"]);
        let others = ["Top-k", "Min-p", "Repetition penalty"];
        assert_eq!(names(&[Temperature, TopP]), others);
    }

    #[test]
    fn a_chain_with_every_filter_lacks_none() {
        let mut chain = ChainConfig::sampled([]);
        assert_eq!(lacking(&chain, false).len(), 7);
        for filter in lacking(&chain, true) {
            let index = place_for(&chain, &filter);
            chain.stages.insert(index, filter.into());
        }
        assert_eq!(chain.stages.len(), FilterKind::ALL.len());
        assert_eq!(lacking(&chain, true), []);
    }
}
