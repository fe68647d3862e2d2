//! A pane's settings as a request to the server's own sampler, and its response as a stream.

use serde_json::{Map, Value, json};

use super::llama_server::set;
use super::neutral::switch_off_others;
use super::refused::check_settings;
use super::request::Place;
use super::{Connection, ServerError, ServerInfo};
use crate::decoding::{ChainConfig, FilterKind, Selector};
use crate::generation::{GenerationConfig, Limits};
use crate::interop::tools::RequestSettings;

/// Returns how a server's sampler deviates from the settings, in one sentence per deviation.
/// There are none for settings that are refused.
pub fn sampler_notes(connection: &Connection, config: &GenerationConfig) -> Vec<String> {
    match check_settings(connection, &config.chain) {
        Ok(()) => translated(connection.info(), config).notes,
        Err(_refused) => Vec::new(),
    }
}

/// Returns the settings that this server's sampler does not apply, or applies differently: "eta 0.5",
/// "temperature after top-p", "temperature 3 (used: 2)".
pub fn not_applied(info: &ServerInfo, config: &GenerationConfig) -> Vec<String> {
    let n_context = info.n_context.unwrap_or(usize::MAX);
    let differences = translated(info, config).differences.into_iter();
    let differences = differences.filter(|difference| difference.n_unaffected < n_context);
    let mut all = lacking(info, config);
    all.extend(differences.map(|difference| difference.words));
    all
}

/// Returns the settings that the sampler of this kind of server lacks, in the words of `--pane`.
///
/// A setting is applied if the request differs without it. One that makes no difference to any text,
/// such as a temperature of 1, is not listed.
fn lacking(info: &ServerInfo, config: &GenerationConfig) -> Vec<String> {
    let chain = &config.chain;
    let fields = |config: &GenerationConfig| translated(info, config).fields;
    let with_all = fields(config);
    let is_lost = |without: &ChainConfig| {
        let config = GenerationConfig {
            chain: without.clone(),
            ..config.clone()
        };
        fields(&config) == with_all
    };
    let mut lost = Vec::new();
    for (index, stage) in chain.stages.iter().enumerate() {
        let filter = &stage.filter;
        // A stage that keeps the most likely token does not change a greedy choice.
        let is_idle = chain.selector == Selector::Greedy
            && (filter.cuts() || filter.kind() == FilterKind::Temperature);
        if stage.enabled && !filter.is_neutral() && !is_idle {
            let mut without = chain.clone();
            without.stages.remove(index);
            lost.extend(is_lost(&without).then(|| filter.to_string()));
        }
    }
    if let Some(rule) = &chain.grammar {
        let without = ChainConfig {
            grammar: None,
            ..chain.clone()
        };
        lost.extend(is_lost(&without).then(|| rule.to_string()));
    }
    if !chain.selector.is_plain() {
        let without = ChainConfig {
            selector: Selector::Multinomial,
            ..chain.clone()
        };
        lost.extend(is_lost(&without).then(|| chain.selector.to_string()));
    }
    if chain.rules.min_keep > 1 {
        let mut without = chain.clone();
        without.rules.min_keep = 1;
        lost.extend(is_lost(&without).then(|| format!("min-keep {}", chain.rules.min_keep)));
    }
    lost
}

/// Returns the path and the body of a request for up to `n_max` tokens.
pub(super) fn request(
    connection: &Connection,
    place: Place<'_>,
    config: &GenerationConfig,
    n_max: usize,
) -> Result<(&'static str, Value), ServerError> {
    let (kind, api) = (connection.kind(), connection.api());
    let mut fields = translated(connection.info(), config).fields;
    switch_off_others(kind, &mut fields);
    let (path, mut body) = api.sampler_request(connection, place, fields, n_max)?;
    set(&mut body, "stream", json!(true));
    Ok((path, body))
}

/// Adds the settings of the sampler to a request.
pub(super) fn add_settings(body: &mut Value, fields: Map<String, Value>) {
    for (name, value) in fields {
        set(body, &name, value);
    }
}

