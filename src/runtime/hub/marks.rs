//! Marks the models of a repository as what opens, from what a search or a listing says about it.
//! What it does not say stays unknown.

use std::collections::BTreeMap;

use serde_json::Value;

use super::api::ModelInfo;
use super::model_files::{ModelFiles, ModelFormat, missing_part};
use super::openable::Openable;
use crate::generation::{Openness, RemoteFile, RemoteModel};

/// The tags of quantized weights that only a specific library can read, with their names.
const QUANTIZED_TAGS: [(&str, &str); 8] = [
    ("aqlm", "AQLM"),
    ("awq", "AWQ"),
    ("bitsandbytes", "bitsandbytes"),
    ("exl2", "EXL2"),
    ("exl3", "EXL3"),
    ("gptq", "GPTQ"),
    ("hqq", "HQQ"),
    ("mlx", "MLX"),
];

/// Tasks of models that don't write text, with what such a model is.
const OTHER_TASKS: [(&str, &str); 20] = [
    ("audio-classification", "a speech or audio model"),
    ("automatic-speech-recognition", "a speech recognition model"),
    ("depth-estimation", "a vision model"),
    ("feature-extraction", "an embedding model"),
    ("fill-mask", "an encoder model"),
    ("image-classification", "a vision model"),
    ("image-feature-extraction", "a vision model"),
    ("image-segmentation", "a vision model"),
    ("image-to-image", "an image generation model"),
    ("image-to-video", "a video generation model"),
    ("mask-generation", "a vision model"),
    ("object-detection", "a vision model"),
    ("sentence-similarity", "an embedding model"),
    ("text-classification", "a classifier"),
    ("text-ranking", "a reranking model"),
    ("text-to-audio", "an audio generation model"),
    ("text-to-image", "an image generation model"),
    ("text-to-speech", "a speech synthesis model"),
    ("text-to-video", "a video generation model"),
    ("token-classification", "a classifier"),
];

/// Tasks of models that also read images or sound.
const MORE_THAN_TEXT: [&str; 5] = [
    "any-to-any",
    "audio-text-to-text",
    "image-text-to-text",
    "video-text-to-text",
    "visual-question-answering",
];

/// Sets whether each model opens. Returns whether any of them does, or why none does.
pub(super) fn mark(info: &ModelInfo, models: &mut [ModelFiles], openable: &Openable) -> Openness {
    for model in &mut *models {
        model.openness = match model.format {
            ModelFormat::Gguf => gguf(info, openable),
            ModelFormat::Safetensors => folder(info, openable),
        };
    }
    best(models.iter().map(|model| &model.openness))
        .unwrap_or_else(|| nothing_to_open(info, openable))
}

/// Returns the best of these, or `None` if there are none.
pub(super) fn best<'a>(all: impl IntoIterator<Item = &'a Openness>) -> Option<Openness> {
    let rank = |openness: &&Openness| match openness {
        Openness::Opens => 0,
        Openness::OpensAsTextOnly => 1,
        Openness::Unknown => 2,
        Openness::NotYet { .. } => 3,
    };
    all.into_iter().min_by_key(rank).cloned()
}

fn gguf(info: &ModelInfo, openable: &Openable) -> Openness {
    let gguf = info.gguf.as_ref();
    let Some(name) = gguf.and_then(|gguf| gguf.get("architecture")?.as_str()) else {
        return other_task(info).unwrap_or_default();
    };
    match (openable.gguf)(name) {
        Openness::Opens if reads_more_than_text(info) => Openness::OpensAsTextOnly,
        openness @ Openness::NotYet { .. } => other_task(info).unwrap_or(openness),
        openness => openness,
    }
}

fn folder(info: &ModelInfo, openable: &Openable) -> Openness {
    let config = info.config.as_ref().unwrap_or(&Value::Null);
    let openness = (openable.folder)(&listed(info), config);
    let is_listed = config.get("quantization_config").is_some();
    let tagged = quantized_by_tag(info).filter(|_| !is_listed);
    match (openness, tagged) {
        (openness @ Openness::NotYet { .. }, None) => other_task(info).unwrap_or(openness),
        (openness @ Openness::NotYet { .. }, Some(tagged)) if tagged.is_refused() => {
            other_task(info).unwrap_or(openness)
        }
        (_, Some(tagged)) => tagged,
        (openness, None) => openness,
    }
}

