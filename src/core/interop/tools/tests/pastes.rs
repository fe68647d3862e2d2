//! What people paste besides flags, JSON and calls of `generate`.

use crate::decoding::dialect::Dialect;
use crate::decoding::rules::BeamScores;
use crate::generation::{GenerationConfig, Limits, PaneSettings};
use crate::interop::tools::{Tool, export_settings, import_settings};

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
fn sampling_params_mean_the_same_as_in_vllm() {
    let default = "16 tokens; SamplingParams sets no max_tokens, for which vLLM uses 16";
    check(&[
        (
            "params = SamplingParams(temperature=0.8, top_p=0.95)\noutputs = llm.generate(prompts, params)",
            Tool::Vllm,
            "T 0.8 › top-p 0.95",
            default,
        ),
        (
            "SamplingParams(temperature=0.8, top_p=0.95, top_k=-1, min_p=0.05, repetition_penalty=1.1, frequency_penalty=0.5, max_tokens=64, seed=7, stop=['\\n'], n=2)",
            Tool::Vllm,
            "repeat 1.1 › frequency 0.5 › T 0.8 › min-p 0.05 › top-p 0.95",
            "seed 7; 64 tokens; stop [\"\\n\"]; n does not affect sampling",
        ),
        ("SamplingParams()", Tool::Vllm, "T 1", default),
        (
            "SamplingParams(temperature=0, top_k=5, max_tokens=9)",
            Tool::Vllm,
            "top token",
            "9 tokens",
        ),
        (
            "SamplingParams(temperature=0.001, max_tokens=9, ignore_eos=True, structured_outputs=StructuredOutputsParams(regex='a'))",
            Tool::Vllm,
            "T 0.01",
            "9 tokens; structured_outputs is not supported; temperature 0.001 is raised to 0.01, as in vLLM; ignore_eos is not supported",
        ),
    ]);
    let ambiguous =
        "Read as settings of vLLM; text-generation-webui has the same names, but other rules";
    check(&[
        (
            r#"{"temperature":0.7,"top_p":0.9,"top_k":40,"repetition_penalty":1.1,"max_tokens":100}"#,
            Tool::Vllm,
            "repeat 1.1 › T 0.7 › top-k 40 › top-p 0.9",
            &format!("100 tokens; {ambiguous}"),
        ),
        (
            r#"{"prompt":"Once","stream":true,"temperature":0.7,"top_k":40,"repetition_penalty":1.1}"#,
            Tool::Vllm,
            "repeat 1.1 › T 0.7 › top-k 40",
            &format!("prompt and stream do not affect sampling; {ambiguous}"),
        ),
        (
            "temperature=0.7, max_tokens=100, repetition_penalty=1.1",
            Tool::Vllm,
            "repeat 1.1 › T 0.7",
            &format!("100 tokens; {ambiguous}"),
        ),
    ]);
    for (text, expected) in [
        (
            "SamplingParams(top_p=0)",
            "top_p 0 is invalid: it must be above 0",
        ),
        (
            "SamplingParams(top_k=-2)",
            "top_k -2 is invalid: it must be 0 or -1 (off), or at least 1",
        ),
        (
            "SamplingParams(temperature=2.5)",
            "temperature 2.5 is invalid: it must be between 0 and 2",
        ),
        (
            "SamplingParams(top_k=99999999999999999999)",
            "top_k 99999999999999999999 is too large",
        ),
    ] {
        assert_eq!(import_settings(text, None).unwrap_err(), expected, "{text}");
    }
    let chain = import_settings("SamplingParams()", None).unwrap().chain;
    assert_eq!(
        (chain.dialect, chain.rules),
        (Some(Dialect::Vllm), Dialect::Vllm.rules())
    );
}

#[test]
fn a_pipeline_samples_unless_it_is_told_otherwise() {
    check(&[
        (
            "pipe(text, temperature=0.6)",
            Tool::Transformers,
            "T 0.6 › top-k 50",
            "256 tokens",
        ),
        (
            "pipe = pipeline('text-generation', model='gpt2', device_map='auto')\npipe(text, max_new_tokens=9, do_sample=False)",
            Tool::Transformers,
            "top token",
            "9 tokens; model and device_map do not affect sampling",
        ),
    ]);
}

