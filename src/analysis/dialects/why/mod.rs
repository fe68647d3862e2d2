//! Why two chains that have the same numbers give different texts: the traps between engines that
//! really apply to the stages in use.

mod defaults;
mod order;
mod rules;
#[cfg(test)]
mod tests;

use self::defaults::Numbers;
use super::spoken;
use super::stage::{numbers_of, same_stage};
use crate::decoding::{ChainConfig, Filter};

/// Why two chains with the same numbers give different texts, a sentence for each reason, the
/// weightiest first.
///
/// Nothing where they do the same, and nothing where their numbers differ by the user's will: then
/// that is the reason, and it can be seen. Numbers that are merely the defaults of two engines are a
/// reason. `names` are how the two are called in a sentence where both speak like the same engine.
pub fn why_these_differ([one, other]: [&ChainConfig; 2], names: [String; 2]) -> Vec<String> {
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

/// How the two are called in a sentence.
type Names = [String; 2];

/// One of the two chains, and what of it can change a text.
struct Side<'a> {
    chain: &'a ChainConfig,
    active: Vec<&'a Filter>,
}

impl<'a> Side<'a> {
    /// Where both take the top token, only what can change the top token counts.
    fn of(chain: &'a ChainConfig, greedy: bool) -> Self {
        let active = chain.active();
        let active = active.filter(|filter| !greedy || !filter.keeps_the_best());
        Self {
            chain,
            active: active.collect(),
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

/// The stages that act in both, by the first one's order.
fn shared<'a>([one, other]: &'a [Side<'a>; 2]) -> impl Iterator<Item = (&'a Filter, &'a Filter)> {
    one.active
        .iter()
        .filter_map(|filter| Some((*filter, other.counterpart(filter)?)))
}

fn same_numbers(one: &Filter, other: &Filter) -> bool {
    numbers_of(one) == numbers_of(other)
}