/// Returns what the tags say about quantized weights. MLX also writes weights that are not
/// quantized, which the tags don't tell apart.
fn quantized_by_tag(info: &ModelInfo) -> Option<Openness> {
    let library = info.library_name.as_ref().and_then(Value::as_str);
    let is_tagged =
        |tag: &str| library == Some(tag) || tags(info).any(|it| it.eq_ignore_ascii_case(tag));
    let (tag, name) = QUANTIZED_TAGS.iter().find(|(tag, _)| is_tagged(tag))?;
    let bits = bits_in_name(&info.id);
    if *tag == "mlx" && bits.is_none() {
        return Some(Openness::Unknown);
    }
    let bits = bits.map_or_else(String::new, |bits| format!(" of {bits} bits"));
    Some(Openness::NotYet {
        reason: format!("{name} weights{bits}"),
    })
}

/// Returns the bits of a name such as "Qwen3-0.6B-4bit".
fn bits_in_name(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(['-', '_', '.', '/']);
    let bits = words.find_map(|word| word.strip_suffix("bit")?.parse().ok())?;
    (1..16).contains(&bits).then_some(bits)
}

/// Returns what the model is if its task is another than writing text.
fn other_task(info: &ModelInfo) -> Option<Openness> {
    let task = info.pipeline_tag.as_deref()?;
    let (_, kind) = OTHER_TASKS.iter().find(|(name, _)| *name == task)?;
    Some(Openness::NotYet {
        reason: (*kind).to_owned(),
    })
}

fn reads_more_than_text(info: &ModelInfo) -> bool {
    let task = info.pipeline_tag.as_deref();
    let mut files = info.siblings.iter().flatten();
    task.is_some_and(|task| MORE_THAN_TEXT.contains(&task))
        || files.any(|file| file.rfilename.to_ascii_lowercase().contains("mmproj"))
}

/// Returns why a repository without models can't be opened.
fn nothing_to_open(info: &ModelInfo, openable: &Openable) -> Openness {
    let paths = info.siblings.iter().flatten();
    if let Some(part) = missing_part(paths.map(|file| file.rfilename.as_str())) {
        return Openness::NotYet {
            reason: format!("{part} is missing"),
        };
    }
    if let Some(other) = other_task(info) {
        return other;
    }
    let config = info.config.as_ref().unwrap_or(&Value::Null);
    match (openable.folder)(&listed(info), config) {
        openness @ Openness::NotYet { .. } => openness,
        _ => Openness::NotYet {
            reason: "no GGUF file, and no complete folder with safetensors".to_owned(),
        },
    }
}

/// Returns the repository's files, of which nothing is known but their names.
pub(super) fn listed(info: &ModelInfo) -> RemoteModel {
    let files = info.siblings.iter().flatten();
    let file = |path: &String, n_bytes: Option<u64>| {
        let n_bytes = n_bytes.unwrap_or_default();
        let file = RemoteFile {
            n_bytes,
            ..RemoteFile::default()
        };
        (path.clone(), file)
    };
    let files: BTreeMap<String, RemoteFile> = files
        .map(|sibling| file(&sibling.rfilename, sibling.size))
        .collect();
    RemoteModel {
        repository: info.id.clone(),
        gguf: None,
        files,
    }
}

fn tags(info: &ModelInfo) -> impl Iterator<Item = &str> {
    info.tags.iter().flatten().map(String::as_str)
}

/// Returns the models from which this one was made.
pub(super) fn base_models(info: &ModelInfo) -> Vec<String> {
    let bases = tags(info).filter_map(|tag| {
        let base = tag.strip_prefix("base_model:")?;
        Some(base.rsplit(':').next().unwrap_or(base).to_owned())
    });
    let mut bases: Vec<String> = bases.collect();
    bases.sort();
    bases.dedup();
    bases
}

