//! What runs models: the engine, downloads, servers, an endpoint for other programs, and the threads
//! that they work on.

use quartet_core::{decoding, generation, interop, json_words};
use quartet_kernels as kernels;

/// Models: loading, tokenizer, forward pass, KV cache and sessions.
pub mod engine;

/// Search, download and listing of models from the Hugging Face Hub.
pub mod hub;

/// A local endpoint through which other programs ask for texts.
pub mod listen;

/// Servers that run a model elsewhere: llama-server, vLLM, Ollama and the like.
pub mod servers;

/// The engine and download threads, and their message protocol.
pub mod worker;
