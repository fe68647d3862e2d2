//! Tokens and tensors: loading a model, reading a prompt once, decoding several sequences together.
//!
//! This module knows no thread and no window. It names `generation` and `decoding`.

mod batch;
mod causal_lm;
mod error;
mod lane;
mod loaded_model;
mod prefill;
pub mod scripted;
mod session;
mod stop;
mod tokenizer;

pub use causal_lm::{CausalLm, Logits, Row, SequenceId};
pub use error::EngineError;
pub use loaded_model::LoadedModel;
pub use session::{Progress, Prompt, Session};
pub use tokenizer::Tokenizer;
