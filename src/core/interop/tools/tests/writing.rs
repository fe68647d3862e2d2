//! Golden texts, one table per tool, and the notes on what they can't express.

use super::{config, vocabulary};
use crate::generation::{EndOfText, Limits};
use crate::interop::tools::{Tool, export_settings};

fn written(tool: Tool, description: &str) -> String {
    export_settings(tool, &config(description), Some(&vocabulary())).text
}

fn check(tool: Tool, table: &[(&str, &str)]) {
    for (description, expected) in table {
        assert_eq!(written(tool, description), *expected, "{description}");
    }
}

#[test]
fn llama_cpp_flags_switch_off_defaults_and_state_the_order() {
    check(
        Tool::LlamaCpp,
        &[
            (
                "greedy",
                "--temp 0 --top-k 0 --top-p 1 --min-p 0 --repeat-penalty 1 --n-predict 200",
            ),
            (
                "top-p 0.9",
                "--temp 1 --top-k 0 --top-p 0.9 --min-p 0 --repeat-penalty 1 --seed 42 --n-predict 200",
            ),
            (
                "temp 0.7, top-p 0.9, seed 7",
                "--samplers 'temperature;top_p' --temp 0.7 --top-k 0 --top-p 0.9 --min-p 0 \
                 --repeat-penalty 1 --seed 7 --n-predict 200",
            ),
            (
                "bias 13 -2.5 5 1 ban 7, repeat 1.1 last 32, frequency 0.5 last 32, dry 0.8, top-nσ 1, \
                 top-k 40, typical-p 0.9, top-p 0.95, min-p 0.05, xtc 0.5 threshold 0.1, \
                 dyn-temp 1 range 0.5 exponent 2",
                "--temp 1 --dynatemp-range 0.5 --dynatemp-exp 2 --top-k 40 --top-p 0.95 --min-p 0.05 \
                 --top-nsigma 1 --typical 0.9 --xtc-probability 0.5 --xtc-threshold 0.1 \
                 --repeat-penalty 1.1 --frequency-penalty 0.5 --repeat-last-n 32 --dry-multiplier 0.8 \
                 --dry-base 1.75 --dry-allowed-length 2 --dry-penalty-last-n 64 \
                 --dry-sequence-breaker none --logit-bias 5+1 --logit-bias 7-inf --logit-bias 13-2.5 \
                 --seed 42 --n-predict 200",
            ),
            // A top-p of 0 and a min-p of 1 are off in these dialects.
            (
                "top-p 0, dialect candle",
                "--temp 1 --top-k 0 --top-p 1 --min-p 0 --repeat-penalty 1 --seed 42 --n-predict 200",
            ),
            (
                "top-p 0, min-p 1, dialect mistral.rs",
                "--temp 1 --top-k 0 --top-p 1 --min-p 0 --repeat-penalty 1 --seed 42 --n-predict 200",
            ),
            (
                "temp 0.7, mirostat 5 eta 0.1",
                "--mirostat 2 --mirostat-ent 5 --mirostat-lr 0.1 --temp 0.7 --seed 42 --n-predict 200",
            ),
            (
                "min-p 0.05, adaptive-p 0.5 decay 0.9",
                "--samplers 'min_p;adaptive_p' --temp 1 --top-k 0 --top-p 1 --min-p 0.05 \
                 --repeat-penalty 1 --adaptive-target 0.5 --adaptive-decay 0.9 --seed 42 --n-predict 200",
            ),
        ],
    );
}

#[test]
fn llama_server_settings_are_json() {
    check(
        Tool::LlamaServer,
        &[(
            "temp 0.7, top-p 0.9, dry 0.8 breakers 1 2, ban 7",
            "{\n  \"samplers\": [\"temperature\", \"top_p\", \"dry\"],\n  \"temperature\": 0.7,\n  \
             \"top_k\": 0,\n  \"top_p\": 0.9,\n  \"min_p\": 0,\n  \"repeat_penalty\": 1,\n  \
             \"dry_multiplier\": 0.8,\n  \"dry_base\": 1.75,\n  \"dry_allowed_length\": 2,\n  \
             \"dry_penalty_last_n\": 64,\n  \"dry_sequence_breakers\": [\"\\n\"],\n  \
             \"logit_bias\": [[7, false]],\n  \"seed\": 42,\n  \"n_predict\": 200\n}\n",
        )],
    );
}

