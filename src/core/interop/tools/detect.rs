//! Detects which tool a text is for, and imports its settings.

use super::fields::{Field, Fields};
use super::llama::{self, Flavor};
use super::value::Value;
use super::{
    ImportedSettings, Tool, command, drafts, flags, modelfile, openai, python, thoughts,
    transformers, vllm, yaml,
};
use crate::decoding::ChainConfig;
use crate::generation::{Vocabulary, listed};
use crate::json_words::json_words;

/// The settings of llama-server's JSON, in addition to [`openai::NAMES`].
const SERVER: [&str; 30] = [
    "adaptive_decay",
    "adaptive_target",
    "dry_allowed_length",
    "dry_base",
    "dry_multiplier",
    "dry_penalty_last_n",
    "dry_sequence_breakers",
    "dynatemp_exponent",
    "dynatemp_range",
    "grammar",
    "ignore_eos",
    "json_schema",
    "min_keep",
    "min_p",
    "mirostat",
    "mirostat_eta",
    "mirostat_tau",
    "n_predict",
    "repeat_last_n",
    "repeat_penalty",
    "samplers",
    drafts::LLAMA[0],
    drafts::LLAMA[1],
    drafts::LLAMA[2],
    drafts::LLAMA[3],
    "top_k",
    "top_n_sigma",
    "typical_p",
    "xtc_probability",
    "xtc_threshold",
];

/// Fields of llama-server's JSON that do not affect sampling, in addition to
/// [`openai::UNRELATED`].
const SERVER_UNRELATED: [&str; 14] = [
    "cache_prompt",
    "chat_template_kwargs",
    "id_slot",
    "n_cache_reuse",
    "n_indent",
    "n_keep",
    "n_probs",
    "post_sampling_probs",
    "response_fields",
    "return_progress",
    "return_tokens",
    "t_max_predict_ms",
    "timings_per_token",
    "verbose",
];

/// Ollama's parameters and instructions that do not affect sampling.
const OLLAMA_UNRELATED: [&str; 23] = [
    "ADAPTER",
    "DRAFT",
    "FROM",
    "LICENSE",
    "MESSAGE",
    "PARSER",
    "RENDERER",
    "REQUIRES",
    "SYSTEM",
    "TEMPLATE",
    "draft_num_predict",
    "keep_alive",
    "main_gpu",
    "messages",
    "model",
    "num_batch",
    "num_ctx",
    "num_gpu",
    "num_keep",
    "num_thread",
    "prompt",
    "stream",
    "use_mmap",
];

/// Why the settings of vLLM's engine are rejected unless they have drafts.
const NO_ENGINE: &str = "LLM(…) has no sampling settings; enter SamplingParams(…)";

/// Arguments of a text-generation pipeline that do not affect sampling.
const PIPELINE_UNRELATED: [&str; 9] = [
    "batch_size",
    "device",
    "device_map",
    "dtype",
    "model",
    "return_full_text",
    "task",
    "torch_dtype",
    "trust_remote_code",
];

/// What a text-generation pipeline, which samples, sets unless it is told otherwise
/// (`pipelines/text_generation.py` in transformers 5.24.0).
const PIPELINE_TEMPERATURE: &str = "0.7";
const PIPELINE_TOKENS: &str = "256";

/// Names that only `KoboldCpp` uses.
const KOBOLD: [&str; 5] = [
    "rep_pen",
    "rep_pen_range",
    "rep_pen_slope",
    "sampler_order",
    "sampler_seed",
];

/// Names that llama-server uses and other OpenAI-compatible servers do not.
const ONLY_SERVER: [&str; 4] = ["n_predict", "repeat_last_n", "repeat_penalty", "samplers"];

/// Imports settings that were written for a tool: a command line, JSON, a Python call or dict, or a
/// Modelfile. The tool is detected from the text. An error says what is wrong, or what was
/// expected.
pub fn import_settings(
    text: &str,
    vocabulary: Option<&Vocabulary>,
) -> Result<ImportedSettings, String> {
    let text = unfenced(text);
    let (tool, fields) = detect(&text)?;
    let mut read = imported(tool, fields, vocabulary)?;
    let is_python = matches!(tool, Tool::Transformers | Tool::OpenAi | Tool::Vllm);
    if tool == Tool::Vllm {
        let is_call = python::has_call(&text, vllm::CALL);
        vllm::complete(is_call, &mut read);
    }
    let is_data = text.starts_with('{') || command::request(&text).is_some();
    if is_python && !is_data && python::is_cut_off(&text) {
        let sentence = "The call ends before its closing bracket, so settings may be missing";
        read.ignored.push(sentence.to_owned());
    }
    Ok(read)
}

