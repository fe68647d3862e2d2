//! Grammars in other tools' settings.
//!
//! Sources: llama.cpp's `tools/server/README.md` (2026: `--grammar`, `--json-schema`, and the fields
//! `grammar` and `json_schema`), OpenAI's `response_format`, and vLLM's `structured_outputs` (2026),
//! which replaced `guided_json`, `guided_regex`, `guided_choice` and `guided_grammar`.

use std::sync::Arc;

use super::differences::Difference;
use super::fields::{Field, Fields};
use super::llama::Flavor;
use super::openai;
use super::plan::Plan;
use super::value::{NamedValues, Value};
use crate::decoding::{ChainConfig, GrammarKind, GrammarMode, GrammarRule};

/// The schema of any JSON for llama.cpp, whose converter takes an empty schema as any object
/// (`common/json-schema-to-grammar.cpp`, `visit`).
const ANY_JSON: &str = r#"{"type":["object","array","string","number","boolean","null"]}"#;

/// The schema of any object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// Adds the grammar to llama.cpp's settings, and notes what it can't express.
pub(super) fn write_llama(
    flavor: Flavor,
    rule: Option<&Arc<GrammarRule>>,
    plan: &mut Plan,
    fields: &mut NamedValues,
) {
    let Some(rule) = rule else { return };
    let name = flavor.name();
    if flavor == Flavor::Ollama {
        return plan.tell(
            "Ollama takes a schema only as the format of a request; the grammar is left out"
                .to_owned(),
        );
    }
    match rule.kind() {
        GrammarKind::Json | GrammarKind::Schema => {
            let schema = match rule.kind() {
                GrammarKind::Schema if !is_any(rule.text()) => rule.text(),
                _ => ANY_JSON,
            };
            let value = match flavor {
                Flavor::Server => json_value(schema),
                Flavor::Flags | Flavor::Ollama => Value::text(schema),
            };
            fields.push(("json_schema", value));
            tell_schema(schema, plan);
        }
        GrammarKind::Gbnf => fields.push(("grammar", Value::text(&**rule.text()))),
        GrammarKind::Choices => {
            let choices = GrammarRule::choices(rule.text()).map(gbnf_literal);
            let choices: Vec<String> = choices.collect();
            let gbnf = format!("root ::= {}", choices.join(" | "));
            fields.push(("grammar", Value::text(gbnf)));
        }
        GrammarKind::Regex | GrammarKind::Lark => {
            return plan.tell(format!(
                "{name} takes grammars in GBNF and JSON Schema; the {} is left out",
                in_sentence(rule.kind())
            ));
        }
    }
    if rule.mode() == GrammarMode::Mask {
        plan.tell(format!(
            "{name} checks the grammar after the draw, and masks only to draw again"
        ));
        let words = "grammar before the chain (used: after the draw)";
        plan.differ(Difference::new(words.to_owned()));
    }
}

/// Notes what llama.cpp makes of a schema.
fn tell_schema(schema: &str, plan: &mut Plan) {
    let name = plan.name;
    if holds_empty(&serde_json::from_str(schema).unwrap_or_default()) {
        plan.tell(format!(
            "{name} takes an empty schema inside another one as any object; here it allows any JSON"
        ));
    }
    plan.tell(format!(
        "If {name} was built with llguidance, it allows more whitespace in JSON, and splits what the \
         schema leaves no choice about into the same tokens every time"
    ));
}

/// Whether a schema has an empty one inside. Values that are no schemas don't count.
fn holds_empty(schema: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object};
    let is_empty = |value: &serde_json::Value| {
        value.as_object().is_some_and(serde_json::Map::is_empty) || holds_empty(value)
    };
    match schema {
        Array(schemas) => schemas.iter().any(is_empty),
        Object(entries) => entries
            .iter()
            .any(|(name, value)| match (name.as_str(), value) {
                ("const" | "default" | "enum" | "examples", _) => false,
                ("properties" | "patternProperties" | "$defs" | "definitions", Object(named)) => {
                    named.values().any(is_empty)
                }
                _ => is_empty(value),
            }),
        _ => false,
    }
}