#[test]
fn transformers_settings_are_a_python_call() {
    check(
        Tool::Transformers,
        &[
            (
                "greedy",
                "model.generate(\n    **inputs,\n    do_sample=False,\n    repetition_penalty=1.0,\n    \
                 max_new_tokens=200,\n)\n",
            ),
            (
                "no-repeat 3 last all, beams 4 length 0.8 early 2",
                "model.generate(\n    **inputs,\n    do_sample=False,\n    num_beams=4,\n    \
                 length_penalty=0.8,\n    early_stopping=\"never\",\n    renormalize_logits=True,\n    \
                 repetition_penalty=1.0,\n    no_repeat_ngram_size=3,\n    max_new_tokens=200,\n)\n",
            ),
            (
                "repeat 1.3 last all, beams 4, dialect transformers",
                "model.generate(\n    **inputs,\n    do_sample=False,\n    num_beams=4,\n    \
                 length_penalty=1.0,\n    early_stopping=False,\n    repetition_penalty=1.3,\n    \
                 max_new_tokens=200,\n)\n",
            ),
            (
                "bias 13 -2.5 ban 7, repeat 1.1 last all, no-repeat 3 last all, temp 2, top-k 40, \
                 top-p 0.9, min-p 0.05, typical-p 0.9, epsilon 0.0003, eta 0.0005",
                "import transformers\n\ntransformers.set_seed(42)\nmodel.generate(\n    **inputs,\n    do_sample=True,\n    \
                 temperature=2.0,\n    top_k=40,\n    top_p=0.9,\n    min_p=0.05,\n    typical_p=0.9,\n    \
                 epsilon_cutoff=0.0003,\n    eta_cutoff=0.0005,\n    repetition_penalty=1.1,\n    \
                 no_repeat_ngram_size=3,\n    sequence_bias=[[[13], -2.5]],\n    suppress_tokens=[7],\n    \
                 max_new_tokens=200,\n)\n",
            ),
            (
                "temp 0.7, top-h 0.4, green-list 2 ratio 0.5 key 7 window 4, dialect transformers",
                "import transformers\n\ntransformers.set_seed(42)\nmodel.generate(\n    **inputs,\n    do_sample=True,\n    \
                 temperature=0.7,\n    top_k=0,\n    top_p=1.0,\n    top_h=0.4,\n    repetition_penalty=1.0,\n    \
                 watermarking_config=transformers.WatermarkingConfig(greenlist_ratio=0.5, bias=2.0, hashing_key=7, \
                 seeding_scheme=\"selfhash\", context_width=4),\n    max_new_tokens=200,\n)\n",
            ),
            (
                "synth-id 2 keys 5 6 7, dialect transformers",
                "import transformers\n\ntransformers.set_seed(42)\nmodel.generate(\n    **inputs,\n    do_sample=True,\n    \
                 temperature=1.0,\n    top_k=0,\n    top_p=1.0,\n    repetition_penalty=1.0,\n    \
                 watermarking_config=transformers.SynthIDTextWatermarkingConfig(ngram_len=3, keys=[5, 6, 7]),\n    \
                 max_new_tokens=200,\n)\n",
            ),
            (
                "guide 1.5 against \"A \\\"sad\\\" story:\", greedy",
                "model.generate(\n    **inputs,\n    do_sample=False,\n    guidance_scale=1.5,\n    \
                 negative_prompt_ids=tokenizer(\"A \\\"sad\\\" story:\", return_tensors=\"pt\").input_ids,\n    \
                 repetition_penalty=1.0,\n    max_new_tokens=200,\n)\n",
            ),
            (
                "guide dola cutoff 0.1 against layers 2 4, greedy",
                "model.generate(\n    **inputs,\n    do_sample=False,\n    \
                 custom_generate=\"transformers-community/dola\",\n    trust_remote_code=True,\n    \
                 dola_layers=[2, 4],\n    repetition_penalty=1.0,\n    max_new_tokens=200,\n)\n",
            ),
            (
                "green-list 2 ratio 0.25 key 7 window 1, greedy",
                "import transformers\n\nmodel.generate(\n    **inputs,\n    do_sample=False,\n    \
                 repetition_penalty=1.0,\n    \
                 watermarking_config=transformers.WatermarkingConfig(greenlist_ratio=0.25, bias=2.0, hashing_key=7, \
                 seeding_scheme=\"lefthash\", context_width=1),\n    max_new_tokens=200,\n)\n",
            ),
        ],
    );
}

