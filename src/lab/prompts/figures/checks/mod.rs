//! What a right answer is: checks written as one line each, and the verdict on an answer.
//!
//! A check doesn't know where it came from or what was generated: it judges a text, and whether the
//! model ended it.

mod error;
mod json;
mod judge;
mod names;
mod number;
mod parse;
mod pattern;
mod quoting;
mod rule;
#[cfg(test)]
mod tests;
mod words;

pub use error::CheckError;
pub(super) use json::json_mistake;
pub(super) use words::{brief, quote};

use std::slice;

use serde::{Deserialize, Serialize};

use rule::Rule;

/// The maximum length of a check, in bytes.
pub const MAX_SPEC_BYTES: usize = 64 << 10;

/// One condition that a right answer satisfies.
///
/// It is written as a kind, a colon and a value, as in `contains: Oslo`; that includes the assertions
/// of promptfoo's CSV files. A value in double quotation marks keeps its spaces. A text without a kind
/// must be the whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    is_negated: bool,
    rule: Rule,
}

impl Check {
    /// Reads a check from its one-line form.
    pub fn parse(spec: &str) -> Result<Self, CheckError> {
        parse::parse(spec, &str::to_owned)
    }

    /// Reads a check with placeholders. `fill` replaces them in each text after it was taken out of
    /// its quotation marks and lists, so that commas and quotation marks in the data have no meaning.
    pub fn parse_filled(spec: &str, fill: &dyn Fn(&str) -> String) -> Result<Self, CheckError> {
        parse::parse(spec, fill)
    }

    /// Returns the check that an answer starts with one of these texts.
    pub(super) fn starts_with_any(texts: &[String]) -> Result<Self, CheckError> {
        let rule = match texts {
            [] => return Err(CheckError::lacks_value("starts-with")),
            texts if texts.iter().any(String::is_empty) => {
                return Err(CheckError::lacks_value("starts-with"));
            }
            [text] => Rule::StartsWith(text.clone()),
            texts => Rule::StartsWithAny(texts.to_vec()),
        };
        Ok(Self {
            is_negated: false,
            rule,
        })
    }

    /// Judges an answer.
    ///
    /// `not` is the exact opposite: an answer that was cut off equals nothing, so it satisfies
    /// `not equals`, and the shares of right answers of a check and its opposite add up to one.
    pub fn judge(&self, answer: Answer<'_>) -> Verdict {
        match (self.rule.test(answer), self.is_negated) {
            (Ok(_), false) | (Err(_), true) => Verdict::Right,
            (Err(why), false) | (Ok(why), true) => Verdict::Wrong { why },
        }
    }

    /// Returns the texts that are exactly the right answers, byte for byte, if the check is nothing
    /// but that. None occurs twice.
    pub fn exact_texts(&self) -> Option<&[String]> {
        match &self.rule {
            _ if self.is_negated => None,
            Rule::Equals(text) => Some(slice::from_ref(text)),
            Rule::Choice(texts) => Some(texts),
            _ => None,
        }
    }

    /// Returns the check in one line, which reads back as an equal check.
    pub fn spec(&self) -> String {
        let not = if self.is_negated { "not " } else { "" };
        let name = self.rule.name();
        match self.rule.value() {
            value if value.is_empty() => format!("{not}{name}"),
            value => format!("{not}{name}: {value}"),
        }
    }

    /// Returns the kind of the check, without `not`.
    pub fn kind_name(&self) -> &'static str {
        self.rule.name()
    }

    pub fn is_negated(&self) -> bool {
        self.is_negated
    }

    /// Returns the value alone, as it is written in a spec. It is empty if the kind needs none.
    pub fn value(&self) -> String {
        self.rule.value()
    }

    /// Returns how the value is compared, in a few words.
    pub fn sentence(&self) -> &'static str {
        self.rule.sentence()
    }

    /// Returns whether the check holds a compiled pattern or schema, which can take a megabyte. Clones
    /// share it.
    pub(super) fn is_compiled(&self) -> bool {
        matches!(
            self.rule,
            Rule::Regex(_) | Rule::Schema(_) | Rule::ContainsJson(Some(_))
        )
    }

    /// Frees a compiled pattern or schema. From now on each answer compiles it.
    pub(super) fn release(&mut self) {
        match &mut self.rule {
            Rule::Regex(pattern) => pattern.release(),
            Rule::Schema(schema) | Rule::ContainsJson(Some(schema)) => schema.release(),
            _ => {}
        }
    }
}

/// What a model answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<'a> {
    pub text: &'a str,
    /// Whether the model ended the answer, by an end token or a stop string, and not the token limit.
    pub is_complete: bool,
}

/// Whether an answer is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    Right,
    /// `why` is short and fit to be shown.
    Wrong {
        why: String,
    },
}

impl Verdict {
    pub fn is_right(&self) -> bool {
        *self == Self::Right
    }
}

/// Judges an answer by all checks of a task, which must all hold. If one fails, the reason comes from
/// the first that does.
pub fn judge_all(checks: &[Check], answer: Answer<'_>) -> Verdict {
    let verdicts = checks.iter().map(|check| check.judge(answer));
    let mut wrong = verdicts.filter(|verdict| !verdict.is_right());
    wrong.next().unwrap_or(Verdict::Right)
}

/// Returns the texts that are exactly the right answers of a task, if its only check says so.
pub fn exact_texts(checks: &[Check]) -> Option<Vec<String>> {
    match checks {
        [check] => check.exact_texts().map(<[String]>::to_vec),
        _ => None,
    }
}
