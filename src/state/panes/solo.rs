//! Soloing a stage: all others are muted, and restored afterwards.

use crate::decoding::{ChainConfig, Stage};

/// The soloed stage, and which stages were enabled before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::state) struct Solo {
    /// The filter's name; stages have no id, and their order may change.
    stage: &'static str,
    /// Each stage's name and whether it was enabled before the first solo.
    before: Vec<(&'static str, bool)>,
}

impl Solo {
    /// Returns the index of the soloed stage, or `None` if the chain has changed and the stage is
    /// no longer the only enabled one.
    pub(in crate::state) fn index(&self, chain: &ChainConfig) -> Option<usize> {
        let mut enabled = (0..).zip(&chain.stages).filter(|(_, stage)| stage.enabled);
        let (index, first) = enabled.next()?;
        (enabled.next().is_none() && first.filter.name() == self.stage).then_some(index)
    }

    /// Solos the stage at this index, or ends the solo if that stage is already soloed.
    pub(in crate::state) fn toggle(solo: &mut Option<Self>, index: usize, chain: &mut ChainConfig) {
        let active = solo.take().filter(|solo| solo.index(chain).is_some());
        let Some(stage) = chain.stages.get(index).map(|stage| stage.filter.name()) else {
            return;
        };
        let before = match active {
            Some(active) if active.index(chain) == Some(index) => {
                return restore_enabled(active.before, &mut chain.stages);
            }
            Some(active) => active.before,
            None => {
                let stages = chain.stages.iter();
                stages
                    .map(|stage| (stage.filter.name(), stage.enabled))
                    .collect()
            }
        };
        for (stage_index, stage) in chain.stages.iter_mut().enumerate() {
            stage.enabled = stage_index == index;
        }
        *solo = Some(Self { stage, before });
    }
}

/// Restores which stages are enabled. Stages added since then stay as they are.
fn restore_enabled(mut before: Vec<(&str, bool)>, stages: &mut [Stage]) {
    for stage in stages {
        let name = stage.filter.name();
        if let Some(index) = before.iter().position(|(other, _)| *other == name) {
            (_, stage.enabled) = before.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Solo;
    use crate::decoding::ChainConfig;
    use crate::decoding::Filter;
    use crate::decoding::filters::{MinP, Temperature, TopK, TopP};

    /// A chain of temperature, top-k (muted), top-p and min-p.
    fn chain() -> ChainConfig {
        let mut chain = ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopK(TopK { k: 40 }),
            Filter::TopP(TopP { p: 0.9 }),
            Filter::MinP(MinP { p: 0.05 }),
        ]);
        chain.stages[1].enabled = false;
        chain
    }

    fn enabled(chain: &ChainConfig) -> Vec<bool> {
        chain.stages.iter().map(|stage| stage.enabled).collect()
    }

    #[test]
    fn ending_a_solo_restores_the_chain() {
        for index in 0..4 {
            let (mut chain, mut solo) = (chain(), None);
            Solo::toggle(&mut solo, index, &mut chain);
            assert_eq!(solo.as_ref().unwrap().index(&chain), Some(index));
            let n_enabled = enabled(&chain).into_iter().filter(|enabled| *enabled);
            assert_eq!(n_enabled.count(), 1);
            Solo::toggle(&mut solo, index, &mut chain);
            assert_eq!(chain, self::chain());
            assert_eq!(solo, None);
        }
    }

    #[test]
    fn soloing_another_stage_keeps_the_original_state() {
        let (mut chain, mut solo) = (chain(), None);
        Solo::toggle(&mut solo, 0, &mut chain);
        Solo::toggle(&mut solo, 2, &mut chain);
        assert_eq!(enabled(&chain), [false, false, true, false]);
        Solo::toggle(&mut solo, 2, &mut chain);
        assert_eq!(chain, self::chain());
    }

    #[test]
    fn a_solo_survives_reordering_and_ends_when_another_stage_is_enabled() {
        let (mut chain, mut solo) = (chain(), None);
        Solo::toggle(&mut solo, 0, &mut chain);
        chain.stages.reverse();
        assert_eq!(solo.as_ref().unwrap().index(&chain), Some(3));
        Solo::toggle(&mut solo, 3, &mut chain);
        assert_eq!(enabled(&chain), [true, true, false, true]);

        Solo::toggle(&mut solo, 0, &mut chain);
        chain.stages[1].enabled = true;
        assert_eq!(solo.as_ref().unwrap().index(&chain), None);
    }
}
