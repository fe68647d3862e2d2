//! A model that opens: a GGUF file with its tokenizer, and a folder of safetensors.

use std::io::Cursor;
use std::path::Path;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};

const HIDDEN: usize = 8;
const N_VOCAB: usize = 16;

/// The type number of the first matrix, before it is changed.
const F32: u8 = 0;

/// Returns the content of a GGUF file. `change` changes its metadata.
pub(crate) fn gguf_with(change: impl FnOnce(&mut Vec<(&'static str, Value)>)) -> Vec<u8> {
    let text = |text: &str| Value::String(text.to_owned());
    let number = |number: usize| Value::U32(u32::try_from(number).unwrap());
    let tokens = (0..N_VOCAB).map(|index| text(&format!("w{index}")));
    let mut metadata = vec![
        ("general.architecture", text("llama")),
        ("llama.block_count", number(1)),
        ("llama.context_length", number(32)),
        ("llama.embedding_length", number(HIDDEN)),
        ("llama.feed_forward_length", number(HIDDEN)),
        ("llama.attention.head_count", number(1)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("tokenizer.ggml.model", text("llama")),
        ("tokenizer.ggml.tokens", Value::Array(tokens.collect())),
        (
            "tokenizer.ggml.scores",
            Value::Array(vec![Value::F32(0.0); N_VOCAB]),
        ),
        ("tokenizer.ggml.bos_token_id", number(1)),
    ];
    change(&mut metadata);
    let matrices = [
        "attn_q",
        "attn_k",
        "attn_v",
        "attn_output",
        "ffn_gate",
        "ffn_up",
        "ffn_down",
    ];
    let square = matrices.map(|name| (format!("blk.0.{name}.weight"), vec![HIDDEN, HIDDEN]));
    let norms = ["blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"];
    let norms = norms.map(|name| (format!("{name}.weight"), vec![HIDDEN]));
    let table = [("token_embd.weight".to_owned(), vec![N_VOCAB, HIDDEN])];
    let tensors = square.into_iter().chain(norms).chain(table);
    let ones = |shape: Vec<usize>| {
        let values = Tensor::ones(shape, DType::F32, &Device::Cpu).unwrap();
        QTensor::quantize(&values, GgmlDType::F32).unwrap()
    };
    let tensors: Vec<(String, QTensor)> =
        tensors.map(|(name, shape)| (name, ones(shape))).collect();
    let tensors: Vec<_> = tensors.iter().map(|(name, it)| (&**name, it)).collect();
    let metadata: Vec<_> = metadata.iter().map(|(key, it)| (*key, it)).collect();
    let mut file = Cursor::new(Vec::new());
    gguf_file::write(&mut file, &metadata, &tensors).unwrap();
    file.into_inner()
}

/// Returns the content of a GGUF file that opens.
pub(crate) fn gguf() -> Vec<u8> {
    gguf_with(|_| ())
}

/// Returns the content of a GGUF file with one tensor of a type with this number.
pub(crate) fn gguf_with_type(number: u8) -> Vec<u8> {
    let mut bytes = gguf();
    let name = b"blk.0.attn_q.weight";
    let found = bytes.windows(name.len()).position(|it| it == name).unwrap();
    // The name is followed by the number of dimensions, two dimensions, and the type.
    let stored_type = &mut bytes[found + name.len() + 4 + 2 * 8];
    assert_eq!(*stored_type, F32);
    *stored_type = number;
    bytes
}

/// Reads a file of the folder that opens: `config.json`, `tokenizer.json` or `model.safetensors`.
pub(crate) fn file(name: &str) -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/architectures/fixtures");
    let path = match name {
        "tokenizer.json" => fixtures.join(name),
        name => fixtures.join("llama").join(name),
    };
    std::fs::read(path).unwrap()
}
