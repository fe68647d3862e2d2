//! Which tool a text is meant for, and what it means there.

use super::fields::{Field, Fields};
use super::llama::{self, Words};
use super::value::Value;
use super::{ReadSettings, Tool, flags, modelfile, openai, python, transformers};
use crate::decoding::ChainConfig;
use crate::generation::{Vocabulary, listed};

/// The settings of llama-server's JSON, beside those of [`openai::NAMES`].
const SERVER: [&str; 26] = [
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
    "top_k",
    "top_n_sigma",
    "typical_p",
    "xtc_probability",
    "xtc_threshold",
];

/// Fields of llama-server's JSON about other things, beside those of [`openai::OTHERS`].
const SERVER_OTHERS: [&str; 14] = [
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

/// Ollama's parameters and instructions about other things.
const OLLAMA_OTHERS: [&str; 23] = [
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

/// Names that only `KoboldCpp` has.
const KOBOLD: [&str; 5] = [
    "rep_pen",
    "rep_pen_range",
    "rep_pen_slope",
    "sampler_order",
    "sampler_seed",
];

/// Names that llama-server has and other servers of `OpenAI`'s API do not.
const ONLY_SERVER: [&str; 4] = ["n_predict", "repeat_last_n", "repeat_penalty", "samplers"];

/// Reads settings that were written for a tool, which is recognised from the text itself: a command
/// line, JSON, a Python call or dict, or a Modelfile. An error is a sentence that says what was
/// expected, or what is wrong where.
pub fn read_settings(text: &str, vocabulary: Option<&Vocabulary>) -> Result<ReadSettings, String> {
    let text = unfenced(text);
    let (tool, fields) = recognised(&text)?;
    match tool {
        Tool::LlamaCpp => {
            let mut fields = Fields::new(fields);
            let chain = llama::read(Words::Flags, &mut fields, vocabulary)?;
            let names = ["n_predict", "stop"];
            finished(tool, chain, names, fields, flags::is_about_others)
        }
        Tool::LlamaServer => {
            let mut fields = Fields::new(with_n_predict(fields));
            let chain = llama::read(Words::Server, &mut fields, vocabulary)?;
            let about_others =
                |name: &str| SERVER_OTHERS.contains(&name) || openai::OTHERS.contains(&name);
            finished(tool, chain, ["n_predict", "stop"], fields, about_others)
        }
        Tool::Ollama => read_ollama(fields, vocabulary),
        Tool::Transformers => {
            let mut fields = Fields::new(fields);
            let chain = transformers::read(&mut fields)?;
            let names = ["max_new_tokens", "stop_strings"];
            let about_others = |name: &str| transformers::OTHERS.contains(&name);
            finished(tool, chain, names, fields, about_others)
        }
        Tool::OpenAi => {
            let mut fields = Fields::new(with_max_tokens(fields));
            let chain = openai::read(&mut fields)?;
            let about_others = |name: &str| openai::OTHERS.contains(&name);
            finished(tool, chain, ["max_tokens", "stop"], fields, about_others)
        }
    }
}

/// Ollama refuses parameters that llama.cpp would know.
fn read_ollama(
    fields: Vec<Field>,
    vocabulary: Option<&Vocabulary>,
) -> Result<ReadSettings, String> {
    let is_known = |field: &Field| llama::OLLAMA_NAMES.contains(&field.name.as_str());
    let (known, others): (Vec<Field>, Vec<Field>) = fields.into_iter().partition(is_known);
    let mut fields = Fields::new(known);
    let chain = llama::read(Words::Ollama, &mut fields, vocabulary)?;
    if fields.names("mirostat") {
        let written = fields.as_written("mirostat");
        fields.unread.push(format!(
            "{written} was a parameter of Ollama once; newer versions refuse it"
        ));
    }
    let about_others = |name: &str| OLLAMA_OTHERS.contains(&name);
    let mut read = finished(
        Tool::Ollama,
        chain,
        ["num_predict", "stop"],
        fields,
        about_others,
    )?;
    let mut others = Fields::new(others);
    others.tell_rest(about_others);
    read.unread.extend(others.unread);
    Ok(read)
}

fn finished(
    tool: Tool,
    chain: ChainConfig,
    [most, stop]: [&str; 2],
    mut fields: Fields,
    about_others: impl Fn(&str) -> bool,
) -> Result<ReadSettings, String> {
    let mut read = ReadSettings {
        tool,
        chain,
        seed: None,
        max_new_tokens: None,
        stop_strings: fields.texts(stop)?,
        unread: Vec::new(),
    };
    if let Some(seed) = fields.whole("seed")? {
        let is_llama = matches!(tool, Tool::LlamaCpp | Tool::LlamaServer);
        read.seed = u64::try_from(seed).ok();
        if read.seed.is_none() || (is_llama && seed == i64::from(u32::MAX)) {
            let written = fields.as_written("seed");
            fields
                .unread
                .push(format!("{written} stands for another seed each time"));
            read.seed = None;
        }
    }
    if let Some(n_tokens) = fields.whole(most)? {
        read.max_new_tokens = usize::try_from(n_tokens).ok();
        if read.max_new_tokens.is_none() {
            let written = fields.as_written(most);
            fields.unread.push(format!(
                "{written} stands for no limit; here there is always one"
            ));
        }
    }
    fields.tell_rest(about_others);
    read.unread = fields.unread;
    Ok(read)
}

/// llama-server takes `OpenAI`'s names for its own.
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

fn recognised(text: &str) -> Result<(Tool, Vec<Field>), String> {
    if text.starts_with('{') {
        return object(text);
    }
    if let Some(body) = request_body(text) {
        return object(&body);
    }
    if python::has_call(text, "SamplingParams") {
        let sentence = "vLLM's settings are not read (SamplingParams); those of llama.cpp, \
                        transformers, Ollama and OpenAI are";
        return Err(sentence.to_owned());
    }
    let begins_as_command = text.starts_with(['-', '.', '/']) || text.starts_with("llama");
    if !begins_as_command && modelfile::is_meant(text) {
        return Ok((Tool::Ollama, modelfile::read(text)?));
    }
    if !begins_as_command && let Some(keywords) = python::calls(text) {
        let is_request = python::has_call(text, "create");
        let tool = if is_request {
            Tool::OpenAi
        } else {
            Tool::Transformers
        };
        return Ok((tool, fields_of(keywords)));
    }
    if flags::is_meant(text) {
        return Ok((Tool::LlamaCpp, flags::read(text)?));
    }
    let is_known = |(name, _): &(String, Value)| transformers::NAMES.contains(&name.as_str());
    if let Some(keywords) = python::keywords(text).filter(|all| all.iter().any(is_known)) {
        let fields = fields_of(keywords);
        return match foreign(&fields, Tool::Transformers) {
            Some(sentence) => Err(sentence),
            None => Ok((Tool::Transformers, fields)),
        };
    }
    Err(format!(
        "{} is not understood; llama.cpp flags are expected (--temp 0.7), or JSON, or a Python call \
         (generate(temperature=0.7)), or a Modelfile (PARAMETER temperature 0.7)",
        beginning(text)
    ))
}

/// JSON, or what Python makes of braces.
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
            python::dict(text).ok_or_else(|| format!("This JSON can't be read: {error}"))?
        }
    };
    let mut fields = Vec::new();
    let mut has_options = false;
    for (name, value) in entries {
        match value {
            // A request to Ollama has its parameters one level down.
            Value::Map(options) if name == "options" => {
                has_options = true;
                let options = options.into_iter();
                fields.extend(options.map(|(name, value)| Field::new(&name.to_string(), value)));
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

/// The tool that knows the most of these names; of equals the one that is most often meant.
fn tool_of(fields: &[Field]) -> Result<Tool, String> {
    let openai = [&openai::NAMES[..], &openai::OTHERS].concat();
    let server = [&openai[..], &SERVER, &SERVER_OTHERS].concat();
    let transformers = [&transformers::NAMES[..], &transformers::OTHERS].concat();
    let ollama = [&llama::OLLAMA_NAMES[..], &OLLAMA_OTHERS].concat();
    let n_known = |names: &[&str]| {
        let is_known = |field: &&Field| names.contains(&field.name.as_str());
        fields.iter().filter(is_known).count()
    };
    let mut best = (Tool::OpenAi, n_known(&openai));
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
        (Some(sentence), _) => Err(sentence),
        (None, (_, 0)) => {
            Err("This JSON holds no setting that is known, such as temperature or top_p".to_owned())
        }
        (None, (tool, _)) => Ok(tool),
    }
}

/// Why these are the settings of a tool that is not read, however many of their names another knows
/// too: its defaults, and the settings it lacks, would change what they mean.
fn foreign(fields: &[Field], guessed: Tool) -> Option<String> {
    let names = |name: &str| fields.iter().any(|field| field.name == name);
    let kobold: Vec<&str> = KOBOLD.into_iter().filter(|name| names(name)).collect();
    if !kobold.is_empty() {
        return Some(format!(
            "KoboldCpp's settings are not read ({}); those of llama.cpp, transformers, Ollama and OpenAI are",
            listed(&kobold)
        ));
    }
    let is_request = names("max_tokens") || names("max_completion_tokens");
    let is_guess = guessed == Tool::LlamaServer && !ONLY_SERVER.into_iter().any(names);
    let is_vllm = names("repetition_penalty") && !names("do_sample") && (is_request || is_guess);
    is_vllm.then(|| {
        "vLLM's settings are not read, nor those of text-generation-webui (repetition_penalty without \
         do_sample); in llama-server it is repeat_penalty"
            .to_owned()
    })
}

/// The JSON that a `curl` command sends.
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

fn fields_of(keywords: Vec<(String, Value)>) -> Vec<Field> {
    let field = |(name, value): (String, Value)| Field::new(&name, value);
    keywords.into_iter().map(field).collect()
}

/// Without the fences of Markdown around it.
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
        return "An empty text".to_owned();
    }
    let beginning: String = text.chars().take(40).collect();
    format!("{beginning:?}")
}
