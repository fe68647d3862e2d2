//! Decides whether a model opens before it is downloaded, by the same checks as afterwards.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::architecture::Architecture;
use super::gguf::Gguf;
use super::other_formats::UnreadWeights;
use super::other_kinds::other_kind;
use super::{LocatedModel, folder};
use crate::engine::EngineError;
use crate::engine::blueprint::Blueprint;
use crate::engine::model_folder::{ModelFolder, RemoteFolder};
use crate::engine::weights::read_known_metadata;
use crate::generation::{CheckDepth, Openness, RemoteCheck, RemoteModel};

/// Checks a model as far as its files are known.
pub fn check_remote(model: &RemoteModel, depth: CheckDepth) -> RemoteCheck {
    let remote = RemoteFolder::new(model);
    let folder = ModelFolder::Remote(&remote);
    let path = model.gguf.as_deref().map(Path::new);
    let checked = match (depth, path) {
        (CheckDepth::Configuration, None) => folder::architecture(folder).map(drop),
        (CheckDepth::Configuration, Some(path)) => gguf_architecture(folder, path).map(drop),
        (CheckDepth::Headers, None) => folder::locate(folder, None).and_then(check),
        (CheckDepth::Headers, Some(path)) => Gguf::from_folder(folder, path)
            .and_then(Gguf::locate)
            .and_then(check),
    };
    let wanted = remote.wanted.noted();
    match checked {
        // Metadata of which only a part is known may lack a value.
        Err(EngineError::FileMalformed { .. })
            if depth == CheckDepth::Configuration && path.is_some() =>
        {
            RemoteCheck::Undecided(BTreeMap::new())
        }
        Ok(()) if depth == CheckDepth::Configuration => RemoteCheck::Opens {
            text_only: is_text_part(model),
        },
        _ if !wanted.is_empty() => RemoteCheck::Undecided(wanted),
        Ok(()) => RemoteCheck::Opens {
            text_only: is_text_part(model),
        },
        Err(error) => RemoteCheck::Refused(error.to_string()),
    }
}

/// Returns whether a folder of safetensors opens, as far as the names of its files and an extract of
/// its `config.json` tell.
pub fn folder_openness(model: &RemoteModel, config: &Value) -> Openness {
    let remote = RemoteFolder::new(model);
    if let Err(error) = folder::check_files(ModelFolder::Remote(&remote)) {
        let words = error.to_string();
        let reason = words.lines().next().unwrap_or_default().to_owned();
        return Openness::NotYet { reason };
    }
    if let Some(unread) = UnreadWeights::of(config) {
        let reason = unread.what;
        return Openness::NotYet { reason };
    }
    let (model_type, class) = names_in(config);
    match class.or(model_type) {
        None => Openness::Unknown,
        Some(_) if Blueprint::is_text_part(model_type, class) => Openness::OpensAsTextOnly,
        Some(_) if Architecture::knows_config(model_type, class) => Openness::Opens,
        Some(name) => unknown(name),
    }
}

/// Returns whether GGUF files of this `general.architecture` open, as far as its name tells.
pub fn gguf_openness(architecture: &str) -> Openness {
    if Architecture::knows_gguf(architecture) {
        Openness::Opens
    } else {
        unknown(architecture)
    }
}

fn unknown(architecture: &str) -> Openness {
    let reason = match other_kind(architecture) {
        Some(kind) => format!("{kind} ({architecture})"),
        None => format!("the architecture {architecture}"),
    };
    Openness::NotYet { reason }
}

/// Returns the `model_type` and the first of the `architectures` in a `config.json`.
fn names_in(config: &Value) -> (Option<&str>, Option<&str>) {
    let model_type = config.get("model_type").and_then(Value::as_str);
    let class = config.pointer("/architectures/0").and_then(Value::as_str);
    (model_type, class)
}

fn check(model: LocatedModel) -> Result<(), EngineError> {
    model.check().map(drop)
}

/// Reads the architecture of a GGUF file of which only the first bytes are known.
fn gguf_architecture(folder: ModelFolder<'_>, path: &Path) -> Result<Architecture, EngineError> {
    let source = folder.source(path, "The model")?;
    let content = read_known_metadata(&source)?;
    Architecture::from_gguf(&content, source.path())
}

