//! One stage alone: all others are muted, and come back as they were.

use crate::decoding::{ChainConfig, Stage};

/// The stage that is alone, and which were on before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::state) struct Solo {
    stage: &'static str,
    before: Vec<(&'static str, bool)>,
}

impl Solo {
    /// The index of the stage that is alone; nothing once the chain was changed in another way.
    pub(in crate::state) fn index(&self, chain: &ChainConfig) -> Option<usize> {
        let mut on = (0..).zip(&chain.stages).filter(|(_, stage)| stage.enabled);
        let (index, only) = on.next()?;
        (on.next().is_none() && only.filter.name() == self.stage).then_some(index)
    }

    /// Leaves the stage at this index alone, or brings back what was on before.
    pub(in crate::state) fn toggle(solo: &mut Option<Self>, index: usize, chain: &mut ChainConfig) {
        let held = solo.take().filter(|solo| solo.index(chain).is_some());
        let Some(stage) = chain.stages.get(index).map(|stage| stage.filter.name()) else {
            return;
        };
        let before = match held {
            Some(held) if held.index(chain) == Some(index) => {
                return bring_back(held.before, &mut chain.stages);
            }
            Some(held) => held.before,
            None => {
                let stages = chain.stages.iter();
                stages
                    .map(|stage| (stage.filter.name(), stage.enabled))
                    .collect()
            }
        };
        for (at, stage) in chain.stages.iter_mut().enumerate() {
            stage.enabled = at == index;
        }
        *solo = Some(Self { stage, before });
    }
}

/// A stage that was not there before stays as it is.
fn bring_back(mut before: Vec<(&str, bool)>, stages: &mut [Stage]) {
    for stage in stages {
        let name = stage.filter.name();
        if let Some(at) = before.iter().position(|(other, _)| *other == name) {
            (_, stage.enabled) = before.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Solo;
    use crate::decoding::ChainConfig;
    use crate::decoding::Filter;
    use crate::decoding::filters::{MinP, Temperature, TopK, TopP};

    /// Temperature, top-k, top-p and min-p; top-k is muted.
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

    fn on(chain: &ChainConfig) -> Vec<bool> {
        chain.stages.iter().map(|stage| stage.enabled).collect()
    }

    #[test]
    fn what_was_on_before_is_on_again() {
        for index in 0..4 {
            let (mut chain, mut solo) = (chain(), None);
            Solo::toggle(&mut solo, index, &mut chain);
            assert_eq!(solo.as_ref().unwrap().index(&chain), Some(index));
            assert_eq!(on(&chain).iter().filter(|on| **on).count(), 1);
            Solo::toggle(&mut solo, index, &mut chain);
            assert_eq!(chain, self::chain());
            assert_eq!(solo, None);
        }
    }

    #[test]
    fn another_stage_alone_still_knows_what_was_on_at_first() {
        let (mut chain, mut solo) = (chain(), None);
        Solo::toggle(&mut solo, 0, &mut chain);
        Solo::toggle(&mut solo, 2, &mut chain);
        assert_eq!(on(&chain), [false, false, true, false]);
        Solo::toggle(&mut solo, 2, &mut chain);
        assert_eq!(chain, self::chain());
    }

    #[test]
    fn it_survives_another_order_and_ends_with_another_mute() {
        let (mut chain, mut solo) = (chain(), None);
        Solo::toggle(&mut solo, 0, &mut chain);
        chain.stages.reverse();
        assert_eq!(solo.as_ref().unwrap().index(&chain), Some(3));
        Solo::toggle(&mut solo, 3, &mut chain);
        assert_eq!(on(&chain), [true, true, false, true]);

        Solo::toggle(&mut solo, 0, &mut chain);
        chain.stages[1].enabled = true;
        assert_eq!(solo.as_ref().unwrap().index(&chain), None);
    }
}
