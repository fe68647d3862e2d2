//! Tokens and tensors: loads a model, prefills a prompt once and decodes several sequences
//! together, or scores a text.
//!
//! Its threads only compute: this module knows neither the worker's messages nor the window.

mod batch;
mod beam_writer;
mod blueprint;
mod candle_models;
mod caught_panic;
mod causal_lm;
mod chat_template;
mod compute;
mod constraint;
mod decoder;
mod device;
mod draft_model;
mod draft_writer;
mod early_layers;
mod embedded;
mod error;
mod estimate;
mod fit;
mod futures;
mod gguf_tokenizer;
mod guess;
mod guide;
mod guided_writer;
mod job;
mod loaded_model;
mod model_folder;
mod open;
mod other_rows;
mod pane_texts;
mod prefill;
mod prefix_cache;
mod progress;
mod recommended_sampling;
mod resident;
mod row_threads;
mod score;
mod second_model;
mod sequences;
mod session;
mod shared_rows;
mod slot;
mod small_file;
mod sweep;
mod synthetic;
mod task;
mod tokenizer;
mod tokenizer_check;
mod tokenizer_config;
mod weights;
mod writer;

pub use causal_lm::{CausalLm, EarlyExit, ForwardTimes, Logits, Row, SequenceId};
pub use chat_template::{
    ChatError, ChatTemplate, Message, RENDER_ARGUMENT, answer_render_request, render_templates_with,
};
pub use compute::{Compute, ComputeChoice, CpuThreads};
pub use constraint::GrammarTrie;
pub use device::{Device, DeviceChoice, Precision};
pub use embedded::{embedded_tokenizer, inspect_embedded, open_embedded};
pub use error::EngineError;
pub use estimate::{free_memory, memory_with_cache};
pub use gguf_tokenizer::open_gguf_tokenizer;
pub use job::{
    AnyPlan, Job, JobContext, JobData, JobPlan, JobPriority, JobReport, JobUpdate, ReadingPrompt,
};
pub use loaded_model::{GivenText, LoadProgress, LoadedModel};
pub use open::{
    TokenizerOutline, check_remote, folder_openness, gguf_openness, inspect,
    inspect_with_tokenizer, open_path, open_tokenizer,
};
pub use prefill::PREFILL_CHUNK;
pub use prefix_cache::DEFAULT_PREFIX_CACHE_BYTES;
pub use progress::{Progress, Recorder};
pub use resident::{Resident, resident_memory};
pub use second_model::difference;
pub use session::{Prompt, Session};
pub use synthetic::Synthetic;
pub use tokenizer::Tokenizer;
