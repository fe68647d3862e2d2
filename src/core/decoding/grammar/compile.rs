//! Compiles a grammar, and finds where its mistakes are.

use llguidance::api::TopLevelGrammar;
use llguidance::{ParserFactory, TokenParser};
use serde_json::{Value, json};

use super::formats::replace_formats;
use super::rule::MAX_BYTES;
use super::schema_depth::{MAX_SCHEMA_DEPTH, SchemaDepth};
use super::schema_numbers::check_numbers;
use super::{GrammarError, GrammarKind, GrammarRule, TextPlace, gbnf};
use crate::json_words::json_reason;

/// How deeply brackets may be nested, because parsing them takes stack space.
pub(super) const MAX_DEPTH: usize = 64;

/// How many rules a grammar may have, because each may take stack space.
pub(super) const MAX_RULES: usize = 400;

/// The whitespace that a model may write between the parts of a JSON value: none, one space, or one
/// or two line breaks and an indentation. llama.cpp has the same limits; without them, small models
/// may write whitespace forever.
const JSON_SPACE: &str = r"\x20|(\r?\n){1,2}[\x20\t]{0,20}";

/// What a grammar is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To say which tokens may be written.
    Write,
    /// To check an existing text, in which JSON may have any amount of whitespace.
    Check,
}

/// Reads a grammar into the library's form.
pub(super) fn grammar_of(
    rule: &GrammarRule,
    purpose: Purpose,
) -> Result<TopLevelGrammar, GrammarError> {
    let text: &str = rule.text();
    if text.len() > MAX_BYTES {
        return Err(GrammarError::TooComplex {
            message: format!("it has {} bytes, but the limit is {MAX_BYTES}", text.len()),
        });
    }
    if rule.kind() != GrammarKind::Json && text.trim().is_empty() {
        return Err(GrammarError::somewhere("Type a grammar, or use JSON"));
    }
    match rule.kind() {
        GrammarKind::Json => Ok(json_grammar(json!({}), purpose)),
        GrammarKind::Schema => {
            let mut schema = schema(text)?;
            replace_formats(&mut schema);
            Ok(json_grammar(schema, purpose))
        }
        GrammarKind::Regex => regex(text),
        GrammarKind::Choices => {
            let choices: Vec<String> = GrammarRule::choices(text)
                .map(regex_syntax::escape)
                .collect();
            Ok(TopLevelGrammar::from_regex(&format!(
                "({})",
                choices.join("|")
            )))
        }
        GrammarKind::Lark => {
            check_depth(text)?;
            check_rules(text, ":")?;
            Ok(TopLevelGrammar::from_lark(text.to_owned()))
        }
        GrammarKind::Gbnf => {
            check_rules(text, "::=")?;
            Ok(TopLevelGrammar::from_lark(gbnf::to_lark(text)?))
        }
    }
}

/// Compiles a grammar for a vocabulary.
pub(super) fn parser_of(
    rule: &GrammarRule,
    grammar: TopLevelGrammar,
    factory: &ParserFactory,
) -> Result<TokenParser, GrammarError> {
    let created = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        factory.create_parser(grammar)
    }));
    match created {
        Ok(Ok(parser)) => Ok(parser),
        Ok(Err(error)) => Err(explained(rule, &error.to_string())),
        Err(_) => Err(GrammarError::somewhere("The grammar can’t be compiled")),
    }
}

/// Returns the first line of a message of the library; the others repeat the grammar.
pub(super) fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default().trim()
}

fn json_grammar(mut schema: Value, purpose: Purpose) -> TopLevelGrammar {
    if purpose == Purpose::Write
        && let Some(schema) = schema.as_object_mut()
    {
        // A schema may set the library's options itself.
        let options = || json!({ "whitespace_pattern": JSON_SPACE });
        schema.entry("x-guidance").or_insert_with(options);
    }
    TopLevelGrammar::from_json_schema(schema)
}

/// Returns the formats of a schema that are ignored, because only a few are known.
pub(super) fn ignored_formats(text: &str) -> Vec<String> {
    let schema = schema(text);
    schema.map_or_else(|_| Vec::new(), |mut schema| replace_formats(&mut schema))
}

fn schema(text: &str) -> Result<Value, GrammarError> {
    let schema: Value = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column().max(1));
        GrammarError::at(TextPlace { line, column }, sentence(&json_reason(&error)))
    })?;
    check_numbers(text)?;
    if !SchemaDepth::new(&schema).is_shallow(&schema, 0) {
        return Err(GrammarError::TooComplex {
            message: format!(
                "the schema is nested more than {MAX_SCHEMA_DEPTH} deep, references included"
            ),
        });
    }
    Ok(schema)
}