/// Returns whether the model also reads images or sound, which Quartet leaves out: its
/// configuration says so, or a GGUF file with an encoder is beside its own.
fn is_text_part(model: &RemoteModel) -> bool {
    if model.gguf.is_some() {
        let mut files = model.files.keys();
        return files.any(|path| path.to_ascii_lowercase().contains("mmproj"));
    }
    let config = model.files.get("config.json");
    let config: Option<Value> =
        config.and_then(|config| serde_json::from_slice(&config.start).ok());
    config.is_some_and(|config| {
        let (model_type, class) = names_in(&config);
        Blueprint::is_text_part(model_type, class)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{check_remote, folder_openness, gguf_openness};
    use crate::generation::{CheckDepth, Openness, RemoteCheck, RemoteFile, RemoteModel};

    fn model(gguf: Option<&str>, files: &[(&str, u64, &[u8])]) -> RemoteModel {
        let file = |(path, n_bytes, start): &(&str, u64, &[u8])| {
            let start = Arc::new(start.to_vec());
            let n_bytes = *n_bytes;
            ((*path).to_owned(), RemoteFile { n_bytes, start })
        };
        RemoteModel {
            repository: "fox/den".to_owned(),
            gguf: gguf.map(str::to_owned),
            files: files.iter().map(file).collect(),
        }
    }

    fn reason(model: &RemoteModel) -> String {
        match check_remote(model, CheckDepth::Headers) {
            RemoteCheck::Refused(reason) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_missing_is_asked_for() {
        let unknown = model(None, &[("config.json", 700, b"")]);
        let wanted = [("config.json".to_owned(), 700)].into();
        assert_eq!(
            check_remote(&unknown, CheckDepth::Configuration),
            RemoteCheck::Undecided(wanted)
        );
        // 100 GB of metadata are asked for, but no memory is allocated for them.
        let mut huge = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
        huge.extend_from_slice(&100_000_000_000_u64.to_le_bytes());
        huge.resize(1 << 17, 0);
        let huge = model(Some("a.gguf"), &[("a.gguf", 200_000_000_000, &huge)]);
        let RemoteCheck::Undecided(wanted) = check_remote(&huge, CheckDepth::Headers) else {
            panic!("it should depend on more bytes");
        };
        assert!(wanted["a.gguf"] > 100_000_000_000);
    }

    #[test]
    fn a_repository_of_another_kind_is_named() {
        let quantized =
            br#"{"model_type": "llama", "quantization": {"group_size": 64, "bits": 4}}"#;
        let n_bytes = quantized.len() as u64;
        let mlx = model(None, &[("config.json", n_bytes, quantized)]);
        assert!(reason(&mlx).contains("MLX"), "{}", reason(&mlx));
        let adapter = model(None, &[("adapter_config.json", 9, b"")]);
        let said = reason(&adapter);
        assert!(said.starts_with("this repository contains a LoRA adapter"));
        assert!(said.ends_with("\nfox/den"), "{said}");
        let page = model(Some("a.gguf"), &[("a.gguf", 9, b"<!DOCTYPE")]);
        assert!(reason(&page).contains("web page"));
        let missing = model(Some("b.gguf"), &[]);
        assert!(reason(&missing).contains("fox/den/b.gguf"));
    }

    fn openness(config: &Value) -> Openness {
        let files = ["config.json", "model.safetensors", "tokenizer.json"];
        let files = files.map(|name| (name, 0, b"".as_slice()));
        folder_openness(&model(None, &files), config)
    }

    #[test]
    fn names_that_no_family_has_are_not_taken_for_one() {
        let named = |model_type: &str, class: &str| {
            openness(&json!({ "model_type": model_type, "architectures": [class] }))
        };
        assert_eq!(named("qwen3", "Qwen3ForCausalLM"), Openness::Opens);
        assert!(named("qwen3", "Qwen3ForSequenceClassification").is_refused());
        let vision = named("qwen3_vl", "Qwen3VLForConditionalGeneration");
        assert_eq!(vision, Openness::OpensAsTextOnly);
        let only_type = |name: &str| openness(&json!({ "model_type": name }));
        assert_eq!(only_type("qwen3"), Openness::Opens);
        assert_eq!(only_type("phi"), Openness::Opens);
        let bert = Openness::NotYet {
            reason: "an encoder for embeddings (bert)".to_owned(),
        };
        assert_eq!(only_type("bert"), bert);
        for config in [
            json!({}),
            json!(null),
            json!({ "model_type": 7, "architectures": 7 }),
        ] {
            assert_eq!(openness(&config), Openness::Unknown, "{config}");
        }
        assert_eq!(gguf_openness("gemma3"), Openness::Opens);
        for name in ["", "clip", "t5", "flux"] {
            assert!(gguf_openness(name).is_refused(), "{name}");
        }
    }

    #[test]
    fn weights_that_are_not_read_and_missing_files_are_named() {
        let quantized = json!({
            "model_type": "llama",
            "quantization_config": { "quant_method": "awq", "bits": 4 },
        });
        let awq = Openness::NotYet {
            reason: "AWQ weights of 4 bits".to_owned(),
        };
        assert_eq!(openness(&quantized), awq);
        let files = [
            ("config.json", 0, b"".as_slice()),
            ("tokenizer.model", 0, b""),
        ];
        let Openness::NotYet { reason } = folder_openness(&model(None, &files), &json!({})) else {
            panic!("it should be refused");
        };
        let start = "this repository contains its tokenizer only as tokenizer.model";
        assert!(reason.starts_with(start), "{reason}");
    }
}
