//! The models of Ollama: manifests that name the contents of a model by their checksums.
//!
//! The manifest of `name:tag` is `manifests/HOST/NAMESPACE/NAME/TAG`, or the same below
//! `manifests-v2`. A manifest has layers; the one with the media type [`MODEL`] is a GGUF file,
//! `blobs/sha256-CHECKSUM`. A newer manifest may list one manifest per runner instead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{FoundModel, read_small};
use crate::generation::Openness;
use crate::hub::model_files::{ModelFiles, ModelFormat};
use crate::hub::walk::WalkBudget;

const MODEL: &str = "application/vnd.ollama.image.model";

/// The folders with manifests, newest layout first.
const MANIFESTS: [&str; 2] = ["manifests-v2", "manifests"];

/// The host and the namespace that names leave out.
const USUAL_HOST: &str = "registry.ollama.ai";
const USUAL_NAMESPACE: &str = "library";

/// Returns whether a folder has Ollama’s layout.
pub(super) fn is_ollama(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_dir();
    MANIFESTS.into_iter().any(has) && has("blobs")
}

/// Lists the GGUF models in a folder of Ollama.
pub(super) fn models_in(folder: &Path, budget: &mut WalkBudget) -> io::Result<Vec<FoundModel>> {
    let mut models: Vec<FoundModel> = Vec::new();
    let mut first_error = None;
    for name in MANIFESTS {
        let manifests = folder.join(name);
        let files = match budget.files(&manifests) {
            Ok(files) => files,
            Err(error) => {
                // One of the two folders is usually missing.
                first_error.get_or_insert(error);
                continue;
            }
        };
        for file in files {
            let Some(name) = name_of(&file.path) else {
                continue;
            };
            if !models.iter().any(|model| model.name == name) {
                models.extend(model(folder, name, &manifests.join(&file.path)));
            }
        }
    }
    match first_error {
        Some(error) if !is_ollama(folder) => Err(error),
        _ => Ok(models),
    }
}

/// Returns the name of the model whose manifest has this path: "llama3.2:1b".
fn name_of(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let [host, namespace, name, tag] = parts.as_slice() else {
        return None;
    };
    Some(match (*host, *namespace) {
        (USUAL_HOST, USUAL_NAMESPACE) => format!("{name}:{tag}"),
        (USUAL_HOST, namespace) => format!("{namespace}/{name}:{tag}"),
        (host, namespace) => format!("{host}/{namespace}/{name}:{tag}"),
    })
}

fn model(folder: &Path, name: String, manifest: &Path) -> Option<FoundModel> {
    let manifest = runnable(folder, json(manifest)?)?;
    let layers = manifest.get("layers")?.as_array()?;
    let media_type = |layer: &&Value| layer.get("mediaType").and_then(Value::as_str) == Some(MODEL);
    let (path, checksum) = blob(folder, layers.iter().find(media_type)?)?;
    let n_bytes = fs::metadata(&path).ok()?.len();
    // What Ollama says about the model: {"model_type": "1.2B", "file_type": "Q8_0", …}.
    let config = manifest
        .get("config")
        .and_then(|config| blob(folder, config));
    let config = config.and_then(|(path, _)| json(&path)).unwrap_or_default();
    let said = |key: &str| config.get(key).and_then(Value::as_str);
    Some(FoundModel {
        name,
        n_params: said("model_type").and_then(n_params),
        model: ModelFiles {
            format: ModelFormat::Gguf,
            quantization: said("file_type").map(str::to_owned),
            n_bytes: Some(n_bytes),
            paths: path
                .file_name()
                .map(|it| it.to_string_lossy().into_owned())
                .into_iter()
                .collect(),
            openness: Openness::default(),
        },
        path,
        sha256: Some(checksum),
    })
}

/// Returns the manifest itself, or the one that it lists for GGUF files.
fn runnable(folder: &Path, manifest: Value) -> Option<Value> {
    let Some(listed) = manifest.get("manifests").and_then(Value::as_array) else {
        return Some(manifest);
    };
    let runner = |child: &Value| {
        child
            .get("runner")
            .and_then(Value::as_str)
            .map(str::to_lowercase)
    };
    let child = ["ollama", "llamacpp"].iter().find_map(|name| {
        let mut children = listed.iter();
        children.find(|child| runner(child).as_deref() == Some(name))
    })?;
    match child.get("layers") {
        Some(_) => Some(child.clone()),
        // The child names a blob that is itself a manifest.
        None => json(&blob(folder, child)?.0),
    }
}

/// Returns the path of the content that a layer names by its digest, and its SHA-256.
fn blob(folder: &Path, layer: &Value) -> Option<(PathBuf, String)> {
    let digest = layer.get("digest")?.as_str()?;
    let checksum = digest.strip_prefix("sha256")?.strip_prefix([':', '-'])?;
    let is_checksum = checksum.len() == 64 && checksum.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_checksum {
        return None;
    }
    let blobs = folder.join("blobs");
    // Before version 0.1.26, the names had a colon.
    let names = [format!("sha256-{checksum}"), format!("sha256:{checksum}")];
    let mut paths = names.into_iter().map(|name| blobs.join(name));
    let path = paths.find(|path| path.is_file())?;
    Some((path, checksum.to_ascii_lowercase()))
}

fn json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&read_small(file)?).ok()
}

