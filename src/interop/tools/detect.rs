//! Detects which tool a text is for, and imports its settings.

use super::fields::{Field, Fields};
use super::llama::{self, Flavor};
use super::value::Value;
use super::{ImportedSettings, Tool, drafts, flags, modelfile, openai, python, transformers};
use crate::decoding::ChainConfig;
use crate::generation::{Vocabulary, listed};

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

/// Why most settings of vLLM are rejected.
const NO_VLLM: &str = "vLLM settings (SamplingParams) are not supported; use settings of llama.cpp, \
                       transformers, Ollama or OpenAI";

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
            let is_unrelated = |name: &str| transformers::UNRELATED.contains(&name);
            finish(tool, chain, names, fields, is_unrelated)
        }
        Tool::OpenAi => {
            let mut fields = Fields::new(with_max_tokens(fields));
            let chain = openai::read(&mut fields)?;
            let is_unrelated = |name: &str| openai::UNRELATED.contains(&name);
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
    if let Some(body) = request_body(text) {
        return object(&body);
    }
    if let Some(config) = vllm_drafts(text) {
        return object(&format!("{{\"{}\": {config}}}", drafts::VLLM));
    }
    if python::has_call(text, "SamplingParams") {
        return Err(NO_VLLM.to_owned());
    }
    let begins_as_command = text.starts_with(['-', '.', '/']) || text.starts_with("llama");
    if !begins_as_command && modelfile::is_modelfile(text) {
        return Ok((Tool::Ollama, modelfile::read(text)?));
    }
    if !begins_as_command && let Some(keywords) = python::calls(text) {
        let is_vllm = keywords.iter().any(|(name, _)| name == drafts::VLLM);
        if python::has_call(text, "LLM") && !is_vllm {
            return Err(NO_VLLM.to_owned());
        }
        let tool = if is_vllm || python::has_call(text, "create") {
            Tool::OpenAi
        } else {
            Tool::Transformers
        };
        return Ok((tool, fields_of(keywords)));
    }
    if flags::is_command_line(text) {
        return Ok((Tool::LlamaCpp, flags::read(text)?));
    }
    let is_known = |(name, _): &(String, Value)| transformers::NAMES.contains(&name.as_str());
    if let Some(keywords) = python::keywords(text).filter(|all| all.iter().any(is_known)) {
        let fields = fields_of(keywords);
        return match foreign(&fields, Tool::Transformers) {
            Some(message) => Err(message),
            None => Ok((Tool::Transformers, fields)),
        };
    }
    Err(format!(
        "{} is not recognized; enter llama.cpp flags (--temp 0.7), JSON, a Python call \
         (generate(temperature=0.7)) or a Modelfile (PARAMETER temperature 0.7)",
        beginning(text)
    ))
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
            python::dict(text).ok_or_else(|| format!("This is not valid JSON: {error}"))?
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
    let server = [&openai[..], &SERVER, &SERVER_UNRELATED].concat();
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
    match (foreign(fields, best.0), best) {
        (Some(message), _) => Err(message),
        (None, (_, 0)) => {
            Err("This JSON contains no known setting such as temperature or top_p".to_owned())
        }
        (None, (tool, _)) => Ok(tool),
    }
}

/// Returns an error message if the settings are for an unsupported tool. Another tool may know many
/// of the names, but its defaults and missing settings would change their meaning.
fn foreign(fields: &[Field], guessed: Tool) -> Option<String> {
    let names = |name: &str| fields.iter().any(|field| field.name == name);
    let kobold: Vec<&str> = KOBOLD.into_iter().filter(|name| names(name)).collect();
    if !kobold.is_empty() {
        return Some(format!(
            "KoboldCpp settings ({}) are not supported; use settings of llama.cpp, transformers, \
             Ollama or OpenAI",
            listed(&kobold)
        ));
    }
    let is_request = names("max_tokens") || names("max_completion_tokens");
    let is_guess = guessed == Tool::LlamaServer && !ONLY_SERVER.into_iter().any(names);
    let is_vllm = names("repetition_penalty") && !names("do_sample") && (is_request || is_guess);
    is_vllm.then(|| {
        "repetition_penalty without do_sample suggests vLLM or text-generation-webui, which are not \
         supported; llama-server calls it repeat_penalty"
            .to_owned()
    })
}

/// Returns the JSON that a `curl` command sends.
fn request_body(text: &str) -> Option<String> {
    let command = text.trim_start_matches(['$', ' ']);
    if !command.starts_with("curl ") {
        return None;
    }
    let mut words = shlex::split(command)?.into_iter();
    words.find(|word| {
        matches!(
            word.as_str(),
            "-d" | "--data" | "--data-raw" | "--json" | "--data-binary"
        )
    })?;
    words.next().map(|body| body.trim().to_owned())
}

/// Returns the JSON that configures drafts in a command that starts vLLM.
fn vllm_drafts(command: &str) -> Option<String> {
    let flag = "--speculative-config";
    let begin = command.find(flag)?;
    let mut words = shlex::split(command.get(begin..)?)?.into_iter();
    let first = words.next()?;
    match first.strip_prefix(flag)?.strip_prefix('=') {
        Some(joined) => Some(joined.to_owned()),
        None => words.next(),
    }
}

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
    let beginning: String = text.chars().take(40).collect();
    format!("{beginning:?}")
}
