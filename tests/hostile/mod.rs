//! Hostile files, signals and faults: what must never crash, hang, leak or lose a text.

mod corpus;
mod determinism;
#[cfg(target_os = "linux")]
mod endless;
#[cfg(target_os = "linux")]
mod faults;
mod gguf_lies;
#[cfg(target_os = "linux")]
mod kills;
mod mutations;
#[cfg(target_os = "linux")]
mod network;
#[cfg(unix)]
mod signals;
mod templates;