/// Reads a number of parameters such as "1.2B" or "134.52M".
#[expect(clippy::cast_sign_loss, reason = "negative numbers are excluded")]
fn n_params(text: &str) -> Option<u64> {
    let units = [('T', 1e12), ('B', 1e9), ('M', 1e6), ('K', 1e3)];
    let (number, unit) = units.iter().find_map(|(unit, size)| {
        let number = text.strip_suffix([*unit, unit.to_ascii_lowercase()])?;
        Some((number.parse::<f64>().ok()?, *size))
    })?;
    let n_params = number * unit;
    (n_params > 0.0 && n_params < 1e16).then_some(n_params as u64)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{is_ollama, models_in, n_params};
    use crate::hub::walk::WalkBudget;

    fn digest(digit: char) -> String {
        format!("sha256:{}", digit.to_string().repeat(64))
    }

    fn write(folder: &Path, path: &str, content: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn write_blob(folder: &Path, digit: char, content: &str) {
        write(
            folder,
            &format!("blobs/{}", digest(digit).replace(':', "-")),
            content,
        );
    }

    fn layer(kind: &str, digit: char) -> Value {
        let media_type = format!("application/vnd.ollama.image.{kind}");
        json!({ "mediaType": media_type, "digest": digest(digit), "size": 4 })
    }

    fn manifest(layers: &[Value]) -> Value {
        json!({
            "schemaVersion": 2,
            "config": { "digest": digest('c'), "size": 2 },
            "layers": layers,
        })
    }

    fn found(folder: &Path) -> Vec<(String, String)> {
        let models = models_in(folder, &mut WalkBudget::default()).unwrap();
        let mut found: Vec<(String, String)> = models
            .into_iter()
            .map(|model| {
                let blob = model.path.file_name().unwrap().to_str().unwrap();
                (model.name, blob[7..8].to_owned())
            })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn a_model_is_the_layer_of_its_manifest_with_the_weights() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        assert!(models_in(folder, &mut WalkBudget::default()).is_err());
        write_blob(folder, 'a', "GGUF");
        write_blob(folder, 'b', "{{ template }}");
        write_blob(
            folder,
            'c',
            r#"{"model_type": "1.2B", "file_type": "Q8_0"}"#,
        );
        let weights = manifest(&[layer("template", 'b'), layer("model", 'a')]);
        let usual = "manifests/registry.ollama.ai/library";
        write(
            folder,
            &format!("{usual}/llama3.2/1b"),
            &weights.to_string(),
        );
        write(
            folder,
            "manifests/registry.ollama.ai/fox/den/latest",
            &weights.to_string(),
        );
        write(folder, "manifests/hf.co/fox/den/Q8_0", &weights.to_string());
        // Not models: no weights, weights that are missing, files that are no manifests.
        write(
            folder,
            &format!("{usual}/cloud/latest"),
            &manifest(&[]).to_string(),
        );
        let missing = manifest(&[layer("model", 'd')]);
        write(
            folder,
            &format!("{usual}/missing/latest"),
            &missing.to_string(),
        );
        write(folder, &format!("{usual}/broken/latest"), "{");
        write(folder, "manifests/.DS_Store", "");
        let leaving = json!({ "layers": [{
            "mediaType": super::MODEL, "digest": "sha256:../../../etc/passwd",
        }] });
        write(
            folder,
            &format!("{usual}/leaving/latest"),
            &leaving.to_string(),
        );
        assert!(is_ollama(folder));
        let names = ["fox/den:latest", "hf.co/fox/den:Q8_0", "llama3.2:1b"];
        let expected = names.map(|name| (name.to_owned(), "a".to_owned()));
        assert_eq!(found(folder), expected);
        let models = models_in(folder, &mut WalkBudget::default()).unwrap();
        let model = &models[0];
        assert_eq!(
            (model.n_params, model.model.kind()),
            (Some(1_200_000_000), "Q8_0")
        );
        assert_eq!(model.model.n_bytes, Some(4));
        assert_eq!(model.sha256.as_deref(), Some("a".repeat(64).as_str()));
    }

    #[test]
    fn a_newer_manifest_lists_one_for_each_runner() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        write_blob(folder, 'a', "GGUF");
        let inner = manifest(&[layer("model", 'a')]);
        write_blob(folder, 'e', &inner.to_string());
        let tensors = manifest(&[layer("tensor", 'f')]);
        let path = "manifests-v2/registry.ollama.ai/library/qwen3";
        let of = |runner: &str, manifest: &Value| {
            let mut child = manifest.clone();
            child["runner"] = runner.into();
            child
        };
        let by_digest = json!({ "runner": "llamacpp", "digest": digest('e') });
        for (tag, children) in [
            ("inline", vec![of("mlx", &tensors), of("ollama", &inner)]),
            ("named", vec![of("mlx", &tensors), by_digest]),
            ("mlx", vec![of("mlx", &tensors)]),
        ] {
            let list = json!({ "manifests": children });
            write(folder, &format!("{path}/{tag}"), &list.to_string());
        }
        let names = ["qwen3:inline", "qwen3:named"];
        let expected = names.map(|name| (name.to_owned(), "a".to_owned()));
        assert_eq!(found(folder), expected);
    }

    #[test]
    fn a_number_of_parameters_has_a_unit() {
        for (text, expected) in [
            ("1.2B", Some(1_200_000_000)),
            ("134.52M", Some(134_520_000)),
            ("7b", Some(7_000_000_000)),
            ("7", None),
            ("-1B", None),
            ("infB", None),
            ("", None),
        ] {
            assert_eq!(n_params(text), expected, "{text}");
        }
    }
}
