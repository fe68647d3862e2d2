//! Reads grammars from other tools' settings.

use std::sync::Arc;

use super::schema::{ANY_OBJECT, OBJECT_OR_LIST, llama_schema, schema_rule};
use super::{Value, openai};
use crate::decoding::{ChainConfig, GrammarKind, GrammarMode, GrammarRule};
use crate::interop::tools::fields::{Field, Fields};

/// Takes the grammar from llama.cpp's settings, which on the server include `response_format`.
/// llama.cpp checks after the draw.
pub(in super::super) fn read_llama(
    fields: &mut Fields,
    chain: &mut ChainConfig,
) -> Result<(), String> {
    let format = fields.take("response_format");
    let of_field = |field: Field| {
        let rule = response_format(&field.value, ANY_OBJECT, llama_schema)?;
        Some((rule, field.shown))
    };
    let mut rule = format.and_then(of_field);
    if let Some(field) = fields.take("json_schema") {
        let schema = match &field.value {
            Value::Text(text) => text.clone(),
            other => other.json(),
        };
        rule = Some((llama_schema(&schema), field.shown));
    }
    if let Some(field) = fields.take("grammar") {
        match &field.value {
            Value::Text(text) if text.trim().is_empty() => {}
            Value::Text(text) => {
                rule = Some((GrammarRule::new(GrammarKind::Gbnf, text), field.shown));
            }
            other => {
                return Err(format!(
                    "{} must be a string, not {}",
                    field.shown,
                    other.json()
                ));
            }
        }
    }
    set(rule, GrammarMode::Check, chain)
}

/// Takes the grammar from a request to an OpenAI-compatible service.
pub(in super::super) fn read_openai(
    flavor: openai::Flavor,
    fields: &mut Fields,
    chain: &mut ChainConfig,
) -> Result<(), String> {
    let mut rule = None;
    for (name, key) in [
        ("guided_json", "json"),
        ("guided_regex", "regex"),
        ("guided_choice", "choice"),
        ("guided_grammar", "grammar"),
    ] {
        if let Some(field) = fields.take(name) {
            rule = structured_rule(key, &field.value).map(|found| (found, field.shown));
        }
    }
    let structured = fields.take("structured_outputs");
    if let Some(field) = &structured
        && !matches!(field.value, Value::Map(_))
    {
        let sentence = format!("{} is not supported", field.shown);
        fields.ignored.push(sentence);
    }
    if let Some(field) = structured
        && let Value::Map(entries) = &field.value
    {
        let mut found = entries.iter().filter_map(|(key, value)| match key {
            Value::Text(key) => structured_rule(key, value),
            _ => None,
        });
        rule = found
            .next()
            .map(|found| (found, field.shown.clone()))
            .or(rule);
    }
    if let Some(field) = fields.take("response_format") {
        let json_mode = match flavor {
            openai::Flavor::OpenAi => "{}",
            openai::Flavor::Vllm => OBJECT_OR_LIST,
        };
        rule = response_format(&field.value, json_mode, schema_rule)
            .map(|found| (found, field.shown))
            .or(rule);
    }
    set(rule, GrammarMode::Mask, chain)
}

fn set(
    rule: Option<(GrammarRule, String)>,
    mode: GrammarMode,
    chain: &mut ChainConfig,
) -> Result<(), String> {
    let Some((rule, shown)) = rule else {
        return Ok(());
    };
    let valid = rule.validate();
    valid.map_err(|error| format!("{shown} is invalid: {error}"))?;
    chain.grammar = Some(Arc::new(rule.with_mode(mode)));
    Ok(())
}

/// Reads `response_format`. `json_mode` is the schema of the tool's JSON mode, and `read` is what the
/// tool makes of a schema.
fn response_format(
    value: &Value,
    json_mode: &str,
    read: fn(&str) -> GrammarRule,
) -> Option<GrammarRule> {
    match member(value, "type")? {
        Value::Text(kind) if kind == "json_object" => Some(read(json_mode)),
        Value::Text(kind) if kind == "json_schema" => {
            let wrapped = member(value, "json_schema")?;
            let schema = member(wrapped, "schema").unwrap_or(wrapped);
            Some(read(&schema.json()))
        }
        _ => None,
    }
}

fn structured_rule(key: &str, value: &Value) -> Option<GrammarRule> {
    match (key, value) {
        ("json", Value::Text(schema)) => Some(schema_rule(schema)),
        ("json", schema) => Some(schema_rule(&schema.json())),
        ("json_object", Value::Bool(true)) => Some(schema_rule(OBJECT_OR_LIST)),
        ("regex", Value::Text(regex)) => Some(GrammarRule::new(GrammarKind::Regex, regex)),
        ("choice", Value::List(choices)) => {
            let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
            Some(GrammarRule::new(GrammarKind::Choices, &choices.join("\n")))
        }
        ("grammar", Value::Text(grammar)) => {
            let is_gbnf = grammar.contains("::=");
            let kind = if is_gbnf {
                GrammarKind::Gbnf
            } else {
                GrammarKind::Lark
            };
            Some(GrammarRule::new(kind, grammar))
        }
        _ => None,
    }
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let Value::Map(entries) = value else {
        return None;
    };
    let is_it = |key: &Value| matches!(key, Value::Text(key) if key == name);
    entries
        .iter()
        .find(|(key, _)| is_it(key))
        .map(|(_, value)| value)
}
