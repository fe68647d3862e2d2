//! Drafts in the settings of llama.cpp, transformers and vLLM.

use crate::generation::{GenerationConfig, Limits, PaneSettings};
use crate::interop::tools::{Tool, export_settings, import_settings};

/// The drafts that a text means, in the words of `--pane`, and what is not imported.
fn read(text: &str) -> (String, String) {
    let read = import_settings(text, None).unwrap_or_else(|error| panic!("{text}: {error}"));
    let drafts = read.chain.drafts.map(|drafts| drafts.to_string());
    (drafts.unwrap_or_default(), read.ignored.join("; "))
}

fn written(tool: Tool, description: &str) -> (String, String) {
    let pane: PaneSettings = description.parse().unwrap();
    let config = GenerationConfig {
        chain: pane.chain,
        seed: 42,
        limits: Limits::default(),
    };
    let written = export_settings(tool, &config, None);
    (written.text, written.notes.join("; "))
}

const CHOOSE: &str = "The second model is not imported; choose it in the settings of the pane";

#[test]
fn drafts_are_read_from_llama_cpp() {
    for (text, drafts, ignored) in [
        (
            "--temp 0 --draft-max 8 -md small.gguf",
            "drafts 8 model",
            CHOOSE,
        ),
        ("--temp 0 --spec-draft-n-max 5", "drafts 5 model", CHOOSE),
        (
            "--temp 0 --model-draft small.gguf",
            "drafts 3 model",
            CHOOSE,
        ),
        (
            "--temp 0 --spec-type ngram-simple --spec-ngram-simple-size-n 3 --spec-ngram-simple-size-m 6",
            "drafts 6 ngram 3",
            "",
        ),
        (
            "--temp 0 --spec-type ngram-simple",
            "drafts 16 ngram 8",
            "48 drafts become 16, the most per pass here; n-grams of 12 tokens become 8, the \
             longest here",
        ),
        ("--temp 0 --draft-max 0", "", ""),
        (
            "--temp 0 --spec-type draft-mtp --spec-draft-n-max 2",
            "drafts 2 mtp",
            "",
        ),
        ("--temp 0 --spec-type draft-mtp", "drafts 3 mtp", ""),
        (
            "--temp 0 --spec-type draft-eagle3",
            "",
            "--spec-type draft-eagle3 is not supported",
        ),
        (
            "{\"temperature\": 0, \"n_predict\": 9, \"speculative.n_max\": 4}",
            "drafts 4 model",
            CHOOSE,
        ),
    ] {
        let expected = (drafts.to_owned(), ignored.to_owned());
        assert_eq!(read(text), expected, "{text}");
    }
    let (drafts, ignored) = read("--temp 0 --draft-max 4 --draft-min 1 --draft-p-min 0.75");
    assert_eq!(drafts, "drafts 4 model");
    let why = "is not supported: here each pass drafts as many tokens as it may";
    let expected = format!("--draft-min 1 {why}; --draft-p-min 0.75 {why}; {CHOOSE}");
    assert_eq!(ignored, expected);
}

#[test]
fn drafts_are_read_from_vllm_and_transformers() {
    for (text, drafts) in [
        (
            "vllm serve m --speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 5, \"prompt_lookup_max\": 4, \"prompt_lookup_min\": 1}'",
            "drafts 5 ngram 4",
        ),
        (
            "LLM(model=\"m\", speculative_config={\"model\": \"small\", \"num_speculative_tokens\": 3})",
            "drafts 3 model ratio",
        ),
        (
            "{\"temperature\": 0.8, \"speculative_config\": {\"method\": \"draft_model\", \"model\": \"small\", \"num_speculative_tokens\": 2}}",
            "drafts 2 model ratio",
        ),
        (
            "model.generate(**inputs, prompt_lookup_num_tokens=4, max_matching_ngram_size=3)",
            "drafts 4 ngram 3",
        ),
        (
            "model.generate(**inputs, assistant_model=small, num_assistant_tokens=5)",
            "drafts 5 model ratio",
        ),
        (
            "vllm serve m --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'",
            "drafts 2 mtp ratio",
        ),
        (
            "vllm serve m --speculative-config '{\"method\": \"qwen3_5_mtp\", \"num_speculative_tokens\": 1}'",
            "drafts 1 mtp ratio",
        ),
        (
            "model.generate(**inputs, use_mtp=True)",
            "drafts 1 mtp ratio",
        ),
        (
            "model.generate(**inputs, assistant_early_exit=2, num_assistant_tokens=5)",
            "drafts 5 layers 2 ratio",
        ),
    ] {
        assert_eq!(read(text).0, drafts, "{text}");
    }
    let unknown =
        "{\"speculative_config\": {\"method\": \"eagle\", \"num_speculative_tokens\": 2}}";
    let expected = "speculative_config eagle is not supported";
    assert_eq!(read(unknown), (String::new(), expected.to_owned()));
    let lacking = "{\"speculative_config\": {\"method\": \"ngram\"}}";
    let error = import_settings(lacking, None).unwrap_err();
    assert!(error.contains("needs num_speculative_tokens"), "{error}");
}

