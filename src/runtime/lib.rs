//! What runs models: the engine, downloads, servers, and the threads that they work on.

use quartet_core::{decoding, generation, interop, json_words};
use quartet_kernels as kernels;

/// Models: loading, tokenizer, forward pass, KV cache and sessions.
pub mod engine;

/// Search, download and listing of models from the Hugging Face Hub.
pub mod hub;

/// Servers that run a model elsewhere: llama-server, vLLM, Ollama and the like.
pub mod servers;

/// The engine and download threads, and their message protocol.
pub mod worker;