fn imported(
    tool: Tool,
    fields: Vec<Field>,
    vocabulary: Option<&Vocabulary>,
) -> Result<ImportedSettings, String> {
    match tool {
        Tool::LlamaCpp => {
            let mut fields = Fields::new(fields);
            let chain = llama::read(Flavor::Flags, &mut fields, vocabulary)?;
            let names = ["n_predict", "stop"];
            finish(tool, chain, names, fields, flags::is_unrelated)
        }
        Tool::LlamaServer => {
            let mut fields = Fields::new(with_n_predict(fields));
            let chain = llama::read(Flavor::Server, &mut fields, vocabulary)?;
            let is_unrelated =
                |name: &str| SERVER_UNRELATED.contains(&name) || openai::UNRELATED.contains(&name);
            finish(tool, chain, ["n_predict", "stop"], fields, is_unrelated)
        }
        Tool::Ollama => read_ollama(fields, vocabulary),
        Tool::Transformers => {
            let mut fields = Fields::new(fields);
            let chain = transformers::read(&mut fields)?;
            let names = ["max_new_tokens", "stop_strings"];
            let is_unrelated = |name: &str| {
                transformers::UNRELATED.contains(&name) || PIPELINE_UNRELATED.contains(&name)
            };
            finish(tool, chain, names, fields, is_unrelated)
        }
        Tool::OpenAi => {
            let mut fields = Fields::new(with_max_tokens(fields));
            let chain = openai::read(&mut fields)?;
            let is_unrelated = |name: &str| openai::UNRELATED.contains(&name);
            finish(tool, chain, ["max_tokens", "stop"], fields, is_unrelated)
        }
        Tool::Vllm => {
            let mut fields = Fields::new(with_max_tokens(fields));
            let chain = vllm::read(&mut fields)?;
            let is_unrelated =
                |name: &str| vllm::UNRELATED.contains(&name) || openai::UNRELATED.contains(&name);
            finish(tool, chain, ["max_tokens", "stop"], fields, is_unrelated)
        }
    }
}

/// Ollama supports fewer parameters than llama.cpp, so the others are reported and not imported.
fn read_ollama(
    fields: Vec<Field>,
    vocabulary: Option<&Vocabulary>,
) -> Result<ImportedSettings, String> {
    let is_known = |field: &Field| llama::OLLAMA_NAMES.contains(&field.name.as_str());
    let (known, others): (Vec<Field>, Vec<Field>) = fields.into_iter().partition(is_known);
    let mut fields = Fields::new(known);
    let chain = llama::read(Flavor::Ollama, &mut fields, vocabulary)?;
    if fields.names("mirostat") {
        let written = fields.as_written("mirostat");
        fields.ignored.push(format!(
            "{written} only works in old versions of Ollama; current ones reject it"
        ));
    }
    let is_unrelated = |name: &str| OLLAMA_UNRELATED.contains(&name);
    let mut read = finish(
        Tool::Ollama,
        chain,
        ["num_predict", "stop"],
        fields,
        is_unrelated,
    )?;
    let mut others = Fields::new(others);
    others.report_rest(is_unrelated);
    read.ignored.extend(others.ignored);
    Ok(read)
}

/// Reads seed and limits, and reports whatever is left. `limits` names the token limit and the stop
/// sequences.
fn finish(
    tool: Tool,
    chain: ChainConfig,
    limits: [&str; 2],
    mut fields: Fields,
    is_unrelated: impl Fn(&str) -> bool,
) -> Result<ImportedSettings, String> {
    let [max_tokens, stop] = limits;
    let mut read = ImportedSettings {
        tool,
        chain,
        seed: None,
        max_new_tokens: None,
        stop_strings: fields.texts(stop)?,
        ignored: Vec::new(),
    };
    if let Some(seed) = fields.integer("seed")? {
        let is_llama = matches!(tool, Tool::LlamaCpp | Tool::LlamaServer);
        read.seed = u64::try_from(seed).ok();
        if read.seed.is_none() || (is_llama && seed == i64::from(u32::MAX)) {
            let written = fields.as_written("seed");
            fields
                .ignored
                .push(format!("{written} requests a random seed and is ignored"));
            read.seed = None;
        }
    }
    if let Some(n_tokens) = fields.integer(max_tokens)? {
        read.max_new_tokens = usize::try_from(n_tokens).ok();
        if read.max_new_tokens.is_none() {
            let written = fields.as_written(max_tokens);
            fields.ignored.push(format!(
                "{written} means no limit, which Quartet does not support"
            ));
        }
    }
    fields.report_rest(is_unrelated);
    read.ignored = fields.ignored;
    Ok(read)
}