/// Adds the grammar to the body of a request, and notes what OpenAI itself does not support.
pub(super) fn write_openai(
    flavor: openai::Flavor,
    rule: Option<&Arc<GrammarRule>>,
    plan: &mut Plan,
    fields: &mut NamedValues,
) {
    let Some(rule) = rule else { return };
    let text = |text: &str| Value::text(text);
    let format = |kind: &str, more: Option<(Value, Value)>| {
        let mut entries = vec![(text("type"), text(kind))];
        entries.extend(more);
        ("response_format", Value::Map(entries))
    };
    let structured = |name: &str, value: Value| {
        let entries = vec![(text(name), value)];
        ("structured_outputs", Value::Map(entries))
    };
    fields.push(match rule.kind() {
        GrammarKind::Json => format("json_object", None),
        GrammarKind::Schema => {
            let entries = vec![
                (text("name"), text("schema")),
                (text("strict"), Value::Bool(true)),
                (text("schema"), json_value(rule.text())),
            ];
            format(
                "json_schema",
                Some((text("json_schema"), Value::Map(entries))),
            )
        }
        GrammarKind::Regex => structured("regex", text(rule.text())),
        GrammarKind::Choices => {
            structured("choice", Value::texts(GrammarRule::choices(rule.text())))
        }
        GrammarKind::Lark | GrammarKind::Gbnf => structured("grammar", text(rule.text())),
    });
    let is_json = matches!(rule.kind(), GrammarKind::Json | GrammarKind::Schema);
    if flavor == openai::Flavor::OpenAi && !is_json {
        plan.tell(
            "Only vLLM supports structured_outputs; OpenAI takes JSON and JSON Schema".to_owned(),
        );
    }
    if rule.mode() == GrammarMode::Check {
        let name = plan.name;
        plan.tell(format!(
            "{name} masks before the chain instead of checking after the draw"
        ));
        let words = "grammar after the draw (used: before the chain)";
        plan.differ(Difference::new(words.to_owned()));
    }
}

/// Notes that a tool has no grammars.
pub(super) fn leave_out(rule: Option<&Arc<GrammarRule>>, plan: &mut Plan) {
    if rule.is_some() {
        let name = plan.name;
        plan.tell(format!("{name} has no grammars; this one is left out"));
    }
}

