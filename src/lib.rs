//! Quartet: one prompt, four decodings, token by token.
//!
//! The crates and their modules are listed in reading order. `tests/architecture.rs` says which module
//! may use which.

pub use quartet_kernels as kernels;

// The scripted model of the integration tests names this crate.
#[cfg(test)]
extern crate self as quartet;

pub use quartet_core::{
    analysis, decoding, generation, glossary, interop, json_words, lessons, reference,
};

pub use quartet_runtime::{engine, hub, listen, servers, worker};

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

/// The experiments of the Lab, each with everything that belongs to it.
pub mod lab;

/// The desktop window.
pub mod app;

/// The command line.
pub mod cli;
