//! How the two file formats name the tensors of a decoder.

/// How a file names its tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `blk.0.attn_q.weight`.
    Gguf,
    /// `model.layers.0.self_attn.q_proj.weight`.
    Transformers,
}

/// What a tensor does in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// Token ids to vectors.
    Embedding,
    /// The norm before the head.
    FinalNorm,
    /// Vectors to logits.
    Head,
    /// The norm before attention.
    AttentionNorm,
    /// Queries.
    Query,
    /// Keys.
    Key,
    /// Values.
    Value,
    /// What the heads found, back into the residual stream.
    AttentionOutput,
    /// The norm before the feed-forward network.
    FfnNorm,
    /// The gate of the feed-forward network.
    FfnGate,
    /// What the gate lets through.
    FfnUp,
    /// Back into the residual stream.
    FfnDown,
}

impl Naming {
    /// The name of a tensor of the whole model, or of layer `layer`.
    pub fn name(self, role: TensorRole, layer: usize) -> String {
        let (gguf, transformers) = stems(role);
        match (self, role) {
            (Self::Gguf, TensorRole::Embedding | TensorRole::FinalNorm | TensorRole::Head) => {
                format!("{gguf}.weight")
            }
            (
                Self::Transformers,
                TensorRole::Embedding | TensorRole::FinalNorm | TensorRole::Head,
            ) => format!("{transformers}.weight"),
            (Self::Gguf, _) => format!("blk.{layer}.{gguf}.weight"),
            (Self::Transformers, _) => format!("model.layers.{layer}.{transformers}.weight"),
        }
    }
}

/// A tensor's name in GGUF and in transformers, without layer and ending.
const fn stems(role: TensorRole) -> (&'static str, &'static str) {
    match role {
        TensorRole::Embedding => ("token_embd", "model.embed_tokens"),
        TensorRole::FinalNorm => ("output_norm", "model.norm"),
        TensorRole::Head => ("output", "lm_head"),
        TensorRole::AttentionNorm => ("attn_norm", "input_layernorm"),
        TensorRole::Query => ("attn_q", "self_attn.q_proj"),
        TensorRole::Key => ("attn_k", "self_attn.k_proj"),
        TensorRole::Value => ("attn_v", "self_attn.v_proj"),
        TensorRole::AttentionOutput => ("attn_output", "self_attn.o_proj"),
        TensorRole::FfnNorm => ("ffn_norm", "post_attention_layernorm"),
        TensorRole::FfnGate => ("ffn_gate", "mlp.gate_proj"),
        TensorRole::FfnUp => ("ffn_up", "mlp.up_proj"),
        TensorRole::FfnDown => ("ffn_down", "mlp.down_proj"),
    }
}
