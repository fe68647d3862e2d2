//! Recognizes folders and configurations of formats that Quartet does not read, so that an error
//! can say what they are and what to open instead.

use std::path::Path;

use serde_json::Value;

/// Returns why a folder lacks a file that Quartet needs, or `None` if there is no known reason.
pub(super) fn reason_for_missing(folder: &Path, file: &str) -> Option<&'static str> {
    let has = |name: &str| folder.join(name).exists();
    match file {
        "config.json" if has("adapter_config.json") => Some(
            "this folder contains a LoRA adapter, which is only a change to another model; merge \
             the two, for example with merge_and_unload from the peft library, and open the result",
        ),
        "config.json" if has("params.json") && has("consolidated.00.pth") => Some(
            "this folder contains Llama’s weights in Meta’s own format; open the version that is \
             published for transformers, or a GGUF version",
        ),
        "config.json" if has_gguf(folder) => {
            Some("this folder contains GGUF files; open one of them instead of the folder")
        }
        "tokenizer.json" if has("tokenizer.model") => Some(
            "this folder contains its tokenizer only as tokenizer.model, which Quartet does not \
             read; save it again with transformers’ AutoTokenizer, which writes tokenizer.json, or \
             open a GGUF version of the model",
        ),
        "tokenizer.json" if has("vocab.json") => Some(
            "this folder contains its tokenizer only as vocab.json and merges.txt, which Quartet \
             does not read; save it again with transformers’ AutoTokenizer, which writes \
             tokenizer.json, or open a GGUF version of the model",
        ),
        "model.safetensors" if has("pytorch_model.bin") || has("pytorch_model.bin.index.json") => {
            Some(
                "this folder contains its weights only as PyTorch files, which could run code; \
                 save them again with transformers, which writes safetensors, or open a GGUF \
                 version of the model",
            )
        }
        _ => None,
    }
}

fn has_gguf(folder: &Path) -> bool {
    let Ok(entries) = folder.read_dir() else {
        return false;
    };
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.any(|path| {
        path.extension()
            .is_some_and(|extension| extension == "gguf")
    })
}

/// Returns why the weights that a `config.json` describes can't be read: another library has
/// quantized them, or they are Mamba's in their original format.
pub(super) fn unread_weights(config: &[u8]) -> Option<String> {
    let config: Value = serde_json::from_slice(config).ok()?;
    if config.get("model_type").is_none() && config.get("ssm_cfg").is_some() {
        let reason = "this folder contains a Mamba model in its authors’ own format; open the \
                      version whose name ends in -hf";
        return Some(reason.to_owned());
    }
    let quantization = ["quantization_config", "quantization"]
        .into_iter()
        .filter_map(|key| config.get(key))
        .find(|value| !value.is_null())?;
    if has_eight_bit_floats(quantization) {
        return None;
    }
    let method = quantization.get("quant_method").and_then(Value::as_str);
    let is_mlx = ["bits", "group_size"]
        .iter()
        .all(|key| quantization.get(*key).is_some());
    let unnamed = if is_mlx { "MLX" } else { "an unknown method" };
    let method = match method.unwrap_or(unnamed) {
        "gptq" => "GPTQ",
        "awq" => "AWQ",
        "bitsandbytes" => "bitsandbytes",
        "mxfp4" => "MXFP4",
        other => other,
    };
    Some(format!(
        "this model’s weights are quantized with {method}, which Quartet does not read; open the \
         original weights or a GGUF version"
    ))
}

/// Returns whether a `quantization_config` describes 8-bit floats with factors beside them, which are
/// read like other weights.
fn has_eight_bit_floats(quantization: &Value) -> bool {
    let is =
        |key: &str, expected: &str| quantization.get(key).and_then(Value::as_str) == Some(expected);
    is("quant_method", "fp8")
        || is("quant_method", "compressed-tensors") && is("format", "float-quantized")
        || is("quant_method", "modelopt") && is("quant_algo", "FP8")
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::{reason_for_missing, unread_weights};

    #[test]
    fn a_folder_of_another_format_is_recognized_by_its_files() {
        for (present, missing, words) in [
            ("adapter_config.json", "config.json", "LoRA adapter"),
            ("model-q8_0.gguf", "config.json", "GGUF files"),
            (
                "tokenizer.model",
                "tokenizer.json",
                "only as tokenizer.model",
            ),
            ("vocab.json", "tokenizer.json", "only as vocab.json"),
            ("pytorch_model.bin", "model.safetensors", "PyTorch"),
            (
                "pytorch_model.bin.index.json",
                "model.safetensors",
                "PyTorch",
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(reason_for_missing(folder.path(), missing), None);
            File::create(folder.path().join(present)).unwrap();
            let reason = reason_for_missing(folder.path(), missing).unwrap();
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn quantized_weights_are_named_after_their_method() {
        for (config, words) in [
            (
                r#"{"quantization_config": {"quant_method": "gptq"}}"#,
                "GPTQ",
            ),
            (r#"{"quantization_config": {"quant_method": "hqq"}}"#, "hqq"),
            (r#"{"quantization_config": {}}"#, "an unknown method"),
            (r#"{"quantization": {"group_size": 64, "bits": 4}}"#, "MLX"),
            (
                r#"{"quantization_config": {"quant_method": "compressed-tensors",
                    "format": "pack-quantized"}}"#,
                "compressed-tensors",
            ),
            (r#"{"d_model": 768, "ssm_cfg": {}}"#, "Mamba"),
        ] {
            let feature = unread_weights(config.as_bytes()).unwrap();
            assert!(feature.contains(words), "{feature}");
        }
        for config in [
            "{}",
            r#"{"quantization_config": null}"#,
            r#"{"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}"#,
            r#"{"quantization_config": {"quant_method": "compressed-tensors",
                "format": "float-quantized"}}"#,
            r#"{"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"}}"#,
            "[",
        ] {
            assert_eq!(unread_weights(config.as_bytes()), None, "{config}");
        }
    }
}