/// Returns the settings as this server takes them.
fn translated(info: &ServerInfo, config: &GenerationConfig) -> RequestSettings {
    let config = GenerationConfig {
        limits: Limits {
            // Quartet looks for stop sequences itself, because servers withhold the text before one.
            stop_strings: Vec::new(),
            ..config.limits.clone()
        },
        ..config.clone()
    };
    info.kind.api().translated(info, config)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{RequestSettings, ServerInfo, not_applied, translated};
    use crate::decoding::ChainConfig;
    use crate::decoding::Filter;
    use crate::decoding::filters::{MinP, Temperature, TopK, TopP};
    use crate::generation::{EndOfText, GenerationConfig, Limits, PaneSettings};
    use crate::servers::ServerKind;

    /// Returns what is sent to vLLM for these settings.
    fn to_vllm(settings: &str) -> (serde_json::Map<String, serde_json::Value>, Vec<String>) {
        let settings: PaneSettings = settings.parse().unwrap();
        let config = GenerationConfig {
            chain: settings.chain,
            seed: 7,
            limits: Limits {
                end_of_text: EndOfText::Ignored,
                ..Limits::default()
            },
        };
        let settings = translated(&server(ServerKind::Vllm), &config);
        (settings.fields, settings.notes)
    }

    /// Returns what a server with this context does not apply of these settings.
    fn lost(kind: ServerKind, n_context: Option<usize>, settings: &str) -> Vec<String> {
        let settings: PaneSettings = settings.parse().unwrap();
        let config = GenerationConfig {
            chain: settings.chain,
            seed: 7,
            limits: Limits::default(),
        };
        let info = ServerInfo {
            n_context,
            ..server(kind)
        };
        not_applied(&info, &config)
    }

    fn server(kind: ServerKind) -> ServerInfo {
        ServerInfo::new(kind, "HOST", "toy")
    }

    #[test]
    fn the_order_of_ollama_is_that_of_the_runner() {
        let settings: PaneSettings = "temp 0.8, top-p 0.9, dialect ollama-mlx".parse().unwrap();
        let config = GenerationConfig {
            chain: settings.chain,
            seed: 7,
            limits: Limits::default(),
        };
        for (runs_in_mlx, expected) in [(true, &[][..]), (false, &["top-p after temperature"])] {
            let info = ServerInfo {
                runs_in_mlx,
                ..server(ServerKind::Ollama)
            };
            assert_eq!(not_applied(&info, &config), expected);
        }
    }

    #[test]
    fn vllm_applies_each_stage_once_and_in_its_own_order() {
        let (fields, notes) = to_vllm("top-k 3, top-k 50, min-p 0.3, temp 2.5, repeat 1.3 last 16");
        for (name, value) in [
            ("top_k", json!(3)),
            ("min_p", json!(0.3)),
            ("temperature", json!(2)),
            ("repetition_penalty", json!(1.3)),
            ("ignore_eos", json!(true)),
        ] {
            assert_eq!(fields.get(name), Some(&value), "{name}");
        }
        for note in [
            "vLLM applies top-k only once; the second, top-k 50, is left out",
            "vLLM applies temperature before min-p, here it comes after",
            "In vLLM the repetition penalty looks at the whole text, here at the last 16 tokens",
        ] {
            assert!(notes.iter().any(|other| other == note), "{notes:?}");
        }
        assert!(
            notes
                .iter()
                .any(|note| note.starts_with("vLLM applies repetition penalty before top-k")),
            "{notes:?}"
        );
        assert!(
            !notes.iter().any(|note| note.contains("OpenAI")),
            "{notes:?}"
        );
    }

    #[test]
    fn what_a_sampler_lacks_is_named_as_in_the_settings() {
        for (kind, settings, expected) in [
            (
                ServerKind::LlamaServer,
                "no-repeat 3 last all, eta 0.5, temp 0.7",
                &["no-repeat 3", "eta 0.5"][..],
            ),
            (
                ServerKind::LlamaServer,
                "grammar regex \"[0-9]+\"",
                &["grammar [0-9]+"],
            ),
            (
                ServerKind::LlamaServer,
                "grammar check json, top-k 40, top-p 0.9, temp 0.7",
                &[],
            ),
            (ServerKind::Ollama, "grammar json", &["JSON"]),
            (
                ServerKind::OpenAi,
                "grammar regex \"[0-9]+\"",
                &["grammar [0-9]+"],
            ),
            (ServerKind::Ollama, "mirostat 5", &["mirostat 5 eta 0.1"]),
            (ServerKind::Vllm, "top-k 3, top-k 50", &["top-k 50"]),
            (ServerKind::Vllm, "mirostat 5", &["mirostat 5 eta 0.1"]),
            (ServerKind::OpenAi, "top-k 40, top-p 0.9", &["top-k 40"]),
            (ServerKind::OpenAi, "temp 1, greedy", &[]),
            (ServerKind::OpenAi, "top-k 5, greedy", &[]),
        ] {
            assert_eq!(lost(kind, None, settings), expected, "{kind:?} {settings}");
        }
    }

    #[test]
    fn what_a_sampler_does_otherwise_is_named_with_what_it_does() {
        use ServerKind::{LlamaServer, Ollama, OpenAi, Vllm};
        for (kind, settings, expected) in [
            (
                LlamaServer,
                "repeat 1.1 last all",
                &["repetition penalty over the whole text (used: the last 32768 tokens)"][..],
            ),
            // The request tells llama-server the order.
            (LlamaServer, "temp 0.7, top-p 0.9, min-p 0.1", &[]),
            (
                LlamaServer,
                "presence 0.5 last all generated",
                &["presence penalty over everything generated (used: the last 32768 tokens)"],
            ),
            (
                LlamaServer,
                "repeat 1.1 last 64, presence 0.5 last 16",
                &["presence penalty over the last 16 tokens (used: the last 64 tokens)"],
            ),
            (
                LlamaServer,
                "grammar json",
                &["grammar before the chain (used: after the draw)"],
            ),
            (Ollama, "temp 0.7, top-p 0.9", &["top-p after temperature"]),
            (Ollama, "top-p 0.9, temp 0.7", &[]),
            (Ollama, "top-k 40, temp 0.7", &[]),
            (Vllm, "temp 0.7, top-p 0.9", &[]),
            (Vllm, "top-p 0.9, temp 0.7", &["temperature after top-p"]),
            (
                Vllm,
                "top-k 50, min-p 0.3, temp 2.5, repeat 1.3 last 16",
                &[
                    "repetition penalty over the last 16 tokens (used: the whole text)",
                    "temperature 2.5 (used: 2)",
                    "temperature after min-p",
                    "repetition penalty after top-k and min-p and temperature",
                ],
            ),
            (Vllm, "temp 0.005", &["temperature 0.005 (used: 0.01)"]),
            (
                Vllm,
                "grammar check json",
                &["grammar after the draw (used: before the chain)"],
            ),
            (
                OpenAi,
                "frequency 2.5 last all generated, temp 3",
                &["frequency penalty 2.5 (used: 2)", "temperature 3 (used: 2)"],
            ),
            (
                OpenAi,
                "presence 1 last 64",
                &["presence penalty over the last 64 tokens (used: everything generated)"],
            ),
            // What a greedy choice ignores makes no difference.
            (Vllm, "top-p 0.9, temp 2.5, greedy", &[]),
        ] {
            assert_eq!(lost(kind, None, settings), expected, "{kind:?} {settings}");
        }
    }

    #[test]
    fn a_window_longer_than_the_context_makes_no_difference() {
        let settings = "repeat 1.1 last all, top-p 0.9";
        for (n_context, n_lost) in [(None, 1), (Some(40_000), 1), (Some(32_768), 0)] {
            let lost = lost(ServerKind::LlamaServer, n_context, settings);
            assert_eq!(lost.len(), n_lost, "{n_context:?}: {lost:?}");
        }
    }

    #[test]
    fn an_end_of_text_that_the_server_keeps_is_named() {
        for (kind, expected) in [
            (
                ServerKind::LlamaServer,
                &["going on after the end of text (used: no end of text)"][..],
            ),
            (ServerKind::Ollama, &["going on after the end of text"]),
            (ServerKind::OpenAi, &["going on after the end of text"]),
            (ServerKind::Vllm, &[]),
        ] {
            let config = GenerationConfig {
                chain: ChainConfig::greedy(),
                seed: 7,
                limits: Limits {
                    end_of_text: EndOfText::Ignored,
                    ..Limits::default()
                },
            };
            let info = ServerInfo::new(kind, "HOST", "toy");
            assert_eq!(not_applied(&info, &config), expected, "{kind:?}");
        }
    }

    #[test]
    fn stop_sequences_are_not_sent_and_not_complained_about() {
        let config = GenerationConfig {
            chain: ChainConfig::greedy(),
            seed: 7,
            limits: Limits {
                stop_strings: ["a", "b", "c", "d", "e\"\"\""].map(str::to_owned).to_vec(),
                ..Limits::default()
            },
        };
        for kind in ServerKind::ALL {
            let settings = translated(&server(kind), &config);
            assert!(!settings.fields.contains_key("stop"), "{kind:?}");
            assert!(
                !settings.notes.iter().any(|note| note.contains("stop")),
                "{:?}",
                settings.notes
            );
        }
    }

    #[test]
    fn vllm_is_told_what_is_off() {
        let (fields, _) = to_vllm("temp 0.7");
        for (name, value) in [
            ("top_k", json!(-1)),
            ("min_p", json!(0)),
            ("repetition_penalty", json!(1)),
        ] {
            assert_eq!(fields.get(name), Some(&value), "{name}");
        }
    }

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
            let found = translated(&server(kind), &config).fields;
            for name in fields {
                assert!(found.contains_key(name), "{kind:?} lacks {name}");
            }
        }
        let RequestSettings { fields, notes, .. } =
            translated(&server(ServerKind::OpenAi), &config);
        assert!(!fields.contains_key("top_k"));
        assert!(
            notes.iter().any(|note| note.contains("top-k 40")),
            "{notes:?}"
        );
    }
}