fn regex(text: &str) -> Result<TopLevelGrammar, GrammarError> {
    let parsed = regex_syntax::Parser::new().parse(text);
    let mistake = |span: &regex_syntax::ast::Span, kind: String| {
        let (line, column) = (span.start.line, span.start.column);
        GrammarError::at(TextPlace { line, column }, sentence(&kind))
    };
    match parsed {
        Ok(_) => Ok(TopLevelGrammar::from_regex(text)),
        Err(regex_syntax::Error::Parse(error)) => {
            Err(mistake(error.span(), error.kind().to_string()))
        }
        Err(regex_syntax::Error::Translate(error)) => {
            Err(mistake(error.span(), error.kind().to_string()))
        }
        Err(error) => Err(GrammarError::somewhere(error.to_string())),
    }
}

/// Finds the place of a mistake that the library reports.
fn explained(rule: &GrammarRule, message: &str) -> GrammarError {
    let line = first_line(message);
    if line.contains("too large") || line.contains("too many") || line.contains("fuel") {
        let message = line.to_owned();
        return GrammarError::TooComplex { message };
    }
    let located = line.strip_prefix("at ").unwrap_or(line);
    let place = place_before(located);
    // What follows "error:" says more than the first line of a regular expression's mistake.
    let detail = message
        .lines()
        .find_map(|line| line.trim().strip_prefix("error: "));
    let described = located
        .split_once("): ")
        .map_or(located, |(_, message)| message);
    let described = described.split(" (at ").next().unwrap_or(described);
    let described = detail.unwrap_or(described);
    match (rule.kind(), place) {
        (GrammarKind::Lark, Some(place)) => GrammarError::at(place, sentence(&plain(described))),
        (GrammarKind::Schema, _) => match place_of_name(rule.text(), line) {
            Some(place) => GrammarError::at(place, sentence(described)),
            None => GrammarError::somewhere(sentence(described)),
        },
        _ => GrammarError::somewhere(sentence(&plain(described))),
    }
}

/// Reads the "3(14): " that some messages begin with.
fn place_before(message: &str) -> Option<TextPlace> {
    let (line, rest) = message.split_once('(')?;
    let (column, _) = rest.split_once(')')?;
    Some(TextPlace {
        line: line.trim().parse().ok()?,
        column: column.parse().ok()?,
    })
}

/// Finds the word of a schema that a message names.
fn place_of_name(text: &str, message: &str) -> Option<TextPlace> {
    let quoted = message.split('"').nth(1).map(str::to_owned);
    let last = || {
        message
            .split(": ")
            .last()
            .map(|word| word.trim_matches('\'').to_owned())
    };
    let name = quoted.or_else(last).filter(|name| !name.is_empty())?;
    let offset = text.find(&format!("\"{name}\""))?;
    Some(TextPlace::of_byte(text, offset))
}

/// Rewords the most frequent mistake.
fn plain(message: &str) -> String {
    let brackets = [
        "Expected token ')'",
        "Expected token ']'",
        "Expected token '}'",
    ];
    if brackets.iter().any(|bracket| message.starts_with(bracket)) {
        "a closing bracket is missing".to_owned()
    } else {
        message
            .replace("Expected token", "expected")
            .replace('"', "")
    }
}

/// Begins a message in lower case, because it follows a place, and drops its full stop.
fn sentence(message: &str) -> String {
    let message = message.trim().trim_end_matches('.');
    let mut chars = message.chars();
    let is_acronym = message.chars().nth(1).is_some_and(char::is_uppercase);
    match chars.next() {
        Some(first) if !is_acronym => first.to_lowercase().chain(chars).collect(),
        _ => message.to_owned(),
    }
}

/// Rejects brackets that are nested too deeply, outside strings, regular expressions and comments.
fn check_depth(text: &str) -> Result<(), GrammarError> {
    let (mut depth, mut n_nots) = (0_usize, 0_usize);
    let mut chars = text.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        n_nots = if c == '~' { n_nots + 1 } else { 0 };
        match c {
            '#' => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            '/' if chars.next_if(|(_, c)| *c == '/').is_some() => {
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            '"' | '/' => loop {
                match chars.next() {
                    Some((_, '\\')) => drop(chars.next()),
                    Some((_, end)) if end != c && end != '\n' => {}
                    _ => break,
                }
            },
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth.max(n_nots) > MAX_DEPTH {
            return Err(too_deep(text, offset));
        }
    }
    Ok(())
}

/// The error for brackets that are nested too deeply.
pub(super) fn too_deep(text: &str, offset: usize) -> GrammarError {
    let place = TextPlace::of_byte(text, offset);
    GrammarError::at(place, format!("nested more than {MAX_DEPTH} deep"))
}

/// Rejects more rules than compiling has stack space for.
fn check_rules(text: &str, sign: &str) -> Result<(), GrammarError> {
    let n_rules = text.lines().filter(|line| line.contains(sign)).count();
    if n_rules > MAX_RULES {
        return Err(GrammarError::TooComplex {
            message: format!("it has {n_rules} rules, but the limit is {MAX_RULES}"),
        });
    }
    Ok(())
}