#[test]
fn ollama_settings_have_one_parameter_per_line() {
    check(
        Tool::Ollama,
        &[(
            "repeat 1.1 last all, presence 0.5 last all, top-k 40, typical-p 0.9, temp 0.7",
            "PARAMETER temperature 0.7\nPARAMETER top_k 40\nPARAMETER top_p 1\nPARAMETER min_p 0\n\
             PARAMETER typical_p 0.9\nPARAMETER repeat_penalty 1.1\nPARAMETER presence_penalty 0.5\n\
             PARAMETER repeat_last_n 32768\nPARAMETER seed 42\nPARAMETER num_predict 200\n",
        )],
    );
}

#[test]
fn openai_settings_are_temperature_top_p_penalties_and_biases() {
    check(
        Tool::OpenAi,
        &[
            (
                "bias 13 -2.5 ban 7, frequency 0.5 last all generated, temp 0.7, top-p 0.9",
                "{\n  \"temperature\": 0.7,\n  \"top_p\": 0.9,\n  \"frequency_penalty\": 0.5,\n  \
                 \"logit_bias\": {\"7\": -100, \"13\": -2.5},\n  \"seed\": 42,\n  \"max_tokens\": 200\n}\n",
            ),
            (
                "top-p 0.9, temp 0",
                "{\n  \"temperature\": 0,\n  \"top_p\": 1,\n  \"max_tokens\": 200\n}\n",
            ),
        ],
    );
}

