//! Thinking budgets: between Quartet, llama.cpp, llama-server and vLLM.

use super::{config, vocabulary};
use crate::decoding::filters::{Phrase, ThinkingBudget};
use crate::decoding::{ChainConfig, Filter};
use crate::interop::tools::{Tool, export_settings, import_settings};

fn budget_of(chain: &ChainConfig) -> Option<ThinkingBudget> {
    chain.stages.iter().find_map(|stage| match &stage.filter {
        Filter::ThinkingBudget(budget) => Some(budget.clone()),
        _ => None,
    })
}

/// Returns the budget that a text means, and what was ignored of the text.
fn read(text: &str) -> (Option<ThinkingBudget>, String) {
    let read = import_settings(text, None).unwrap();
    (budget_of(&read.chain), read.ignored.join("; "))
}

fn budget(max_tokens: u32, phrases: [&str; 3]) -> ThinkingBudget {
    let [opening, closing, message] = phrases.map(|text| Phrase::Text(text.to_owned()));
    ThinkingBudget {
        max_tokens,
        opening,
        closing,
        message,
        ..ThinkingBudget::default()
    }
}

#[test]
fn the_budgets_of_other_tools_are_read() {
    for (text, expected) in [
        ("--temp 1 --reasoning-budget 100", (100, ["", "", ""])),
        (
            "--temp 1 --reasoning-budget 0 --reasoning-budget-message 'Time is up.'",
            (0, ["", "", "Time is up."]),
        ),
        (
            r#"{"n_predict": 9, "reasoning_budget_tokens": 5, "reasoning_budget_start_tag": "<think>",
               "reasoning_budget_end_tags": ["</think>", "</thought>"],
               "reasoning_budget_message": "\nStop."}"#,
            (5, ["<think>", "</think>", "\nStop."]),
        ),
        (
            r#"{"n_predict": 9, "repeat_penalty": 1, "thinking_budget_tokens": 5, "reasoning_budget_end_tag": "</think>"}"#,
            (5, ["", "</think>", ""]),
        ),
        (
            "SamplingParams(thinking_token_budget=7, max_tokens=9)",
            (7, ["", "", ""]),
        ),
        (
            r#"{"model": "m", "thinking_token_budget": 7, "temperature": 1, "max_tokens": 9}"#,
            (7, ["", "", ""]),
        ),
    ] {
        let (max_tokens, phrases) = expected;
        let (found, ignored) = read(text);
        assert_eq!(found, Some(budget(max_tokens, phrases)), "{text}");
        assert!(!ignored.contains("budget"), "{text}: {ignored}");
    }
}

#[test]
fn no_limit_is_no_stage() {
    for (text, expected) in [
        (
            "--temp 1 --reasoning-budget -1",
            "--reasoning-budget -1 does not affect sampling",
        ),
        (
            "--temp 1 --reasoning-budget-message Stop",
            "--reasoning-budget-message Stop has no effect without a budget",
        ),
        (
            "SamplingParams(thinking_token_budget=-1, max_tokens=9)",
            "thinking_token_budget -1 does not affect sampling",
        ),
    ] {
        assert_eq!(read(text), (None, expected.to_owned()), "{text}");
    }
}

#[test]
fn a_budget_is_written_as_each_tool_takes_it() {
    let full = config(r#"think 5 open "<think>" close "</think>" message "Stop it.", temp 0.8"#);
    for (tool, parts) in [
        (
            Tool::LlamaCpp,
            &[
                "--reasoning-budget 5",
                "--reasoning-budget-message 'Stop it.'",
            ][..],
        ),
        (
            Tool::LlamaServer,
            &[
                r#""reasoning_budget_tokens": 5"#,
                r#""reasoning_budget_start_tag": "<think>""#,
                r#""reasoning_budget_end_tags": ["</think>"]"#,
                r#""reasoning_budget_message": "Stop it.""#,
            ],
        ),
        (Tool::Vllm, &[r#""thinking_token_budget": 5"#]),
    ] {
        let text = export_settings(tool, &full, None).text;
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
        let (found, _) = read(&text);
        assert_eq!(found.unwrap().max_tokens, 5, "{text}");
    }
    let (found, _) = read(&export_settings(Tool::LlamaServer, &full, None).text);
    assert_eq!(found, budget_of(&full.chain));
}

#[test]
fn what_a_tool_can_not_express_is_noted() {
    let notes = |tool, description: &str, has_vocabulary: bool| {
        let vocabulary = vocabulary();
        let vocabulary = has_vocabulary.then_some(&vocabulary);
        let notes = export_settings(tool, &config(description), vocabulary).notes;
        notes.join("; ")
    };
    let full = r#"think 5 message "Stop.""#;
    for (tool, note) in [
        (Tool::LlamaCpp, "from the model’s chat template"),
        (Tool::LlamaServer, "only in a chat"),
        (Tool::Vllm, "the message is left out"),
        (Tool::Vllm, "--reasoning-config"),
        (
            Tool::Transformers,
            "transformers has no thinking budget; think 5 is left out",
        ),
        (Tool::Ollama, "Ollama has no thinking budget"),
        (Tool::OpenAi, "OpenAI has no thinking budget"),
    ] {
        let notes = notes(tool, full, false);
        assert!(notes.contains(note), "{tool:?}: {notes}");
    }
    let tokens = "think 5 open 0 close 4 message 6+7";
    let unknown = notes(Tool::LlamaServer, tokens, false);
    assert!(
        unknown.contains("tag before a thought as a string"),
        "{unknown}"
    );
    let known = export_settings(Tool::LlamaServer, &config(tokens), Some(&vocabulary()));
    assert!(!known.notes.join("; ").contains("string"));
    let (found, _) = read(&known.text);
    assert_eq!(found, Some(budget(5, ["a", "b", "User c"])));
}

#[test]
fn its_place_in_the_chain_makes_no_difference() {
    for tool in [Tool::LlamaCpp, Tool::Vllm] {
        let notes = export_settings(tool, &config("temp 0.8, top-p 0.9, think 5"), None).notes;
        let notes = notes.join("; ");
        assert!(!notes.contains("before top-p"), "{tool:?}: {notes}");
    }
}