/// Returns the number of parameters, if the Hub states it.
pub(super) fn n_params(info: &ModelInfo) -> Option<u64> {
    let total = |facts: &Option<Value>| facts.as_ref()?.get("total")?.as_u64();
    total(&info.gguf).or_else(|| total(&info.safetensors))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ModelInfo, base_models, best, bits_in_name, mark, n_params};
    use crate::generation::Openness;
    use crate::hub::model_files::ModelFiles;
    use crate::hub::openable::Openable;

    fn refused(reason: &str) -> Openness {
        Openness::NotYet {
            reason: reason.to_owned(),
        }
    }

    /// Opens everything that is named.
    const OPENABLE: Openable = Openable {
        folder: |model, config| match config.get("model_type").and_then(Value::as_str) {
            _ if !model.files.contains_key("tokenizer.json") => refused("no tokenizer"),
            None => Openness::Unknown,
            Some("owl") => refused("the architecture owl"),
            Some(_) => Openness::Opens,
        },
        gguf: |name| match name {
            "owl" => refused("the architecture owl"),
            _ => Openness::Opens,
        },
        check: |_, _| unreachable!("a mark needs no file"),
    };

    fn marked(mut info: Value, files: &[&str]) -> Openness {
        let names = files.iter().map(|name| json!({ "rfilename": name }));
        info["siblings"] = names.collect();
        if info.get("id").is_none() {
            info["id"] = json!("fox/den");
        }
        let info: ModelInfo = serde_json::from_value(info).unwrap();
        let mut models = ModelFiles::among(files.iter().map(|name| (*name, None)));
        mark(&info, &mut models, &OPENABLE)
    }

    const FOLDER: &[&str] = &["config.json", "model.safetensors", "tokenizer.json"];

    #[test]
    fn a_mark_follows_what_the_hub_says() {
        let gguf = |name: &str| json!({ "gguf": { "architecture": name } });
        let config = |name: &str| json!({ "config": { "model_type": name } });
        let with = |mut info: Value, key: &str, value: Value| {
            info[key] = value;
            info
        };
        for (info, files, openness) in [
            (gguf("fox"), &["a.gguf"][..], Openness::Opens),
            (gguf("owl"), &["a.gguf"], refused("the architecture owl")),
            (json!({}), &["a.gguf"], Openness::Unknown),
            (json!({ "gguf": 7 }), &["a.gguf"], Openness::Unknown),
            (
                gguf("fox"),
                &["a.gguf", "mmproj-f16.gguf"],
                Openness::OpensAsTextOnly,
            ),
            (
                with(gguf("fox"), "pipeline_tag", json!("image-text-to-text")),
                &["a.gguf"],
                Openness::OpensAsTextOnly,
            ),
            (
                with(gguf("owl"), "pipeline_tag", json!("text-to-image")),
                &["a.gguf"],
                refused("an image generation model"),
            ),
            (
                gguf("fox"),
                &["a-00001-of-00003.gguf", "a-00003-of-00003.gguf"],
                refused("a-00002-of-00003.gguf is missing"),
            ),
            (config("fox"), FOLDER, Openness::Opens),
            (config("owl"), FOLDER, refused("the architecture owl")),
            (json!({ "config": [] }), FOLDER, Openness::Unknown),
            (
                config("fox"),
                &["model.safetensors"],
                refused("no tokenizer"),
            ),
            (
                with(config("fox"), "tags", json!(["awq", "4-bit"])),
                FOLDER,
                refused("AWQ weights"),
            ),
            (
                with(config("fox"), "library_name", json!("mlx")),
                FOLDER,
                Openness::Unknown,
            ),
            (
                json!({ "id": "mlx-community/fox-4bit", "tags": ["mlx"] }),
                FOLDER,
                refused("MLX weights of 4 bits"),
            ),
            // The Hub's own extract of the configuration counts more than a tag.
            (
                json!({
                    "tags": ["awq"],
                    "config": { "model_type": "fox", "quantization_config": { "quant_method": "fp8" } },
                }),
                FOLDER,
                Openness::Opens,
            ),
        ] {
            let words = info.to_string();
            assert_eq!(marked(info, files), openness, "{words} {files:?}");
        }
    }

    #[test]
    fn the_best_of_a_repository_counts() {
        let all = [refused(""), Openness::Unknown, Openness::OpensAsTextOnly];
        assert_eq!(best(&all), Some(Openness::OpensAsTextOnly));
        assert_eq!(best(&all[..2]), Some(Openness::Unknown));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn bits_are_read_from_a_name() {
        assert_eq!(bits_in_name("mlx-community/Fox-0.6B-4bit"), Some(4));
        assert_eq!(bits_in_name("a/Fox-8bit-mlx"), Some(8));
        for name in ["a/Fox-bf16", "a/rabbit", "a/orbit-900bit", "a/Fox-4b"] {
            assert_eq!(bits_in_name(name), None, "{name}");
        }
    }

    #[test]
    fn facts_of_any_type_are_read_or_ignored() {
        let info: ModelInfo = serde_json::from_value(json!({
            "id": "fox/den",
            "tags": ["base_model:fox/cub", "base_model:quantized:fox/cub", "license:mit"],
            "gguf": "no",
            "safetensors": { "total": 7, "parameters": null },
        }))
        .unwrap();
        assert_eq!(base_models(&info), ["fox/cub"]);
        assert_eq!(n_params(&info), Some(7));
    }
}
