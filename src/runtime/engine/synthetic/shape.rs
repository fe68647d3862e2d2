//! The shapes of known models, as data, and the tensors that follow from each.

/// The shape of a model.
#[derive(Debug, PartialEq)]
pub(super) struct Shape {
    /// The name on the command line.
    pub name: &'static str,
    /// The family's name in GGUF.
    pub architecture: &'static str,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// The inner width of the feed-forward network.
    pub ffn_size: usize,
    pub n_layers: usize,
    pub n_heads: usize,
    pub n_kv_heads: usize,
    pub head_dim: usize,
    pub n_vocab: usize,
    pub n_context: usize,
    pub rope_theta: f32,
    /// Added to the mean square in norms.
    pub eps: f32,
    /// The `tokenizer.ggml.pre` in GGUF, which names the rules that split a text into words.
    pub splitting: &'static str,
    /// Whether the query, key and value projections have biases.
    pub qkv_biases: bool,
    /// Whether each query and key head is normalized.
    pub head_norms: bool,
}

/// All known shapes, smallest first. In each, the embedding table is also the output head.
pub(super) const SHAPES: [Shape; 5] = [
    Shape {
        name: "tiny",
        architecture: "llama",
        hidden_size: 256,
        ffn_size: 512,
        n_layers: 2,
        n_heads: 4,
        n_kv_heads: 2,
        head_dim: 64,
        n_vocab: 1024,
        n_context: 512,
        rope_theta: 10_000.0,
        eps: 1e-5,
        splitting: "smollm",
        qkv_biases: false,
        head_norms: false,
    },
    Shape {
        name: "smollm2-135m",
        architecture: "llama",
        hidden_size: 576,
        ffn_size: 1536,
        n_layers: 30,
        n_heads: 9,
        n_kv_heads: 3,
        head_dim: 64,
        n_vocab: 49_152,
        n_context: 8192,
        rope_theta: 100_000.0,
        eps: 1e-5,
        splitting: "smollm",
        qkv_biases: false,
        head_norms: false,
    },
    Shape {
        name: "qwen2.5-0.5b",
        architecture: "qwen2",
        hidden_size: 896,
        ffn_size: 4864,
        n_layers: 24,
        n_heads: 14,
        n_kv_heads: 2,
        head_dim: 64,
        n_vocab: 151_936,
        n_context: 32_768,
        rope_theta: 1_000_000.0,
        eps: 1e-6,
        splitting: "qwen2",
        qkv_biases: true,
        head_norms: false,
    },
    Shape {
        name: "qwen3-0.6b",
        architecture: "qwen3",
        hidden_size: 1024,
        ffn_size: 3072,
        n_layers: 28,
        n_heads: 16,
        n_kv_heads: 8,
        head_dim: 128,
        n_vocab: 151_936,
        n_context: 40_960,
        rope_theta: 1_000_000.0,
        eps: 1e-6,
        splitting: "qwen2",
        qkv_biases: false,
        head_norms: true,
    },
    Shape {
        name: "llama-3.2-1b",
        architecture: "llama",
        hidden_size: 2048,
        ffn_size: 8192,
        n_layers: 16,
        n_heads: 32,
        n_kv_heads: 8,
        head_dim: 64,
        n_vocab: 128_256,
        n_context: 131_072,
        rope_theta: 500_000.0,
        eps: 1e-5,
        splitting: "llama-bpe",
        qkv_biases: false,
        head_norms: false,
    },
];

/// The purpose of a tensor, which determines its type and its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The embedding table, which is also the output head.
    Embedding,
    /// The value projection of a layer.
    Value {
        layer: usize,
    },
    /// The down projection of a layer's feed-forward network.
    FfnDown {
        layer: usize,
    },
    /// Any other matrix.
    Matrix,
    Norm,
    Bias,
}

/// A tensor of a shape.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    /// Its name in a GGUF file.
    pub name: String,
    pub kind: Kind,
    /// `None` for a vector.
    pub n_rows: Option<usize>,
    pub width: usize,
}

impl Tensor {
    fn matrix(name: String, kind: Kind, n_rows: usize, width: usize) -> Self {
        Self {
            name,
            kind,
            n_rows: Some(n_rows),
            width,
        }
    }

    fn vector(name: String, kind: Kind, width: usize) -> Self {
        Self {
            name,
            kind,
            n_rows: None,
            width,
        }
    }
}

impl Shape {
    /// Returns all tensors in file order.
    pub(super) fn tensors(&self) -> Vec<Tensor> {
        let table = "token_embd.weight".to_owned();
        let mut tensors = vec![Tensor::matrix(
            table,
            Kind::Embedding,
            self.n_vocab,
            self.hidden_size,
        )];
        for layer in 0..self.n_layers {
            self.add_attention(layer, &mut tensors);
            self.add_feed_forward(layer, &mut tensors);
        }
        let norm = "output_norm.weight".to_owned();
        tensors.push(Tensor::vector(norm, Kind::Norm, self.hidden_size));
        tensors
    }

    fn add_attention(&self, layer: usize, tensors: &mut Vec<Tensor>) {
        let hidden = self.hidden_size;
        let q_width = self.n_heads * self.head_dim;
        let kv_width = self.n_kv_heads * self.head_dim;
        let weight = |part: &str| format!("blk.{layer}.{part}.weight");
        let norm = Tensor::vector(weight("attn_norm"), Kind::Norm, hidden);
        tensors.push(norm);
        for (part, kind, n_rows) in [
            ("attn_q", Kind::Matrix, q_width),
            ("attn_k", Kind::Matrix, kv_width),
            ("attn_v", Kind::Value { layer }, kv_width),
        ] {
            tensors.push(Tensor::matrix(weight(part), kind, n_rows, hidden));
            if self.qkv_biases {
                let name = format!("blk.{layer}.{part}.bias");
                tensors.push(Tensor::vector(name, Kind::Bias, n_rows));
            }
        }
        if self.head_norms {
            for part in ["attn_q_norm", "attn_k_norm"] {
                tensors.push(Tensor::vector(weight(part), Kind::Norm, self.head_dim));
            }
        }
        let output = weight("attn_output");
        tensors.push(Tensor::matrix(output, Kind::Matrix, hidden, q_width));
    }

    fn add_feed_forward(&self, layer: usize, tensors: &mut Vec<Tensor>) {
        let (hidden, inner) = (self.hidden_size, self.ffn_size);
        let weight = |part: &str| format!("blk.{layer}.{part}.weight");
        let norm = Tensor::vector(weight("ffn_norm"), Kind::Norm, hidden);
        let down = Kind::FfnDown { layer };
        tensors.extend([
            norm,
            Tensor::matrix(weight("ffn_gate"), Kind::Matrix, inner, hidden),
            Tensor::matrix(weight("ffn_up"), Kind::Matrix, inner, hidden),
            Tensor::matrix(weight("ffn_down"), down, hidden, inner),
        ]);
    }
}
