//! A pane's settings as a request to the server's own sampler, and its response as a stream.

use serde_json::{Value, json};

use super::http::Stream;
use super::llama_server::set;
use super::request::{Place, StreamPart};
use super::{Connection, ServerError, ServerKind, llama_server, ollama, openai, vllm};
use crate::decoding::{Filter, Stage};
use crate::generation::{EndOfText, GenerationConfig};
use crate::interop::tools::{Tool, request_fields};

/// Returns how a server's sampler deviates from the settings, in one sentence per deviation.
pub fn sampler_notes(connection: &Connection, config: &GenerationConfig) -> Vec<String> {
    translated(connection.kind(), config).1
}

/// Returns the path and the body of a request for up to `n_max` tokens.
pub(super) fn request(
    connection: &Connection,
    place: Place<'_>,
    config: &GenerationConfig,
    n_max: usize,
) -> Result<(&'static str, Value), ServerError> {
    let (n_probs, kind) = (connection.n_probs(), connection.kind());
    let (mut fields, _) = translated(kind, config);
    // Quartet looks for stop sequences itself, because servers withhold the text before one.
    fields.remove("stop");
    let (path, mut body, limit) = match kind {
        ServerKind::LlamaServer => {
            let mut body = llama_server::step_body(connection, place, n_probs);
            set(&mut body, "timings_per_token", json!(true));
            ("/completion", body, "n_predict")
        }
        ServerKind::Ollama => {
            let mut body = ollama::body(connection, place, n_probs)?;
            fields.insert("num_predict".to_owned(), json!(n_max));
            set(
                &mut body,
                "options",
                Value::Object(std::mem::take(&mut fields)),
            );
            ("/api/generate", body, "")
        }
        ServerKind::Vllm => {
            let mut body = vllm::body(connection, place, n_probs);
            if config.limits.end_of_text == EndOfText::Ignored {
                set(&mut body, "ignore_eos", json!(true));
            }
            ("/v1/completions", body, "max_tokens")
        }
        ServerKind::OpenAi => {
            let prompt = place.whole_text();
            let prompt = prompt.ok_or_else(|| openai::part_of_character(connection))?;
            let body = openai::body(connection, &json!(prompt), n_probs);
            ("/v1/completions", body, "max_tokens")
        }
    };
    for (name, value) in fields {
        set(&mut body, &name, value);
    }
    if !limit.is_empty() {
        set(&mut body, limit, json!(n_max));
    }
    set(&mut body, "stream", json!(true));
    Ok((path, body))
}

/// Reads the next part of the response. Returns `None` if the stream has ended.
pub(super) fn next_part(
    connection: &Connection,
    stream: &mut Stream<'_>,
) -> Result<Option<StreamPart>, super::error::Broken> {
    let Some(part) = stream.next()? else {
        return Ok(None);
    };
    let read = match connection.kind() {
        ServerKind::LlamaServer => llama_server::stream_part(connection, &part),
        ServerKind::Ollama => ollama::stream_part(connection, &part),
        ServerKind::Vllm | ServerKind::OpenAi => openai::stream_part(connection, &part),
    };
    Ok(Some(read?))
}

fn translated(
    kind: ServerKind,
    config: &GenerationConfig,
) -> (serde_json::Map<String, Value>, Vec<String>) {
    match kind {
        ServerKind::LlamaServer => request_fields(Tool::LlamaServer, config, None),
        ServerKind::Ollama => request_fields(Tool::Ollama, config, None),
        ServerKind::OpenAi => request_fields(Tool::OpenAi, config, None),
        ServerKind::Vllm => {
            // vLLM has more parameters than OpenAI.
            let mut others = config.clone();
            let mut more = Vec::new();
            others
                .chain
                .stages
                .retain(|stage| match beyond_openai(stage) {
                    Some(field) => {
                        more.push(field);
                        false
                    }
                    None => true,
                });
            let (mut fields, notes) = request_fields(Tool::OpenAi, &others, None);
            fields.extend(
                more.into_iter()
                    .map(|(name, value)| (name.to_owned(), value)),
            );
            (fields, notes)
        }
    }
}

fn beyond_openai(stage: &Stage) -> Option<(&'static str, Value)> {
    if !stage.enabled {
        return None;
    }
    match &stage.filter {
        Filter::TopK(top_k) => Some(("top_k", json!(top_k.k))),
        Filter::MinP(min_p) => Some(("min_p", number(min_p.p))),
        Filter::RepetitionPenalty(rule) => Some(("repetition_penalty", number(rule.penalty))),
        _ => None,
    }
}

/// Writes a number with the fewest digits that identify it: 0.1, not 0.10000000149.
fn number(value: f32) -> Value {
    serde_json::from_str(&value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ServerKind, translated};
    use crate::decoding::ChainConfig;
    use crate::decoding::Filter;
    use crate::decoding::filters::{MinP, Temperature, TopK, TopP};
    use crate::generation::{GenerationConfig, Limits};

    #[test]
    fn each_kind_gets_the_settings_under_its_own_names() {
        let config = GenerationConfig {
            chain: ChainConfig::sampled([
                Filter::TopK(TopK { k: 40 }),
                Filter::MinP(MinP { p: 0.1 }),
                Filter::Temperature(Temperature { temperature: 0.7 }),
                Filter::TopP(TopP { p: 0.9 }),
            ]),
            seed: 7,
            limits: Limits::default(),
        };
        for (kind, fields) in [
            (
                ServerKind::LlamaServer,
                ["top_k", "min_p", "temperature", "top_p", "seed"],
            ),
            (
                ServerKind::Vllm,
                ["top_k", "min_p", "temperature", "top_p", "seed"],
            ),
            (
                ServerKind::Ollama,
                ["top_k", "min_p", "temperature", "top_p", "seed"],
            ),
        ] {
            let (found, _) = translated(kind, &config);
            for name in fields {
                assert!(found.contains_key(name), "{kind:?} lacks {name}");
            }
        }
        let (found, notes) = translated(ServerKind::OpenAi, &config);
        assert!(!found.contains_key("top_k"));
        assert!(
            notes.iter().any(|note| note.contains("top-k 40")),
            "{notes:?}"
        );
    }
}
