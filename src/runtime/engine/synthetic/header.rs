//! Writes the header of a GGUF file: its metadata and its list of tensors.

use candle_core::quantized::GgmlDType;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::shape::{Shape, Tensor};

/// The alignment of tensors, in bytes.
const ALIGNMENT: u64 = 32;

// The type numbers of metadata values.
const U32: u32 = 4;
const F32: u32 = 6;
const BOOL: u32 = 7;
const TEXT: u32 = 8;
const LIST: u32 = 9;

// The type numbers of tokens.
const NORMAL: u32 = 1;
const CONTROL: u32 = 3;

/// A header under construction.
struct Header(Vec<u8>);

/// The bytes of a tensor, counted from the start of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TensorRange {
    pub start: u64,
    pub n_bytes: u64,
}

/// Writes the header of a model. Returns it with the byte range of each tensor.
pub(super) fn header(
    shape: &Shape,
    tensors: &[(Tensor, GgmlDType)],
) -> (Vec<u8>, Vec<TensorRange>) {
    let mut metadata = Header(Vec::new());
    let n_entries = metadata.add_shape(shape) + metadata.add_tokenizer(shape);
    let mut header = Header(b"GGUF".to_vec());
    header.u32(3);
    header.u64(tensors.len() as u64);
    header.u64(n_entries);
    header.0.extend(metadata.0);

    let mut offset = 0;
    let mut ranges = Vec::new();
    for (tensor, dtype) in tensors {
        let n_values = tensor.n_rows.unwrap_or(1) * tensor.width;
        let n_bytes = (n_values / dtype.block_size() * dtype.type_size()) as u64;
        header.add_tensor(tensor, *dtype, offset);
        ranges.push(TensorRange {
            start: offset,
            n_bytes,
        });
        offset = (offset + n_bytes).next_multiple_of(ALIGNMENT);
    }
    let n_header_bytes = (header.0.len() as u64).next_multiple_of(ALIGNMENT);
    for range in &mut ranges {
        range.start += n_header_bytes;
    }
    (header.0, ranges)
}

impl Header {
    /// Adds the architecture. Returns the number of entries added.
    fn add_shape(&mut self, shape: &Shape) -> u64 {
        let architecture = shape.architecture;
        let numbers = [
            ("block_count", shape.n_layers),
            ("context_length", shape.n_context),
            ("embedding_length", shape.hidden_size),
            ("feed_forward_length", shape.ffn_size),
            ("attention.head_count", shape.n_heads),
            ("attention.head_count_kv", shape.n_kv_heads),
            ("attention.key_length", shape.head_dim),
            ("attention.value_length", shape.head_dim),
            ("rope.dimension_count", shape.head_dim),
        ];
        let floats = [
            ("rope.freq_base", shape.rope_theta),
            ("attention.layer_norm_rms_epsilon", shape.eps),
        ];
        self.key("general.architecture", TEXT);
        self.text(architecture);
        for (name, number) in numbers {
            self.key(&format!("{architecture}.{name}"), U32);
            self.u32(number as u32);
        }
        for (name, float) in floats {
            self.key(&format!("{architecture}.{name}"), F32);
            self.0.extend(float.to_le_bytes());
        }
        1 + (numbers.len() + floats.len()) as u64
    }

    /// Adds a tokenizer with a token for each byte, filler tokens that no text produces, and the
    /// end-of-text token. Returns the number of entries added.
    fn add_tokenizer(&mut self, shape: &Shape) -> u64 {
        let mut bytes: Vec<String> = ByteLevel::alphabet()
            .into_iter()
            .map(String::from)
            .collect();
        bytes.sort();
        let n_filler = shape.n_vocab - bytes.len() - 1;
        let filler = (0..n_filler).map(|index| format!("filler{index}"));
        let end = std::iter::once("<|endoftext|>".to_owned());
        let tokens: Vec<String> = bytes.into_iter().chain(filler).chain(end).collect();
        for (name, value) in [("model", "gpt2"), ("pre", shape.splitting)] {
            self.key(&format!("tokenizer.ggml.{name}"), TEXT);
            self.text(value);
        }
        self.list("tokens", TEXT, tokens.len());
        for token in &tokens {
            self.text(token);
        }
        self.list("token_type", U32, tokens.len());
        for id in 0..tokens.len() {
            let last = id + 1 == tokens.len();
            self.u32(if last { CONTROL } else { NORMAL });
        }
        self.list("merges", TEXT, 0);
        self.key("tokenizer.ggml.eos_token_id", U32);
        self.u32(tokens.len() as u32 - 1);
        self.key("tokenizer.ggml.add_bos_token", BOOL);
        self.0.push(0);
        7
    }

    fn add_tensor(&mut self, tensor: &Tensor, dtype: GgmlDType, offset: u64) {
        self.text(&tensor.name);
        // The innermost dimension comes first.
        let dims = std::iter::once(tensor.width).chain(tensor.n_rows);
        self.u32(dims.clone().count() as u32);
        for dim in dims {
            self.u64(dim as u64);
        }
        self.u32(number(dtype));
        self.u64(offset);
    }

    fn key(&mut self, key: &str, value_type: u32) {
        self.text(key);
        self.u32(value_type);
    }

    fn list(&mut self, name: &str, value_type: u32, n_values: usize) {
        self.key(&format!("tokenizer.ggml.{name}"), LIST);
        self.u32(value_type);
        self.u64(n_values as u64);
    }

    fn text(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    fn u32(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }
}

/// Returns the number of a type in ggml.
const fn number(dtype: GgmlDType) -> u32 {
    match dtype {
        GgmlDType::F32 => 0,
        GgmlDType::F16 => 1,
        GgmlDType::Q4_0 => 2,
        GgmlDType::Q4_1 => 3,
        GgmlDType::Q5_0 => 6,
        GgmlDType::Q5_1 => 7,
        GgmlDType::Q8_0 => 8,
        GgmlDType::Q8_1 => 9,
        GgmlDType::Q2K => 10,
        GgmlDType::Q3K => 11,
        GgmlDType::Q4K => 12,
        GgmlDType::Q5K => 13,
        GgmlDType::Q6K => 14,
        GgmlDType::Q8K => 15,
        GgmlDType::BF16 => 30,
    }
}