/// Renames `OpenAI`'s fields, which llama-server accepts too.
fn with_n_predict(mut fields: Vec<Field>) -> Vec<Field> {
    for field in &mut fields {
        if matches!(field.name.as_str(), "max_tokens" | "max_completion_tokens") {
            "n_predict".clone_into(&mut field.name);
        }
    }
    fields
}

fn with_max_tokens(mut fields: Vec<Field>) -> Vec<Field> {
    for field in &mut fields {
        if field.name == "max_completion_tokens" {
            "max_tokens".clone_into(&mut field.name);
        }
    }
    fields
}

/// Detects the tool, and parses the text into fields.
fn detect(text: &str) -> Result<(Tool, Vec<Field>), String> {
    if text.starts_with('{') {
        return object(text);
    }
    if let Some((address, body)) = command::request(text) {
        let (tool, fields) = object(&body)?;
        return Ok((command::served_at(&address).unwrap_or(tool), fields));
    }
    if let Some(config) = command::vllm_drafts(text) {
        return object(&format!("{{\"{}\": {config}}}", drafts::VLLM));
    }
    if let Some(keywords) = python::arguments(text, vllm::CALL) {
        return Ok((Tool::Vllm, fields_of(keywords)));
    }
    let begins_as_command = text.starts_with(['-', '.', '/']) || text.starts_with("llama");
    if !begins_as_command && modelfile::is_modelfile(text) {
        return Ok((Tool::Ollama, modelfile::read(text)?));
    }
    if !begins_as_command && let Some(keywords) = python::calls(text) {
        let is_vllm = keywords.iter().any(|(name, _)| name == drafts::VLLM);
        if python::has_call(text, "LLM") && !is_vllm {
            return Err(NO_ENGINE.to_owned());
        }
        let tool = if is_vllm || python::has_call(text, "create") {
            Tool::OpenAi
        } else {
            Tool::Transformers
        };
        let mut fields = fields_of(keywords);
        if tool == Tool::Transformers && is_pipeline(text) {
            let is_off = |field: &Field| field.value == Value::Bool(false);
            let samples = !fields.iter().any(|f| f.name == "do_sample" && is_off(f));
            fields.splice(0..0, pipeline_defaults(samples));
        }
        return Ok((tool, fields));
    }
    if flags::is_command_line(text) {
        return Ok((Tool::LlamaCpp, flags::read(text)?));
    }
    let is_known = |(name, _): &(String, Value)| transformers::NAMES.contains(&name.as_str());
    if let Some(keywords) = python::keywords(text).filter(|all| all.iter().any(is_known)) {
        let fields = fields_of(keywords);
        of_kobold(&fields)?;
        let is_vllm = is_vllm(&fields, Tool::Transformers);
        let tool = if is_vllm {
            Tool::Vllm
        } else {
            Tool::Transformers
        };
        return Ok((tool, fields));
    }
    if let Some(entries) = yaml::entries(text) {
        return from_yaml(entries);
    }
    Err(format!(
        "{} is not recognized; enter llama.cpp flags (--temp 0.7), JSON, YAML, a Python call \
         (generate(temperature=0.7)) or a Modelfile (PARAMETER temperature 0.7)",
        beginning(text)
    ))
}

/// Flat YAML means the same as JSON, except that text-generation-webui's presets are YAML.
fn from_yaml(entries: Vec<(String, Value)>) -> Result<(Tool, Vec<Field>), String> {
    let fields = fields_of(entries);
    let names = |name: &str| fields.iter().any(|field| field.name == name);
    if names("repetition_penalty") && !names("do_sample") {
        return Err(AMBIGUOUS_PENALTY.to_owned());
    }
    match tool_of(&fields) {
        Ok(tool) => Ok((tool, fields)),
        Err(error) => Err(error.replace("This JSON", "This YAML")),
    }
}

/// Whether the settings are those of a pipeline rather than of a call of `generate`.
fn is_pipeline(text: &str) -> bool {
    let has_call = |name| python::has_call(text, name);
    (has_call("pipe") || has_call("pipeline")) && !has_call("generate")
}

fn pipeline_defaults(samples: bool) -> Vec<Field> {
    let default = |name, value: &str| Field::new(name, Value::Number(value.to_owned()));
    let mut fields = vec![default("max_new_tokens", PIPELINE_TOKENS)];
    if samples {
        fields.push(Field::new("do_sample", Value::Bool(true)));
        fields.push(default("temperature", PIPELINE_TEMPERATURE));
    }
    fields
}