#[test]
fn flat_yaml_means_the_same_as_json() {
    check(&[
        (
            "temperature: 0.7\ntop_p: 0.9\n",
            Tool::OpenAi,
            "T 0.7 › top-p 0.9",
            "",
        ),
        (
            "# mild\ndo_sample: true\ntop_k: 20\nrepetition_penalty: 1.1",
            Tool::Transformers,
            "repeat 1.1 › top-k 20",
            "",
        ),
        (
            "n_predict: 9\ntop-k: 5\nrepeat_penalty: 1.1",
            Tool::LlamaServer,
            "repeat 1.1 › top-k 5 › top-p 0.95 › min-p 0.05 › T 0.8",
            "9 tokens",
        ),
    ]);
    for (text, expected) in [
        (
            "colour: red",
            "This YAML contains no known setting such as temperature or top_p",
        ),
        (
            "temperature: 0.7\nrepetition_penalty: 1.15",
            "repetition_penalty without do_sample suggests vLLM or text-generation-webui, which apply it differently; write SamplingParams(…) for vLLM, or repeat_penalty for llama-server",
        ),
    ] {
        assert_eq!(import_settings(text, None).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn the_address_of_llama_server_says_whose_defaults_apply() {
    let body = r#"-d '{"prompt": "Once", "temperature": 0.5}'"#;
    for (address, tool, chain) in [
        (
            "http://localhost:8080/completion",
            Tool::LlamaServer,
            "top-k 40 › top-p 0.95 › min-p 0.05 › T 0.5",
        ),
        (
            "localhost:8080/completion/?x=1",
            Tool::LlamaServer,
            "top-k 40 › top-p 0.95 › min-p 0.05 › T 0.5",
        ),
        (
            "http://localhost:8080/v1/completions",
            Tool::OpenAi,
            "T 0.5",
        ),
    ] {
        let text = format!("curl {address} -H 'Content-Type: application/json' {body}");
        let (read_tool, read_chain, _) = read(&text);
        assert_eq!((read_tool, read_chain.as_str()), (tool, chain), "{address}");
    }
}

#[test]
fn parameters_of_ollama_s_mlx_runner_say_where_they_apply() {
    let pane: PaneSettings = "top-k 40, temp 0.8, top-p 0.9, min-p 0.1, dialect ollama-mlx"
        .parse()
        .unwrap();
    let config = GenerationConfig {
        chain: pane.chain,
        seed: 1,
        limits: Limits::default(),
    };
    let notes = export_settings(Tool::Ollama, &config, None).notes;
    let said = "Ollama applies these in this order to safetensors, in its MLX runner; a GGUF file \
                runs in llama-server, in another order";
    assert!(notes.iter().any(|note| note == said), "{notes:?}");
    assert!(
        !notes.iter().any(|note| note.contains("here it comes")),
        "{notes:?}"
    );
}

#[test]
fn a_call_that_is_cut_off_is_noted() {
    let note = "The call ends before its closing bracket, so settings may be missing";
    for text in [
        format!("generate({}", "(".repeat(100_000)),
        "model.generate(**inputs, do_sample=True, top_k=5".to_owned(),
        "SamplingParams(temperature=0.5, max_tokens=4".to_owned(),
        format!("generate(do_sample=True, top_k=5, {}", "(".repeat(100_000)),
    ] {
        let read = import_settings(&text, None).unwrap();
        assert!(read.ignored.iter().any(|said| said == note), "{text:.60}");
    }
    let prompt = r#"{"prompt": "generate(", "temperature": 0.5}"#;
    assert_eq!(read(prompt).2, "prompt does not affect sampling");
    let whole = read("model.generate(**inputs, do_sample=True, top_k=5)");
    assert_eq!(whole.2, "");
}

#[test]
fn a_count_beyond_any_vocabulary_is_noted_or_refused() {
    assert_eq!(
        read("--top-k 99999999999 --temp 1").2,
        "--top-k 99999999999 is larger than any vocabulary; 4294967295 is used instead"
    );
    for (text, expected) in [
        (
            "--top-k 99999999999999999999",
            "--top-k 99999999999999999999 is too large",
        ),
        (
            "generate(do_sample=True, top_k=99999999999999999999)",
            "top_k 99999999999999999999 is too large",
        ),
    ] {
        assert_eq!(import_settings(text, None).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn a_search_is_that_of_transformers_and_says_if_it_is_normalized() {
    let scores = |text: &str| import_settings(text, None).unwrap().chain.rules.beam_scores;
    assert_eq!(
        scores("generate(num_beams=4, no_repeat_ngram_size=2)"),
        BeamScores::LogProbs
    );
    assert_eq!(
        scores("generate(num_beams=4, renormalize_logits=True)"),
        BeamScores::Renormalized
    );
    let (_, chain, rest) = read("generate(renormalize_logits=True)");
    assert_eq!(
        (chain.as_str(), rest.as_str()),
        (
            "top token",
            "renormalize_logits true has no effect without a beam search"
        )
    );
}
