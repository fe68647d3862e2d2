//! The engine and what uses it in this process: models, tokenizers, sessions, experiments, the worker and the window.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails may panic, in a helper too"
)]

mod architectures;
mod continuations;
mod conversations;
mod coverage;
mod decoder;
mod export;
mod fit;
mod futures;
mod grammars;
mod jobs;
mod large_vocabulary;
mod listen;
mod llama_stand_in;
mod loopback;
mod mutations;
mod quantizations;
mod random;
mod scripted;
mod session;
mod sweep;
mod tokenizers;
mod what_if_heads;
mod window;
mod worker;
