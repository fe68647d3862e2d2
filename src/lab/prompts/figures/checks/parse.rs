//! Reads a check from its one-line form.

use std::collections::HashSet;

use super::json::Schema;
use super::names::{Kind, kind_of};
use super::number::{NumberRule, count};
use super::pattern::Pattern;
use super::quoting::{Part, list, quoted};
use super::rule::Rule;
use super::{Check, CheckError, MAX_SPEC_BYTES};

/// Replaces the placeholders of a text.
type Fill<'a> = &'a dyn Fn(&str) -> String;

/// Reads a check. It must have at most the maximum length as it stands, when it is filled, and as it is
/// written again.
pub(super) fn parse(spec: &str, fill: Fill<'_>) -> Result<Check, CheckError> {
    if spec.len() > MAX_SPEC_BYTES {
        return Err(CheckError::TooLong);
    }
    let check = of_any_length(spec, fill)?;
    if check.spec().len() > MAX_SPEC_BYTES {
        return Err(CheckError::TooLong);
    }
    Ok(check)
}

/// Reads a check of any length. A text that starts with no known kind must be the whole answer, as in
/// promptfoo.
fn of_any_length(spec: &str, fill: Fill<'_>) -> Result<Check, CheckError> {
    let whole = Part {
        text: spec,
        column: 1,
    };
    let body = whole.trimmed();
    let positive = body
        .text
        .strip_prefix("not ")
        .or_else(|| body.text.strip_prefix("not-"))
        .map(str::trim_start);
    if let Some((kind, value)) = positive.and_then(kind_of) {
        return typed(kind, part_of(body, value), true, fill);
    }
    if let Some((kind, value)) = kind_of(body.text) {
        return typed(kind, part_of(body, value), false, fill);
    }
    Ok(Check {
        is_negated: false,
        rule: Rule::Equals(bare(body, fill)?),
    })
}

/// Returns the value at the end of a spec with its place. No value is an empty one.
fn part_of<'a>(body: Part<'a>, value: Option<&'a str>) -> Part<'a> {
    let text = value.unwrap_or_default();
    let column = body.column_at(body.text.len() - text.len());
    Part { text, column }.trimmed()
}

fn typed(
    kind: Kind,
    value: Part<'_>,
    is_negated: bool,
    fill: Fill<'_>,
) -> Result<Check, CheckError> {
    match kind {
        Kind::Judged(name) if value.text.starts_with("file://") => {
            let name = format!("{name}: file://");
            Err(CheckError::NotJudged { name })
        }
        Kind::Judged(name) => {
            let rule = rule(name, value, fill)?;
            Ok(Check { is_negated, rule })
        }
        Kind::NotJudged(name) => {
            let name = name.to_owned();
            Err(CheckError::NotJudged { name })
        }
    }
}

fn rule(name: &'static str, value: Part<'_>, fill: Fill<'_>) -> Result<Rule, CheckError> {
    let filled = || {
        let text = fill(value.text).trim().to_owned();
        if text.is_empty() {
            let column = value.column;
            return Err(CheckError::LacksValue { kind: name, column });
        }
        Ok(text)
    };
    let one = |may_be_empty| text(name, value, may_be_empty, fill);
    let many = |separator| texts(name, value, separator, fill);
    let column = value.column;
    Ok(match name {
        "choice" => Rule::Choice(many('|')?),
        "contains" => Rule::Contains(one(false)?),
        "contains-all" => Rule::ContainsAll(many(',')?),
        "contains-any" => Rule::ContainsAny(many(',')?),
        "contains-json" if value.text.is_empty() => Rule::ContainsJson(None),
        "contains-json" => Rule::ContainsJson(Some(Schema::parse(&filled()?, column)?)),
        "ends-with" => Rule::EndsWith(one(false)?),
        "icontains" => Rule::IContains(one(false)?),
        "icontains-all" => Rule::IContainsAll(many(',')?),
        "icontains-any" => Rule::IContainsAny(many(',')?),
        "iequals" => Rule::IEquals(one(true)?),
        "json" if value.text.is_empty() => Rule::Json,
        "json" | "schema" => Rule::Schema(Schema::parse(&filled()?, column)?),
        "max words" => Rule::MaxWords(count(&filled()?, column)?),
        "number" => Rule::Number(NumberRule::parse(&filled()?, column)?),
        "regex" => Rule::Regex(Pattern::parse(&filled()?, column)?),
        "starts-with" => Rule::StartsWith(one(false)?),
        "starts-with-any" => Rule::StartsWithAny(many(',')?),
        "word-count" => Rule::WordCount(count(&filled()?, column)?),
        _ => Rule::Equals(one(true)?),
    })
}

/// Reads the only text of a check. Only a quoted one may be empty.
fn text(
    kind: &'static str,
    value: Part<'_>,
    may_be_empty: bool,
    fill: Fill<'_>,
) -> Result<String, CheckError> {
    let (text, is_quoted) = if value.text.starts_with('"') {
        match quoted(value)? {
            (text, after) if after.text.is_empty() => (fill(&text), true),
            _ => (fill(value.text).trim().to_owned(), false),
        }
    } else {
        (fill(value.text).trim().to_owned(), false)
    };
    if text.is_empty() && !(may_be_empty && is_quoted) {
        let column = value.column;
        return Err(CheckError::LacksValue { kind, column });
    }
    Ok(text)
}

/// Reads the texts of a check, each once.
fn texts(
    kind: &'static str,
    value: Part<'_>,
    separator: char,
    fill: Fill<'_>,
) -> Result<Vec<String>, CheckError> {
    let mut texts = list(value, separator, fill)?;
    let mut seen = HashSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    let may_be_empty = kind == "choice";
    if texts.is_empty() || (!may_be_empty && texts.iter().any(String::is_empty)) {
        let column = value.column;
        return Err(CheckError::LacksValue { kind, column });
    }
    Ok(texts)
}

/// Reads a text without a kind, which is quoted only if it is so as a whole.
fn bare(body: Part<'_>, fill: Fill<'_>) -> Result<String, CheckError> {
    if body.text.starts_with("file://") {
        let name = "file://".to_owned();
        return Err(CheckError::NotJudged { name });
    }
    if body.text.starts_with('"')
        && let Ok((text, after)) = quoted(body)
        && after.text.is_empty()
    {
        return Ok(fill(&text));
    }
    match fill(body.text).trim() {
        "" => Err(CheckError::Empty),
        text => Ok(text.to_owned()),
    }
}
