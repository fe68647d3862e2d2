//! Hostile files, signals and faults: what must never crash, hang, leak or lose a text.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a failing helper fails the test that called it"
)]

mod corpus;
mod determinism;
#[cfg(target_os = "linux")]
#[path = "../display/mod.rs"]
mod display;
#[cfg(target_os = "linux")]
mod faults;
mod gguf_lies;
#[cfg(target_os = "linux")]
mod kills;
mod mutations;
#[cfg(target_os = "linux")]
mod network;
mod random;
mod rounds;
#[cfg(unix)]
mod signals;
mod templates;
