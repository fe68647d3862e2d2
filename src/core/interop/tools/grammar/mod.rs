//! Grammars in other tools' settings.
//!
//! Sources: llama.cpp's `tools/server/README.md` (2026: `--grammar`, `--json-schema`, and the fields
//! `grammar` and `json_schema`), OpenAI's `response_format`, and vLLM's `structured_outputs` (2026),
//! which replaced `guided_json`, `guided_regex`, `guided_choice` and `guided_grammar`.

mod read;
mod schema;
#[cfg(test)]
mod tests;

pub(super) use self::read::{read_llama, read_openai};

use std::sync::Arc;

use self::schema::{ANY_JSON, holds_empty, is_any, json_value};
use super::differences::Difference;
use super::llama::Flavor;
use super::openai;
use super::plan::Plan;
use super::value::{NamedValues, Value};
use crate::decoding::{GrammarKind, GrammarMode, GrammarRule};

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
            let choices: Vec<String> = GrammarRule::choices(rule.text())
                .map(gbnf_literal)
                .collect();
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

/// Adds the grammar to the body of a request, and notes what OpenAI itself does not support.
pub(super) fn write_openai(
    flavor: openai::Flavor,
    rule: Option<&Arc<GrammarRule>>,
    plan: &mut Plan,
    fields: &mut NamedValues,
) {
    let Some(rule) = rule else { return };
    fields.push(openai_field(flavor, rule));
    let is_json = matches!(rule.kind(), GrammarKind::Json | GrammarKind::Schema);
    if flavor == openai::Flavor::Vllm && is_json {
        let sentence = "vLLM allows any whitespace in JSON; here there is none, one space, or one or two \
                        line breaks and an indentation";
        plan.tell(sentence.to_owned());
    }
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

/// Returns the field that holds the grammar.
fn openai_field(flavor: openai::Flavor, rule: &GrammarRule) -> (&'static str, Value) {
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
    let of_schema = |schema: &str| {
        let entries = vec![
            (text("name"), text("schema")),
            (text("strict"), Value::Bool(true)),
            (text("schema"), json_value(schema)),
        ];
        let entries = (text("json_schema"), Value::Map(entries));
        format("json_schema", Some(entries))
    };
    match rule.kind() {
        // vLLM's JSON mode writes an object or a list.
        GrammarKind::Json if flavor == openai::Flavor::Vllm => of_schema("{}"),
        GrammarKind::Json => format("json_object", None),
        GrammarKind::Schema => of_schema(rule.text()),
        GrammarKind::Regex => structured("regex", text(rule.text())),
        GrammarKind::Choices => {
            structured("choice", Value::texts(GrammarRule::choices(rule.text())))
        }
        GrammarKind::Lark | GrammarKind::Gbnf => structured("grammar", text(rule.text())),
    }
}

/// Notes that a tool has no grammars.
pub(super) fn leave_out(rule: Option<&Arc<GrammarRule>>, plan: &mut Plan) {
    if rule.is_some() {
        let name = plan.name;
        plan.tell(format!("{name} has no grammars; this one is left out"));
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
