//! A tiny Llama checkpoint with reproducible random weights, as a folder and as a GGUF file.

use std::collections::HashMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use quartet::engine::{self, EngineError, LoadedModel};
use serde_json::json;

pub(crate) const HIDDEN: usize = 64;
pub(crate) const N_LAYERS: usize = 2;
pub(crate) const N_HEADS: usize = 4;
pub(crate) const N_KV_HEADS: usize = 2;
pub(crate) const HEAD_DIM: usize = 16;
pub(crate) const FFN: usize = 96;
pub(crate) const N_VOCAB: usize = 50;
pub(crate) const N_CONTEXT: usize = 64;

/// `SplitMix64`: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        (bits >> 40) as f32 / (1_u64 << 24) as f32 * 2.0 - 1.0
    }

    fn tensor(&mut self, shape: &[usize], scale: f32, offset: f32) -> Tensor {
        let n_values = shape.iter().product();
        let values: Vec<f32> = (0..n_values)
            .map(|_| offset + scale * self.next())
            .collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }
}

/// Returns the weights under their names in transformers, in a fixed order.
pub(crate) fn weights(tied: bool) -> Vec<(String, Tensor)> {
    let mut random = Random(7);
    let (q, kv) = (N_HEADS * HEAD_DIM, N_KV_HEADS * HEAD_DIM);
    let mut weights = vec![
        (
            "model.embed_tokens.weight".to_owned(),
            random.tensor(&[N_VOCAB, HIDDEN], 0.5, 0.0),
        ),
        (
            "model.norm.weight".to_owned(),
            random.tensor(&[HIDDEN], 0.2, 1.0),
        ),
    ];
    if !tied {
        weights.push((
            "lm_head.weight".to_owned(),
            random.tensor(&[N_VOCAB, HIDDEN], 0.5, 0.0),
        ));
    }
    for layer in 0..N_LAYERS {
        for (name, shape) in [
            ("self_attn.q_proj", [q, HIDDEN]),
            ("self_attn.k_proj", [kv, HIDDEN]),
            ("self_attn.v_proj", [kv, HIDDEN]),
            ("self_attn.o_proj", [HIDDEN, q]),
            ("mlp.gate_proj", [FFN, HIDDEN]),
            ("mlp.up_proj", [FFN, HIDDEN]),
            ("mlp.down_proj", [HIDDEN, FFN]),
        ] {
            let name = format!("model.layers.{layer}.{name}.weight");
            weights.push((name, random.tensor(&shape, 0.3, 0.0)));
        }
        for name in ["input_layernorm", "post_attention_layernorm"] {
            let name = format!("model.layers.{layer}.{name}.weight");
            weights.push((name, random.tensor(&[HIDDEN], 0.2, 1.0)));
        }
    }
    weights
}

pub(crate) fn config(tied: bool) -> serde_json::Value {
    json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_size": HIDDEN, "intermediate_size": FFN, "num_hidden_layers": N_LAYERS,
        "num_attention_heads": N_HEADS, "num_key_value_heads": N_KV_HEADS,
        "vocab_size": N_VOCAB, "max_position_embeddings": N_CONTEXT, "rms_norm_eps": 1e-5,
        "rope_theta": 500.0, "tie_word_embeddings": tied, "eos_token_id": [2, 4]
    })
}

/// Returns a word-level tokenizer with three special tokens.
pub(crate) fn tokenizer(n_tokens: usize) -> serde_json::Value {
    let words = (0..n_tokens).map(|id| match id {
        0 => "<unk>".to_owned(),
        1 => "<s>".to_owned(),
        2 => "</s>".to_owned(),
        3 => "<|eot_id|>".to_owned(),
        _ => format!("w{id}"),
    });
    let vocab: serde_json::Map<_, _> = words.zip((0..n_tokens).map(|id| json!(id))).collect();
    let special = |id: usize, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false,
               "rstrip": false, "normalized": false, "special": true})
    };
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(1, "<s>"), special(2, "</s>"), special(3, "<|eot_id|>")],
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "<unk>"}
    })
}

