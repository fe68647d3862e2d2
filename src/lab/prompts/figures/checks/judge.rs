//! Whether an answer satisfies a rule, and why.
//!
//! An answer that was cut off has no end yet. So it is not equal to a text, doesn't end with one, and
//! has no number of words. All other rules judge it as it stands; JSON says itself where it ends.

use super::number::{last_number, written};
use super::rule::Rule;
use super::words::{MAX_QUOTED_CHARS, quote};
use super::{Answer, json};

/// The maximum number of texts that a reason lists.
const MAX_LISTED: usize = 4;

impl Rule {
    /// Returns how an answer satisfies the rule, or why it doesn't, for people to read.
    pub(super) fn test(&self, answer: Answer<'_>) -> Result<String, String> {
        let text = answer.text;
        match self {
            Self::Equals(_)
            | Self::IEquals(_)
            | Self::Choice(_)
            | Self::EndsWith(_)
            | Self::MaxWords(_)
            | Self::WordCount(_)
                if !answer.is_complete =>
            {
                Err("the answer was cut off".to_owned())
            }
            Self::Equals(expected) => {
                held(text == expected, || different(text, expected), || is(text))
            }
            Self::IEquals(expected) => {
                let holds = normalized(text) == normalized(expected);
                held(holds, || different(text, expected), || is(text))
            }
            Self::Choice(texts) => {
                let why = || format!("{} is none of {}", quote(text), listed(texts));
                held(texts.iter().any(|expected| expected == text), why, || {
                    is(text)
                })
            }
            Self::Contains(expected) => all_in(text, [expected].into_iter()),
            Self::IContains(expected) => all_in(&lower(text), [lower(expected)].iter()),
            Self::ContainsAny(texts) => any_in(text, texts),
            Self::IContainsAny(texts) => any_in(&lower(text), &lowered(texts)),
            Self::ContainsAll(texts) => all_in(text, texts.iter()),
            Self::IContainsAll(texts) => all_in(&lower(text), lowered(texts).iter()),
            Self::StartsWith(expected) => starts_with(text, std::slice::from_ref(expected)),
            Self::StartsWithAny(texts) => starts_with(text, texts),
            Self::EndsWith(expected) => held(
                text.ends_with(expected),
                || format!("the answer doesn’t end with {}", quote(expected)),
                || format!("the answer ends with {}", quote(expected)),
            ),
            Self::Regex(pattern) => {
                let source = quote(pattern.source());
                match pattern.find(text) {
                    Some(found) => Ok(format!("{} matches {source}", quote(found))),
                    None => Err(format!("nothing matches {source}")),
                }
            }
            Self::Number(rule) => match last_number(text) {
                Some(found) if rule.holds(found) => {
                    Ok(format!("the last number is {}", written(found)))
                }
                Some(found) if rule.tolerance > 0.0 => {
                    let (value, tolerance) = (written(rule.value), written(rule.tolerance));
                    let found = written(found);
                    Err(format!("{found} is not within {tolerance} of {value}"))
                }
                Some(found) => Err(format!("{} is not {}", written(found), written(rule.value))),
                None => Err("the answer has no number".to_owned()),
            },
            Self::Json => json::whole(text, None).map(|()| "the answer is JSON".to_owned()),
            Self::Schema(schema) => json::whole(text, Some(schema))
                .map(|()| "the answer satisfies the schema".to_owned()),
            Self::ContainsJson(schema) => json::within(text, schema.as_ref())
                .map(|()| "the answer contains such JSON".to_owned()),
            Self::MaxWords(n_max) => {
                let (count, words) = counted(text);
                let why = || format!("{words} are more than {n_max}");
                held(count <= *n_max, why, || format!("the answer has {words}"))
            }
            Self::WordCount(expected) => {
                let (count, words) = counted(text);
                let why = || format!("the answer has {words}, not {expected}");
                held(count == *expected, why, || {
                    format!("the answer has {words}")
                })
            }
        }
    }
}

fn held(
    holds: bool,
    why_not: impl FnOnce() -> String,
    how: impl FnOnce() -> String,
) -> Result<String, String> {
    if holds { Ok(how()) } else { Err(why_not()) }
}

fn any_in(text: &str, texts: &[String]) -> Result<String, String> {
    match texts.iter().find(|wanted| text.contains(*wanted)) {
        Some(found) => Ok(format!("{} occurs", quote(found))),
        None => Err(format!("none of {} occurs", listed(texts))),
    }
}

fn all_in<'a>(
    text: &str,
    texts: impl Iterator<Item = &'a String> + Clone,
) -> Result<String, String> {
    match texts.clone().find(|wanted| !text.contains(*wanted)) {
        Some(missing) => Err(format!("{} is missing", quote(missing))),
        None => Ok(match texts.collect::<Vec<_>>().as_slice() {
            [text] => format!("{} occurs", quote(text)),
            texts => format!("all of the {} texts occur", texts.len()),
        }),
    }
}

fn starts_with(text: &str, texts: &[String]) -> Result<String, String> {
    let found = texts.iter().find(|start| text.starts_with(*start));
    match (found, texts) {
        (Some(start), _) => Ok(format!("the answer starts with {}", quote(start))),
        (None, [start]) => Err(format!(
            "{} doesn’t start with {}",
            quote(text),
            quote(start)
        )),
        (None, _) => Err(format!(
            "{} starts with none of {}",
            quote(text),
            listed(texts)
        )),
    }
}

fn is(text: &str) -> String {
    format!("the answer is {}", quote(text))
}

/// Says that two texts differ. Long ones are shown from shortly before the first difference.
fn different(text: &str, expected: &str) -> String {
    let mut chars = text.chars().zip(expected.chars());
    let n_same = chars.by_ref().take_while(|(a, b)| a == b).count();
    let n_skipped = n_same.saturating_sub(MAX_QUOTED_CHARS / 4);
    if n_same <= MAX_QUOTED_CHARS / 2 {
        return format!("{} is not {}", quote(text), quote(expected));
    }
    let from = |text: &str| -> String {
        let rest = text.chars().skip(n_skipped).take(MAX_QUOTED_CHARS + 1);
        quote(&"… ".chars().chain(rest).collect::<String>())
    };
    format!("{} is not {}", from(text), from(expected))
}

/// Returns the number of words, and that number with its unit.
fn counted(text: &str) -> (usize, String) {
    match text.split_whitespace().count() {
        1 => (1, "1 word".to_owned()),
        count => (count, format!("{count} words")),
    }
}

/// Returns a text without what doesn't matter to `iequals`.
fn normalized(text: &str) -> String {
    let text = text.trim();
    lower(text.strip_suffix('.').unwrap_or(text).trim_end())
}

/// Converts each character by itself, so that a text has the same form in every context.
fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn lowered(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| lower(text)).collect()
}

fn listed(texts: &[String]) -> String {
    let shown = texts.iter().take(MAX_LISTED).map(|text| quote(text));
    let mut list = shown.collect::<Vec<String>>().join(", ");
    if texts.len() > MAX_LISTED {
        list.push_str(", …");
    }
    list
}
