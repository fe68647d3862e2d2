//! Quartet: one prompt, four decodings, token by token.
//!
//! The modules are listed in reading order. `tests/architecture.rs` says which module may use
//! which.

/// CPU SIMD kernels.
pub mod kernels;

/// Sampling: logits in, one token out.
pub mod decoding;

/// The record of a generation: what was asked and what happened.
pub mod generation;

/// Figures and explanations computed from the record.
pub mod analysis;

/// Models: loading, tokenizer, forward pass, KV cache and sessions.
pub mod engine;

/// Search, download and listing of models from the Hugging Face Hub.
pub mod hub;

/// Conversion of settings to and from text.
pub mod interop;

/// Servers that run a model elsewhere: llama-server, vLLM, Ollama and the like.
pub mod servers;

/// The engine and download threads, and their message protocol.
pub mod worker;

/// Lessons as data: their format, checks and scores.
pub mod lessons;

/// Export of runs to files.
pub mod export;

/// Everything the window shows, without a window.
pub mod state;

/// Colors, fonts, icons and small widgets.
pub mod design;

/// The plots of a run.
pub mod plots;

/// The window's contents: reads the state, returns commands.
pub mod ui;

/// The desktop window.
pub mod app;

/// The command line.
pub mod cli;