/// Writes a model folder as transformers does.
pub(crate) fn write_folder(folder: &Path, tied: bool, dtype: DType) {
    std::fs::write(folder.join("config.json"), config(tied).to_string()).unwrap();
    std::fs::write(
        folder.join("tokenizer.json"),
        tokenizer(N_VOCAB).to_string(),
    )
    .unwrap();
    std::fs::write(
        folder.join("generation_config.json"),
        r#"{"eos_token_id": 5}"#,
    )
    .unwrap();
    let weights: HashMap<String, Tensor> = weights(tied)
        .into_iter()
        .map(|(name, tensor)| (name, tensor.to_dtype(dtype).unwrap()))
        .collect();
    candle_core::safetensors::save(&weights, folder.join("model.safetensors")).unwrap();
}

/// Writes a GGUF file with matrices of this type and a `tokenizer.json` next to it. The entries of
/// `more` are added to its metadata or replace existing ones.
pub(crate) fn write_gguf(
    folder: &Path,
    tied: bool,
    dtype: GgmlDType,
    more: &[(&str, Value)],
) -> PathBuf {
    std::fs::write(
        folder.join("tokenizer.json"),
        tokenizer(N_VOCAB).to_string(),
    )
    .unwrap();
    let tensors: Vec<(String, QTensor)> = weights(tied)
        .into_iter()
        .map(|(name, tensor)| {
            let tensor = match name.as_str() {
                name if name.contains("q_proj") => interleaved(&tensor, N_HEADS),
                name if name.contains("k_proj") => interleaved(&tensor, N_KV_HEADS),
                _ => tensor,
            };
            let dtype = if tensor.rank() == 1 {
                GgmlDType::F32
            } else {
                dtype
            };
            (gguf_name(&name), QTensor::quantize(&tensor, dtype).unwrap())
        })
        .collect();
    let tensors: Vec<(&str, &QTensor)> = tensors
        .iter()
        .map(|(name, tensor)| (name.as_str(), tensor))
        .collect();
    let number = |value: usize| Value::U32(value as u32);
    let metadata = [
        ("general.architecture", Value::String("llama".to_owned())),
        ("llama.embedding_length", number(HIDDEN)),
        ("llama.feed_forward_length", number(FFN)),
        ("llama.block_count", number(N_LAYERS)),
        ("llama.attention.head_count", number(N_HEADS)),
        ("llama.attention.head_count_kv", number(N_KV_HEADS)),
        ("llama.context_length", number(N_CONTEXT)),
        ("llama.rope.dimension_count", number(HEAD_DIM)),
        ("llama.rope.freq_base", Value::F32(500.0)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("tokenizer.ggml.eos_token_id", number(2)),
    ];
    let metadata: Vec<(&str, &Value)> = metadata
        .iter()
        .filter(|(name, _)| more.iter().all(|(other, _)| other != name))
        .chain(more)
        .map(|(name, value)| (*name, value))
        .collect();
    let path = folder.join("tiny.gguf");
    gguf_file::write(&mut File::create(&path).unwrap(), &metadata, &tensors).unwrap();
    path
}

/// Opens a model on the CPU.
pub(crate) fn open(path: &Path) -> Result<LoadedModel, EngineError> {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(path, &engine::Compute::on_cpu(), keep_going);
    opened.map(Option::unwrap)
}

/// Interleaves the two halves of each head's rows, as GGUF requires.
fn interleaved(tensor: &Tensor, n_heads: usize) -> Tensor {
    tensor
        .reshape((n_heads, 2, HEAD_DIM / 2, HIDDEN))
        .and_then(|tensor| tensor.transpose(1, 2)?.contiguous())
        .and_then(|tensor| tensor.reshape((n_heads * HEAD_DIM, HIDDEN)))
        .unwrap()
}

fn gguf_name(name: &str) -> String {
    let mut name = name.replace("model.layers.", "blk.");
    for (transformers, gguf) in [
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
    ] {
        name = name.replace(transformers, gguf);
    }
    name
}