/// Parses JSON or a Python dict.
fn object(text: &str) -> Result<(Tool, Vec<Field>), String> {
    let entries = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(json) => match Value::from(json) {
            Value::Map(entries) => entries
                .into_iter()
                .map(|(name, value)| (name.to_string(), value))
                .collect(),
            _ => Vec::new(),
        },
        Err(error) => {
            let refused = || format!("This is not valid JSON: {}", json_words(&error));
            python::dict(text).ok_or_else(refused)?
        }
    };
    let mut fields = Vec::new();
    let mut has_options = false;
    for (name, value) in entries {
        match value {
            // A request to Ollama nests its parameters in `options`.
            Value::Map(options) if name == "options" => {
                has_options = true;
                let field = |(name, value): (Value, Value)| Field::new(&name.to_string(), value);
                fields.extend(options.into_iter().map(field));
            }
            value => fields.push(Field::new(&name, value)),
        }
    }
    let tool = if has_options {
        Tool::Ollama
    } else {
        tool_of(&fields)?
    };
    Ok((tool, fields))
}

/// Returns the tool that knows the most of these names. A tie goes to the most common tool.
fn tool_of(fields: &[Field]) -> Result<Tool, String> {
    let openai = [&openai::NAMES[..], &openai::UNRELATED].concat();
    let server = [&openai[..], &SERVER, &thoughts::SERVER, &SERVER_UNRELATED].concat();
    let transformers = [&transformers::NAMES[..], &transformers::UNRELATED].concat();
    let ollama = [&llama::OLLAMA_NAMES[..], &OLLAMA_UNRELATED].concat();
    let n_known = |names: &[&str]| {
        let is_known = |field: &&Field| names.contains(&field.name.as_str());
        fields.iter().filter(is_known).count()
    };
    // OpenAI writes biases as an object, llama-server also as a list of pairs.
    let has_pairs =
        |field: &Field| field.name == "logit_bias" && matches!(field.value, Value::List(_));
    let mut best = (Tool::OpenAi, n_known(&openai));
    if fields.iter().any(has_pairs) {
        best = (Tool::LlamaServer, n_known(&server));
    }
    for (tool, names) in [
        (Tool::LlamaServer, server),
        (Tool::Transformers, transformers),
        (Tool::Ollama, ollama),
    ] {
        let n_known = n_known(&names);
        if n_known > best.1 {
            best = (tool, n_known);
        }
    }
    of_kobold(fields)?;
    match best {
        (_, 0) => {
            Err("This JSON contains no known setting such as temperature or top_p".to_owned())
        }
        (tool, _) if is_vllm(fields, tool) => Ok(Tool::Vllm),
        (tool, _) => Ok(tool),
    }
}

/// Returns an error if the settings are `KoboldCpp`'s. Other tools know many of the names, but their
/// defaults and missing settings would change the meaning.
fn of_kobold(fields: &[Field]) -> Result<(), String> {
    let names = |name: &str| fields.iter().any(|field| field.name == name);
    let kobold: Vec<&str> = KOBOLD.into_iter().filter(|name| names(name)).collect();
    if kobold.is_empty() {
        return Ok(());
    }
    Err(format!(
        "KoboldCpp settings ({}) are not supported; use settings of llama.cpp, transformers, Ollama \
         or OpenAI",
        listed(&kobold)
    ))
}

/// Whether the settings are those of a request to vLLM: `OpenAI`'s, and a thinking budget or a
/// repetition penalty that llama-server calls otherwise.
fn is_vllm(fields: &[Field], guessed: Tool) -> bool {
    let names = |name: &str| fields.iter().any(|field| field.name == name);
    let is_request = names("max_tokens") || names("max_completion_tokens");
    let is_guess = guessed == Tool::LlamaServer && !ONLY_SERVER.into_iter().any(names);
    names(thoughts::VLLM)
        || names("repetition_penalty") && !names("do_sample") && (is_request || is_guess)
}

/// Why YAML with a repetition penalty of an unknown tool is rejected.
const AMBIGUOUS_PENALTY: &str = "repetition_penalty without do_sample suggests vLLM or text-generation-webui, which apply it \
     differently; write SamplingParams(…) for vLLM, or repeat_penalty for llama-server";

fn fields_of(keywords: Vec<(String, Value)>) -> Vec<Field> {
    let field = |(name, value): (String, Value)| Field::new(&name, value);
    keywords.into_iter().map(field).collect()
}

/// Removes Markdown fences and a byte order mark.
fn unfenced(text: &str) -> String {
    let is_fence = |line: &&str| !line.trim_start().starts_with("```");
    let lines: Vec<&str> = text.lines().filter(is_fence).collect();
    lines
        .join("\n")
        .trim()
        .trim_start_matches('\u{feff}')
        .to_owned()
}

fn beginning(text: &str) -> String {
    if text.is_empty() {
        return "Empty text".to_owned();
    }
    format!("{:?}", text.chars().take(40).collect::<String>())
}
