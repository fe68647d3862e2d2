//! Quartet: one prompt, four decodings, token by token.
//!
//! The modules stand in reading order; each may name only those above it in this list
//! (`tests/architecture.rs` holds that).

/// CPU SIMD kernels.
pub mod kernels;

/// Logits in, one token out.
pub mod decoding;

/// What was asked and what happened.
pub mod generation;

/// Figures and explanations computed from the record.
pub mod analysis;

/// Tokens and tensors.
pub mod engine;

/// Models from the Hugging Face Hub: found, downloaded and listed.
pub mod hub;

/// The engine's thread, and what is said across its border.
pub mod worker;

/// Settings as text, in both directions.
pub mod interop;

/// Runs as files.
pub mod export;

/// All that the window shows, without a window.
pub mod state;

/// Drawing and nothing else.
pub mod ui;

/// The window.
pub mod app;

/// The commands that need no window.
pub mod cli;
