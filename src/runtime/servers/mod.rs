//! Servers that run a model elsewhere: llama-server, vLLM, Ollama, and any other with OpenAI's
//! completions API.
//!
//! A server reports the most likely tokens of each step. Quartet's own chain chooses among them,
//! one token per request, or the server's sampler writes the text and Quartet records what it
//! reports. Nothing is contacted until `Connection::open` is called. This module knows nothing
//! about windows, and it never writes a key anywhere.

mod config;
mod connection;
mod distribution;
mod error;
mod events;
mod found;
mod head_sizes;
mod http;
mod kind;
mod list;
mod llama_server;
mod neutral;
mod ollama;
mod openai;
mod pane;
mod patience;
mod peer;
mod prompt;
mod refused;
mod request;
mod sampler;
mod served;
mod stop;
mod token_table;
mod transcript;
mod vllm;
mod waited;

pub use config::{Key, KeySource, SampledBy, ServerConfig};
pub use connection::Connection;
pub use error::ServerError;
pub use found::ServerInfo;
pub use http::server_address;
pub use kind::ServerKind;
pub use list::{ListPlan, ListReport, ListedPrompt, ListedSettings, answer_list};
pub use pane::{PaneJob, write_pane};
pub use prompt::ServedPrompt;
pub use sampler::{not_applied, sampler_notes};
pub use stop::StopFlag;
pub use transcript::Transcript;