/// Takes the grammar from llama.cpp's settings, which on the server include `response_format`.
/// llama.cpp checks after the draw.
pub(super) fn read_llama(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
    let format = fields.take("response_format");
    let of_field = |field: Field| Some((response_format(&field.value, llama_schema)?, field.shown));
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
pub(super) fn read_openai(fields: &mut Fields, chain: &mut ChainConfig) -> Result<(), String> {
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
        rule = response_format(&field.value, schema_rule)
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

/// Reads `response_format`. `read` is what the tool makes of a schema.
fn response_format(value: &Value, read: fn(&str) -> GrammarRule) -> Option<GrammarRule> {
    match member(value, "type")? {
        Value::Text(kind) if kind == "json_object" => Some(read("{}")),
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
        ("json_object", Value::Bool(true)) => Some(GrammarRule::new(GrammarKind::Json, "")),
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

/// Reads a schema as JSON Schema defines it: an empty one allows any JSON.
fn schema_rule(schema: &str) -> GrammarRule {
    if is_any(schema) {
        return GrammarRule::new(GrammarKind::Json, "");
    }
    GrammarRule::new(GrammarKind::Schema, schema.trim())
}

/// Reads a schema as llama.cpp does: an empty one allows any object.
fn llama_schema(schema: &str) -> GrammarRule {
    match schema.trim() {
        "{}" => GrammarRule::new(GrammarKind::Schema, ANY_OBJECT),
        schema => schema_rule(schema),
    }
}

/// Whether a schema allows any JSON.
fn is_any(schema: &str) -> bool {
    let any = ["{}", "true", ANY_JSON].map(serde_json::from_str::<serde_json::Value>);
    let schema = serde_json::from_str(schema);
    any.into_iter()
        .flatten()
        .any(|any| schema.as_ref().is_ok_and(|schema| *schema == any))
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

/// A schema that can't be parsed stays a text; the grammar is invalid anyway.
fn json_value(schema: &str) -> Value {
    match serde_json::from_str::<serde_json::Value>(schema) {
        Ok(schema) => Value::from(schema),
        Err(_) => Value::text(schema),
    }
}

fn gbnf_literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

const fn in_sentence(kind: GrammarKind) -> &'static str {
    match kind {
        GrammarKind::Regex => "regular expression",
        _ => "Lark grammar",
    }
}

#[cfg(test)]
mod tests {
    use crate::generation::{GenerationConfig, Limits, PaneSettings};
    use crate::interop::tools::{Tool, export_settings, import_settings};

    fn config(description: &str) -> GenerationConfig {
        let pane: PaneSettings = description.parse().unwrap();
        GenerationConfig {
            chain: pane.chain,
            seed: 1,
            limits: Limits::default(),
        }
    }

    #[test]
    fn a_grammar_survives_a_round_trip() {
        for (tool, description) in [
            (Tool::LlamaCpp, "grammar check json, T 0.8"),
            (
                Tool::LlamaCpp,
                "grammar check gbnf \"root ::= [a-z]+\", T 0.8",
            ),
            (
                Tool::LlamaCpp,
                "grammar check schema \"{\\\"type\\\":\\\"integer\\\"}\", T 0.8",
            ),
            (
                Tool::LlamaServer,
                "grammar check gbnf \"root ::= \\\"a b\\\"\", T 0.8",
            ),
            (Tool::LlamaServer, "grammar check json, T 0.8"),
            (Tool::OpenAi, "grammar json, T 0.8"),
            (Tool::OpenAi, "grammar regex \"[a-z]+\\\\d\", T 0.8"),
            (Tool::OpenAi, "grammar choices \"yes|no\", T 0.8"),
            (Tool::OpenAi, "grammar lark \"start: /[a-z]+/\", T 0.8"),
        ] {
            let config = config(description);
            let written = export_settings(tool, &config, None);
            let read = import_settings(&written.text, None).unwrap();
            assert_eq!(read.tool, tool, "{}", written.text);
            assert_eq!(read.chain.grammar, config.chain.grammar, "{}", written.text);
        }
    }

    #[test]
    fn what_a_tool_cannot_express_is_noted() {
        for (tool, description, note) in [
            (
                Tool::LlamaCpp,
                "grammar regex \"a+\", T 1",
                "llama.cpp takes grammars in GBNF and JSON Schema; the regular expression is left out",
            ),
            (
                Tool::LlamaCpp,
                "grammar json, T 1",
                "llama.cpp checks the grammar after the draw, and masks only to draw again",
            ),
            (
                Tool::Transformers,
                "grammar json, T 1",
                "transformers has no grammars; this one is left out",
            ),
            (
                Tool::OpenAi,
                "grammar check json, T 1",
                "OpenAI masks before the chain instead of checking after the draw",
            ),
        ] {
            let written = export_settings(tool, &config(description), None);
            assert!(
                written.notes.iter().any(|line| line == note),
                "{:?}",
                written.notes
            );
        }
    }

    #[test]
    fn an_empty_schema_is_any_object_in_llama_cpp_and_any_json_elsewhere() {
        let any = config("grammar check json, T 0.8").chain.grammar;
        let object = config("grammar check schema \"{\\\"type\\\":\\\"object\\\"}\", T 0.8");
        for (text, expected) in [
            ("--json-schema '{}' --temp 0.8", &object.chain.grammar),
            (
                "{\"n_predict\": 9, \"json_schema\": {}}",
                &object.chain.grammar,
            ),
            (
                "{\"n_predict\": 9, \"response_format\": {\"type\": \"json_object\"}}",
                &object.chain.grammar,
            ),
            ("{\"n_predict\": 9, \"json_schema\": true}", &any),
        ] {
            let read = import_settings(text, None).unwrap();
            assert_eq!(&read.chain.grammar, expected, "{text}");
        }
        for tool in [Tool::LlamaCpp, Tool::LlamaServer] {
            let empty = config("grammar check schema \"{}\", T 0.8");
            let written = export_settings(tool, &empty, None);
            assert!(written.text.contains("\"boolean\""), "{}", written.text);
            let read = import_settings(&written.text, None).unwrap();
            assert_eq!(read.chain.grammar, any, "{}", written.text);
        }
        let read = import_settings(
            "{\"temperature\": 0.5, \"structured_outputs\": {\"json\": {}}}",
            None,
        );
        let mask = config("grammar json, T 0.5").chain.grammar;
        assert_eq!(read.unwrap().chain.grammar, mask);
    }

    #[test]
    fn what_llama_cpp_makes_of_a_schema_is_noted() {
        const EMPTY: &str = "llama-server takes an empty schema inside another one as any object; here it allows any \
             JSON";
        const LLGUIDANCE: &str = "If llama-server was built with llguidance, it allows more whitespace in JSON, and splits \
             what the schema leaves no choice about into the same tokens every time";
        for (schema, notes) in [
            ("{\"type\":\"boolean\"}", &[LLGUIDANCE][..]),
            ("{\"items\":{}}", &[EMPTY, LLGUIDANCE]),
            ("{\"anyOf\":[{\"type\":\"null\"},{}]}", &[EMPTY, LLGUIDANCE]),
            ("{\"properties\":{\"a\":{}}}", &[EMPTY, LLGUIDANCE]),
            ("{\"properties\":{}}", &[LLGUIDANCE]),
            ("{\"type\":\"object\",\"default\":{}}", &[LLGUIDANCE]),
        ] {
            let quoted = schema.replace('"', "\\\"");
            let config = config(&format!("grammar check schema \"{quoted}\", greedy"));
            let written = export_settings(Tool::LlamaServer, &config, None);
            assert_eq!(written.notes, notes, "{schema}");
        }
    }

    #[test]
    fn nothing_is_said_about_a_grammar_that_is_left_out() {
        let config = config("grammar regex \"a+\", greedy");
        let notes = export_settings(Tool::LlamaCpp, &config, None).notes;
        assert_eq!(
            notes,
            [
                "llama.cpp takes grammars in GBNF and JSON Schema; the regular expression is left out"
            ]
        );
    }

    #[test]
    fn older_and_newer_names_of_vllm_are_read() {
        for (text, expected) in [
            (
                "{\"temperature\": 0.5, \"guided_regex\": \"a+\"}",
                "grammar regex \"a+\", T 0.5",
            ),
            (
                "{\"temperature\": 0.5, \"guided_choice\": [\"a\", \"b\"]}",
                "grammar choices \"a|b\", T 0.5",
            ),
            (
                "{\"temperature\": 0.5, \"structured_outputs\": {\"json_object\": true}}",
                "grammar json, T 0.5",
            ),
        ] {
            let read = import_settings(text, None).unwrap();
            assert_eq!(read.chain.grammar, config(expected).chain.grammar, "{text}");
        }
    }
}
