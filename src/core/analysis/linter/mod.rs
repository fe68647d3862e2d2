//! Reports settings that have no effect, or not the one they seem to have, judging by the chain and
//! by what its stages did, with a remedy if there is one.
//!
//! It reports only what is true whatever the model predicts.

mod grammar;
mod guidance;
mod idle;
mod order;
mod remedy;
mod tally;
#[cfg(test)]
mod tests;
mod values;

pub use grammar::ignored_formats;
pub use remedy::Remedy;
pub use tally::Tally;

use crate::decoding::{ChainConfig, Filter, Stage};
use crate::generation::{in_sentence, listed};

/// One finding about a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Lint {
    pub importance: Importance,
    /// One sentence.
    pub message: String,
    /// The index of the stage that it is about, or `None` if it is about the selector.
    pub stage: Option<usize>,
    /// A change that would fix it.
    pub remedy: Option<Remedy>,
}

/// How much a finding matters, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Importance {
    /// A setting does not do what its name promises.
    Mistaken,
    /// A setting has no effect.
    Idle,
    /// Good to know.
    Notable,
}

/// Returns all findings about a chain, the most important first. Those that depend on the size of
/// the vocabulary, or on a text that this chain has generated, need `n_vocab` or `tally`.
pub fn lint_chain(chain: &ChainConfig, n_vocab: Option<usize>, tally: Option<&Tally>) -> Vec<Lint> {
    let mut lints = values::lints(chain, n_vocab);
    lints.extend(idle::lints(chain));
    lints.extend(order::lints(chain));
    lints.extend(grammar::lints(chain));
    lints.extend(guidance::lints(chain));
    if let Some(tally) = tally {
        let reported = reported_stages(&lints);
        let fresh = |lint: &Lint| lint.stage.is_none_or(|stage| !reported.contains(&stage));
        lints.extend(tally.lints(chain).into_iter().filter(fresh));
    }
    lints.sort_by_key(|lint| lint.importance);
    lints
}

/// Returns the stages with a finding so important that what they did in a text adds nothing.
fn reported_stages(lints: &[Lint]) -> Vec<usize> {
    let important = lints
        .iter()
        .filter(|lint| lint.importance < Importance::Notable);
    important
        .flat_map(|lint| match &lint.remedy {
            Some(Remedy::Mute { stages }) => stages.clone(),
            _ => lint.stage.into_iter().collect(),
        })
        .collect()
}

/// Iterates over the stages that are on and not neutral, with their indices.
fn active(chain: &ChainConfig) -> impl DoubleEndedIterator<Item = (usize, &Filter)> {
    let stages = chain.stages.iter().enumerate();
    stages
        .filter(|(_, Stage { filter, enabled })| *enabled && !filter.is_neutral())
        .map(|(index, stage)| (index, &stage.filter))
}

/// Returns what a sentence calls a stage: "top-k 40", "XTC 0.5".
fn called(filter: &Filter) -> String {
    let name = in_sentence(filter.name());
    match filter.spec().params.first() {
        None => name,
        // Acronyms are uppercase in a sentence, unlike on chips.
        Some(param) if name == filter.name() => {
            format!("{name} {}", param.text(filter).unwrap_or_default())
        }
        Some(_) => filter.to_string(),
    }
}

/// Returns what a sentence calls these stages: "top-k 40, top-p 0.9 and T 0.5".
fn all_called<'a>(filters: impl Iterator<Item = &'a Filter>) -> String {
    let names: Vec<String> = filters.map(called).collect();
    listed(&names)
}

/// Capitalizes the first letter and adds a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}
