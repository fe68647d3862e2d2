//! Recognizes folders and configurations of formats that Quartet does not read, so that an error
//! can say what they are and what to open instead.

use std::fmt;

use serde_json::Value;

use crate::engine::model_folder::ModelFolder;

/// Returns why a folder lacks a file that Quartet needs, or `None` if there is no known reason.
pub(super) fn reason_for_missing(folder: ModelFolder<'_>, file: &str) -> Option<String> {
    let has = |name: &str| folder.has(name);
    let reason = match file {
        "config.json" if has("adapter_config.json") => Some(
            "contains a LoRA adapter, which is only a change to another model; merge \
             the two, for example with merge_and_unload from the peft library, and open the result",
        ),
        "config.json" if has("params.json") && has("consolidated.00.pth") => Some(
            "contains Llama’s weights in Meta’s own format; open the version that is \
             published for transformers, or a GGUF version",
        ),
        "config.json" if has("model_index.json") => {
            Some("contains a model that generates images; Quartet runs models that write text")
        }
        "config.json" if folder.has_gguf() => {
            Some("contains GGUF files instead of safetensors; open one of them")
        }
        "tokenizer.json" if has("tokenizer.model") => Some(
            "contains its tokenizer only as tokenizer.model, which Quartet does not \
             read; save it again with transformers' AutoTokenizer, which writes tokenizer.json, or \
             open a GGUF version of the model",
        ),
        "tokenizer.json" if has("vocab.json") => Some(
            "contains its tokenizer only as vocab.json and merges.txt, which Quartet \
             does not read; save it again with transformers' AutoTokenizer, which writes \
             tokenizer.json, or open a GGUF version of the model",
        ),
        "model.safetensors" if has("pytorch_model.bin") || has("pytorch_model.bin.index.json") => {
            Some(
                "contains its weights only as PyTorch files, which could run code; \
                 save them again with transformers, which writes safetensors, or open a GGUF \
                 version of the model",
            )
        }
        _ => None,
    };
    reason.map(|reason| format!("this {} {reason}", folder.noun()))
}

/// Weights that can't be read: another library has quantized them, or they are Mamba's in their
/// original format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnreadWeights {
    /// A noun phrase: "AWQ weights of 4 bits".
    pub what: String,
    instead: &'static str,
}

impl fmt::Display for UnreadWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, instead } = self;
        write!(
            f,
            "this model has {what}, which Quartet does not read; open {instead}"
        )
    }
}

impl UnreadWeights {
    /// Returns the weights that a `config.json` describes, if they can't be read.
    pub(super) fn of(config: &Value) -> Option<Self> {
        if config.get("model_type").is_none() && config.get("ssm_cfg").is_some() {
            return Some(Self {
                what: "Mamba’s weights in their authors’ own format".to_owned(),
                instead: "the version whose name ends in -hf",
            });
        }
        let quantization = ["quantization_config", "quantization"]
            .into_iter()
            .filter_map(|key| config.get(key))
            .find(|value| !value.is_null())?;
        if has_eight_bit_floats(quantization) || has_four_bit_floats(quantization) {
            return None;
        }
        let method = quantization.get("quant_method").and_then(Value::as_str);
        let is_mlx = ["bits", "group_size"]
            .iter()
            .all(|key| quantization.get(*key).is_some());
        let name = match method {
            None if is_mlx => "MLX weights",
            None => "weights quantized by an unknown method",
            Some("gptq") => "GPTQ weights",
            Some("awq") => "AWQ weights",
            Some("bitsandbytes") => "bitsandbytes weights",
            Some("mlx") => "MLX weights",
            Some(other) => &format!("{other} weights"),
        };
        let bits = n_bits(quantization);
        let bits = bits.map_or_else(String::new, |bits| format!(" of {bits} bits"));
        Some(Self {
            what: format!("{name}{bits}"),
            instead: "the original weights or a GGUF version",
        })
    }
}

/// Returns how many bits a quantized weight has, if that is stated.
fn n_bits(quantization: &Value) -> Option<u64> {
    let is_set = |key: &str| quantization.get(key).and_then(Value::as_bool) == Some(true);
    let bits = quantization
        .get("bits")
        .or_else(|| quantization.get("w_bit"));
    bits.and_then(Value::as_u64)
        .or_else(|| is_set("load_in_4bit").then_some(4))
        .or_else(|| is_set("load_in_8bit").then_some(8))
}

/// Returns whether a `quantization_config` describes 4-bit floats with exponents beside them, as in
/// gpt-oss.
fn has_four_bit_floats(quantization: &Value) -> bool {
    let method = quantization.get("quant_method");
    method.and_then(Value::as_str) == Some("mxfp4")
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

    use super::{UnreadWeights, reason_for_missing};
    use crate::engine::model_folder::ModelFolder;

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
            assert_eq!(
                reason_for_missing(ModelFolder::Local(folder.path()), missing),
                None
            );
            File::create(folder.path().join(present)).unwrap();
            let reason = reason_for_missing(ModelFolder::Local(folder.path()), missing).unwrap();
            assert!(reason.contains(words), "{reason}");
        }
    }

    fn unread(config: &str) -> Option<UnreadWeights> {
        UnreadWeights::of(&serde_json::from_str(config).ok()?)
    }

    #[test]
    fn quantized_weights_are_named_after_their_method() {
        for (config, words) in [
            (
                r#"{"quantization_config": {"quant_method": "gptq", "bits": 4}}"#,
                "GPTQ weights of 4 bits",
            ),
            (
                r#"{"quantization_config": {"quant_method": "hqq"}}"#,
                "hqq weights",
            ),
            (
                r#"{"quantization_config": {}}"#,
                "weights quantized by an unknown method",
            ),
            (
                r#"{"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": true}}"#,
                "bitsandbytes weights of 4 bits",
            ),
            (
                r#"{"quantization": {"group_size": 64, "bits": 4}}"#,
                "MLX weights of 4 bits",
            ),
            (
                r#"{"quantization_config": {"quant_method": "compressed-tensors",
                    "format": "pack-quantized"}}"#,
                "compressed-tensors weights",
            ),
            (
                r#"{"d_model": 768, "ssm_cfg": {}}"#,
                "Mamba’s weights in their authors’ own format",
            ),
        ] {
            let unread = unread(config).unwrap();
            assert_eq!(unread.what, words, "{config}");
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
            assert_eq!(unread(config), None, "{config}");
        }
    }
}
