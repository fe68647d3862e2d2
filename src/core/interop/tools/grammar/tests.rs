//! Grammars in other tools' settings, written and read.

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
        (Tool::Vllm, "grammar json, T 0.8"),
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
            Tool::Vllm,
            "grammar json, T 1",
            "vLLM allows any whitespace in JSON; here there is none, one space, or one or two line \
             breaks and an indentation",
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
        ["llama.cpp takes grammars in GBNF and JSON Schema; the regular expression is left out"]
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
            "grammar schema \"{\\\"type\\\":[\\\"object\\\",\\\"array\\\"]}\", T 0.5",
        ),
        (
            "{\"repetition_penalty\": 1, \"max_tokens\": 9, \"response_format\": {\"type\": \"json_object\"}}",
            "grammar schema \"{\\\"type\\\":[\\\"object\\\",\\\"array\\\"]}\"",
        ),
        (
            "{\"temperature\": 0.5, \"response_format\": {\"type\": \"json_object\"}}",
            "grammar json, T 0.5",
        ),
    ] {
        let read = import_settings(text, None).unwrap();
        assert_eq!(read.chain.grammar, config(expected).chain.grammar, "{text}");
    }
}