#[test]
fn stop_sequences_are_quoted_for_each_tool() {
    let mut config = config("greedy");
    config.limits = Limits {
        max_new_tokens: 5,
        stop_strings: ["", "\n\n", "say \"it's\"", "\\n"]
            .map(String::from)
            .to_vec(),
        end_of_text: EndOfText::Stops,
    };
    for (tool, expected) in [
        (
            Tool::LlamaCpp,
            "--reverse-prompt '\\n\\n' --reverse-prompt \"say \\\"it's\\\"\" --reverse-prompt '\\\\n'",
        ),
        (
            Tool::LlamaServer,
            r#""stop": ["\n\n", "say \"it's\"", "\\n"]"#,
        ),
        (
            Tool::Transformers,
            r#"stop_strings=["\n\n", "say \"it's\"", "\\n"],"#,
        ),
        (
            Tool::Ollama,
            "PARAMETER stop \"\"\"\n\n\"\"\"\nPARAMETER stop \"\"\"say \"it's\"\"\"\"\nPARAMETER stop \"\\n\"\n",
        ),
        (Tool::OpenAi, r#""stop": ["\n\n", "say \"it's\"", "\\n"]"#),
    ] {
        let text = export_settings(tool, &config, None).text;
        assert!(text.contains(expected), "{text}");
    }
}

#[track_caller]
fn check_notes(table: &[(Tool, &str, &str)]) {
    for (tool, description, expected) in table {
        let notes = export_settings(*tool, &config(description), Some(&vocabulary())).notes;
        assert!(
            notes.iter().any(|sentence| sentence == expected),
            "{description}: {notes:#?}"
        );
    }
}

#[test]
fn the_order_and_windows_of_transformers_are_noted() {
    check_notes(&[
        (
            Tool::Transformers,
            "top-p 0.9, temp 0.7",
            "transformers applies temperature before top-p, here it comes after",
        ),
        (
            Tool::Transformers,
            "dry 0.8",
            "transformers has no DRY; dry 0.8 is left out",
        ),
        (
            Tool::Transformers,
            "repeat 1.1",
            "In transformers the repetition penalty looks at the whole text, here at the last 64 tokens",
        ),
        (
            Tool::Transformers,
            "top-k 5",
            "transformers keeps every token as likely as the k-th; here only those with the lowest ids stay",
        ),
        (
            Tool::Transformers,
            "typical-p 0.9, greedy",
            "transformers ignores typical-p unless it samples; typical-p 0.9 is left out",
        ),
        (
            Tool::Transformers,
            "gumbel",
            "transformers draws with one coin for all tokens; here each token has its own, with the same probabilities",
        ),
    ]);
}

#[test]
fn values_that_a_tool_would_reject_are_left_out() {
    check_notes(&[
        (
            Tool::Transformers,
            "typical-p 0",
            "transformers requires a typical-p above 0; typical-p 0 is left out",
        ),
        (
            Tool::LlamaCpp,
            "top-k 3000000000",
            "llama.cpp accepts integers up to 2147483647; top-k 3000000000 is left out",
        ),
        (
            Tool::LlamaServer,
            "dry 1 base 2 allowed 3000000000",
            "llama-server accepts integers up to 2147483647; dry 1 is left out",
        ),
        (
            Tool::LlamaCpp,
            "repeat 1.1 last 3000000000",
            "In llama.cpp the repetition penalty looks at the last 32768 tokens, here at the last 3000000000 tokens",
        ),
    ]);
    let written = written(Tool::LlamaCpp, "top-k 3000000000");
    assert!(written.contains("--top-k 0 "), "{written}");

    let mut config = config("greedy");
    for (tool, n_tokens, sentence) in [
        (
            Tool::Transformers,
            0,
            "transformers requires a limit of at least 1 token; 0 is left out",
        ),
        (
            Tool::Ollama,
            3_000_000_000,
            "Ollama accepts integers up to 2147483647; the limit of 3000000000 tokens is left out",
        ),
    ] {
        config.limits.max_new_tokens = n_tokens;
        let written = export_settings(tool, &config, None);
        assert_eq!(written.notes, [sentence]);
        for name in ["max_new_tokens", "num_predict"] {
            assert!(!written.text.contains(name), "{}", written.text);
        }
    }
}

#[test]
fn a_watermark_that_llama_cpp_lacks_is_noted() {
    check_notes(&[
        (
            Tool::LlamaCpp,
            "gumbel-mark 42 window 4",
            "llama.cpp has no Gumbel watermark; it draws with plain sampling",
        ),
        (
            Tool::LlamaServer,
            "gumbel-mark 42 window 4",
            "llama-server has no Gumbel watermark; it draws with plain sampling",
        ),
    ]);
}

#[test]
fn stages_that_llama_cpp_lacks_or_has_only_once_are_noted() {
    check_notes(&[
        (
            Tool::LlamaCpp,
            "top-k 5, top-k 3",
            "llama.cpp applies top-k only once; the second, top-k 3, is left out",
        ),
        (
            Tool::LlamaCpp,
            "temp 0.7, top-p 0.9, min-p 0.1, bias 3 1",
            "llama.cpp applies logit bias before temperature, top-p and min-p, here it comes after",
        ),
        (
            Tool::LlamaCpp,
            "presence 1, temp 2, repeat 1.1",
            "llama.cpp applies repetition penalty before presence penalty and temperature, here it comes after",
        ),
        (
            Tool::LlamaCpp,
            "repeat 1.1 generated",
            "In llama.cpp the repetition penalty looks at the last 64 tokens, here at the last 64 generated tokens",
        ),
        (
            Tool::LlamaCpp,
            "repeat 1.1 last all",
            "In llama.cpp the repetition penalty looks at the last 32768 tokens, here at the whole text",
        ),
        (
            Tool::Ollama,
            "repeat 1.1 last all",
            "In Ollama the repetition penalty looks at the last 32768 tokens, here at the whole text",
        ),
        (
            Tool::LlamaCpp,
            "repeat 1.1, presence 1 last 9",
            "In llama.cpp the presence penalty looks at the last 64 tokens, here at the last 9 tokens",
        ),
        (
            Tool::LlamaCpp,
            "min-p 0.1, mirostat 5",
            "llama.cpp applies only logit bias and temperature before mirostat v2; min-p 0.1 is left out",
        ),
        (
            Tool::LlamaCpp,
            "temp 0.7, typical-p 0.9, greedy",
            "llama.cpp has a single temperature, which is 0 for greedy decoding; T 0.7 is left out",
        ),
        (
            Tool::LlamaCpp,
            "typical-p 0.9",
            "llama.cpp’s typical-p keeps one more token if the sum equals p exactly, and acts as top-p if a token was banned before it",
        ),
        (
            Tool::LlamaCpp,
            "top-a 0.2",
            "llama.cpp has no top-a; top-a 0.2 is left out",
        ),
        (
            Tool::LlamaCpp,
            "top-k 9, top-p 0.9, dialect candle",
            "llama.cpp’s top-p is a share of the tokens still in play; here it also counts those dropped just before",
        ),
        (
            Tool::LlamaCpp,
            "min-p 0.1, dialect mistral.rs",
            "llama.cpp’s min-p keeps a token exactly at its threshold; here it is dropped",
        ),
        (
            Tool::LlamaCpp,
            "dry 1 breakers 1",
            "llama.cpp’s DRY breaks at every token that contains a breaker’s text; Quartet breaks only at the chosen tokens",
        ),
        (
            Tool::LlamaServer,
            "seed 4294967295",
            "llama-server takes seeds up to 4294967294; 4294967295 is left out",
        ),
    ]);
}

#[test]
fn stages_that_ollama_and_openai_lack_are_noted() {
    check_notes(&[
        (
            Tool::Ollama,
            "xtc 0.5",
            "Ollama has no XTC; xtc 0.5 is left out",
        ),
        (
            Tool::Ollama,
            "mirostat 5",
            "Ollama has no mirostat v2; it draws with plain sampling",
        ),
        (
            Tool::Ollama,
            "bias 13 -2.5 14 1 ban 5 6",
            "Ollama has no logit bias; 2 biased, 2 banned are left out",
        ),
        (
            Tool::Ollama,
            "synth-id 4",
            "Ollama has no SynthID-Text; synth-id 4 is left out",
        ),
        (
            Tool::Ollama,
            "top-p 0.9, top-k 4",
            "Ollama applies top-k before top-p, here it comes after",
        ),
        (
            Tool::OpenAi,
            "temp 3",
            "OpenAI accepts a temperature from 0 to 2; 3 becomes 2",
        ),
        (
            Tool::OpenAi,
            "presence 1",
            "In OpenAI the presence penalty looks at everything generated, here at the last 64 tokens",
        ),
        (
            Tool::OpenAi,
            "top-k 5",
            "OpenAI has no top-k; top-k 5 is left out",
        ),
    ]);
}

#[test]
fn settings_that_can_be_expressed_need_no_note() {
    use Tool::{LlamaCpp, Ollama, OpenAi, Transformers};
    let draws =
        |tool| format!("{tool} has its own random numbers: seed 42 gives different draws there");
    for (tool, description, expected) in [
        (LlamaCpp, "greedy", vec![]),
        (
            LlamaCpp,
            "top-p 0.9, top-k 40, temp 0.7, top-nσ 1",
            vec![draws("llama.cpp")],
        ),
        (
            LlamaCpp,
            "presence 1, repeat 1.1 off, frequency 1, dry 1",
            vec![draws("llama.cpp")],
        ),
        (LlamaCpp, "dry 1 breakers 1 2 3 5", vec![draws("llama.cpp")]),
        (Transformers, "top-p 0.9, temp 0", vec![]),
        (
            Transformers,
            "top-k 5, temp 0.7, dialect transformers",
            vec![draws("transformers")],
        ),
        (
            Ollama,
            "min-p 0.1, top-k 9, temp 0.7, top-k 0",
            vec![draws("Ollama")],
        ),
        (
            OpenAi,
            "temp 0.7, top-p 0.9, min-p 0",
            vec![draws("OpenAI")],
        ),
    ] {
        let notes = export_settings(tool, &config(description), Some(&vocabulary())).notes;
        assert_eq!(notes, expected, "{description}");
    }
}