#[test]
fn drafts_are_written_and_losses_named() {
    let lookup = "greedy, drafts 6 ngram 1";
    let (text, notes) = written(Tool::LlamaCpp, lookup);
    let flags =
        "--spec-type ngram-simple --spec-ngram-simple-size-n 1 --spec-ngram-simple-size-m 6";
    assert!(text.contains(flags), "{text}");
    assert_eq!(notes, "");
    let (text, notes) = written(Tool::LlamaServer, lookup);
    assert!(!text.contains("spec"), "{text}");
    assert!(
        notes.contains("configures prompt lookup at startup"),
        "{notes}"
    );
    let (text, _) = written(Tool::Transformers, lookup);
    assert!(
        text.contains("prompt_lookup_num_tokens=6,\n    max_matching_ngram_size=1"),
        "{text}"
    );
    let (_, notes) = written(Tool::OpenAi, lookup);
    let config = "--speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 6, \
                  \"prompt_lookup_max\": 1, \"prompt_lookup_min\": 1}'";
    assert!(notes.contains(config), "{notes}");
    let (_, notes) = written(Tool::Ollama, lookup);
    assert!(notes.contains("drafts change only the speed"), "{notes}");

    let model = "temp 0.7, drafts 4 model ratio";
    let (text, notes) = written(Tool::LlamaCpp, model);
    assert!(text.contains("--spec-draft-n-max 4"), "{text}");
    assert!(
        notes.contains("add --model-draft") && notes.contains("min(1, p/q)"),
        "{notes}"
    );
    let (_, notes) = written(Tool::Ollama, model);
    assert!(notes.contains("change the text as well"), "{notes}");
    let (_, notes) = written(Tool::Ollama, "greedy, drafts 4 model ratio");
    assert!(notes.contains("drafts change only the speed"), "{notes}");
    let (text, _) = written(Tool::LlamaServer, model);
    assert!(text.contains("\"speculative.n_max\": 4"), "{text}");
    let (text, notes) = written(Tool::Transformers, model);
    assert!(
        text.contains("num_assistant_tokens=4,\n    assistant_model=assistant_model"),
        "{text}"
    );
    assert!(notes.contains("must be loaded first"), "{notes}");
    let (_, notes) = written(Tool::OpenAi, model);
    assert!(notes.contains("\"method\": \"draft_model\""), "{notes}");

    let layers = "greedy, drafts 4 layers 2";
    let (text, _) = written(Tool::Transformers, layers);
    assert!(text.contains("assistant_early_exit=2"), "{text}");
    for tool in [Tool::LlamaCpp, Tool::LlamaServer, Tool::OpenAi] {
        let (_, notes) = written(tool, layers);
        assert!(notes.contains("no drafts by the first layers"), "{notes}");
    }

    let head = "greedy, drafts 2 mtp";
    let (text, notes) = written(Tool::LlamaCpp, head);
    let flags = "--spec-type draft-mtp --spec-draft-n-max 2";
    assert!(text.contains(flags), "{text}");
    assert_eq!(notes, "");
    let (_, notes) = written(Tool::LlamaServer, head);
    assert!(notes.contains("--spec-type draft-mtp"), "{notes}");
    let (text, notes) = written(Tool::Transformers, head);
    assert!(text.contains("use_mtp=True"), "{text}");
    assert!(notes.contains("one token with each"), "{notes}");
    let (_, notes) = written(Tool::OpenAi, head);
    let config = "'{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'";
    assert!(notes.contains(config), "{notes}");
}

#[test]
fn written_drafts_mean_the_same_when_they_are_read() {
    for (tool, description) in [
        (Tool::LlamaCpp, "drafts 6 ngram 3"),
        (Tool::LlamaCpp, "drafts 4 model"),
        (Tool::LlamaCpp, "drafts 2 mtp"),
        (Tool::LlamaServer, "drafts 4 model"),
        (Tool::Transformers, "drafts 6 ngram 3"),
        (Tool::Transformers, "drafts 4 model ratio"),
        (Tool::Transformers, "drafts 4 layers 2 ratio"),
        (Tool::Transformers, "drafts 1 mtp ratio"),
    ] {
        let (text, _) = written(tool, &format!("greedy, {description}"));
        assert_eq!(read(&text).0, description, "{text}");
    }
}
