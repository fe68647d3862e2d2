//! Says which settings have no effect, or another than one may think, from the chain and from what
//! its stages did; with a remedy where there is one.
//!
//! A remark is made only where it is true whatever the model says; what can't be known is passed
//! over.

mod idle;
mod order;
mod remedy;
mod tally;
#[cfg(test)]
mod tests;
mod values;

pub use remedy::Remedy;
pub use tally::Tally;

use crate::decoding::{ChainConfig, Filter, Stage};
use crate::generation::listed;

/// One remark about a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Lint {
    /// How much it matters.
    pub importance: Importance,
    /// What it says: one sentence.
    pub message: String,
    /// The stage that it is about, by its place in the chain; nothing where it is the selector.
    pub stage: Option<usize>,
    /// What would settle it.
    pub remedy: Option<Remedy>,
}

/// How much a remark matters, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Importance {
    /// A setting does something else than its name promises.
    Mistaken,
    /// A setting does nothing.
    Idle,
    /// Good to know.
    Notable,
}

/// All remarks about a chain, the most important first. What depends on the size of the vocabulary,
/// or on a text that this very chain has written, is passed over where there is none.
pub fn lint_chain(chain: &ChainConfig, n_vocab: Option<usize>, tally: Option<&Tally>) -> Vec<Lint> {
    let mut lints = values::lints(chain, n_vocab);
    lints.extend(idle::lints(chain));
    lints.extend(order::lints(chain));
    if let Some(tally) = tally {
        let spoken_of = settled_stages(&lints);
        let fresh = |lint: &Lint| lint.stage.is_none_or(|stage| !spoken_of.contains(&stage));
        lints.extend(tally.lints(chain).into_iter().filter(fresh));
    }
    lints.sort_by_key(|lint| lint.importance);
    lints
}

/// The stages of which all that matters is said: what they did in a text adds nothing.
fn settled_stages(lints: &[Lint]) -> Vec<usize> {
    let weighty = lints
        .iter()
        .filter(|lint| lint.importance < Importance::Notable);
    weighty
        .flat_map(|lint| match &lint.remedy {
            Some(Remedy::Mute { stages }) => stages.clone(),
            _ => lint.stage.into_iter().collect(),
        })
        .collect()
}

/// The stages that are on and set to something, with their places.
fn active(chain: &ChainConfig) -> impl DoubleEndedIterator<Item = (usize, &Filter)> {
    let stages = chain.stages.iter().enumerate();
    stages
        .filter(|(_, Stage { filter, enabled })| *enabled && !filter.is_neutral())
        .map(|(index, stage)| (index, &stage.filter))
}

/// A stage as a sentence calls it: "top-k 40".
fn called(filter: &Filter) -> String {
    match filter {
        Filter::LogitBias(_) => "logit bias".to_owned(),
        Filter::Dry(dry) => format!("DRY {}", dry.multiplier),
        Filter::Xtc(xtc) => format!("XTC {}", xtc.probability),
        filter => filter.to_string(),
    }
}

/// "top-k 40, top-p 0.9 and T 0.5"
fn all_called<'a>(filters: impl Iterator<Item = &'a Filter>) -> String {
    let names: Vec<String> = filters.map(called).collect();
    listed(&names)
}

/// The words with a capital letter at their head and a full stop at their end.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}
