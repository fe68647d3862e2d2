//! GBNF, the grammar notation of llama.cpp, translated to Lark.
//!
//! The common subset is translated: rules, literals, character classes, groups, alternatives and
//! repetitions. Token references are rejected with an error that names them.

mod lark;
mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

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
    Ok(lark::printed(&rules))
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
