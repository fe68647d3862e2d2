//! Why two chains with the same parameters produce different texts: the differences between engines
//! that matter for the stages in use.

mod defaults;
mod order;
mod rules;
#[cfg(test)]
mod tests;

use self::defaults::Numbers;
use super::spoken;
use super::stage::{numbers_of, same_stage};
use crate::decoding::{ChainConfig, Filter};

/// Explains why two chains with the same parameters produce different texts: one sentence per
/// reason, the most important first.
///
/// Returns nothing if the chains are equivalent, or if the user set different parameters, since
/// that explains the difference. Different defaults of two engines count as a reason. `names` names
/// the two sides in case both follow the same engine.
pub fn explain_differences([one, other]: [&ChainConfig; 2], names: [String; 2]) -> Vec<String> {
    if one.selector != other.selector {
        return Vec::new();
    }
    let greedy = one.is_greedy() && other.is_greedy();
    let sides = [one, other].map(|chain| Side::of(chain, greedy));
    let spoken = [one, other].map(|chain| spoken(chain).unwrap_or_else(|| "Quartet".to_owned()));
    let names = if spoken.first() == spoken.last() {
        names
    } else {
        spoken
    };
    let mut reasons = Vec::new();
    match defaults::numbers(&sides, &names) {
        Numbers::Same => {}
        Numbers::Unset(sentence) => reasons.push(sentence),
        Numbers::Chosen => return Vec::new(),
    }
    reasons.extend(order::reasons(&sides, &names));
    reasons.extend(rules::reasons(&sides, &names));
    reasons
}

/// The names of the two sides in a sentence.
type Names = [String; 2];

/// One of the two chains.
struct Side<'a> {
    chain: &'a ChainConfig,
    /// The enabled filters that can change the text.
    active: Vec<&'a Filter>,
}

impl<'a> Side<'a> {
    /// If both chains are greedy, only filters that can change the top token count.
    fn of(chain: &'a ChainConfig, greedy: bool) -> Self {
        let can_matter = |filter: &&Filter| !greedy || !filter.preserves_top();
        Self {
            chain,
            active: chain.active().filter(can_matter).collect(),
        }
    }

    fn counterpart(&self, filter: &Filter) -> Option<&'a Filter> {
        let mut active = self.active.iter().copied();
        active.find(|own| same_stage(own, filter))
    }

    fn place_of(&self, filter: &Filter) -> Option<usize> {
        self.active.iter().position(|own| same_stage(own, filter))
    }
}

/// The pairs of filters that are active on both sides, in the first side's order.
fn shared<'a>([one, other]: &'a [Side<'a>; 2]) -> impl Iterator<Item = (&'a Filter, &'a Filter)> {
    one.active
        .iter()
        .filter_map(|filter| Some((*filter, other.counterpart(filter)?)))
}

fn same_numbers(one: &Filter, other: &Filter) -> bool {
    numbers_of(one) == numbers_of(other)
}
