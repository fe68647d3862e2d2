//! Tokens and tensors: loading a model, reading a prompt once, decoding several sequences together.
//!
//! Its threads only compute: this module knows no message and no window. It names `generation`,
//! `decoding` and `vectors`.

mod advice;
mod batch;
mod blueprint;
mod candle_models;
mod causal_lm;
mod chat_template;
mod compute;
mod decoder;
mod device;
mod embedded;
mod error;
mod estimate;
mod gguf_tokenizer;
mod lane;
mod loaded_model;
mod open;
mod prefill;
mod resident;
pub mod scripted;
mod sequences;
mod session;
mod stop;
mod synthetic;
mod tokenizer;
mod tokenizer_config;
mod weights;

pub use causal_lm::{CausalLm, ForwardTimes, Logits, Row, SequenceId};
pub use chat_template::{ChatError, ChatTemplate, Message, Role};
pub use compute::{Compute, ComputeChoice, CpuThreads};
pub use device::{Device, DeviceChoice, Precision};
pub use embedded::{inspect_embedded, open_embedded};
pub use error::EngineError;
pub use estimate::{free_memory, memory_with_cache};
pub use gguf_tokenizer::open_gguf_tokenizer;
pub use loaded_model::{LoadProgress, LoadedModel};
pub use open::{inspect, open_path};
pub use prefill::PREFILL_CHUNK;
pub use resident::{Resident, resident_memory};
pub use session::{Progress, Prompt, Session};
pub use synthetic::Synthetic;
pub use tokenizer::Tokenizer;
