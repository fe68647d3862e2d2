//! Real-world texts and the chains that they mean.

use super::vocabulary;
use crate::decoding::Filter;
use crate::decoding::dialect::Dialect;
use crate::interop::tools::{Tool, import_settings};

/// Returns the tool, the chain on one line, and everything else joined.
fn read(text: &str) -> (Tool, String, String) {
    let read = import_settings(text, None).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut rest = Vec::new();
    rest.extend(read.seed.map(|seed| format!("seed {seed}")));
    rest.extend(read.max_new_tokens.map(|n| format!("{n} tokens")));
    rest.extend(read.stop_strings.map(|texts| format!("stop {texts:?}")));
    rest.extend(read.ignored);
    (read.tool, read.chain.to_string(), rest.join("; "))
}

#[track_caller]
fn check(table: &[(&str, Tool, &str, &str)]) {
    for (text, tool, chain, rest) in table {
        let expected = (*tool, (*chain).to_owned(), (*rest).to_owned());
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn flags_mean_the_same_as_in_llama_cpp() {
    check(&[
        (
            "--top-p 0.9",
            Tool::LlamaCpp,
            "top-k 40 › top-p 0.9 › min-p 0.05 › T 0.8",
            "",
        ),
        (
            "./llama-cli -m model.gguf -c 4096 -ngl 99 --temp 0 -s 7 -n 64 \\\n  -r 'User:' --frobnicate 1",
            Tool::LlamaCpp,
            "top-k 40 › top-p 0.95 › min-p 0.05 › top token",
            "seed 7; 64 tokens; stop [\"User:\"]; -m, -c and -ngl do not affect sampling; \
             --frobnicate is not supported",
        ),
        (
            "llama-server -m x.gguf -fa --temp 0.3 --top-k 5",
            Tool::LlamaCpp,
            "top-k 5 › top-p 0.95 › min-p 0.05 › T 0.3",
            "-m and -fa do not affect sampling",
        ),
        (
            "--samplers \"min_p;temperature;xtc;frob\" --min-p 0.1 --top-k 5 --temp 1.5 --xtc-probability 0.5 -s -1 -n -1",
            Tool::LlamaCpp,
            "min-p 0.1 › T 1.5 › xtc 0.5",
            "Unknown sampler \"frob\"; --top-k 5 has no effect because its sampler is not listed; \
             -s -1 requests a random seed and is ignored; -n -1 means no limit, which Quartet does not support",
        ),
        (
            "--mirostat 2 --mirostat-ent 4 --top-k 5 --temp 0.7",
            Tool::LlamaCpp,
            "T 0.7 › mirostat 4 eta 0.1",
            "--top-k 5 has no effect with mirostat",
        ),
        (
            "--mirostat 2 --temp 0.8 --dynatemp-range 0.5",
            Tool::LlamaCpp,
            "T 0.8 › mirostat 5 eta 0.1",
            "--dynatemp-range 0.5 has no effect with mirostat",
        ),
        (
            "--sampler-seq mta --adaptive-target 0.5 --temp 1 --min-p 0.1",
            Tool::LlamaCpp,
            "min-p 0.1 › adaptive-p 0.5 decay 0.9",
            "",
        ),
        (
            "--repeat-penalty 1.1 --repeat-last-n -1 --top-k 0 --top-p 1 --min-p 0 --temp 1",
            Tool::LlamaCpp,
            "repeat 1.1",
            "--repeat-last-n -1 is read as the whole text, as in llama.cpp before 2026; newer versions \
             reject negative numbers",
        ),
        (
            "--grammar 'root ::= \"a\"' --top-nsigma 1 -l 13-2.5",
            Tool::LlamaCpp,
            "gbnf grammar › 1 biased › top-nσ 1 › top-k 40 › top-p 0.95 › min-p 0.05 › T 0.8",
            "",
        ),
    ]);
}

#[test]
fn settings_that_are_off_in_a_tool_are_off_here() {
    check(&[
        (
            "--top-k 0 --top-p 1.0001 --typical 1.5 --min-p -1 --xtc-probability 0.5 --xtc-threshold 1.5 --temp 0.7",
            Tool::LlamaCpp,
            "T 0.7",
            "",
        ),
        (
            "--top-k 0 --top-p 1 --min-p 1.05 --temp 1",
            Tool::LlamaCpp,
            "min-p 1",
            "--min-p 1.05 keeps one token in llama.cpp; min-p 1 is used instead, which also keeps ties",
        ),
        (
            r#"{"top_p": 1.5, "min_p": 0, "top_k": -1, "n_predict": 9}"#,
            Tool::LlamaServer,
            "T 0.8",
            "9 tokens",
        ),
        (
            "PARAMETER top_p 2\nPARAMETER top_k 0\nPARAMETER typical_p 1.5",
            Tool::Ollama,
            "T 0.8",
            "",
        ),
        (
            r#"{"do_sample": true, "temperature": 0.7, "top_k": 0, "top_p": 1.5, "typical_p": 2, "epsilon_cutoff": 1, "eta_cutoff": -1}"#,
            Tool::Transformers,
            "T 0.7",
            "",
        ),
        (
            "generate(do_sample=True, top_k=0, top_h=0.5, watermarking_config=WatermarkingConfig(bias=1.5, seeding_scheme='selfhash', context_width=3))",
            Tool::Transformers,
            "top-h 0.5 › green-list 1.5",
            "",
        ),
        (
            r#"{"do_sample": false, "watermarking_config": {"greenlist_ratio": 0.5, "hashing_key": 9, "context_width": 4}}"#,
            Tool::Transformers,
            "green-list 2 › top token",
            "watermarking_config uses lefthash, which reads one token whatever its context_width",
        ),
        (
            "generate(do_sample=True, top_k=0, watermarking_config=SynthIDTextWatermarkingConfig(keys=[1, 2], ngram_len=3))",
            Tool::Transformers,
            "synth-id 2",
            "",
        ),
        (
            r#"{"do_sample": false, "typical_p": 0.0, "top_p": 1.5}"#,
            Tool::Transformers,
            "top token",
            "typical_p 0.0 has no effect because do_sample is False, so transformers decodes greedily",
        ),
    ]);
}

#[test]
fn python_calls_and_dicts_mean_the_same_as_in_transformers() {
    check(&[
        (
            "outputs = model.generate(**inputs, do_sample=True, temperature=0.7, top_p=0.9, max_new_tokens=64, pad_token_id=tok.eos_token_id, num_beams=4)",
            Tool::Transformers,
            "T 0.7 › top-k 50 › top-p 0.9",
            "64 tokens; pad_token_id does not affect sampling; num_beams is not supported",
        ),
        (
            "model.generate(**inputs, do_sample=False, num_beams=4, length_penalty=0.8, early_stopping=True, no_repeat_ngram_size=2)",
            Tool::Transformers,
            "no-repeat 2 › 4 beams",
            "",
        ),
        (
            "model.generate(**inputs, num_beams=5)",
            Tool::Transformers,
            "5 beams",
            "",
        ),
        (
            "GenerationConfig(do_sample=True, top_k=0, bad_words_ids=[[3], [4, 5]], sequence_bias={(7,): 1.0})",
            Tool::Transformers,
            "1 biased, 1 banned",
            "[4, 5] in bad_words_ids is not supported: Quartet bans single tokens",
        ),
        (
            r#"GenerationConfig(do_sample=True, top_k=0, sequence_bias=[[[1], float("-inf")], [[2], 3.0]])"#,
            Tool::Transformers,
            "1 biased, 1 banned",
            "",
        ),
        (
            r#"{"do_sample": true, "eos_token_id": [1, 2], "temperature": 0.6, "top_k": 20, "top_p": 0.95, "transformers_version": "4.51.0"}"#,
            Tool::Transformers,
            "T 0.6 › top-k 20 › top-p 0.95",
            "eos_token_id and transformers_version do not affect sampling",
        ),
        (
            "{'temperature': 0.6, 'no_repeat_ngram_size': 3, 'use_cache': True}",
            Tool::Transformers,
            "no-repeat 3 › top token",
            "temperature 0.6 has no effect because do_sample is not set, so transformers decodes greedily; \
             use_cache does not affect sampling",
        ),
        ("do_sample=True\ntop_k=5", Tool::Transformers, "top-k 5", ""),
        (
            "from transformers import AutoModelForCausalLM\nimport torch\n\n\
             model.generate(**inputs, do_sample=True, top_k=5)",
            Tool::Transformers,
            "top-k 5",
            "",
        ),
        (
            "model.generate(**inputs, **gen_kwargs)",
            Tool::Transformers,
            "top token",
            "**gen_kwargs is not supported",
        ),
    ]);
}

#[test]
fn guidance_means_the_same_as_in_transformers() {
    check(&[
        (
            "model.generate(**inputs, guidance_scale=1.5, negative_prompt_ids=tokenizer('A sad story:', return_tensors='pt').input_ids)",
            Tool::Transformers,
            "top token · guided × 1.5",
            "",
        ),
        (
            "model.generate(**inputs, guidance_scale=1.5, negative_prompt_ids=negative)",
            Tool::Transformers,
            "top token",
            "negative_prompt_ids is not supported: its text is unknown; choose guidance and type the second prompt instead",
        ),
        (
            "model.generate(**inputs, dola_layers=[2, 4, 6], custom_generate='transformers-community/dola', trust_remote_code=True)",
            Tool::Transformers,
            "top token · guided by difference",
            "",
        ),
        (
            "model.generate(**inputs, dola_layers='low', trust_remote_code=True)",
            Tool::Transformers,
            "top token",
            "dola_layers low is not supported: its layers depend on the model; list their numbers instead",
        ),
        (
            "model.generate(**inputs, num_beams=2, guidance_scale=1.5)",
            Tool::Transformers,
            "2 beams",
            "guidance_scale 1.5 is not supported here: Guidance writes one token at a time, so it can’t be combined with beams or drafts",
        ),
    ]);
}

#[test]
fn settings_without_effect_are_listed_in_one_sentence() {
    check(&[(
        "generate(temperature=0.7, top_k=50)",
        Tool::Transformers,
        "top token",
        "temperature 0.7 and top_k 50 have no effect because do_sample is not set, so \
         transformers decodes greedily",
    )]);
}

#[test]
fn requests_and_modelfiles_mean_the_same_as_on_their_servers() {
    check(&[
        (
            r#"{"prompt": "Once", "n_predict": 64, "temperature": 1, "top_k": 0, "samplers": ["top_p"], "cache_prompt": true, "grammar": "root ::= \"a\""}"#,
            Tool::LlamaServer,
            "gbnf grammar › top-p 0.95",
            "64 tokens; prompt and cache_prompt do not affect sampling",
        ),
        (
            r#"curl http://localhost:8080/completion -d '{"min_p": 0.1, "top_k": 0, "top_p": 1.0, "temperature": null}'"#,
            Tool::LlamaServer,
            "min-p 0.1 › T 0.8",
            "",
        ),
        (
            "FROM llama3.2\nPARAMETER temperature 0.6\nPARAMETER stop \"<|im_end|>\"\nPARAMETER stop \"User:\"\n\
             PARAMETER num_ctx 4096\nPARAMETER xtc_probability 0.5\nSYSTEM \"\"\"Be\nbrief\"\"\"",
            Tool::Ollama,
            "top-k 40 › top-p 0.9 › T 0.6",
            "stop [\"<|im_end|>\", \"User:\"]; FROM, num_ctx and SYSTEM do not affect sampling; \
             xtc_probability is not supported",
        ),
        (
            r#"{"model": "llama3.2", "prompt": "Hi", "options": {"top_k": 5, "temperature": 1, "num_predict": 9}}"#,
            Tool::Ollama,
            "top-k 5 › top-p 0.9",
            "9 tokens; model and prompt do not affect sampling",
        ),
        (
            r#"{"model": "gpt-4.1", "messages": [], "temperature": 0.7, "frequency_penalty": 0.5, "max_completion_tokens": 9, "stop": "END", "logit_bias": {"50256": -100, "13": 1}}"#,
            Tool::OpenAi,
            "1 biased, 1 banned › frequency 0.5 › T 0.7",
            "9 tokens; stop [\"END\"]; model and messages do not affect sampling",
        ),
        (
            "client.chat.completions.create(model=\"gpt-4.1\", messages=messages, temperature=0, top_p=0.5, seed=3)",
            Tool::OpenAi,
            "top token",
            "seed 3; model and messages do not affect sampling",
        ),
    ]);
}

#[test]
fn a_list_of_bias_pairs_is_from_llama_server() {
    let (tool, chain, _) = read(r#"{"logit_bias": [[5, false], [6, 1.5]], "temperature": 0.7}"#);
    assert_eq!(tool, Tool::LlamaServer);
    assert!(chain.starts_with("1 biased, 1 banned"), "{chain}");
}

#[test]
fn a_dry_base_below_1_is_the_default_in_llama_cpp() {
    let json = r#"{"dry_multiplier": 0.8, "dry_base": 0.5, "top_k": 5}"#;
    for (text, note) in [
        (
            json,
            "dry_base 0.5 is below 1, so llama-server uses its default 1.75",
        ),
        (
            "--dry-multiplier 0.8 --dry-base 0.5 --top-k 5",
            "--dry-base 0.5 is below 1, so llama.cpp uses its default 1.75",
        ),
    ] {
        let read = import_settings(text, None).unwrap();
        let dry = read.chain.active().find_map(|filter| match filter {
            Filter::Dry(dry) => Some((dry.multiplier, dry.base)),
            _ => None,
        });
        assert_eq!(dry, Some((0.8, 1.75)), "{text}");
        assert!(
            read.ignored.iter().any(|said| said == note),
            "{:?}",
            read.ignored
        );
    }
}

#[test]
fn an_endless_list_of_samplers_is_rejected() {
    let text = format!("--samplers '{}' --top-k 5", "top_k;".repeat(100_000));
    let error = import_settings(&text, None).unwrap_err();
    assert!(
        error.contains("samplers, but at most 100 are read"),
        "{error}"
    );
}

#[test]
fn an_imported_chain_has_the_tools_dialect() {
    for (text, dialect) in [
        ("--temp 1", Dialect::LlamaCpp),
        ("{\"n_predict\": 1}", Dialect::LlamaCpp),
        ("generate(do_sample=True)", Dialect::Transformers),
        ("PARAMETER top_k 1", Dialect::Ollama),
        ("{\"temperature\": 1}", Dialect::OpenAi),
    ] {
        let chain = import_settings(text, None).unwrap().chain;
        assert_eq!(
            (chain.dialect, chain.rules),
            (Some(dialect), dialect.rules()),
            "{text}"
        );
    }
    let chain = import_settings("{\"min_keep\": 3, \"top_k\": 5}", None)
        .unwrap()
        .chain;
    assert_eq!(chain.rules.min_keep, 3);
}

#[test]
fn dry_sequence_breakers_need_a_vocabulary() {
    let text = "--dry-multiplier 0.8 --top-k 0 --top-p 1 --min-p 0 --temp 1";
    let read = import_settings(text, None).unwrap();
    let sentence = "DRY’s sequence breakers \"\\n\" \":\" \"\\\"\" \"*\" are ignored: load a model to convert them to tokens";
    assert_eq!(read.ignored, [sentence]);

    let read = import_settings(text, Some(&vocabulary())).unwrap();
    assert!(read.ignored.is_empty());
    let dry = crate::interop::filter_words(&read.chain.stages.first().unwrap().filter);
    assert_eq!(dry, "dry 0.8 base 1.75 allowed 2 breakers 1 2 3 5");
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    for (text, expected) in [
        (
            "",
            "Empty text is not recognized; enter llama.cpp flags (--temp 0.7), JSON, YAML, a Python call (generate(temperature=0.7)) or a Modelfile (PARAMETER temperature 0.7)",
        ),
        (
            "a story",
            "\"a story\" is not recognized; enter llama.cpp flags (--temp 0.7), JSON, YAML, a Python call (generate(temperature=0.7)) or a Modelfile (PARAMETER temperature 0.7)",
        ),
        (
            "ls --all",
            "\"ls --all\" is not recognized; enter llama.cpp flags (--temp 0.7), JSON, YAML, a Python call (generate(temperature=0.7)) or a Modelfile (PARAMETER temperature 0.7)",
        ),
        (
            "llm = Llama(path)",
            "\"llm = Llama(path)\" is not recognized; enter llama.cpp flags (--temp 0.7), JSON, YAML, a Python call (generate(temperature=0.7)) or a Modelfile (PARAMETER temperature 0.7)",
        ),
        ("--temp hot", "--temp must be a number, not \"hot\""),
        (
            "--top-p -0.5",
            "--top-p -0.5 is invalid: Top-p must be between 0 and 1",
        ),
        ("--top-k 1.5", "--top-k must be an integer, not \"1.5\""),
        (
            "--mirostat 3",
            "--mirostat 3 is invalid: mirostat must be 0, 1 or 2",
        ),
        (
            "{\"top_p\": 0.9",
            "This is not valid JSON: it ends within an object, at line 1, column 13",
        ),
        (
            "{\"colour\": 1}",
            "This JSON contains no known setting such as temperature or top_p",
        ),
        (
            "{\"temperature\": true}",
            "temperature must be a number, not true",
        ),
        (
            "{\"temperature\": 3, \"messages\": []}",
            "temperature 3 is invalid: it must be between 0 and 2",
        ),
        (
            "{\"stop\": [1]}",
            "stop must be a string or a list of strings, not [1]",
        ),
        (
            "generate(do_sample=True, temperature=0.0)",
            "temperature 0.0 is invalid: it must be above 0; use do_sample=False for greedy decoding",
        ),
        (
            "generate(do_sample=True, typical_p=0.0)",
            "typical_p 0.0 is invalid: it must be above 0",
        ),
        (
            "generate(do_sample=True, top_k=-1)",
            "top_k -1 is invalid: it must be 0 or more",
        ),
        (
            "generate(temperature=t)",
            "temperature must be a number, not t",
        ),
        (
            "PARAMETER top_k many",
            "top_k must be an integer, not \"many\"",
        ),
        (
            "PARAMETER repeat_penalty 0",
            "repeat_penalty 0 is invalid: Repetition penalty must be greater than 0",
        ),
    ] {
        assert_eq!(import_settings(text, None).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn settings_of_unsupported_tools_are_rejected() {
    for (text, expected) in [
        (
            r#"{"rep_pen":1.1,"temperature":0.7,"top_p":0.9,"max_length":80,"sampler_seed":5}"#,
            "KoboldCpp settings (rep_pen and sampler_seed) are not supported; use settings of llama.cpp, transformers, Ollama or OpenAI",
        ),
        (
            r#"{"sampler_order": [6, 0, 1, 3, 4, 2, 5]}"#,
            "KoboldCpp settings (sampler_order) are not supported; use settings of llama.cpp, transformers, Ollama or OpenAI",
        ),
    ] {
        assert_eq!(import_settings(text, None).unwrap_err(), expected, "{text}");
    }
}
