//! GBNF, the grammar notation of llama.cpp, translated to Lark.
//!
//! The common subset is translated: rules, literals, character classes, groups, alternatives and
//! repetitions. Token references are rejected with an error that names them.

mod lark;
mod parse;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{GrammarError, TextPlace};

/// The rule that a grammar begins with.
const ROOT: &str = "root";

/// A grammar's rules by name.
type Rules = BTreeMap<String, Alternatives>;

/// What a rule matches: one of several sequences.
type Alternatives = Vec<Vec<Item>>;

/// A part of a sequence.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    /// These characters.
    Literal(String),
    /// One character within, or outside, these ranges.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// Whatever another rule matches.
    Rule {
        name: String,
        place: TextPlace,
    },
    Group(Alternatives),
    /// A part that repeats, at least and at most this often.
    Repeat {
        item: Box<Item>,
        least: u32,
        most: Option<u32>,
    },
}

/// Translates a grammar to Lark.
pub(super) fn to_lark(text: &str) -> Result<String, GrammarError> {
    let rules = parse::rules_of(text)?;
    if !rules.contains_key(ROOT) {
        return Err(GrammarError::somewhere("there is no rule named root"));
    }
    for alternatives in rules.values() {
        check_names(alternatives, &rules)?;
    }
    if !has_text(&rules) {
        return Err(GrammarError::Empty);
    }
    Ok(lark::printed(&rules))
}

/// Returns whether any text matches. A rule comes to an end if one of its alternatives needs only
/// rules that do.
fn has_text(rules: &Rules) -> bool {
    let mut ending: BTreeSet<&str> = BTreeSet::new();
    loop {
        let more: Vec<&str> = rules
            .iter()
            .filter(|(name, alternatives)| {
                !ending.contains(name.as_str()) && comes_to_an_end(alternatives, &ending)
            })
            .map(|(name, _)| name.as_str())
            .collect();
        if more.is_empty() {
            return ending.contains(ROOT);
        }
        ending.extend(more);
    }
}

fn comes_to_an_end(alternatives: &Alternatives, ending: &BTreeSet<&str>) -> bool {
    let ends = |item: &Item| item_ends(item, ending);
    alternatives.iter().any(|items| items.iter().all(ends))
}

fn item_ends(item: &Item, ending: &BTreeSet<&str>) -> bool {
    match item {
        Item::Literal(_) | Item::Class { .. } => true,
        Item::Rule { name, .. } => ending.contains(name.as_str()),
        Item::Group(alternatives) => comes_to_an_end(alternatives, ending),
        Item::Repeat { item, least, .. } => *least == 0 || item_ends(item, ending),
    }
}

/// Rejects references to rules that do not exist.
fn check_names(alternatives: &Alternatives, rules: &Rules) -> Result<(), GrammarError> {
    for item in alternatives.iter().flatten() {
        match item {
            Item::Rule { name, place } if !rules.contains_key(name) => {
                return Err(GrammarError::at(
                    *place,
                    format!("there is no rule named {name}"),
                ));
            }
            Item::Group(alternatives) => check_names(alternatives, rules)?,
            Item::Repeat { item, .. } => check_names(&vec![vec![(**item).clone()]], rules)?,
            _ => {}
        }
    }
    Ok(())
}
